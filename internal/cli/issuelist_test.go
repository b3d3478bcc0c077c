package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// listRequests are the requests that reading the list took: GitHub's, and files from its blob host.
func listRequests(log []ghtest.Request) (api, files int) {
	for _, q := range log {
		switch {
		case strings.Contains(q.Path, "_blob"):
			files++
		case q.Operation == "Issues", strings.Contains(q.Path, "/actions/"), strings.HasSuffix(q.Path, "/issues"):
			api++
		}
	}
	return api, files
}

func TestKeptListSavesRequests(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if s.Now().Day() == 1 {
		s.Advance(48 * time.Hour) // on the first of a month the list is made anew
	}
	const many = 1200
	start := s.Now().Add(-many * time.Minute)
	for n := 1; n <= many; n++ {
		at := start.Add(time.Duration(n) * time.Minute)
		s.AddIssue(ghapi.Issue{Number: n, Title: fmt.Sprint("Report ", n), Body: "Some words about the parser.", Author: ghapi.User{Login: "bob"}, CreatedAt: at, UpdatedAt: at})
	}
	s.AddIssue(ghapi.Issue{Number: 5000, Title: "Crash in the exporter", Body: "It crashes in exporter.go", Author: ghapi.User{Login: "alice"}})
	client, err := ghapi.New(s.ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	context := func() (api, files int) {
		s.ClearLog()
		if code := s.run(t, "context", "--task", "triage", "--issue", "5000"); code != 0 {
			t.Fatal(s.err)
		}
		return listRequests(s.Log())
	}
	if api, files := context(); api > 1+many/100+2 || files != 0 {
		t.Errorf("cold: %d requests and %d files", api, files)
	}
	lines, err := lifecycle.IssueList(t.Context(), client, s.Now())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(lifecycle.ListName + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := lifecycle.WriteList(w, lines); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	run := s.AddRun(ghapi.Run{Path: ".github/workflows/issue-assistant-lifecycle.yml", Event: "schedule"})
	s.AddArtifact(ghapi.Artifact{Name: lifecycle.ListName, RunID: run}, b.Bytes())
	s.AddIssue(ghapi.Issue{Number: 4000, Title: "exporter.go crashes", Body: "the exporter stops", Author: ghapi.User{Login: "bob"}})
	if api, files := context(); api > 4 || files != 1 {
		t.Errorf("warm: %d requests and %d files", api, files)
	}
	if text := s.read(t, materialDir+"/candidates.md"); !strings.Contains(text, "#4000") {
		t.Errorf("what came since is missing: %s", text)
	}
	if n := strings.Count(s.read(t, materialDir+"/issues.jsonl"), "\n"); n != many+1 {
		t.Errorf("%d issues, want %d", n, many+1)
	}
}
