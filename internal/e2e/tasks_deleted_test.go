package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// remove deletes a comment as a maintainer would.
func (w *world) remove(t *testing.T, id int64) {
	t.Helper()
	r := httptest.NewRequest(http.MethodDelete, fmt.Sprintf("/repos/%s/issues/comments/%d", repoName, id), nil)
	r.Header.Set("Authorization", "Bearer "+theToken)
	answer := httptest.NewRecorder()
	w.gh.ServeHTTP(answer, r)
	if answer.Code != http.StatusNoContent {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
}

// TestADeletedCommentStaysAway: a maintainer deletes the analysis. Nothing that happens by itself afterwards brings it
// back: an edit, an answer, the issue closed and opened again, the daily sweep with its reminders due. Only a person can
// ask for it: by the command, by hand, or by starting the run again.
func TestADeletedCommentStaysAway(t *testing.T) {
	t.Parallel()
	c := engineOf(t, "claude", answers(asks()))
	w := newWorldOf(t, c, c.settings(""))
	if r := w.run(t, start{event: "issues", payload: w.opened()}); r.code != 0 || len(w.ours()) != 1 {
		t.Fatalf("rc %d, %d comments", r.code, len(w.ours()))
	}
	calls := len(c.calls())
	w.remove(t, w.ours()[0].ID)

	w.gh.EditIssue(number, reporter, "It says `panic` and ends. Version 1.2.")
	edited := w.event("edited", nil)
	edited["changes"] = map[string]any{"body": map[string]any{"from": "It crashes"}}
	comment := w.gh.AddCommentAt(number, reporter, "It is version 1.2", time.Now().AddDate(0, 0, -20))
	for i, s := range []start{
		{event: "issues", payload: edited},
		{event: "issue_comment", payload: w.said(comment, reporter, "It is version 1.2")},
		{event: "issues", payload: w.event("reopened", nil)},
		{event: "schedule", workflow: "issue-assistant-lifecycle.yml", payload: scheduled("17 4 * * *")},
	} {
		s.run = int64(4720 + i)
		r := w.run(t, s)
		if r.code != 0 || len(r.jobs) != 1 || s.event != "schedule" && r.outputs["event.task"] != "none" {
			t.Errorf("%s: rc %d, jobs %v, task %q", s.event, r.code, r.jobs, r.outputs["event.task"])
		}
		if got := w.ours(); len(got) != 0 || len(c.calls()) != calls {
			t.Errorf("%s: posted again: %+v", s.event, got)
		}
	}

	// The command is the way to ask for it.
	id := w.gh.AddComment(number, "mona", "/assistant analyze")
	r := w.run(t, start{event: "issue_comment", payload: w.said(id, "mona", "/assistant analyze"), run: 4730})
	if got := w.ours(); r.code != 0 || len(got) != 1 || !strings.Contains(got[0].Body, "Which version do you use?") {
		t.Errorf("rc %d, jobs %v, comments %+v", r.code, r.jobs, got)
	}
}

// TestAnIssueGoesAway: it is deleted after its engine was made ready. No engine starts, nothing is red, and the record
// says that there was no run, so that it costs the month nothing.
func TestAnIssueGoesAway(t *testing.T) {
	t.Parallel()
	c := engineOf(t, "claude", answers(triage(nil)))
	w := newWorldOf(t, c, c.settings(""))
	w.gh.AddFault(ghtest.Fault{Times: -1, Status: http.StatusGone, Body: `{"message":"This issue was deleted","documentation_url":"x"}`, Match: func(r ghtest.Request) bool {
		started, _ := filepath.Glob(filepath.Join(w.spied, "*-context"))
		return len(started) > 0 && strings.HasPrefix(r.Path, issuePath)
	}})
	r := w.run(t, start{event: "issues", payload: w.opened()})
	if r.code != 0 || r.jobs["Analyze"] != "success" || r.jobs["Apply"] != "" || len(c.calls()) != 0 {
		t.Errorf("rc %d, jobs %v, %d calls", r.code, r.jobs, len(c.calls()))
	}
	if got := w.commands(t); got != "event engine context usage" {
		t.Errorf("commands: %s", got)
	}
	if lines := r.lines("Analyze"); len(lines) != 1 || !strings.Contains(lines[0], "not started") {
		t.Errorf("summary of analyze: %q", lines)
	}
	if record := string(w.artifact(t, 4711, "issue-assistant-usage-1")[ledger.RecordFile]); !strings.Contains(record, `"not_started"`) {
		t.Errorf("record: %s", record)
	}
}
