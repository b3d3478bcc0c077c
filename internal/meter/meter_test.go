package meter_test

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

func read(n int) anthropic.Step {
	return anthropic.Step{Text: "I look.", Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": "a.go"}}}, Repeat: n}
}

func TestARunIsPricedToThePico(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Steps: []anthropic.Step{read(3), {Thinking: "hm", Answer: map[string]string{"comment": "ok"}}}}, nil)
	c := r.client(1)
	c.run(t.Context(), "issue 12", 10)
	s := r.Summary()
	if c.answer == nil || s.Turns != 4 || s.Calls != 4 || s.Refused != "" || s.ReservedUSD != 0 {
		t.Errorf("answer %s, summary %+v", c.answer, s)
	}
	if got, want := s.SpentUSD, r.api.Bill().USD(); got != want || got == 0 {
		t.Errorf("spent %v, billed %v", got, want)
	}
	var sum float64
	for i, rec := range r.records {
		b := r.api.Requests()[i].Billed
		if rec.Basis != engine.BasisUsage || !rec.Turn || rec.N != i+1 || rec.CachedInput != b.CachedInput || rec.CacheWrite5m != b.CacheWrite5m ||
			rec.Input != b.Input || rec.Output != b.Output || rec.Status != 200 || rec.ReservedUSD < rec.CostUSD {
			t.Errorf("record %+v, billed %+v", rec, b)
		}
		sum += rec.CostUSD
	}
	if d := sum - s.SpentUSD; d > 1e-9 || d < -1e-9 {
		t.Errorf("records sum to %v, summary says %v", sum, s.SpentUSD)
	}
}

func TestBudgetEndsTheRunWithANote(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Steps: []anthropic.Step{read(1000)}}, func(o *meter.Options) { o.BudgetUSD = 0.5; o.MaxTurns = 200 })
	c := r.client(1)
	c.result = func(string) string { return strings.Repeat("line of source\n", 800) }
	c.run(t.Context(), "issue 12", 200)
	s := r.Summary()
	for _, rec := range r.records {
		t.Logf("%+v", rec)
	}
	if c.status != 402 || s.Refused != engine.Budget || s.SpentUSD > 0.5 || r.api.Bill().USD() > 0.5 {
		t.Errorf("status %d, %+v, bill %v", c.status, s, r.api.Bill().USD())
	}
}

// TestWhatIsKeptBackIsKnownFirst: before a call reaches the provider it is recorded what the call can cost, so that a
// process that is killed leaves a bound of its bill. A call that does not go out holds nothing back.
func TestWhatIsKeptBackIsKnownFirst(t *testing.T) {
	t.Parallel()
	var r *rig
	early := 0
	next := func(q *anthropic.Request) anthropic.Step {
		if n := len(r.held); n == q.Main && r.held[n-1].N == n && len(r.records) == n-1 {
			early++
		}
		return read(1)
	}
	r = start(t, anthropic.Script{Next: next}, func(o *meter.Options) { o.BudgetUSD, o.MaxTurns = 0.5, 200 })
	c := r.client(1)
	c.result = func(string) string { return strings.Repeat("line of source\n", 800) }
	c.run(t.Context(), "issue 12", 200)
	n := len(r.held)
	if s := r.Summary(); s.Refused != engine.Budget || early != n || n != s.Turns || n != len(r.records)-1 {
		t.Fatalf("%d calls were held back in time, %d in all: %+v", early, n, s)
	}
	spent := 0.0
	for i, h := range r.held {
		if rec := r.records[i]; h.Type != engine.TypeHeld || h.N != rec.N || h.ReservedUSD != rec.ReservedUSD || h.ReservedUSD < rec.CostUSD || spent+h.ReservedUSD > 0.5 {
			t.Errorf("held %+v, booked %+v, spent before $%v", h, rec, spent)
		}
		spent += r.records[i].CostUSD
	}
}
