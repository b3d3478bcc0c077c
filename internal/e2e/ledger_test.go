package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// TestTheMonthIsRead: what one run uploads is what the next one's cap is held against; a run without a record counts at
// its budget once its jobs say that its engine was started; and without an answer of GitHub nothing is started.
func TestTheMonthIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(anthropic.Step{Text: "It is fine."}), settings("[limits]\nmonthly_usd = 2.02"))
	router := ".github/workflows/issue-assistant.yml"
	w.gh.AddRun(ghapi.Run{ID: 4710, Attempt: 1, Path: router, Event: "issues", Status: "completed", Conclusion: "failure"})
	w.gh.SetJobs(4710, ghapi.Job{ID: 1, Name: "Event", Status: "completed", Conclusion: "success"},
		ghapi.Job{ID: 2, Name: "Triage / Analyze", Status: "completed", Conclusion: "success", Steps: []ghapi.Step{{Name: "Run", Status: "completed", Conclusion: "failure"}}})
	w.gh.AddRun(ghapi.Run{ID: 4711, Attempt: 1, Path: router, Event: "issues", Status: "in_progress"})

	first := w.run(t, start{event: "issues", payload: w.opened(), run: 4711})
	if first.code != 0 || first.outputs["run.ended"] != "no_answer" {
		t.Fatalf("rc %d, ended %q, reason %q", first.code, first.outputs["run.ended"], first.outputs["engine.reason"])
	}
	asked := 0
	for _, r := range w.gh.Log() {
		if strings.HasSuffix(r.Path, "/actions/runs/4710/jobs") {
			asked++
		}
	}
	if asked == 0 {
		t.Error("the jobs of the run without a record were not read")
	}
	w.gh.AddArtifact(ghapi.Artifact{Name: "issue-assistant-usage-1", RunID: 4711}, zipped(t, w.artifact(t, 4711, "issue-assistant-usage-1")))

	calls := len(w.ai.Requests())
	second := w.run(t, start{event: "issues", payload: w.opened(), run: 4712})
	if second.code != 0 || second.jobs["Analyze"] != "success" || second.outputs["engine.reason"] != "monthly cap" || len(w.ai.Requests()) != calls {
		t.Errorf("rc %d, jobs %v, reason %q", second.code, second.jobs, second.outputs["engine.reason"])
	}
	if lines := second.lines("Analyze"); len(lines) != 1 || !strings.Contains(lines[0], "monthly_usd = 2.02") {
		t.Errorf("summary: %q", lines)
	}

	w.gh.AddFault(ghtest.Fault{Method: http.MethodGet, Path: "/repos/octo-org/demo/actions/artifacts", Status: http.StatusForbidden, Times: -1})
	defer w.replay(t, "issue-assistant.yml", "event", first.event())() // event reads artifacts, too, and would start nothing
	third := w.run(t, start{event: "issues", payload: w.opened(), run: 4713})
	if third.code != 0 || third.outputs["engine.reason"] != "ledger unreadable" || len(w.ai.Requests()) != calls {
		t.Errorf("rc %d, jobs %v, reason %q", third.code, third.jobs, third.outputs["engine.reason"])
	}
}
