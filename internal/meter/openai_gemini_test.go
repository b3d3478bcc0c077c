package meter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	standgemini "github.com/issue-assistant/issue-assistant/internal/engine/enginetest/gemini"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/openai"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// other is one of the two APIs with a scripted client of it.
type other struct {
	provider, model string
	serve           func(standin.Script) *standin.Server
	path            func(model string, stream bool) string
	body            func(model string, stream bool, turns []turn) []byte
	key             string // the header of the key
}

// turn is what the client sends back of one answer, and what its tools gave.
type turn struct {
	answer []json.RawMessage // items, or parts
	result string
}

var long = strings.Repeat("The task of this run. ", 20)

func responses() other {
	return other{
		provider: "openai", model: "gpt-5.5", serve: openai.New, key: "Authorization",
		path: func(string, bool) string { return "/v1/responses" },
		body: func(model string, stream bool, turns []turn) []byte {
			input := []any{map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": long}}}}
			for i, t := range turns {
				calls := 0
				for _, raw := range t.answer {
					input = append(input, raw)
					var item struct {
						CallID string `json:"call_id"`
					}
					if json.Unmarshal(raw, &item) == nil && item.CallID != "" {
						calls++
						input = append(input, map[string]any{"type": "function_call_output", "call_id": item.CallID, "output": t.result})
					}
				}
				if calls == 0 {
					input = append(input, map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": fmt.Sprint("Go on ", i, t.result)}}})
				}
			}
			return mustJSON(map[string]any{
				"model": model, "stream": stream, "instructions": "Rules", "input": input, "tool_choice": "auto",
				"tools": []any{map[string]any{"type": "namespace", "name": "files", "tools": []any{map[string]any{"type": "function", "name": "read", "parameters": map[string]any{}}}}},
			})
		},
	}
}

func generate() other {
	return other{
		provider: "gemini", model: "gemini-3.1-pro-preview", serve: standgemini.New, key: "X-Goog-Api-Key",
		path: func(model string, stream bool) string {
			if stream {
				return "/v1beta/models/" + model + ":streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/" + model + ":generateContent"
		},
		body: func(_ string, _ bool, turns []turn) []byte {
			contents := []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": long}}}}
			for _, t := range turns {
				if len(t.answer) > 0 {
					contents = append(contents, map[string]any{"role": "model", "parts": t.answer})
				}
				contents = append(contents, map[string]any{"role": "user", "parts": []any{map[string]any{"functionResponse": map[string]any{"name": "read", "response": map[string]any{"output": t.result}}}}})
			}
			return mustJSON(map[string]any{
				"contents": contents, "systemInstruction": map[string]any{"parts": []any{map[string]any{"text": "Rules"}}},
				"tools": []any{map[string]any{"functionDeclarations": []any{map[string]any{"name": "read"}}}}, "generationConfig": map[string]any{"topK": 64},
			})
		},
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// otherRig is a meter before a stand-in.
type otherRig struct {
	*meter.Meter
	api     *standin.Server
	records []engine.CallRecord
	http    *http.Client
}

func (o other) start(t testing.TB, script standin.Script, change func(*meter.Options)) *otherRig {
	t.Helper()
	r := &otherRig{api: o.serve(script), http: &http.Client{Transport: &http.Transport{}}}
	opts := meter.Options{
		Provider: o.provider, Upstream: r.api.URL, Key: realKey, Model: o.model, BudgetUSD: 1, MaxTurns: 40, Prices: table(t),
		Record: func(c engine.CallRecord) { r.records = append(r.records, c) }, Now: time.Now,
	}
	if change != nil {
		change(&opts)
	}
	m, err := meter.Start(context.Background(), opts)
	if err != nil {
		r.api.Close()
		t.Fatal(err)
	}
	r.Meter = m
	return r
}

func (r *otherRig) close() {
	r.api.Close()
	_ = r.Close()
	r.http.CloseIdleConnections()
}

// post sends one request; parts are the items of the answer.
func (r *otherRig) post(t testing.TB, path string, body []byte) (status int, raw []byte, broke bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.BaseURL()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(r.DummyKey(), "sk-") {
		req.Header.Set("Authorization", "Bearer "+r.DummyKey())
	} else {
		req.Header.Set("X-Goog-Api-Key", r.DummyKey())
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, nil, true
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err = io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err != nil
}

// items are those of an answer, streamed or not, of either API.
func items(raw []byte) (list []json.RawMessage) {
	take := func(data []byte) {
		var v struct {
			Item       json.RawMessage   `json:"item"`
			Type       string            `json:"type"`
			Output     []json.RawMessage `json:"output"`
			Candidates []struct {
				Content struct {
					Parts []json.RawMessage `json:"parts"`
				} `json:"content"`
			} `json:"candidates"`
		}
		if json.Unmarshal(data, &v) != nil {
			return
		}
		if v.Type == "response.output_item.done" {
			list = append(list, v.Item)
		}
		list = append(list, v.Output...)
		for _, c := range v.Candidates {
			list = append(list, c.Content.Parts...)
		}
	}
	for line := range bytes.Lines(raw) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok {
			take(data)
		}
	}
	take(raw)
	return list
}

// seeds is how many runs each of the two APIs gets; METER_SEEDS asks for more.
func otherSeeds(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("METER_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 250
}

// TestOtherAPIsNeverOverBudget plays random runs: no bill may be above its budget, no run may have more turns.
func TestOtherAPIsNeverOverBudget(t *testing.T) {
	t.Parallel()
	for _, o := range []other{responses(), generate()} {
		t.Run(o.provider, func(t *testing.T) {
			t.Parallel()
			answered := 0
			for seed := range otherSeeds(t) {
				answered += o.storm(t, uint64(seed))
			}
			if answered < 2*otherSeeds(t) {
				t.Errorf("only %d answers in %d runs: the runs prove nothing", answered, otherSeeds(t))
			}
		})
	}
}

func (o other) storm(t *testing.T, seed uint64) (answered int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	lo := 0.1 + 0.5*r.Float64()
	counter := standin.Counter{Seed: seed, Min: lo, Max: min(lo+0.4, 1), MissRate: float64(r.IntN(2)) * r.Float64()}
	tame := r.IntN(3) == 0
	script := standin.Script{Counter: counter, Next: func(*standin.Request) standin.Step {
		s := standin.Step{Text: randomText(r, r.IntN(2000)), HiddenTokens: int64(r.IntN(2000)), Thinking: "hm"}
		for range r.IntN(3) {
			s.Tools = append(s.Tools, standin.Tool{Name: "read", Namespace: "files", Input: map[string]any{"path": randomText(r, 30), "n": 1}})
		}
		if tame {
			return s
		}
		switch r.IntN(14) {
		case 0:
			s.Cut, s.CutAfter = true, r.IntN(4000)
		case 1:
			s.Status = []int{400, 429, 500, 503}[r.IntN(4)]
		case 2:
			s.Usage = func(standin.Usage) *standin.Usage { return nil }
		case 3:
			s.Usage = func(standin.Usage) *standin.Usage { return &standin.Usage{Input: 1, Output: 1} }
		case 4:
			s.Raw = "not what anybody expects"
		case 5:
			s.Blocked = true
		case 6:
			s.HiddenTokens *= 20
		}
		return s
	}}
	budget := []float64{0.05, 0.1, 0.5, 1}[r.IntN(4)]
	turnsMost := 1 + r.IntN(30)
	rig := o.start(t, script, func(opts *meter.Options) { opts.BudgetUSD, opts.MaxTurns = budget, turnsMost })
	defer rig.close()
	var turns []turn
	for range 40 {
		stream := r.IntN(4) > 0
		status, raw, broke := rig.post(t, o.path(o.model, stream), o.body(o.model, stream, turns))
		if status == http.StatusBadRequest && strings.Contains(string(raw), "issue-assistant:") {
			break
		}
		if status == http.StatusOK && !broke {
			answered++
			turns = append(turns, turn{answer: items(raw), result: randomText(r, r.IntN(6000))})
		}
		if r.IntN(10) == 0 && len(turns) > 1 {
			turns[0].result = "(left out)" // engines rewrite their history
		}
	}
	_ = rig.Close()
	s, billed := rig.Summary(), rig.api.Bill().USD()
	if billed > budget || s.SpentUSD > budget+1e-9 || s.SpentUSD+1e-9 < billed || s.Turns > turnsMost {
		t.Errorf("seed %d: billed $%.6f, booked $%.6f of $%.2f, %d of %d turns", seed, billed, s.SpentUSD, budget, s.Turns, turnsMost)
	}
	return answered
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%x", r.Uint64())
		case 1:
			b.WriteString("日本語")
		case 2:
			b.WriteString("\"quoted\\n\" <tag> ")
		default:
			b.WriteString("ordinary words ")
		}
	}
	return b.String()
}

// TestOtherAPIsAreExact: the meter's dollars are the provider's where its usage can be trusted.
func TestOtherAPIsAreExact(t *testing.T) {
	t.Parallel()
	for _, o := range []other{responses(), generate()} {
		for _, stream := range []bool{true, false} {
			rig := o.start(t, standin.Script{Steps: []standin.Step{{Text: strings.Repeat("some words ", 50), Thinking: "hm", HiddenTokens: 300, Tools: []standin.Tool{{Name: "read", Namespace: "files", Input: map[string]any{"b": 1, "a": "x"}}}}}},
				func(opts *meter.Options) { opts.MaxTurns = 4 })
			t.Cleanup(rig.close)
			var turns []turn
			for n := range 5 {
				status, raw, _ := rig.post(t, o.path(o.model, stream), o.body(o.model, stream, turns))
				if want := map[bool]int{true: 200, false: 400}[n < 4]; status != want {
					t.Fatalf("%s: call %d: %d %s", o.provider, n, status, raw)
				}
				turns = append(turns, turn{answer: items(raw), result: strings.Repeat("a result ", 400)})
			}
			s, billed := rig.Summary(), rig.api.Bill().USD()
			if s.Turns != 4 || s.Refused != engine.Turns || s.SpentUSD-billed > 1e-9 || billed-s.SpentUSD > 1e-9 {
				t.Errorf("%s, stream %t: %+v, billed %v", o.provider, stream, s, billed)
			}
			calls := rig.api.Calls()
			if last := calls[3]; !last.Asked() || !last.NoTools || calls[2].Asked() || calls[2].NoTools || last.MaxTokens == 0 {
				t.Errorf("%s: the last call says %.200q, no tools %t, at most %d tokens", o.provider, last.Last, last.NoTools, last.MaxTokens)
			}
			for _, c := range calls {
				if !strings.HasSuffix(c.Header.Get(o.key), realKey) || c.Header.Get("Accept-Encoding") != "identity" || strings.Contains(fmt.Sprint(c.Header), rig.DummyKey()) {
					t.Errorf("%s: headers %v", o.provider, c.Header)
				}
			}
			// Blocks of earlier answers are known by what they were billed at: the reservation grows by what is new alone.
			if grew := rig.records[3].ReservedUSD - rig.records[2].ReservedUSD; o.provider == "openai" && grew > 0.05 {
				t.Errorf("the reservation grew by $%.4f", grew)
			}
		}
	}
}

// TestOtherAPIsRefuse holds what has no bound, and what is not of this API.
func TestOtherAPIsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api  other
		body string
		want string
	}{
		{responses(), `{"model":"gpt-5.5","input":"x","previous_response_id":"r"}`, "previous_response_id"},
		{responses(), `{"model":"gpt-5.5","input":"x","background":true}`, "background"},
		{responses(), `{"model":"gpt-5.5","input":"x","conversation":{"id":"c"}}`, "conversation"},
		{responses(), `{"model":"gpt-5.5","input":"x","prompt":{"id":"p"}}`, "prompt"},
		{responses(), `{"model":"gpt-5.5","input":"x","service_tier":"priority"}`, "service tier"},
		{responses(), `{"model":"gpt-5.5","input":"x","tools":[{"type":"web_search"}]}`, "web_search"},
		{responses(), `{"model":"gpt-5.5","input":"x","tools":[{"type":"tool_search","execution":"server"}]}`, "tool_search"},
		{responses(), `{"model":"gpt-5.5","input":"x","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}`, "mcp"},
		{responses(), `{"model":"gpt-5.5","input":[{"type":"item_reference","id":"x"}]}`, "item_reference"},
		{responses(), `{"model":"gpt-5.5","input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}]}`, "input_image"},
		{responses(), `{"model":"gpt-5.5","input":[{"type":"function_call_output","call_id":"1","output":[{"type":"input_file"}]}]}`, "input_file"},
		{responses(), `{"model":"gpt-5.5","model":"gpt-5-pro","input":"x"}`, "twice"},
		{responses(), `{"model":"nobody-knows","input":"x"}`, "no price"},
		{responses(), `{"input":"x"}`, "model"},
		{responses(), `{"model":"gpt-5.5"}`, "input"},
		{responses(), `{"model":"gpt-5.5","input":7}`, "input"},
		{responses(), `{"model":"gpt-5.5","input":[7]}`, "input"},
		{responses(), `{"model":"gpt-5.5","input":"x","max_output_tokens":0}`, "max_output_tokens"},
		{responses(), `{"model":"gpt-5.5","input":"x"`, "JSON"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"cachedContent":"c"}`, "cachedContent"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"cached_content":"c"}`, "cached_content"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"generation_config":{"max_output_tokens":9}}`, "generation_config"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"max_output_tokens":9}}`, "max_output_tokens"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"candidateCount":2}}`, "several"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseModalities":["IMAGE"]}}`, "responseModalities"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"googleSearch":{}}]}`, "googleSearch"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"codeExecution":{}}]}`, "codeExecution"},
		{generate(), `{"contents":[{"parts":[{"fileData":{"fileUri":"x"}}]}]}`, "fileData"},
		{generate(), `{"contents":[{"parts":[{"inlineData":{"data":"x"}}]}]}`, "inlineData"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}],"more":1}]}`, "more"},
		{generate(), `{"contents":[]}`, "contents"},
		{generate(), `{}`, "contents"},
		{generate(), `{"contents":[{"parts":7}]}`, "parts"},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":-1}}`, "maxOutputTokens"},
		{generate(), `[]`, "JSON"},
	} {
		rig := c.api.start(t, standin.Script{}, nil)
		t.Cleanup(rig.close)
		status, raw, _ := rig.post(t, c.api.path(c.api.model, false), []byte(c.body))
		if status != http.StatusBadRequest || !strings.Contains(string(raw), c.want) || !strings.Contains(string(raw), "issue-assistant:") {
			t.Errorf("%s: %d %s", c.body, status, raw)
		}
		if n := len(rig.api.Requests()); n != 0 {
			t.Errorf("%s: %d requests went out", c.body, n)
		}
	}
	for path, o := range map[string]other{"/v1/models": responses(), "/v1/chat/completions": responses(), "/v1/responses/compact": responses(), "/v1beta/models/x:embedContent": generate(), "/v1beta/cachedContents": generate(), "/v1beta/models/a%2Fb:generateContent": generate()} {
		rig := o.start(t, standin.Script{}, nil)
		t.Cleanup(rig.close)
		if status, _, _ := rig.post(t, path, []byte(`{}`)); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// TestOtherAPIsEdit looks at requests of every shape as they go out on the last call.
func TestOtherAPIsEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api  other
		body string
		want []string
	}{
		{responses(), `{"model":"gpt-5.5","input":"x"}`, []string{`"max_output_tokens":16000`, `"role":"user","content":[{"type":"input_text","text":"x"}]`, "This is the last call"}},
		{responses(), `{"model":"gpt-5.5","max_output_tokens":200,"input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"f"}]}`, []string{`"max_output_tokens":200`, `"tool_choice":"none"`, "This is the last call"}},
		{responses(), `{"model":"gpt-5.5","input":[{"role":"user","content":"x"}],"tool_choice":{"type":"function","name":"f"}}`, []string{`"tool_choice":"none"`}},
		{generate(), `{"contents":[{"parts":[{"text":"x"}]}]}`, []string{`"generationConfig":{"maxOutputTokens":16000}`, "This is the last call"}},
		{generate(), `{"generationConfig":{},"contents":[{"role":"model","parts":[]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`, []string{`"generationConfig":{"maxOutputTokens":16000}`, `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, `{"role":"user","parts":[{"text":"This is`}},
		{generate(), `{"generationConfig":{"maxOutputTokens":300},"contents":[{"role":"user","parts":[]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`, []string{`"maxOutputTokens":300`, `"mode":"NONE"`, `"parts":[{"text":"This is`}},
	} {
		rig := c.api.start(t, standin.Script{}, func(o *meter.Options) { o.MaxTurns = 1 })
		t.Cleanup(rig.close)
		if status, raw, _ := rig.post(t, c.api.path(c.api.model, false), []byte(c.body)); status != http.StatusOK {
			t.Errorf("%s: %d %s", c.body, status, raw)
			continue
		}
		out := string(rig.api.Requests()[0].Body)
		for _, want := range c.want {
			if !json.Valid([]byte(out)) || strings.Count(out, want) != 1 {
				t.Errorf("%s became %s: want %s", c.body, out, want)
			}
		}
	}
}

// TestOtherAPIsCount asks the provider's counter when bytes do not fit.
func TestOtherAPIsCount(t *testing.T) {
	t.Parallel()
	for _, o := range []other{responses(), generate()} {
		rig := o.start(t, standin.Script{Counter: standin.Counter{Min: 0.2, Max: 0.3}}, func(opts *meter.Options) { opts.BudgetUSD = 0.2 })
		t.Cleanup(rig.close)
		turns := []turn{{result: strings.Repeat("plain words of a long file ", 2400)}}
		status, raw, _ := rig.post(t, o.path(o.model, true), o.body(o.model, true, turns))
		if status != http.StatusOK || len(rig.api.Requests()) != 2 || len(rig.api.Calls()) != 1 {
			t.Errorf("%s: %d %s, %d requests", o.provider, status, raw, len(rig.api.Requests()))
		}
	}
}
