package e2e

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// TestTheRecordReachesTheComment: with sessions on the record goes from run through the jobs' output into the marker of
// the comment, and the decision into the run's line.
func TestTheRecordReachesTheComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, readThenAnswer(triage(nil)), "[sessions]\nmode = \"shadow\"\n")
	r := w.run(t, start{event: "issues", payload: w.opened()})
	comments := w.gh.Comments(number)
	if r.code != 0 || len(comments) != 1 {
		t.Fatalf("rc %d, comments %+v\n%s", r.code, comments, tail(r.log))
	}
	m, ok := comment.ParseMarker(comments[0].Body)
	kept, err := session.Decode(m.Session)
	if !ok || err != nil {
		t.Fatalf("%v: %.300s", err, comments[0].Body)
	}
	if kept.Key != "triage/"+repoName+"#12" || kept.Ended != "finished" || kept.Turns != 2 || kept.Runs != 1 || kept.ContextTokens < 1000 ||
		kept.First < 1000 || kept.CostUSD <= 0 || kept.EngineVersion == "" || kept.Head == "" {
		t.Errorf("record %+v", kept)
	}
	if billed := w.ai.Bill().USD(); kept.CostUSD < billed-0.0001 || kept.CostUSD > billed+0.0001 {
		t.Errorf("the record says $%.4f, the provider billed $%.4f", kept.CostUSD, billed)
	}
	if lines := r.lines("Analyze"); len(lines) != 1 || !strings.HasSuffix(lines[0], " · session fresh: wake_issue_opened, no_saved_session") {
		t.Errorf("summary of analyze: %q", lines)
	}
}
