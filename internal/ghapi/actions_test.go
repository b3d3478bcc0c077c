package ghapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

func failing(method, path string, status int) ghtest.Fault {
	return ghtest.Fault{Method: method, Path: path, Status: status, Times: 1}
}

func skipping(f ghtest.Fault, n int) ghtest.Fault {
	f.Skip = n
	return f
}

func TestWorkflowsAndRuns(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	s.AddWorkflow(ghapi.Workflow{Name: "Assistant", Path: ".github/workflows/assistant.yml"})
	s.AddWorkflow(ghapi.Workflow{Name: "Other", Path: ".github/workflows/other.yml"})
	base := s.Now()
	for i := range 130 {
		s.AddRun(ghapi.Run{
			Path: ".github/workflows/assistant.yml", Event: "issues", Actor: ghapi.User{Login: "alice"}, CreatedAt: base.Add(time.Duration(i) * time.Minute),
		})
	}
	fork := s.AddRun(ghapi.Run{Path: ".github/workflows/other.yml@refs/heads/x", Event: "pull_request", HeadRepo: "mallory/demo", Status: "in_progress"})
	if list := must[[]ghapi.Workflow](t)(c.Workflows(bg(t))); len(list) != 2 || list[0].State != "active" {
		t.Errorf("workflows %+v", list)
	}
	if w := must[ghapi.Workflow](t)(c.Workflow(bg(t), "other.yml")); w.Name != "Other" {
		t.Errorf("workflow %+v", w)
	}
	runs := must[[]ghapi.Run](t)(c.Runs(bg(t), ghapi.RunFilter{
		Workflow: "assistant.yml", Actor: "alice", Event: "issues", Branch: "main", Status: "completed", Since: base.Add(10 * time.Minute),
	}))
	if len(runs) != 120 || runs[0].HeadRepo != "octo/demo" || runs[0].Actor.Login != "alice" || runs[0].Conclusion != "success" {
		t.Errorf("%d runs, first %+v", len(runs), runs[0])
	}
	if few := must[[]ghapi.Run](t)(c.Runs(bg(t), ghapi.RunFilter{Max: 5})); len(few) != 5 || few[0].ID != fork {
		t.Errorf("%d runs", len(few))
	}
	r := must[ghapi.Run](t)(c.Run(bg(t), fork))
	if r.HeadRepo != "mallory/demo" || r.Path != ".github/workflows/other.yml" || r.Status != "in_progress" || r.Conclusion != "" {
		t.Errorf("run %+v", r)
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	run := s.AddRun(ghapi.Run{})
	s.SetJobs(run, ghapi.Job{Name: "Triage / Analyze", Conclusion: "success", Steps: []ghapi.Step{{Name: "Run", Conclusion: "failure"}}}, ghapi.Job{Name: "Apply", Status: "queued"})
	jobs := must[[]ghapi.Job](t)(c.Jobs(bg(t), run))
	if len(jobs) != 2 || jobs[0].Name != "Triage / Analyze" || jobs[0].Steps[0].Conclusion != "failure" || jobs[1].Status != "queued" || jobs[1].Conclusion != "" {
		t.Errorf("jobs %+v", jobs)
	}
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	zip := bytes.Repeat([]byte("zip"), 1000)
	for range 3 {
		s.AddArtifact(ghapi.Artifact{Name: "usage"}, zip)
	}
	run := s.AddRun(ghapi.Run{})
	id := s.AddArtifact(ghapi.Artifact{Name: "usage", RunID: run, HeadRepoID: 666, HeadSHA: strings.Repeat("a", 40)}, zip)
	s.AddArtifact(ghapi.Artifact{Name: "other"}, nil)
	list := must[[]ghapi.Artifact](t)(c.Artifacts(bg(t), "usage", -1))
	if len(list) != 4 || list[0].ID != id || list[0].HeadRepoID != 666 || list[0].RepoID != s.RepoID() || list[0].RunID != run || list[0].ExpiresAt.IsZero() {
		t.Errorf("artifacts %+v", list)
	}
	if two := must[[]ghapi.Artifact](t)(c.Artifacts(bg(t), "", 2)); len(two) != 2 || two[0].Name != "other" {
		t.Errorf("artifacts %+v", two)
	}
	if of := must[[]ghapi.Artifact](t)(c.RunArtifacts(bg(t), run)); len(of) != 1 || of[0].ID != id {
		t.Errorf("artifacts of the run %+v", of)
	}
	got := must[[]byte](t)(c.DownloadArtifact(bg(t), id, 3000))
	if !bytes.Equal(got, zip) {
		t.Errorf("%d bytes", len(got))
	}
	last := s.Log()[len(s.Log())-1]
	if last.Authorization != "" || last.Host != "blob.example.com" {
		t.Errorf("the blob host got %q at %s", last.Authorization, last.Host)
	}
	_, err := c.DownloadArtifact(bg(t), id, 2999)
	_ = wantKind(t, err, ghapi.KindTooLarge)
	expired := s.AddArtifact(ghapi.Artifact{Name: "old", Expired: true}, zip)
	_, err = c.DownloadArtifact(bg(t), expired, 3000)
	_ = wantKind(t, err, ghapi.KindGone)
	_, err = c.DownloadArtifact(bg(t), 77, 3000)
	_ = wantKind(t, err, ghapi.KindNotFound)
}

// A blob host that fails once is asked again; its signed address never stands in an error.
func TestArtifactHostFails(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	id := s.AddArtifact(ghapi.Artifact{Name: "a"}, []byte("data"))
	blob := func(r ghtest.Request) bool { return strings.HasPrefix(r.Path, "/_blob/") }
	s.AddFault(ghtest.Fault{Match: blob, Status: 503, Body: "<Error>sig=secret</Error>"})
	if got := must[[]byte](t)(c.DownloadArtifact(bg(t), id, 10)); string(got) != "data" {
		t.Errorf("got %q", got)
	}
	s.AddFault(ghtest.Fault{Match: blob, Lost: true, Times: 2})
	_, err := c.DownloadArtifact(bg(t), id, 10)
	_ = wantKind(t, err, ghapi.KindNetwork)
	s.AddFault(ghtest.Fault{Match: blob, Status: 404, Body: "sig=secret"})
	_, err = c.DownloadArtifact(bg(t), id, 10)
	if _ = wantKind(t, err, ghapi.KindNotFound); strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	// A page to sign in, in front of the host, does not make the file gone.
	s.AddFault(ghtest.Fault{Match: blob, Status: 302, Header: http.Header{"Location": {"https://login.example.com/?sig=secret"}}})
	_, err = c.DownloadArtifact(bg(t), id, 10)
	if _ = wantKind(t, err, ghapi.KindForeignHost); strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	// A redirect that is no https address, or no redirect at all.
	for _, location := range []string{"http://blob.example.com/x?sig=secret", "ftp://x/y", "/relative"} {
		s.AddFault(ghtest.Fault{Method: "GET", Status: 302, Header: http.Header{"Location": {location}}})
		_, err = c.DownloadArtifact(bg(t), id, 10)
		if _ = wantKind(t, err, ghapi.KindForeignHost); strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v", err)
		}
	}
}

