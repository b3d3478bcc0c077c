package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// form is one layout of a log.
type form struct {
	name  string
	lines bool
	write func(path string, size int64) error
}

var forms = []form{
	{"printed array", false, func(path string, size int64) error {
		return logFile(path, size, "[\n  ", ",\n  ", "\n]", func(v any) ([]byte, error) { return json.MarshalIndent(v, "  ", "  ") })
	}},
	{"array on one line", false, func(path string, size int64) error { return logFile(path, size, "[", ",", "]", json.Marshal) }},
	{"lines", true, func(path string, size int64) error { return logFile(path, size, "", "\n", "\n", json.Marshal) }},
	{"one line", true, oneLine},
	{"ours", true, func(path string, size int64) error {
		begin, end, err := frame()
		if err != nil {
			return err
		}
		return logFile(path, size, begin, "\n", end, json.Marshal)
	}},
}

// frame are the lines that a run of ours adds before and after the engine's.
func frame() (begin, end string, err error) {
	first, err1 := json.Marshal(engine.RunRecord{
		Type: engine.TypeRun, Schema: engine.RecordSchema, Task: "triage", Engine: engine.Claude, Model: "claude-opus-5-5", MaxTurns: 200, MaxBudgetUSD: 2,
		TimeoutMinutes: 30, Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	})
	call, err2 := json.Marshal(engine.CallRecord{
		Type: engine.TypeCall, N: 1, Model: "claude-opus-5-5", Status: 200, Turn: true, Input: 1000, Output: 900, CostUSD: 1.25, Basis: engine.BasisUsage,
	})
	last, err3 := json.Marshal(engine.EndRecord{
		Type: engine.TypeEnd, Ended: engine.Finished, Turns: 1, Calls: 1, CostUSD: 1.25, CostBasis: "meter", DurationMS: 1308335,
	})
	return string(first) + "\n", "\n" + string(call) + "\n" + string(last) + "\n", errors.Join(err1, err2, err3)
}

type object = map[string]any

func opening() object {
	return object{"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-5-5", "tools": []string{"Read"}}
}

func closing() object {
	return object{
		"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "total_cost_usd": 1.25, "num_turns": 69,
		"duration_ms": 1308335, "result": "done",
	}
}

// messages are a tool's call and its result, of many sizes, with the escapes that source code brings.
func messages() []object {
	source := strings.Repeat("func f(s string) error {\n\tif s == \"\" {\n\t\treturn errors.New(\"empty: \\\"s\\\"\")\n\t}\n\treturn nil\n}\n\n", 300)
	var all []object
	for n := range 100 {
		all = append(all,
			object{"type": "assistant", "session_id": "s", "message": object{"role": "assistant", "content": []object{{
				"type": "tool_use", "name": "Read", "input": object{"file_path": "main.go", "offset": n},
			}}, "usage": object{"input_tokens": 12, "output_tokens": 1, "cache_read_input_tokens": 4800}}},
			object{"type": "user", "session_id": "s", "message": object{"role": "user", "content": []object{{
				"type": "tool_result", "content": source[:200+n*250%len(source)],
			}}}})
	}
	return all
}

func logFile(path string, size int64, begin, between, end string, encode func(any) ([]byte, error)) (err error) {
	var parts [][]byte
	for _, m := range messages() {
		data, err := encode(m)
		if err != nil {
			return err
		}
		parts = append(parts, data)
	}
	first, err := encode(opening())
	if err != nil {
		return err
	}
	last, err := encode(closing())
	if err != nil {
		return err
	}
	return writeFile(path, func(w *bufio.Writer) {
		written := int64(0)
		put := func(text string) {
			n, _ := w.WriteString(text) // the error comes again at the flush
			written += int64(n)
		}
		put(begin + string(first))
		for i := 0; written < size; i++ {
			put(between)
			put(string(parts[i%len(parts)]))
		}
		put(between + string(last) + end)
	})
}

func oneLine(path string, size int64) error {
	return writeFile(path, func(w *bufio.Writer) {
		enc := json.NewEncoder(w)
		_ = enc.Encode(opening()) // the error comes again at the flush
		_, _ = w.WriteString(`{"type":"user","session_id":"s","message":{"content":"`)
		part := strings.Repeat("x", 1<<20)
		for written := int64(0); written < size; written += int64(len(part)) {
			_, _ = w.WriteString(part)
		}
		_, _ = w.WriteString("\"}}\n")
		_ = enc.Encode(closing())
	})
}

func writeFile(path string, fill func(*bufio.Writer)) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	fill(w)
	return w.Flush()
}
