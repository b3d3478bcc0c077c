package e2e

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// TestARunGoesOnAndItsRecordReachesTheComment: the provider is overloaded in the middle of a run. The conversation goes
// on in the same job, as the engine's own user; the line says so, and the record goes through the jobs' output into the
// marker of the comment.
func TestARunGoesOnAndItsRecordReachesTheComment(t *testing.T) {
	t.Parallel()
	calls := 0
	w := newWorld(t, anthropic.Script{Next: func(*anthropic.Request) anthropic.Step {
		switch calls++; {
		case calls == 1:
			return reading("README.md")
		case calls < 5: // the program gives up after three
			return anthropic.Step{Status: 529}
		}
		return anthropic.Step{Answer: triage(nil)}
	}}, "[sessions]\nmode = \"shadow\"\n")
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
	if kept.Key != "triage/"+repoName+"#12" || kept.Ended != "finished" || kept.Turns != 2 || kept.Runs != 2 || kept.ContextTokens < 1000 ||
		kept.First < 1000 || kept.EngineVersion == "" || kept.Head == "" || kept.Warm[session.BucketMinute].Hits != 1 {
		t.Errorf("record %+v", kept)
	}
	if billed := w.ai.Bill().USD(); kept.CostUSD <= 0 || kept.CostUSD < billed-0.0001 || kept.CostUSD > billed+0.0001 {
		t.Errorf("the record says $%.4f, the provider billed $%.4f", kept.CostUSD, billed)
	}
	if lines := r.lines("Analyze"); len(lines) != 1 || !strings.Contains(lines[0], " · finished · 2 of 40 turns · ") || !strings.Contains(lines[0], " · session resumed: ") {
		t.Errorf("summary of analyze: %q", lines)
	}
	if len(w.engines(t)) != 0 {
		t.Error("an engine still runs")
	}
}
