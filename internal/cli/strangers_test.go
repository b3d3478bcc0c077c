package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// newDay is a stage in a workflow run whose repository has the events' workflow.
func newDay(t *testing.T, settings string) *stage {
	t.Helper()
	s := newStage(t)
	s.write(t, ".issue-assistant/config.toml", settings)
	s.AddWorkflow(ghapi.Workflow{ID: 5, Path: routerPath})
	s.env["GITHUB_RUN_ATTEMPT"] = "1"
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(t.TempDir(), "summary.md")
	return s
}

// begun adds a run of the events' workflow by an account.
func (s *stage) begun(id int64, login, status string, record bool) {
	r := ghapi.Run{ID: id, WorkflowID: 5, Path: routerPath, Actor: ghapi.User{Login: login}, Status: status}
	if status == "completed" {
		r.Conclusion = "success"
	}
	s.AddRun(r)
	if record {
		s.AddArtifact(ghapi.Artifact{Name: ledger.ArtifactName(1), RunID: id}, nil)
	}
}

// opened sends the event of a new issue by an account, as run id.
func (s *stage) opened(t *testing.T, id int64, login string) int {
	t.Helper()
	number := s.AddIssue(ghapi.Issue{Title: fmt.Sprint("Crash ", id), Author: ghapi.User{Login: login}})
	s.env["GITHUB_RUN_ID"] = fmt.Sprint(id)
	user := map[string]any{"login": login, "type": "User"}
	if code := s.send(t, "issues", map[string]any{"action": "opened", "issue": map[string]any{"number": number, "user": user, "state": "open"}, "sender": user}); code != 0 {
		t.Fatalf("exit %d: %s", code, s.err)
	}
	return number
}

func TestTwentyIssuesStartFiveRuns(t *testing.T) {
	t.Parallel()
	s := newDay(t, "[limits]\nruns_per_person_per_day = 5\n")
	started := 0
	for id := int64(1000); id < 1020; id++ {
		number := s.opened(t, id, "alice")
		task := s.output("task")
		if task == "triage" {
			started++
		} else if !strings.Contains(s.output("reason"), "runs_per_person_per_day") {
			t.Errorf("%s", s.out)
		}
		if i, _ := s.Issue(number); !slices.Contains(i.Labels, "needs-triage") {
			t.Errorf("#%d has %v", number, i.Labels)
		}
		s.begun(id, "Alice", "completed", task == "triage")
	}
	if started != 5 {
		t.Errorf("%d of 20 runs were started, want 5", started)
	}
	summary, err := os.ReadFile(s.env["GITHUB_STEP_SUMMARY"])
	if n := strings.Count(string(summary), "\n"); err != nil || n != 15 || strings.Count(string(summary), "not started") != 15 {
		t.Errorf("%d lines of the summary, want 15: %s %v", n, summary, err)
	}
	for n := 1; n <= 20; n++ {
		if len(s.Comments(n)) > 0 {
			t.Error("a comment was written")
		}
	}
	// Others have their own share, and the next day has a new one.
	if s.opened(t, 1030, "bob"); s.output("task") != "triage" {
		t.Error(s.out)
	}
	s.Advance(24 * time.Hour)
	if s.opened(t, 1040, "alice"); s.output("task") != "triage" {
		t.Error(s.out)
	}
}

