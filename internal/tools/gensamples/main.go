// Command gensamples writes the issues and the recorded runs that `issue-assistant try` plays, all but the first one.
//
// A recording is a Claude Code log; its figures are computed from the price table, so that the line of a sample adds up.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

const (
	model   = "claude-opus-5-5"
	session = "0f6f1f5e-7a63-4c0e-9a51-6f1c1a2b3c4d"
	home    = "/home/runner/work/tidybox/tidybox/"
)

// sample is one issue with the run that answered it.
type sample struct {
	name          string
	number        int
	login, title  string
	body          string
	reads         []string // files that the run read, after the issue
	cached, fresh int64    // tokens of the prompt
	out, ms       int64
	answer        answer.Analysis
}

// object is a JSON object with sorted keys.
type object = map[string]any

func main() {
	dir := filepath.Join("internal", "cli", "sample")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "gensamples:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	// The table's prices depend on the day; that of the samples' issues is fixed.
	prices, err := meter.Prices(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return err
	}
	for _, s := range samples() {
		folder := filepath.Join(dir, s.name)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return err
		}
		issue, err := s.issue()
		if err != nil {
			return err
		}
		recording, err := s.recording(prices)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for name, data := range map[string][]byte{"issue.json": issue, "recording.jsonl": recording} {
			if err := writeCompressed(filepath.Join(folder, name+".gz"), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeCompressed writes a file with gzip: the program embeds it.
func writeCompressed(name string, data []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// issue is the issue as GitHub's API gives it.
func (s sample) issue() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(object{
		"number": s.number, "title": s.title, "body": s.body, "state": "open", "locked": false, "labels": []string{},
		"user": object{"login": s.login, "id": 1000 + s.number, "type": "User"}, "author_association": "NONE",
		"comments": 0, "created_at": "2026-11-28T09:12:00Z", "updated_at": "2026-11-28T09:12:00Z",
	})
	return b.Bytes(), err
}

// recording is the log of the run: reads, the answer, the result with its figures.
func (s sample) recording(prices meter.Table) ([]byte, error) {
	given := complete(s.answer)
	files := append([]string{".issue-assistant/material/issue.md"}, s.reads...)
	turns := int64(len(files) + 1)
	in := 8 * turns
	usd, ok := prices.Cost(model, in, s.cached, s.fresh, 0, s.out)
	if !ok {
		return nil, errors.New(model + " has no price")
	}
	usd = math.Round(usd*1e6) / 1e6 // as the engine writes it
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var failed error
	say := func(o object) {
		o["session_id"] = session
		failed = errors.Join(failed, e.Encode(o))
	}
	call := func(n int, tool string, input any, result string) {
		id := fmt.Sprintf("toolu_sample_%02d", n)
		say(object{"type": "assistant", "parent_tool_use_id": nil, "message": object{
			"id": fmt.Sprintf("msg_sample_%02d", n), "type": "message", "role": "assistant", "model": model, "stop_reason": nil,
			"content": []object{{"type": "tool_use", "id": id, "name": tool, "input": input}},
			"usage":   object{"input_tokens": 8, "output_tokens": 1},
		}})
		say(object{"type": "user", "parent_tool_use_id": nil, "message": object{
			"role": "user", "content": []object{{"tool_use_id": id, "type": "tool_result", "content": result}},
		}})
	}
	say(object{
		"type": "system", "subtype": "init", "cwd": home[:len(home)-1], "model": model, "mcp_servers": []string{},
		"tools": []string{"Glob", "Grep", "Read", "StructuredOutput"}, "permissionMode": "dontAsk",
		"apiKeySource": "ANTHROPIC_API_KEY", "claude_code_version": "2.1.332",
	})
	for i, file := range files {
		call(i+1, "Read", object{"file_path": home + file}, "(the file)")
	}
	call(int(turns), "StructuredOutput", given, "Structured output provided successfully")
	say(object{
		"type": "result", "subtype": "success", "is_error": false, "num_turns": turns + 1, "duration_ms": s.ms,
		"duration_api_ms": s.ms - 1500, "total_cost_usd": usd, "result": "", "structured_output": given,
		"stop_reason": "tool_use", "terminal_reason": "completed", "permission_denials": []string{},
		"usage": object{
			"input_tokens": in, "cache_creation_input_tokens": s.fresh, "cache_read_input_tokens": s.cached, "output_tokens": s.out,
			"cache_creation": object{"ephemeral_5m_input_tokens": s.fresh, "ephemeral_1h_input_tokens": 0},
		},
		"modelUsage": object{model: object{
			"inputTokens": in, "outputTokens": s.out, "cacheReadInputTokens": s.cached, "cacheCreationInputTokens": s.fresh,
			"webSearchRequests": 0, "costUSD": usd, "contextWindow": 1000000, "maxOutputTokens": 16000, "costBasis": "list",
		}},
	})
	return b.Bytes(), failed
}

// answered is an answer as an engine gives it: the schema asks for every member of a reference, empty ones too.
type answered struct {
	answer.Analysis

	References []reference `json:"references"`
}

type reference struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Anchor string `json:"anchor"`
	Reason string `json:"reason"`
}

// complete gives every list of an answer a value: the schema knows no null.
func complete(a answer.Analysis) answered {
	a.Areas, a.Topics, a.NextSteps = listed(a.Areas), listed(a.Topics), listed(a.NextSteps)
	a.MissingInformation, a.Duplicates, a.Related = listed(a.MissingInformation), listed(a.Duplicates), listed(a.Related)
	full := answered{Analysis: a, References: []reference{}}
	for _, r := range a.References {
		full.References = append(full.References, reference(r))
	}
	return full
}

func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
