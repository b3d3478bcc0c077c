package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

func TestSweepCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.AddLabel(ghapi.Label{Name: "fixed-in-next-release"})
	temp, summary := t.TempDir(), filepath.Join(t.TempDir(), "summary.md")
	s.env["RUNNER_TEMP"], s.env["GITHUB_STEP_SUMMARY"] = temp, summary
	old := s.Now().AddDate(0, 0, -20)
	waits := s.AddIssue(ghapi.Issue{Title: "x", Labels: []string{"needs-info"}, CreatedAt: old})
	fixed := s.AddIssue(ghapi.Issue{Title: "y", CreatedAt: old})
	s.AddCommit(ghapi.Commit{SHA: strings.Repeat("a", 40), Message: "m", Date: s.Now()})
	s.AddPullRequest(ghapi.PullRequest{State: "merged", MergeCommit: strings.Repeat("a", 40), MergedAt: s.Now(), UpdatedAt: s.Now(), Closes: []ghapi.IssueRef{{Number: fixed}}})

	before := s.Dump()
	if code := s.run(t, "sweep", "--dry-run"); code != ExitOK || !strings.Contains(s.err, "comment: reminder") || s.Dump() != before {
		t.Fatalf("exit %d\n%s", code, s.err)
	}
	s.env["GITHUB_EVENT_NAME"] = "pull_request_target"
	if code := s.run(t, "sweep"); code != ExitOK {
		t.Fatalf("exit %d\n%s", code, s.err)
	}
	if i, _ := s.Issue(fixed); !i.HasLabel("fixed-in-next-release") {
		t.Errorf("not marked: %v\n%s", i.Labels, s.err)
	}
	if len(s.Comments(waits)) != 0 {
		t.Error("the sweep after a merge reminded")
	}
	s.env["GITHUB_EVENT_NAME"], s.env["INPUT_DRY_RUN"] = "schedule", "false"
	if code := s.run(t, "sweep"); code != ExitOK {
		t.Fatalf("exit %d\n%s", code, s.err)
	}
	if i, _ := s.Issue(waits); !i.HasLabel("stale") || len(s.Comments(waits)) != 1 {
		t.Errorf("not reminded: %v\n%s", i.Labels, s.err)
	}
	data, err := os.ReadFile(filepath.Join(temp, "issue-assistant-issues.jsonl"))
	if err != nil || strings.Count(string(data), "\n") != 2 || !strings.Contains(string(data), `"title":"x"`) {
		t.Errorf("%v\n%s", err, data)
	}
	if data, err := os.ReadFile(summary); err != nil || !strings.Contains(string(data), "reminded") {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestSweepWrongUsageAndFailures(t *testing.T) {
	t.Parallel()
	for args, code := range map[string]int{
		"--triage-backlog 5":                            ExitUsage,
		"--triage-backlog -1 --max-usd 1":               ExitUsage,
		"--triage-backlog x --max-usd 1":                ExitUsage,
		"--triage-backlog 5 --max-usd NaN":              ExitUsage,
		"--triage-backlog 5 --max-usd 0":                ExitUsage,
		"--triage-backlog 5 --max-usd 1 --event merge":  ExitUsage,
		"--event push":                                  ExitUsage,
		"--triage-backlog 0":                            ExitOK,
		"--event release":                               ExitOK,
		"--event all --triage-backlog 2 --max-usd 0.01": ExitOK,
	} {
		s := newStage(t)
		if got := s.run(t, append([]string{"sweep"}, strings.Fields(args)...)...); got != code {
			t.Errorf("sweep %s: exit %d, want %d\n%s", args, got, code, s.err)
		}
	}
	s := newStage(t)
	s.AddFault(ghtest.Fault{Times: -1, Status: 500})
	for _, command := range []string{"sweep", "labels", "findings"} {
		if code := s.run(t, command); code != ExitFailure {
			t.Errorf("%s: exit %d\n%s", command, code, s.err)
		}
	}
}

func TestLabelsCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if code := s.run(t, "labels", "--dry-run"); code != ExitOK || len(s.Labels()) != 6 || !strings.Contains(s.err, "create `duplicate`") {
		t.Fatalf("exit %d\n%s", code, s.err)
	}
	if code := s.run(t, "labels"); code != ExitOK || len(s.Labels()) != 9 {
		t.Fatalf("exit %d, %d labels\n%s", code, len(s.Labels()), s.err)
	}
	if code := s.run(t, "labels"); code != ExitOK || !strings.Contains(s.err, "Nothing to do") {
		t.Fatalf("exit %d\n%s", code, s.err)
	}
	s.write(t, ".issue-assistant/labels.toml", "[[label]]\nname = 5\n")
	if code := s.run(t, "labels"); code != ExitUsage {
		t.Errorf("exit %d", code)
	}
}

func TestFindingsCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/secret-rule", Path: "testdata/x.go"})
	s.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/secret-rule", Path: "main.go"})
	accept := "[[accept]]\ntool = \"codeql\"\nrule = \"go/secret-rule\"\nreason = \"used in tests\"\ncomment = \"x\"\npath = \"%s\"\n"
	s.write(t, ".issue-assistant/findings.toml", strings.Replace(accept, "%s", "testdata/**", 1))
	if code := s.run(t, "findings", "--dry-run"); code != ExitProblem {
		t.Errorf("exit %d\n%s", code, s.err)
	}
	if a, _ := s.Alert(1); a.State != "open" {
		t.Error("a dry run dismissed an alert")
	}
	if code := s.run(t, "findings"); code != ExitProblem || strings.Contains(s.err+s.out, "secret-rule") || !strings.Contains(s.err, "code-scanning/2") {
		t.Errorf("exit %d\n%s", code, s.err)
	}
	if a, _ := s.Alert(1); a.State != "dismissed" {
		t.Errorf("alert 1 is %s", a.State)
	}
	s.write(t, ".issue-assistant/findings.toml", strings.Replace(accept, "%s", "**", 1))
	if code := s.run(t, "findings"); code != ExitOK {
		t.Errorf("exit %d\n%s", code, s.err)
	}
	s.write(t, ".issue-assistant/findings.toml", "[[accept]]\n")
	if code := s.run(t, "findings"); code != ExitUsage || !strings.Contains(s.err, "findings.toml:1") {
		t.Errorf("exit %d\n%s", code, s.err)
	}
}