func TestLimitsOfTheDay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(s *stage)
		login   string
		want    string // of the reason; empty: started
	}{
		"an earlier run is on its way": {func(s *stage) { s.begun(10, "alice", "in_progress", false) }, "alice", "runs_per_person"},
		"an earlier run waits":         {func(s *stage) { s.begun(10, "alice", "queued", false) }, "alice", "runs_per_person"},
		"a later run is on its way":    {func(s *stage) { s.begun(9999, "alice", "in_progress", false) }, "alice", ""},
		"it started nothing":           {func(s *stage) { s.begun(10, "alice", "completed", false) }, "alice", ""},
		"of a re-run": {func(s *stage) {
			s.begun(10, "alice", "completed", false)
			s.AddArtifact(ghapi.Artifact{Name: ledger.ArtifactName(1), RunID: 9}, nil)
			s.AddArtifact(ghapi.Artifact{Name: ledger.ArtifactName(2), RunID: 10}, nil)
		}, "alice", "runs_per_person"},
		"lost": {func(s *stage) {
			s.AddRun(ghapi.Run{ID: 10, WorkflowID: 5, Path: routerPath, Actor: ghapi.User{Login: "alice"}, Status: "completed", Conclusion: "failure"})
			s.SetJobs(10, ghapi.Job{Name: "Triage / Analyze", Status: "completed", Conclusion: "failure", Steps: []ghapi.Step{{Name: "Run", Status: "completed", Conclusion: "failure"}}})
		}, "alice", "runs_per_person"},
		"failed before its engine": {func(s *stage) {
			s.AddRun(ghapi.Run{ID: 10, WorkflowID: 5, Path: routerPath, Actor: ghapi.User{Login: "alice"}, Status: "completed", Conclusion: "failure"})
		}, "alice", ""},
		"the day is full": {func(s *stage) {
			s.begun(10, "bob", "completed", true)
			s.begun(11, "carol", "in_progress", false)
			s.begun(12, "dave", "completed", true)
		}, "alice", "runs_per_day"},
		"a maintainer's runs do not count": {func(s *stage) {
			s.begun(10, "mona", "completed", true)
			s.begun(11, "carol", "in_progress", false)
			s.begun(12, "dave", "completed", true)
		}, "alice", ""},
		"a thousand of one person wait": {func(s *stage) {
			for id := int64(1); id <= 1000; id++ {
				s.begun(id, "mallory", "queued", false)
			}
		}, "alice", ""},
		"his thousand and first": {func(s *stage) {
			for id := int64(6001); id <= 7200; id++ {
				s.begun(id, "mallory", "queued", false)
			}
		}, "mallory", "runs_per_person"},
		"yesterday's": {func(s *stage) { s.begun(10, "alice", "completed", true); s.Advance(24 * time.Hour) }, "alice", ""},
		"unreadable runs": {func(s *stage) {
			s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/workflows/issue-assistant.yml/runs", Status: 403, Times: -1})
		}, "alice", "cannot be read"},
		"unreadable records": {func(s *stage) {
			s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/artifacts", Status: 403, Times: -1})
		}, "alice", "cannot be read"},
		"unreadable jobs": {func(s *stage) {
			s.AddRun(ghapi.Run{ID: 10, WorkflowID: 5, Path: routerPath, Actor: ghapi.User{Login: "alice"}, Status: "completed", Conclusion: "cancelled"})
			s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/runs/10/jobs", Status: 403, Times: -1})
		}, "alice", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDay(t, "[limits]\nruns_per_person_per_day = 1\nruns_per_day = 3\n")
			tt.prepare(s)
			s.opened(t, 5000, tt.login)
			want := "none"
			if tt.want == "" {
				want = "triage"
			}
			if s.output("task") != want || (tt.want != "" && !strings.Contains(s.output("reason"), tt.want)) {
				t.Errorf("%s%s", s.out, s.err)
			}
		})
	}
}

// A maintainer is not limited, and a run by hand is not either.
func TestMaintainersAreNotLimited(t *testing.T) {
	t.Parallel()
	s := newDay(t, "[limits]\nruns_per_person_per_day = 1\nruns_per_day = 1\n")
	for id := int64(1); id <= 30; id++ {
		s.begun(id, "mona", "in_progress", false)
	}
	s.AddIssue(ghapi.Issue{Number: 7, Title: "x", Author: ghapi.User{Login: "alice"}})
	s.env["GITHUB_RUN_ID"] = "100"
	id := s.AddComment(7, "mona", "/assistant analyze the parser")
	user := map[string]any{"login": "mona", "type": "User"}
	event := map[string]any{
		"action": "created", "sender": user, "issue": map[string]any{"number": 7, "user": map[string]any{"login": "alice"}},
		"comment": map[string]any{"id": id, "body": "/assistant analyze the parser", "user": user},
	}
	if code := s.send(t, "issue_comment", event); code != 0 || s.output("task") != "reanalyze" {
		t.Errorf("exit %d: %s%s", code, s.out, s.err)
	}
	// The same words of a stranger are text.
	id = s.AddComment(7, "eve", "/assistant analyze the parser")
	event["sender"] = map[string]any{"login": "eve", "type": "User"}
	event["comment"] = map[string]any{"id": id, "body": "/assistant analyze the parser", "user": event["sender"]}
	if code := s.send(t, "issue_comment", event); code != 0 || s.output("task") != "none" {
		t.Errorf("exit %d: %s%s", code, s.out, s.err)
	}
	if code := s.send(t, "workflow_dispatch", map[string]any{"inputs": map[string]any{"issue": "7"}, "sender": map[string]any{"login": "eve"}}); code != 0 || s.output("task") != "triage" {
		t.Errorf("exit %d: %s%s", code, s.out, s.err)
	}
}
