package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestRetryDecides: inside a job everything is as it was but what the attempt did; every other reason still holds.
func TestRetryDecides(t *testing.T) {
	t.Parallel()
	s := newSessionStage(t, "shadow")
	s.decide(t, task.Triage, "issues", "opened", 0)
	a := &app{Env: Env{Getenv: func(n string) string { return s.env[n] }, Now: s.Now, Stderr: os.Stderr, Dir: s.dir}}
	limits, err := a.limitsOfJob("triage")
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := a.sessionOf(s.temp, limits)
	if !ok {
		t.Fatal("no decision")
	}
	rules, err := os.ReadFile(s.output("rules-file"))
	if err != nil {
		t.Fatal(err)
	}
	kept.facts.RepositoryID, kept.facts.EngineVersion = 0, "" // as where the runner and the program do not say them
	good := run.Attempt{Kept: true, Turns: 5, ContextTokens: 30_000, CostUSD: 0.2, Rules: rules}
	for name, tt := range map[string]struct {
		change func(*run.Attempt)
		want   []session.Reason
	}{
		"provider failed":          {func(*run.Attempt) {}, nil},
		"process lost":             {func(a *run.Attempt) { a.Lost = true }, nil},
		"dear, but a retry":        {func(a *run.Attempt) { a.ContextTokens = 99_999 }, nil},
		"too large":                {func(a *run.Attempt) { a.ContextTokens = 100_000 }, []session.Reason{session.MaxContext}},
		"too dear":                 {func(a *run.Attempt) { a.CostUSD = 5 }, []session.Reason{session.MaxCost}},
		"not one turn":             {func(a *run.Attempt) { a.Turns, a.ContextTokens = 0, 0 }, []session.Reason{session.LastRunPoisoned}},
		"no transcript":            {func(a *run.Attempt) { a.Kept = false }, []session.Reason{session.TranscriptMissing}},
		"the rules changed":        {func(a *run.Attempt) { a.Rules = append(bytes.Clone(a.Rules), '!') }, []session.Reason{session.RulesChanged}},
		"the rules cannot be read": {func(a *run.Attempt) { a.Rules = nil }, []session.Reason{session.RulesChanged}},
	} {
		at := good
		tt.change(&at)
		d := kept.retry(at)
		if diff := cmp.Diff(tt.want, d.Reasons); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (d.Prompt == session.PromptDelta) != (len(tt.want) == 0) {
			t.Errorf("%s: prompt %s", name, d.Prompt)
		}
	}
}

// TestSecondStartWithClaude plays the steps of a job with the real program: an overloaded provider breaks the run off, the
// conversation goes on, and line and record say so.
func TestSecondStartWithClaude(t *testing.T) {
	t.Parallel()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	cli := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	s := newSessionStage(t, "shadow")
	s.decide(t, task.MaintainerReply, "issue_comment", "created", s.AddComment(7, "mona", "Which version?"))
	reading := anthropic.Step{Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(s.dir, materialDir, "issue.md")}}}}
	server := anthropic.New(anthropic.Script{Steps: []anthropic.Step{
		reading, {Status: 529, Repeat: 3}, {Answer: map[string]any{"waiting_for_reporter": true, "reason": "a question"}},
	}})
	t.Cleanup(server.Close)
	env := map[string]string{"ANTHROPIC_API_KEY": "sk-ant-api03-REALKEY-OF-THIS-TEST", "ANTHROPIC_BASE_URL": server.URL, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
	maps.Copy(env, s.env)
	delete(env, "GITHUB_TOKEN")
	var out, errs bytes.Buffer
	execution := filepath.Join(s.temp, executionFileName)
	code := Main(t.Context(), Env{
		Args:   []string{"run", "--task", "maintainer-reply", "--issue", "7", "--cli", cli, "--material", filepath.Join(s.dir, materialDir), "--execution-file", execution},
		Getenv: func(name string) string { return env[name] },
		Environ: func() []string {
			var list []string
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			return list
		},
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: s.Now, Sleep: time.Sleep, Dir: s.dir,
	})
	s.out = out.String()
	if code != 0 || s.output("ended") != "finished" {
		t.Fatalf("exit %d: %s%s", code, out.String(), errs.String())
	}
	kept, err := session.Decode(s.output("session"))
	if err != nil || kept.Runs != 2 || kept.Turns != 2 || kept.EngineVersion != pinnedVersion("claude") || kept.Warm[session.BucketMinute].Hits != 1 {
		t.Errorf("record %+v %v", kept, err)
	}
	if billed := server.Bill().USD(); kept.CostUSD < billed-0.0001 || kept.CostUSD > billed+0.0001 {
		t.Errorf("the record says $%.4f, the provider billed $%.4f", kept.CostUSD, billed)
	}
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(s.temp, "summary.md")
	s.must(t, "usage", "--execution-file", execution)
	line, err := os.ReadFile(s.env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(string(line), " · session resumed: ") || !strings.Contains(string(line), "finished · 2 of 4 turns") {
		t.Errorf("line %s %v", line, err)
	}
	t.Logf("%s", line)
}
