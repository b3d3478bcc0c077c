package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
)

// ending is a run that ends without an answer that is posted.
type ending struct {
	name     string
	script   anthropic.Script
	settings string
	key      string
	ended    string
	red      bool   // a maintainer or the provider must mend it; else green with a warning
	line     string // part of the line of usage
	turns    int    // requests that the provider answered with a turn; -1: any
}

func status(code int) anthropic.Script {
	return anthropic.Script{Steps: []anthropic.Step{{Status: code}}}
}

func always(step anthropic.Step) anthropic.Script {
	return anthropic.Script{Steps: []anthropic.Step{step}}
}

func TestEndingsWithoutAComment(t *testing.T) {
	t.Parallel()
	for _, e := range []ending{
		{
			name: "tools for ever, 40 turns", script: always(reading("main.go")), ended: "turns", turns: 40,
			line: "**stopped at its turns**, nothing posted: raise `max_turns` · 40 of 40 turns",
		},
		{
			name: "tools for ever, 4 turns", script: always(reading("main.go")), settings: "max_turns = 4", ended: "turns", turns: 4,
			line: "**stopped at its turns**, nothing posted: raise `max_turns` · 4 of 4 turns",
		},
		{
			name: "small budget", script: always(anthropic.Step{Tools: reading("main.go").Tools, Text: strings.Repeat("word ", 3000)}),
			settings: "max_budget_usd = 0.35", ended: "budget", turns: -1, line: "**stopped at its budget**, nothing posted: raise `max_budget_usd`",
		},
		{name: "refusal", script: always(anthropic.Step{Text: "I cannot", StopReason: "refusal"}), ended: "model_refused", turns: -1, line: "refused by the model"},
		{name: "no structured answer", script: always(anthropic.Step{Text: "It is fine."}), ended: "no_answer", turns: -1, line: "no answer"},
		{
			name: "answer over 100 kB", settings: "max_budget_usd = 5", ended: "bad_answer", turns: 1, line: "answer did not fit its schema",
			script: always(anthropic.Step{IgnoreMax: true, Answer: triage(func(a map[string]any) { a["analysis"] = strings.Repeat("long ", 20_100) })}),
		},
		{
			name: "answer holds the key", ended: "bad_answer", turns: 1, line: "answer did not fit its schema",
			script: answering(triage(func(a map[string]any) { a["analysis"] = "The key is " + theKey })),
		},
		{name: "model unknown to the provider", script: status(404), ended: "unknown_model", red: true, turns: 0, line: "unknown model: check `model`"},
		{name: "bad key", script: status(401), key: "sk-ant-api03-SOME-OTHER-KEY-9876543210", ended: "not_signed_in", red: true, turns: 0, line: "not signed in: check the secret"},
		{name: "overloaded", script: status(529), ended: "provider_error", red: true, turns: 0, line: "provider error 529"},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.test(t)
		})
	}
}

func (e ending) test(t *testing.T) {
	t.Helper()
	w := newWorld(t, e.script, settings(e.settings))
	r := w.run(t, start{event: "issues", payload: w.opened(), key: e.key})
	color := "success"
	if e.red {
		color = "failure"
	}
	if r.jobs["Analyze"] != color || r.jobs["Event"] != "success" || r.jobs["Apply"] != "" || (r.code != 0) != e.red {
		t.Errorf("rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.commands(t); got != "event engine context run usage" {
		t.Errorf("commands: %s", got)
	}
	if n := len(w.gh.Comments(number)); n != 0 {
		t.Errorf("%d comments", n)
	}
	if got := r.outputs["run.ended"]; got != e.ended {
		t.Errorf("ended %q, want %s", got, e.ended)
	}
	if r.outputs["run.answer"] != "" {
		t.Error("an answer was handed on")
	}
	lines := r.lines("Analyze")
	if len(lines) != 1 || !usageLine("claude-opus-5-5", ".*").MatchString(lines[0]) || !strings.Contains(lines[0], e.line) {
		t.Errorf("summary of analyze: %q", lines)
	}
	said := r.warnings
	if e.red {
		said = r.errors
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.TrimSpace(s) != "" }) {
		t.Errorf("nothing was said; warnings %q, errors %q", r.warnings, r.errors)
	}
	if e.red != (len(r.errors) > 0) {
		t.Errorf("errors: %q", r.errors)
	}
	if n := answered(w.ai); e.turns >= 0 && n != e.turns {
		t.Errorf("the provider answered %d times, want %d", n, e.turns)
	}
	if len(w.artifact(t, 4711, "issue-assistant-usage-1")) != 2 {
		t.Error("record or ledger are missing")
	}
	t.Logf("%s: %s, warnings %q, errors %q", r.took, lines, r.warnings, r.errors)
}

// answered counts what the provider answered with a turn.
func answered(ai *anthropic.Server) int {
	n := 0
	for _, r := range ai.MainRequests() {
		if r.Status == 200 {
			n++
		}
	}
	return n
}

// TestAModelWithoutAPrice never reaches the provider: its budget could not be held.
func TestAModelWithoutAPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(triage(nil)), "[engine]\nmodel = \"claude-opus-99\"\n")
	r := w.run(t, start{event: "issues", payload: w.opened()})
	if r.jobs["Analyze"] != "failure" || r.jobs["Apply"] != "" || r.code == 0 {
		t.Errorf("rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.commands(t); got != "event engine" {
		t.Errorf("commands: %s", got)
	}
	if len(w.ai.Requests())+len(w.gh.Comments(number)) != 0 {
		t.Error("something was started or posted")
	}
	if !strings.Contains(r.log, "claude-opus-99") {
		t.Error("the log does not name the model")
	}
}

// TestAnAnswerThatGitHubDrops: run cannot know the job's token, so GitHub is the one that drops such an answer; apply
// finds nothing and says so.
func TestAnAnswerThatGitHubDrops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(triage(func(a map[string]any) { a["analysis"] = "The token is " + theToken })), "")
	r := w.run(t, start{event: "issues", payload: w.opened()})
	if r.jobs["Analyze"] != "success" || r.jobs["Apply"] != "failure" || r.code == 0 {
		t.Errorf("rc %d, jobs %v", r.code, r.jobs)
	}
	if n := len(w.gh.Comments(number)); n != 0 {
		t.Errorf("%d comments", n)
	}
	for _, s := range w.spies(t) {
		if s.command == "apply" && s.env["INPUT_ANSWER"] != "" {
			t.Error("the harness did not drop the answer")
		}
	}
	const why = "GitHub drops an output that holds a secret; nothing was posted"
	if got := strings.Join(r.lines("Apply"), "\n"); strings.Count(got, why) != 1 || len(r.errors) != 1 || !strings.Contains(r.errors[0], why) {
		t.Errorf("summary %q, errors %q", got, r.errors)
	}
}

// TestWithoutAKey: a fork or a set-up that is not finished starts nothing and stays green.
func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(triage(nil)), "")
	r := w.run(t, start{event: "issues", payload: w.opened(), noKey: true})
	if r.code != 0 || r.jobs["Analyze"] != "success" || r.jobs["Apply"] != "" || r.outputs["engine.reason"] != "no key" {
		t.Errorf("rc %d, jobs %v, reason %q", r.code, r.jobs, r.outputs["engine.reason"])
	}
	if got := w.commands(t); got != "event engine" || len(w.ai.Requests()) != 0 {
		t.Errorf("commands: %s", got)
	}
}
