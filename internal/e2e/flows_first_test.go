package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestWorkflowsOfTheFirstRelease: a bot that moves pins brings this release's action to the workflows that the first one
// wrote. They must go on to work, until somebody runs install.
func TestWorkflowsOfTheFirstRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyTask(), "")
	archive, err := txtar.ParseFile(filepath.Join(testtool.Root(t), "internal", "install", "testdata", "v0.1.0.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		put(t, w.repo, f.Name, strings.ReplaceAll(string(f.Data), strings.Repeat("01", 20)+" # v0.1.0", actionSHA+" # v1.2.3"))
	}
	w.adapt(t)
	w.commit(t)
	done := map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"}
	w.play(t, "triage", start{event: "issues", payload: w.opened()}, played{
		jobs: done, summary: []string{"**triage** of #12 · claude-opus-5-5 · finished · 1 of 40 turns"},
		writes: []string{"POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/comments"},
	})
	id := w.gh.AddComment(number, reporter, "It is version 1.2")
	w.play(t, "follow-up", start{event: "issue_comment", run: 4712, payload: w.said(id, reporter, "It is version 1.2")}, played{
		jobs: done, summary: []string{"**follow-up** of #12"}, writes: []string{"DELETE /issues/12/labels/needs-info", "POST /issues/12/comments"},
	})
	for file, job := range map[string]string{"labels": "Labels", "lifecycle": "Daily sweep", "findings": "Findings", "cost": "Cost"} {
		summary := map[string]string{"labels": "### Labels (dry run)", "lifecycle": "### Sweep, daily (dry run)", "findings": "### Findings (dry run)", "cost": "What the runs cost"}[file]
		w.play(t, file, start{event: "workflow_dispatch", workflow: "issue-assistant-" + file + ".yml", payload: dispatched(nil)}, played{
			jobs: map[string]string{job: "success"}, summary: []string{summary},
		})
	}
}
