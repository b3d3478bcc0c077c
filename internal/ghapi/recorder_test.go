package ghapi_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// A dry run records every write, refuses what the writer refuses, and sends nothing.
func TestRecorder(t *testing.T) {
	t.Parallel()
	r := ghapi.NewRecorder([]ghapi.Label{{Name: "bug"}})
	ctx := t.Context()
	c, err := r.CreateComment(ctx, 7, "triage", body, marker)
	if err != nil || c.ID >= 0 {
		t.Fatalf("%+v %v", c, err)
	}
	_, edited := r.EditComment(ctx, 7, c.ID, "triage", "b2")
	issue, made := r.CreateIssue(ctx, "finding", ghapi.IssueDraft{Title: "t", Body: body, Marker: marker, Labels: []string{"BUG", "x"}})
	_, milestone := r.CreateMilestone(ctx, "v1", ghapi.Milestone{Title: "v1"})
	if err := errors.Join(
		edited, made, milestone, r.DeleteComment(ctx, 7, 1, "old"), r.AddLabelsBecause(ctx, 7, "kind", "why", "BUG"), r.RemoveLabel(ctx, 7, "a", "x/y"),
		r.Close(ctx, 7, "dup", "duplicate", 3), r.Reopen(ctx, 7, "again"), r.AddReaction(ctx, 7, 1, "seen", "eyes"), r.EditIssueBody(ctx, 7, "chunk", "b"),
		r.SetMilestone(ctx, 7, "v1", 2), r.CreateLabel(ctx, "sync", ghapi.Label{Name: "new"}), r.EditLabel(ctx, "sync", "old", ghapi.Label{Name: "n"}),
		r.Dispatch(ctx, "backlog", "a.yml", "main", map[string]string{"issue": "7"}), r.EnableWorkflow(ctx, "poll", "p.yml"),
		r.DisableWorkflow(ctx, "poll", "p.yml"), r.DismissAlert(ctx, "accept", 4, "false positive", "c"),
		r.AddLabels(ctx, 7, "kind", "new"), // known since it was created
	); err != nil || issue.Number >= 0 {
		t.Fatal(err)
	}
	want := []ghapi.Recorded{
		{Key: "comment#7:triage", Operation: "comment", Issue: 7, Body: body},
		{Key: "edit#7:triage", Operation: "edit", Issue: 7, Comment: -1, Body: "b2"},
		{Key: "issue:finding", Operation: "issue", Title: "t", Body: body, Labels: []string{"bug"}},
		{Key: "new-milestone:v1", Operation: "new-milestone", Milestone: ghapi.Milestone{Title: "v1"}},
		{Key: "delete#7:old", Operation: "delete", Issue: 7, Comment: 1},
		{Key: "label#7:kind", Operation: "label", Issue: 7, Labels: []string{"bug"}, Reason: "why"},
		{Key: "unlabel#7:a", Operation: "unlabel", Issue: 7, Labels: []string{"x/y"}},
		{Key: "close#7:dup", Operation: "close", Issue: 7, Reason: "duplicate", Original: 3},
		{Key: "reopen#7:again", Operation: "reopen", Issue: 7},
		{Key: "reaction#7:seen", Operation: "reaction", Issue: 7, Comment: 1, Reason: "eyes"},
		{Key: "issue-body#7:chunk", Operation: "issue-body", Issue: 7, Body: "b"},
		{Key: "milestone#7:v1", Operation: "milestone", Issue: 7, Milestone: ghapi.Milestone{Number: 2}},
		{Key: "new-label:sync", Operation: "new-label", Label: ghapi.Label{Name: "new"}},
		{Key: "edit-label:sync", Operation: "edit-label", Labels: []string{"old"}, Label: ghapi.Label{Name: "n"}},
		{Key: "dispatch:backlog", Operation: "dispatch", File: "a.yml", Branch: "main", Inputs: map[string]string{"issue": "7"}},
		{Key: "enable:poll", Operation: "enable", File: "p.yml"},
		{Key: "disable:poll", Operation: "disable", File: "p.yml"},
		{Key: "dismiss#4:accept", Operation: "dismiss", Issue: 4, Reason: "false positive", Body: "c"},
		{Key: "label#7:kind", Operation: "label", Issue: 7, Labels: []string{"new"}},
	}
	if diff := cmp.Diff(want, r.Writes()); diff != "" {
		t.Error(diff)
	}
	if got := r.Results(); len(got) != len(want)-1 || got[0].Verdict != ghapi.VerdictRecorded || got[0].Failed() {
		t.Errorf("%+v", got)
	}
	if ghapi.ReportMarkdown(r.Results()) != "" {
		t.Error("a dry run has nothing to report")
	}
	var unknown *ghapi.UnknownLabels
	if err := r.AddLabels(ctx, 7, "kind", "none"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	_, bare := r.CreateComment(ctx, 7, "x", "no marker", marker)
	_, draft := r.CreateIssue(ctx, "x", ghapi.IssueDraft{Body: "b"})
	for name, err := range map[string]error{"marker": bare, "draft": draft, "purpose": r.Reopen(ctx, 7, "A B"), "label": r.RemoveLabel(ctx, 7, "x", "..")} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
