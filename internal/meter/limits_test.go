package meter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// TestUsualTasksEndWithAnAnswer: a triage that reads 200 kB at $1.00, and a reply at $0.20.
func TestUsualTasksEndWithAnAnswer(t *testing.T) {
	t.Parallel()
	type task struct {
		name   string
		budget float64
		turns  int // of the model, the answer included
		bytes  int // read in all
		max    int
	}
	var tasks []task
	for _, turns := range []int{3, 6, 9, 12, 15} {
		tasks = append(tasks, task{"triage", 1, turns, 200_000, 40})
	}
	for _, turns := range []int{1, 2, 3, 4} {
		tasks = append(tasks, task{"reply", 0.2, turns, 16_000, 4})
	}
	for _, tt := range tasks {
		for _, miss := range []float64{0, 1} {
			for _, density := range []float64{0.22, 0.3, 0.4} {
				next := func(q *anthropic.Request) anthropic.Step {
					if q.Main >= tt.turns || q.Says(meter.LastNote) {
						return anthropic.Step{HiddenTokens: 600, Answer: map[string]string{"comment": strings.Repeat("word ", 300)}}
					}
					return anthropic.Step{Text: "I look.", HiddenTokens: 200, Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": "a"}}}}
				}
				r := newRig(t, anthropic.Script{Next: next, Counter: anthropic.Counter{Min: density, Max: density, MissRate: miss}},
					func(o *meter.Options) { o.BudgetUSD, o.MaxTurns = tt.budget, tt.max })
				c := r.client(1)
				c.system, c.result = strings.Repeat("rules of the house ", 700), source(tt.bytes/max(tt.turns-1, 1))
				c.run(t.Context(), strings.Repeat("the issue ", 300), 60)
				if s, bill := r.Summary(), r.api.Bill().USD(); c.answer == nil || bill > tt.budget {
					t.Errorf("%s, %d turns, miss %v, %v tokens a byte: no answer, status %d, billed $%.3f, %+v", tt.name, tt.turns, miss, density, c.status, bill, s)
				}
				r.close()
			}
		}
	}
}

func TestMaxTokensAreLoweredAndHaveAFloor(t *testing.T) {
	t.Parallel()
	body := `{"max_tokens":64000,"model":"claude-opus-5-5","thinking":{"type":"enabled","budget_tokens":31999},"messages":[{"role":"user","content":"hello"}]}`
	r := start(t, anthropic.Script{}, func(o *meter.Options) { o.BudgetUSD = 0.1 })
	if status, got, _, _ := r.raw(t, "POST", r.messages(), body, nil); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	q := r.api.Requests()[len(r.api.Requests())-1]
	if q.MaxTokens >= 5000 || q.MaxTokens < 2048 || q.ThinkingBudget != q.MaxTokens/2 {
		t.Errorf("max_tokens %d, budget_tokens %d", q.MaxTokens, q.ThinkingBudget)
	}
	// Below 2,048 tokens of answer with a fixed share of thinking, the call is refused.
	r = start(t, anthropic.Script{}, func(o *meter.Options) { o.BudgetUSD = 0.03 })
	if status, _, _, _ := r.raw(t, "POST", r.messages(), body, nil); status != 402 || r.Summary().WorstNextCallUSD < 0.03 {
		t.Errorf("status %d, %+v", status, r.Summary())
	}
	// An engine that asks for less gets what it asks for.
	small := `{"max_tokens":100,"model":"claude-opus-5-5","messages":[{"role":"user","content":"hello"}]}`
	if status, got, _, _ := r.raw(t, "POST", r.messages(), small, nil); status != 200 || r.api.MainRequests()[0].MaxTokens != 100 {
		t.Errorf("%d %s", status, got)
	}
	// An engine that says nothing gets a bound.
	r = start(t, anthropic.Script{}, nil)
	none := `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"hello"}]}`
	if status, got, _, _ := r.raw(t, "POST", r.messages(), none, nil); status != 400 {
		// The meter asks for 16,000 tokens; what goes out is valid.
		if q := r.api.MainRequests()[0]; status != 200 || q.MaxTokens != 16_000 {
			t.Errorf("%d %s, max_tokens %d", status, got, q.MaxTokens)
		}
	}
}

func TestTheNoteStandsBehindTheCache(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ messages, want string }{
		"text":   {`[{"role":"user","content":"hello"}]`, `[{"role":"user","content":[{"type":"text","text":"hello"},{"type":"text","text":"NOTE"}]}]`},
		"blocks": {`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]`, `[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"NOTE"}]}]`},
		"empty":  {`[{"role":"user","content":[]}]`, `[{"role":"user","content":[{"type":"text","text":"NOTE"}]}]`},
		"system": {`[{"role":"system","content":"env"},{"role":"user","content":"x"}]`, `[{"role":"system","content":"env"},{"role":"user","content":"x"},{"role":"system","content":"NOTE"}]`},
		"answer": {`[{"role":"user","content":"x"},{"role":"assistant","content":"y"} ]`, `[{"role":"user","content":"x"},{"role":"assistant","content":"y"} ,{"role":"user","content":[{"type":"text","text":"NOTE"}]}]`},
	} {
		r := start(t, anthropic.Script{}, func(o *meter.Options) { o.MaxTurns = 1 })
		body := `{"model":"claude-opus-5-5", "messages":` + tt.messages + `,"max_tokens":100 }`
		if status, got, _, _ := r.raw(t, "POST", r.messages(), body, nil); status != 200 {
			t.Errorf("%s: %d %s", name, status, got)
			continue
		}
		note, _ := json.Marshal(meter.LastNote)
		want := `{"model":"claude-opus-5-5", "messages":` + strings.ReplaceAll(tt.want, `"NOTE"`, string(note)) + `,"max_tokens":100 }`
		if got := string(r.api.Requests()[0].Body); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if !r.records[0].Last || !r.Summary().LastAsked {
			t.Errorf("%s: %+v", name, r.records[0])
		}
	}
}

