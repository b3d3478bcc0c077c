package meter_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// client is a scripted engine: like Claude Code it sends its whole history with moving cache marks, streams, repeats a
// broken call without streaming, retries on 429 and 529, and stops at anything else.
type client struct {
	base      string
	key       string
	model     string
	fallback  string // taken after three 529
	maxTokens int
	thinking  int // budget of a fixed share of thinking
	system    string
	ttl       string
	messages  []map[string]any
	tools     []string
	result    func(name string) string // what a tool gives
	rand      *rand.Rand
	http      *http.Client
	retries   int
	rewrite   float64         // how often an old tool result is left out of one request
	answer    json.RawMessage // input of the StructuredOutput call
	status    int             // of the response that ended it
	said      string          // its error message
	stops     []string        // stop reasons of the answers
}

type reply struct {
	Content []map[string]any `json:"content"`
	Stop    string           `json:"stop_reason"`
	whole   bool
}

func (c *client) body(stream bool, extra []map[string]any) []byte {
	cache := map[string]any{"type": "ephemeral"}
	if c.ttl != "" {
		cache["ttl"] = c.ttl
	}
	var tools []map[string]any
	for _, name := range c.tools {
		tools = append(tools, map[string]any{"name": name, "description": "the tool " + name, "input_schema": map[string]any{"type": "object"}})
	}
	messages := append(append([]map[string]any(nil), c.messages...), extra...)
	if n := len(messages); n > 4 && c.rewrite > 0 && c.rand.Float64() < c.rewrite {
		at := 2 + 2*c.rand.IntN((n-2)/2) // a user message with results
		if blocks, ok := messages[at]["content"].([]map[string]any); ok && at < n-1 && blocks[0]["type"] == "tool_result" {
			old := append([]map[string]any(nil), blocks...)
			old[0] = map[string]any{"type": "tool_result", "tool_use_id": blocks[0]["tool_use_id"], "content": "[left out]"}
			messages[at] = map[string]any{"role": "user", "content": old}
		}
	}
	if n := len(messages); n > 0 { // the mark moves to the last block
		last := messages[n-1]
		if blocks, ok := last["content"].([]map[string]any); ok && len(blocks) > 0 {
			marked := append([]map[string]any(nil), blocks...)
			b := map[string]any{"cache_control": cache}
			maps.Copy(b, marked[len(marked)-1])
			marked[len(marked)-1] = b
			messages[n-1] = map[string]any{"role": last["role"], "content": marked}
		}
	}
	req := map[string]any{
		"model": c.model, "max_tokens": c.maxTokens, "stream": stream, "messages": messages, "metadata": map[string]any{"user_id": "u"},
		"system": []map[string]any{{"type": "text", "text": "You are an engine."}, {"type": "text", "text": c.system, "cache_control": cache}},
	}
	if len(tools) > 0 {
		req["tools"] = tools
	}
	if c.thinking > 0 {
		req["thinking"] = map[string]any{"type": "enabled", "budget_tokens": min(c.thinking, c.maxTokens-1)}
	}
	raw, err := json.Marshal(req)
	if err != nil {
		panic(err)
	}
	return raw
}

// post sends one request; an error is a connection that broke.
func (c *client) post(ctx context.Context, stream bool, extra []map[string]any) (status int, r reply, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/messages?beta=true", bytes.NewReader(c.body(stream, extra)))
	if err != nil {
		return 0, reply{}, err
	}
	req.Header.Set("X-Api-Key", c.key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		var e struct{ Error struct{ Message string } }
		_ = json.Unmarshal(raw, &e)
		c.said = e.Error.Message
		return resp.StatusCode, reply{}, err
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		err = json.NewDecoder(resp.Body).Decode(&r)
		r.whole = err == nil
		return resp.StatusCode, r, err
	}
	r, err = readStream(resp.Body)
	return resp.StatusCode, r, err
}

func readStream(body io.Reader) (r reply, err error) {
	sc := bufio.NewScanner(body)
	sc.Buffer(nil, 64<<20)
	parts := map[int]*strings.Builder{}
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Partial                         string `json:"partial_json"`
				Stop                            string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return r, err
		}
		switch e.Type {
		case "content_block_start":
			r.Content = append(r.Content, e.Block)
			parts[e.Index] = &strings.Builder{}
		case "content_block_delta":
			if e.Delta.Type == "signature_delta" {
				r.Content[e.Index]["signature"] = e.Delta.Signature
				continue
			}
			parts[e.Index].WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.Partial)
		case "content_block_stop":
			b, text := r.Content[e.Index], parts[e.Index].String()
			switch b["type"] {
			case "text":
				b["text"] = text
			case "thinking":
				b["thinking"] = text
			default:
				b["input"] = json.RawMessage(text)
				if !json.Valid([]byte(text)) {
					b["input"] = json.RawMessage("{}")
				}
			}
		case "message_delta":
			r.Stop = e.Delta.Stop
		case "message_stop":
			r.whole = true
		case "error":
			return r, fmt.Errorf("error event: %s", data)
		}
	}
	if err := sc.Err(); err != nil {
		return r, err
	}
	if !r.whole {
		return r, io.ErrUnexpectedEOF
	}
	return r, nil
}

