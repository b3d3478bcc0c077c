package run

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// brokenRun is a run of the real Claude Code that reads two files, meets an overloaded provider and may go on. between
// runs before it does, with the folder of the run.
func brokenRun(t *testing.T, next []anthropic.Step, between func(work string)) (Options, *anthropic.Server) {
	t.Helper()
	steps := append([]anthropic.Step{read("main.go"), read("main.go"), {Status: 529, Repeat: 3}}, next...)
	o, server := realOptions(t, anthropic.Script{Steps: steps})
	o.Delta = []byte("DELTAWORD: go on.")
	o.Session = &engine.SessionRecord{Decision: "fresh", Reasons: "no_saved_session"}
	o.timing = realTiming()
	o.timing.pause = 0
	o.Retry = func(a Attempt) session.Decision {
		if !a.Kept || a.Turns != 2 || a.Lost {
			t.Errorf("attempt %+v", a)
		}
		work, err := filepath.Glob(filepath.Join(o.Temp, "issue-assistant-run-*"))
		if err != nil || len(work) != 1 {
			t.Errorf("folders %v %v", work, err)
		} else if between != nil {
			between(work[0])
		}
		return session.Decision{Prompt: session.PromptDelta}
	}
	return o, server
}

// TestClaudeGoesOn: the conversation goes on where it broke off, from the cache, and its dollars are its own although
// the program's total is that of both starts.
func TestClaudeGoesOn(t *testing.T) {
	t.Parallel()
	o, server := brokenRun(t, []anthropic.Step{answer()}, nil)
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished || res.Answer != okAnswer || res.Turns != 3 || res.Conversation.Runs != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	requests := server.MainRequests()
	last := requests[len(requests)-1]
	system, messages := parts(t, last.Body)
	if !strings.Contains(messages, "TASKWORD") || !strings.Contains(messages, "DELTAWORD") || !strings.Contains(messages, "package main") || strings.Contains(messages, "API Error") {
		t.Errorf("the conversation did not go on where it broke off: %s", messages)
	}
	if !strings.Contains(system, "RULESWORD") {
		t.Error("the rules are gone")
	}
	if c := res.Conversation; c.ResumedCached*2 < c.ResumedFirst {
		t.Errorf("the first call after it went on took %d of %d tokens from the cache", c.ResumedCached, c.ResumedFirst)
	}
	sameUSD(t, "the run's record", res.CostUSD, server.Bill().USD())

	data, err := os.ReadFile(o.ExecutionFile)
	if err != nil {
		t.Fatal(err)
	}
	whole := readUsage(t, data)
	sameUSD(t, "usage of the execution file", *whole.CostUSD, server.Bill().USD())
	if line := usage.Line(whole); !strings.Contains(line, "session resumed: ") || !strings.Contains(line, "% from cache") || strings.Contains(line, "\n") {
		t.Errorf("line: %s", line)
	}

	// The stream of the second start alone, as a vendor's log: its total is cumulative, its own dollars are not.
	first, second := split(t, data)
	before, after := readUsage(t, first), readUsage(t, second)
	total := *before.CostUSD + *after.CostUSD
	sameUSD(t, "both starts by the program's own log", total, server.Bill().USD())
	if !bytes.Contains(second, []byte(`"total_cost_usd"`)) || *after.CostUSD <= 0 || *after.CostUSD >= *before.CostUSD {
		t.Errorf("the second start's own dollars: $%.4f after $%.4f", *after.CostUSD, *before.CostUSD)
	}
}

func sameUSD(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.00005 || want == 0 {
		t.Errorf("%s: $%.5f, the provider billed $%.5f", what, got, want)
	}
}

func readUsage(t *testing.T, data []byte) usage.Run {
	t.Helper()
	prices, err := meter.Prices(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r, err := usage.Read(bytes.NewReader(data), int64(len(data)), usage.Options{Price: prices.Cost})
	if err != nil || r.CostUSD == nil {
		t.Fatalf("%+v %v", r, err)
	}
	return r
}

// split returns the engine's own lines of each of two starts.
func split(t *testing.T, data []byte) (first, second []byte) {
	t.Helper()
	to := &first
	seen := 0
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"type":"`+engine.TypeSession+`"`)) {
			if seen++; seen == 2 {
				to = &second
			}
		}
		if !bytes.Contains(line, []byte(`"type":"issue_assistant.`)) {
			*to = append(*to, line...)
		}
	}
	if len(first) == 0 || len(second) == 0 {
		t.Fatal("the file does not hold two starts")
	}
	return first, second
}