func TestSettingsReads(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	s.SetVariable("ISSUE_ASSISTANT", "on")
	s.SetSecret("KEY")
	s.SetEnvironment(ghapi.Environment{Name: "issue assistant/x", CustomBranches: true, Branches: []string{"main", "release/*"}, Reviewers: true}, "KEY")
	if v, found, err := c.Variable(bg(t), "ISSUE_ASSISTANT"); err != nil || !found || v != "on" {
		t.Errorf("variable %q %v %v", v, found, err)
	}
	if _, found, err := c.Variable(bg(t), "NONE"); err != nil || found {
		t.Errorf("variable %v %v", found, err)
	}
	for name, want := range map[string]bool{"KEY": true, "OTHER": false} {
		if got, err := c.HasSecret(bg(t), name); err != nil || got != want {
			t.Errorf("secret %s: %v %v", name, got, err)
		}
		if got, err := c.HasEnvironmentSecret(bg(t), "issue assistant/x", name); err != nil || got != want {
			t.Errorf("environment secret %s: %v %v", name, got, err)
		}
	}
	e, found, err := c.Environment(bg(t), "issue assistant/x")
	if err != nil || !found || !e.CustomBranches || len(e.Branches) != 2 || !e.Reviewers || e.ProtectedBranches {
		t.Errorf("environment %+v %v %v", e, found, err)
	}
	if _, found, err := c.Environment(bg(t), "none"); found || err != nil {
		t.Errorf("environment %v %v", found, err)
	}
	s.AddFault(failing("GET", "/repos/octo/demo/actions/secrets/KEY", 403))
	if _, err := c.HasSecret(bg(t), "KEY"); ghapi.KindOf(err) != ghapi.KindForbidden {
		t.Errorf("no permission: %v", err)
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/x", Path: "a.go", Line: 7, Severity: "high"})
	s.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/y", State: "fixed"})
	list := must[[]ghapi.Alert](t)(c.OpenAlerts(bg(t)))
	if len(list) != 1 || list[0].Number != n || list[0].Path != "a.go" || list[0].Line != 7 || list[0].Severity != "high" || list[0].Rule != "go/x" || list[0].Tool != "CodeQL" {
		t.Errorf("alerts %+v", list)
	}
	if err := ghapi.NewWriter(c).DismissAlert(bg(t), "accept", n, "false positive", "seen"); err != nil {
		t.Fatal(err)
	}
	if a, _ := s.Alert(n); a.State != "dismissed" {
		t.Errorf("alert %+v", a)
	}
	s.DisableCodeScanning()
	_, err := c.OpenAlerts(bg(t))
	_ = wantKind(t, err, ghapi.KindNotFound)
}
