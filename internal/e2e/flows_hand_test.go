package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// flowHand starts tasks by hand: as the form on GitHub offers it nothing is written, and what is typed there never runs.
func flowHand(t *testing.T, w *world) {
	t.Helper()
	both := map[string]string{"Analyze": "success", "Apply": "success"}
	flow, run := "issue-assistant-triage.yml", int64(4900)
	hand := func(name string, inputs map[string]any, want played) {
		t.Helper()
		run++
		w.play(t, name, start{event: "workflow_dispatch", workflow: flow, run: run, payload: dispatched(inputs)}, want)
	}
	state := w.gh.Dump()
	hand("as it is offered", map[string]any{"issue": "12"}, played{
		jobs: both, summary: []string{"**triage** of #12", "dry run", "The program ends with a panic when it starts."},
	})
	if w.gh.Dump() != state {
		t.Error("a dry run changed something")
	}
	hand("for real", map[string]any{"issue": "12", "dry-run": "false"}, played{
		jobs: both, summary: []string{"**triage** of #12", "- written: comment on #12"}, writes: []string{"POST /issues/12/comments", "POST /issues/12/labels", "POST /issues/12/labels"},
	})
	hand("once more", map[string]any{"issue": "12", "dry-run": "false"}, played{jobs: both, summary: []string{"- skipped: comment on #12: it stands there already"}})
	flow = "issue-assistant-reanalyze.yml"
	hand("again", map[string]any{"issue": "12", "dry-run": "false"}, played{jobs: both, summary: []string{"**reanalyze** of #12"}, writes: []string{"PATCH /issues/comments/{}", "DELETE /issues/12/labels/needs-info"}})
	for _, wrong := range []string{"12; touch pwned", "$(touch pwned)", "-1", "99999999999999999999", "${{ secrets.ANTHROPIC_API_KEY }}"} {
		hand("issue "+wrong, map[string]any{"issue": wrong, "dry-run": "false"}, played{code: 1, jobs: map[string]string{"Analyze": "failure"}})
	}
	hand("an issue that is not there", map[string]any{"issue": "4711", "dry-run": "false"}, played{
		jobs: map[string]string{"Analyze": "success"}, summary: []string{"**reanalyze** of #4711 · claude-opus-5-5 · not started"},
	})
	if _, err := os.Stat(filepath.Join(w.repo, "pwned")); !os.IsNotExist(err) {
		t.Error("an input ran")
	}
}

// flowStranger: whoever has no run left today gets a label; a maintainer is not limited.
func flowStranger(t *testing.T, w *world) {
	t.Helper()
	w.setUpAgain(t, map[string]string{".issue-assistant/config.toml": settings("[limits]\nruns_per_person_per_day = 1")})
	w.gh.AddRun(ghapi.Run{
		ID: 4790, Attempt: 1, Path: ".github/workflows/issue-assistant.yml", Event: "issues", Status: "in_progress", Actor: ghapi.User{Login: reporter}, CreatedAt: time.Now(),
	})
	w.play(t, "no place left", start{event: "issues", run: 4800, payload: w.opened()}, played{
		jobs: map[string]string{"Event": "success"}, summary: []string{"**triage** of #12 · not started: "}, writes: []string{"POST /issues/12/labels"},
	})
	if i, _ := w.gh.Issue(number); !i.HasLabel("needs-triage") {
		t.Errorf("labels %v", i.Labels)
	}
	id := w.gh.AddComment(number, "mona", "/assistant analyze")
	w.play(t, "a maintainer", start{event: "issue_comment", run: 4801, payload: w.said(id, "mona", "/assistant analyze")}, played{
		jobs:    map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"},
		summary: []string{"**reanalyze** of #12"}, writes: []string{"POST /issues/comments/{}/reactions", "POST /issues/12/comments", "POST /issues/12/labels"},
	})
}
