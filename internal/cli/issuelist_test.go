package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// counts says which requests went to GitHub: by GraphQL operation, "actions" for artifacts and runs, "file" for the blob
// host, "rest" for all else.
func counts(log []ghtest.Request) map[string]int {
	n := map[string]int{}
	for _, q := range log {
		switch {
		case strings.Contains(q.Path, "_blob"):
			n["file"]++
			continue
		case q.Operation != "":
			n[q.Operation]++
		case strings.Contains(q.Path, "/actions/"):
			n["actions"]++
		default:
			n["rest"]++
		}
		n["all"]++
	}
	return n
}

// TestKeptListSavesRequests: cold, 10,000 issues in at most 110 requests, all of the material; warm, the list takes
// three, and what changed comes with the discussions and pull requests.
func TestKeptListSavesRequests(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env["GITHUB_EVENT_PATH"] = s.write(t, "../event.json", `{"repository":{"default_branch":"main"}}`)
	if s.Now().Day() == 1 {
		s.Advance(48 * time.Hour) // on the first of a month the list is made anew
	}
	const many = 10_000
	context := func() map[string]int {
		t.Helper()
		s.ClearLog()
		if code := s.run(t, "context", "--task", "triage", "--issue", "50000"); code != 0 {
			t.Fatal(s.err)
		}
		return counts(s.Log())
	}
	start := s.Now().Add(-many * time.Minute)
	var lines []lifecycle.Line
	for n := 1; n <= many; n++ {
		at := start.Add(time.Duration(n) * time.Minute)
		l := lifecycle.Line{Number: n, Title: fmt.Sprint("Report ", n), Body: "Some words about the parser.", State: "open", Created: at, Updated: at}
		lines = append(lines, l)
		s.AddIssue(ghapi.Issue{Number: n, Title: l.Title, Body: l.Body, Author: ghapi.User{Login: "bob"}, CreatedAt: at, UpdatedAt: at})
	}
	s.AddIssue(ghapi.Issue{Number: 50000, Title: "Crash in the exporter", Body: "It crashes in exporter.go", Author: ghapi.User{Login: "alice"}})
	cold := context()
	if cold["all"] > 110 || cold["Issues"] != many/100+1 {
		t.Errorf("cold: %v", cold)
	}
	keepList(t, s.Server, lines)
	s.AddIssue(ghapi.Issue{Number: 40000, Title: "exporter.go crashes", Body: "the exporter stops", Author: ghapi.User{Login: "bob"}})
	warm := context()
	if warm["actions"] != 3 || warm["file"] != 1 || warm["News"] != 1 || warm["Issues"]+warm["Discussions"]+warm["PullRequests"] != 0 {
		t.Errorf("warm: %v", warm)
	}
	t.Logf("cold %v, warm %v", cold, warm)
	if text := s.read(t, materialDir+"/candidates.md"); !strings.Contains(text, "#40000") {
		t.Errorf("what came since is missing: %s", text)
	}
	if n := strings.Count(s.read(t, materialDir+"/issues.jsonl"), "\n"); n != many+1 {
		t.Errorf("%d issues, want %d", n, many+1)
	}
}

// each is a list as a sequence.
func each(lines []lifecycle.Line) iter.Seq2[lifecycle.Line, error] {
	return func(yield func(lifecycle.Line, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// keepList leaves the list of issues as the daily sweep does.
func keepList(t *testing.T, s *ghtest.Server, lines []lifecycle.Line) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(lifecycle.ListName + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := lifecycle.WriteList(w, each(lines)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	run := s.AddRun(ghapi.Run{Path: ".github/workflows/issue-assistant-lifecycle.yml", Event: "schedule"})
	s.AddArtifact(ghapi.Artifact{Name: lifecycle.ListName, RunID: run}, b.Bytes())
}