// TestClaudeDoesNotKnowTheSession: one fresh run with the whole task, in the same budget.
func TestClaudeDoesNotKnowTheSession(t *testing.T) {
	t.Parallel()
	transcripts := func(work string) []string {
		found, err := filepath.Glob(filepath.Join(work, "home", ".claude", "projects", "*", "*.jsonl"))
		if err != nil || len(found) != 1 {
			t.Errorf("transcripts %v %v", found, err)
		}
		return found
	}
	for name, between := range map[string]func(work string){
		"gone": func(work string) {
			for _, f := range transcripts(work) {
				if err := os.Remove(f); err != nil {
					t.Error(err)
				}
			}
		},
		"no transcript at all": func(work string) {
			for _, f := range transcripts(work) {
				if err := os.WriteFile(f, []byte("\x00 this is no line of JSON\n"), 0o644); err != nil {
					t.Error(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, server := brokenRun(t, []anthropic.Step{answer()}, between)
			o.Limits.MaxBudgetUSD = 0.6
			res, err := Run(t.Context(), o)
			if err != nil || res.Ended != engine.Finished || res.Answer != okAnswer || res.Conversation.Runs != 1 {
				t.Fatalf("%+v %v", res, err)
			}
			requests := server.MainRequests()
			_, messages := parts(t, requests[len(requests)-1].Body)
			if !strings.Contains(messages, "TASKWORD") || strings.Contains(messages, "DELTAWORD") || strings.Contains(messages, "tool_result") {
				t.Errorf("the last start was no fresh one with the whole task: %s", messages)
			}
			for _, r := range requests {
				if _, m := parts(t, r.Body); strings.Contains(m, "DELTAWORD") && !strings.Contains(m, "TASKWORD") {
					t.Error("a fresh conversation got the delta prompt")
				}
			}
			if billed := server.Bill().USD(); billed > o.Limits.MaxBudgetUSD {
				t.Errorf("$%.4f were billed", billed)
			}
			sameUSD(t, "the run's record", res.CostUSD, server.Bill().USD())
			data, err := os.ReadFile(o.ExecutionFile)
			if err != nil {
				t.Fatal(err)
			}
			if line := usage.Line(readUsage(t, data)); !strings.HasSuffix(line, "session fresh: resume_failed") {
				t.Errorf("line: %s", line)
			}
		})
	}
}

// TestClaudeTakesNewRulesWhenItGoesOn: the program keeps a snapshot of the first run's rules unless it is told not to.
func TestClaudeTakesNewRulesWhenItGoesOn(t *testing.T) {
	t.Parallel()
	o, server := brokenRun(t, []anthropic.Step{answer()}, func(work string) {
		if err := os.WriteFile(filepath.Join(work, "rules.md"), []byte("NEWRULES: be kind.\n"), 0o644); err != nil {
			t.Error(err)
		}
	})
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished {
		t.Fatalf("%+v %v", res, err)
	}
	requests := server.MainRequests()
	system, _ := parts(t, requests[len(requests)-1].Body)
	if !strings.Contains(system, "NEWRULES") || strings.Contains(system, "RULESWORD") {
		t.Error("the new rules were ignored")
	}
}

// TestClaudeStopsAtTheBudgetOfBothStarts: what the first start spent is not given back.
func TestClaudeStopsAtTheBudgetOfBothStarts(t *testing.T) {
	t.Parallel()
	o, server := brokenRun(t, []anthropic.Step{{Tools: read("main.go").Tools, Text: strings.Repeat("word ", 3000)}}, nil)
	o.Limits.MaxBudgetUSD = 0.35
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Budget {
		t.Fatalf("%+v %v", res, err)
	}
	if billed := server.Bill().USD(); billed > o.Limits.MaxBudgetUSD {
		t.Errorf("$%.4f were billed of $%.2f", billed, o.Limits.MaxBudgetUSD)
	}
}