// call sends a request until it is answered, refused or given up.
func (c *client) call(ctx context.Context, extra []map[string]any) (reply, bool) {
	stream, overloaded := true, 0
	for try := 0; try <= c.retries; try++ {
		status, r, err := c.post(ctx, stream, extra)
		c.status = status
		switch {
		case err != nil && try >= 1:
			stream = false
		case err != nil:
		case status == http.StatusOK:
			c.stops = append(c.stops, r.Stop)
			return r, true
		case status == 529:
			if overloaded++; overloaded == 3 && c.fallback != "" {
				c.model = c.fallback
			}
		case status != http.StatusTooManyRequests && status < 500:
			return reply{}, false
		}
		if ctx.Err() != nil {
			return reply{}, false
		}
	}
	return reply{}, false
}

// run talks until there is an answer, a refusal, or limit calls were made.
func (c *client) run(ctx context.Context, prompt string, limit int) {
	c.messages = append(c.messages, map[string]any{"role": "user", "content": []map[string]any{{"type": "text", "text": prompt}}})
	for range limit {
		r, ok := c.call(ctx, nil)
		if !ok {
			return
		}
		if len(r.Content) == 0 {
			return
		}
		c.messages = append(c.messages, map[string]any{"role": "assistant", "content": r.Content})
		var results []map[string]any
		for _, b := range r.Content {
			if b["type"] != "tool_use" {
				continue
			}
			if b["name"] == "StructuredOutput" {
				c.answer, _ = json.Marshal(b["input"])
				return
			}
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": c.result(fmt.Sprint(b["name"]))})
		}
		if len(results) == 0 {
			results = []map[string]any{{"type": "text", "text": "Go on."}}
		}
		c.messages = append(c.messages, map[string]any{"role": "user", "content": results})
	}
}

const realKey = "sk-ant-api03-the-real-key-0123456789"

// table is the program's own, on a fixed day.
func table(t testing.TB) meter.Table {
	t.Helper()
	tab, err := meter.Prices(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// rig is a meter between a client and a stand-in.
type rig struct {
	*meter.Meter
	api     *anthropic.Server
	records []engine.CallRecord
	held    []engine.HeldRecord
	http    *http.Client
}

func start(t testing.TB, script anthropic.Script, change func(*meter.Options)) *rig {
	t.Helper()
	r := newRig(t, script, change)
	t.Cleanup(r.close)
	return r
}

// newRig is start without a clean-up that would keep thousands of rigs in memory until the test ends.
func newRig(t testing.TB, script anthropic.Script, change func(*meter.Options)) *rig {
	t.Helper()
	r := &rig{api: anthropic.New(script)}
	opts := meter.Options{
		Provider: "anthropic", Upstream: r.api.URL, Key: realKey, Model: "claude-opus-5-5", BudgetUSD: 1, MaxTurns: 40,
		Prices: table(t), Record: func(c engine.CallRecord) { r.records = append(r.records, c) }, Now: time.Now,
		Held: func(h engine.HeldRecord) { r.held = append(r.held, h) },
	}
	if change != nil {
		change(&opts)
	}
	m, err := meter.Start(context.Background(), opts)
	if err != nil {
		r.api.Close()
		t.Fatal(err)
	}
	r.Meter, r.http = m, &http.Client{Transport: &http.Transport{}}
	return r
}

func (r *rig) close() {
	r.api.Close()
	_ = r.Close()
	r.http.CloseIdleConnections()
}

func (r *rig) client(seed uint64) *client {
	return &client{
		base: r.BaseURL(), key: r.DummyKey(), model: "claude-opus-5-5", maxTokens: 16_000, system: strings.Repeat("rules ", 400),
		tools: []string{"Read", "Grep", "Glob", "StructuredOutput"}, rand: rand.New(rand.NewPCG(seed, 1)), http: r.http, retries: 5,
		result: func(string) string { return strings.Repeat("line of source\n", 100) },
	}
}