func TestRequestsPassUnchanged(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{}, nil)
	body := "{ \"model\" : \"claude-opus-5-5-20260901\" ,\"max_tokens\":100,\"temperature\":1.0,\"unknown\":[1,{\"a\":null}],\n\"messages\":[{\"role\":\"user\",\"content\":\"\\u00e9 \\ud83d\\ude00\"}],\"metadata\":{\"user_id\":\"x\"}}"
	anthropicModel := strings.Replace(body, "-20260901", "", 1)
	if status, got, _, _ := r.raw(t, "POST", r.messages()+"?beta=true", anthropicModel, nil); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	if q := r.api.Requests()[0]; string(q.Body) != anthropicModel || q.Query != "beta=true" {
		t.Errorf("upstream got %s?%s", q.Body, q.Query)
	}
}

func TestDocumentsNeedTheProvidersCount(t *testing.T) {
	t.Parallel()
	pdf := `{"model":"claude-opus-5-5","max_tokens":1000,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + strings.Repeat("QUJD", 2000) + `"}}]}]}`
	r := start(t, anthropic.Script{}, nil)
	if status, got, _, _ := r.raw(t, "POST", r.messages(), pdf, nil); status != 200 {
		t.Errorf("counted: %d %s", status, got)
	}
	r = start(t, anthropic.Script{Count: func(int64) (int64, int) { return 0, 500 }}, nil)
	if status, _, _, _ := r.raw(t, "POST", r.messages(), pdf, nil); status != 402 || r.Summary().Refused != engine.ProviderError {
		t.Errorf("not counted: %d, %+v", status, r.Summary())
	}
	image := strings.Replace(strings.Replace(pdf, "document", "image", 1), "application/pdf", "image/png", 1)
	if status, _, _, _ := r.raw(t, "POST", r.messages(), image, nil); status != 200 {
		t.Errorf("image: %d", status)
	}
	if rec := r.records[1]; rec.ReservedUSD > 0.06 || rec.ReservedUSD < 0.045 {
		t.Errorf("an image of 8,000 bytes reserved $%v", rec.ReservedUSD)
	}
}

func TestSurchargesAreReservedAndBooked(t *testing.T) {
	t.Parallel()
	reserved := map[string]float64{}
	for _, extra := range []string{"", `,"speed":"fast"`, `,"inference_geo":"us"`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`} {
		r := start(t, anthropic.Script{}, nil)
		if status, got, _, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, extra), nil); status != 200 {
			t.Fatalf("%s: %d %s", extra, status, got)
		}
		if got, want := r.Summary().SpentUSD, r.api.Bill().USD(); got != want {
			t.Errorf("%s: spent %v, billed %v", extra, got, want)
		}
		reserved[extra] = r.records[0].ReservedUSD
	}
	if reserved[`,"speed":"fast"`] <= 1.9*reserved[""] || reserved[`,"inference_geo":"us"`] <= 1.09*reserved[""] || reserved[`,"cache_control":{"type":"ephemeral","ttl":"1h"}`] <= reserved[""] {
		t.Errorf("%v", reserved)
	}
}

// TestLongContextPrices: a request beyond a tier costs five times as much, and is reserved so.
func TestLongContextPrices(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Counter: anthropic.Counter{Min: 1, Max: 1}}, func(o *meter.Options) { o.Model = "claude-haiku-5-5" })
	c := r.client(1)
	c.model = "claude-haiku-5-5"
	c.run(t.Context(), strings.Repeat("a", 120_000), 1)
	if got, want := r.Summary().SpentUSD, r.api.Bill().USD(); got != want || want < 120_000*0.625e-6 || r.records[0].ReservedUSD < want {
		t.Errorf("spent %v, billed %v, %+v", got, want, r.records)
	}
}
