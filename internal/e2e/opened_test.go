package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// usageLine is the line of a triage with the default limits.
func usageLine(model, rest string) *regexp.Regexp {
	return regexp.MustCompile(`^\*\*triage\*\* of #12 · ` + model + ` · ` + rest + `$`)
}

var materialFolder = regexp.MustCompile(`/[^\s"\\` + "`" + `]*/\.issue-assistant/material`)

// readThenAnswer reads the issue where the task says that it lies, then answers.
func readThenAnswer(answer map[string]any) anthropic.Script {
	return anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
		folder := materialFolder.FindString(r.User)
		if len(r.Results) > 0 || folder == "" {
			return anthropic.Step{Answer: answer}
		}
		return reading(filepath.Join(folder, "issue.md"))
	}}
}

func TestAnOpenedIssueEndsWithOneComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readThenAnswer(triage(nil)), "")
	r := w.run(t, start{event: "issues", payload: w.opened()})
	if r.code != 0 || !cmp.Equal(r.jobs, map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"}) {
		t.Errorf("rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.commands(t); got != "event engine context run usage apply" {
		t.Errorf("commands: %s", got)
	}

	comments := w.gh.Comments(number)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "The program ends with a panic when it starts.") {
		t.Fatalf("comments: %+v", comments)
	}
	issue, _ := w.gh.Issue(number)
	slices.Sort(issue.Labels)
	if diff := cmp.Diff([]string{"bug", "needs-triage"}, issue.Labels); diff != "" {
		t.Error(diff)
	}
	for _, path := range w.writes() {
		if !strings.HasPrefix(path, "POST /repos/octo-org/demo/issues/12/") {
			t.Errorf("written elsewhere: %s", path)
		}
	}
	if other, _ := w.gh.Issue(3); len(other.Labels)+len(w.gh.Comments(3)) != 0 {
		t.Errorf("another issue was touched: %+v", other)
	}

	if lines := r.lines("Analyze"); len(lines) != 1 || !usageLine("claude-opus-5-5", `finished · 2 of 40 turns · (<1|\d+)s · \$0\.\d\d of \$1\.00 · .* in \+ .* cached, .* out`).MatchString(lines[0]) {
		t.Errorf("summary of analyze: %q", lines)
	}
	if os.Geteuid() == 0 && !strings.Contains(r.log, "the engine runs as another user") {
		t.Error("the engine ran as root")
	}
	w.checkRequests(t)
	w.checkKey(t)

	// What the next run reads the month's cost from.
	files := w.artifact(t, 4711, "issue-assistant-usage-1")
	if len(files) != 2 || len(files[ledger.RecordFile]) == 0 || len(files[ledger.CarriedFile]) == 0 {
		t.Errorf("the artifact holds %d files", len(files))
	}
	if len(w.engines(t)) != 0 {
		t.Error("an engine still runs")
	}
}

// checkRequests holds what the provider saw: rules in system, task in the prompt, the issue only as the result of a tool.
func (w *world) checkRequests(t *testing.T) {
	t.Helper()
	requests := w.ai.MainRequests()
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	system, messages := parts(t, requests[0].Body)
	for _, c := range []struct {
		what, hay, text string
		want            bool
	}{
		{"the core rules in system", system, "Rules of the issue assistant", true},
		{"the maintainer's rules in system", system, rulesWord, true},
		{"the core rules in the prompt", messages, "Rules of the issue assistant", false},
		{"the maintainer's rules in the prompt", messages, rulesWord, false},
		{"the task in the prompt", messages, taskWords, true},
		{"the task in system", system, taskWords, false},
		{"the issue in system", system, issueWord, false},
		{"the issue in the prompt", messages, issueWord, false},
		{"the reporter in the prompt", messages, reporter, false},
	} {
		if strings.Contains(c.hay, c.text) != c.want {
			t.Errorf("%s: want %t", c.what, c.want)
		}
	}
	system, messages = parts(t, requests[1].Body)
	if !strings.Contains(messages, issueWord) || strings.Contains(system, issueWord) {
		t.Error("the issue was not read as material")
	}
	for _, r := range w.ai.Requests() {
		if r.Header.Get("X-Api-Key") != theKey {
			t.Errorf("%s %s came without the key", r.Method, r.Path)
		}
		if strings.Contains(string(r.Body), theKey) || strings.Contains(string(r.Body), theToken) {
			t.Error("a request holds the key or the token")
		}
	}
}

// checkKey holds who saw the key and who the token: run the key alone, all others but usage the token alone.
func (w *world) checkKey(t *testing.T) {
	t.Helper()
	for _, s := range w.spies(t) {
		if strings.Contains(s.raw, w.cli.key) != (s.command == "run") {
			t.Errorf("%s saw the key: %t", s.command, s.command != "run")
		}
		if s.command == "run" {
			if s.env[w.cli.secret] != w.cli.key {
				t.Error("the step's env did not reach the action's step")
			}
			if s.env["GH_TOKEN"]+s.env["GITHUB_TOKEN"] != "" {
				t.Error("run was given a token")
			}
			continue
		}
		if s.env["GITHUB_TOKEN"] != theToken {
			t.Errorf("%s has no token", s.command)
		}
	}
}
