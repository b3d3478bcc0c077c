package check_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/check"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/install"
)

// world is a checkout and its repository on the fake GitHub.
type world struct {
	*ghtest.Server
	files fstest.MapFS
	setup check.Setup
	repo  ghapi.Repository
	env   ghapi.Environment
	keys  []string // of the environment
	acts  ghtest.ActionsState
	label func(config.Label) bool // whether the repository has it
	state func(file string) string
	age   time.Duration // of the newest commit
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		Server: ghtest.New(ghtest.Options{}), files: fstest.MapFS{},
		env: ghapi.Environment{Name: "issue-assistant", CustomBranches: true, Branches: []string{"main"}}, keys: []string{"ANTHROPIC_API_KEY"},
		acts:  ghtest.ActionsState{ActionsSettings: ghapi.ActionsSettings{Enabled: true, Allowed: "all"}, ArtifactDays: 90},
		label: func(config.Label) bool { return true }, state: func(string) string { return "active" }, age: 24 * time.Hour,
	}
	pin := install.Pin{Action: "issue-assistant/issue-assistant", SHA: strings.Repeat("ab", 20), Version: "v1.0.0"}
	files, err := install.Render(assets.FS, install.Settings{Engine: "claude", RunsOn: "ubuntu-latest"}, install.Pins{Assistant: pin, Others: map[string]install.Pin{
		"actions/checkout": {Action: "actions/checkout", SHA: strings.Repeat("cd", 20), Version: "v7.0.1"}, "actions/upload-artifact": {Action: "actions/upload-artifact", SHA: strings.Repeat("cd", 20), Version: "v7.0.1"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		w.files[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	labels, ds, err := config.LoadLabels(assets.FS)
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	w.setup = check.Setup{Root: w.files, Config: config.Default(), Labels: labels, Now: w.Now()}
	return w
}

// look makes the repository and runs the check.
func (w *world) look(t *testing.T) ([]diag.Diagnostic, error) {
	t.Helper()
	w.SetRepository(w.repo)
	if w.env.Name != "" {
		w.SetEnvironment(w.env, w.keys...)
	}
	w.SetActions(w.acts)
	for _, l := range w.setup.Labels.Labels {
		if w.label(l) {
			w.AddLabel(ghapi.Label{Name: strings.ToUpper(l.Name)}) // the case of letters does not count
		}
	}
	for p := range w.files {
		if s := w.state(p); s != "" {
			w.AddWorkflow(ghapi.Workflow{Path: p, Name: p, State: s})
		}
	}
	w.AddCommit(ghapi.Commit{SHA: strings.Repeat("e", 40), Message: "x", Date: w.Now().Add(-w.age)})
	c, err := ghapi.New(ghapi.Options{Repo: "octo/demo", Token: "t", HTTP: w.Transport(), Now: w.Now, Sleep: w.Advance})
	if err != nil {
		t.Fatal(err)
	}
	ds, err := check.Online(t.Context(), c, w.setup)
	for _, q := range w.Log() {
		if q.Write() {
			t.Errorf("it wrote: %s %s", q.Method, q.Path)
		}
	}
	return ds, err
}

func TestOnlineIsSilentOnARightRepository(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"public":  func(*world) {},
		"private": func(w *world) { w.repo.Private = true; w.age = 100 * 24 * time.Hour },
		"trunk":   func(w *world) { w.repo.DefaultBranch, w.env.Branches = "trunk/x", []string{"trunk/x"} },
		"selected": func(w *world) {
			w.acts.Allowed, w.acts.Selected = "selected", ghapi.SelectedActions{GitHubOwned: true, Patterns: []string{"Issue-Assistant/*"}}
		},
		"listed": func(w *world) {
			w.acts.Allowed, w.acts.Selected = "selected", ghapi.SelectedActions{Patterns: []string{"actions/checkout@*", "actions/upload-artifact@*", "issue-assistant/issue-assistant@*"}}
		},
		"subscription": func(w *world) { w.keys = []string{"CLAUDE_CODE_OAUTH_TOKEN"} },
		"codex":        func(w *world) { w.setup.Config.Engine.Name = "codex"; w.keys = []string{"OPENAI_API_KEY"} },
		"poll asleep": func(w *world) {
			w.files[".github/workflows/issue-assistant-poll.yml"] = &fstest.MapFile{Data: []byte("on: schedule\n")}
			w.state = func(p string) string {
				if strings.HasSuffix(p, "-poll.yml") {
					return "disabled_manually"
				}
				return "active"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setup.Config.Lifecycle.CloseWithRelease = false
			change(w)
			ds, err := w.look(t)
			if err != nil || len(ds) != 0 {
				t.Errorf("%v, %+v", err, ds)
			}
		})
	}
}

func TestOnlineNamesSeededFaults(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name     string
		change   func(*world)
		page     string
		code     string
		words    string
		severity diag.Severity
	}{
		{"archived", func(w *world) { w.repo.Archived = true }, "settings", "online-archived", "archived", diag.Error},
		{"issues off", func(w *world) { w.DisableIssues() }, "settings", "online-issues-off", "no issues", diag.Error},
		{"Actions off", func(w *world) { w.acts.Enabled = false }, "settings/actions", "online-actions-off", "switched off", diag.Error},
		{"local actions only", func(w *world) { w.acts.Allowed = "local_only" }, "settings/actions", "online-actions-allowed", "actions/checkout", diag.Error},
		{"checkout not allowed", func(w *world) {
			w.acts.Allowed, w.acts.Selected = "selected", ghapi.SelectedActions{Patterns: []string{"issue-assistant/*", "actions/upload-artifact@*"}}
		}, "settings/actions", "online-actions-allowed", `"actions/checkout"`, diag.Error},
		{"our action not allowed", func(w *world) {
			w.acts.Allowed, w.acts.Selected = "selected", ghapi.SelectedActions{GitHubOwned: true}
		}, "settings/actions", "online-actions-allowed", `"issue-assistant/issue-assistant"`, diag.Error},
		{"tokens write", func(w *world) { w.acts.TokenWrites = true }, "settings/actions", "online-token-writes", "token that writes", diag.Warning},
		{"short retention", func(w *world) { w.acts.ArtifactDays = 1 }, "settings/actions", "online-retention", "1 days", diag.Warning},
		{"no environment", func(w *world) { w.env = ghapi.Environment{}; w.SetSecret("ANTHROPIC_API_KEY") }, "settings/environments", "online-environment", "no environment", diag.Error},
		{"no environment on the Free plan", func(w *world) {
			w.repo.Private, w.env = true, ghapi.Environment{}
			w.SetSecret("ANTHROPIC_API_KEY")
		}, "settings/environments", "online-environment", "every branch", diag.Warning},
		{"every branch", func(w *world) { w.env.CustomBranches = false }, "settings/environments", "online-branches", "every branch", diag.Error},
		{"protected branches", func(w *world) { w.env.CustomBranches, w.env.ProtectedBranches = false, true }, "settings/environments", "online-branches", "protected", diag.Warning},
		{"another branch", func(w *world) { w.env.Branches = []string{"main", "dev"} }, "settings/environments", "online-branches", `"dev"`, diag.Error},
		{"a pattern", func(w *world) { w.env.Branches = []string{"*"} }, "settings/environments", "online-branches", `"*"`, diag.Error},
		{"default branch not admitted", func(w *world) { w.repo.DefaultBranch = "trunk" }, "settings/environments", "online-branches", `does not admit the default branch "trunk"`, diag.Error},
		{"reviewers", func(w *world) { w.env.Reviewers = true }, "settings/environments", "online-reviewers", "waits for a person", diag.Warning},
		{"no secret", func(w *world) { w.keys = []string{"ANTROPIC_API_KEY"} }, "settings/environments", "online-secret", "no secret ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN", diag.Error},
		{"secret of another engine", func(w *world) { w.setup.Config.Engine.Name = "gemini" }, "settings/environments", "online-secret", "GEMINI_API_KEY", diag.Error},
		{"secret of the repository", func(w *world) { w.keys = nil; w.SetSecret("CLAUDE_CODE_OAUTH_TOKEN") }, "settings/secrets/actions", "online-secret", "CLAUDE_CODE_OAUTH_TOKEN", diag.Warning},
		{"two keys", func(w *world) { w.keys = []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"} }, "settings/environments", "online-secret", "both set", diag.Warning},
		{"lifecycle label", func(w *world) { w.label = func(l config.Label) bool { return l.Name != "needs-info" } }, "labels", "online-label", `"needs-info"`, diag.Error},
		{"other label", func(w *world) { w.label = func(l config.Label) bool { return l.Name != "question" } }, "labels", "online-label", `"question"`, diag.Warning},
		{"not pushed", func(w *world) {
			w.state = func(p string) string {
				if strings.HasSuffix(p, "-triage.yml") {
					return ""
				}
				return "active"
			}
		}, "actions", "online-workflow", "issue-assistant-triage.yml is not on the default branch", diag.Error},
		{"idle", func(w *world) {
			w.state = func(p string) string {
				if strings.HasSuffix(p, "-lifecycle.yml") {
					return "disabled_inactivity"
				}
				return "active"
			}
		}, "actions", "online-workflow", "issue-assistant-lifecycle.yml", diag.Error},
		{"switched off", func(w *world) {
			w.state = func(p string) string {
				if strings.HasSuffix(p, "-cost.yml") {
					return "disabled_manually"
				}
				return "active"
			}
		}, "actions", "online-workflow", "disabled_manually", diag.Warning},
		{"old commit", func(w *world) { w.age = 61 * 24 * time.Hour }, "actions", "online-idle", "61 days old", diag.Warning},
		{"soon idle", func(w *world) { w.age = 50 * 24 * time.Hour }, "actions", "online-idle", "in 10 days", diag.Warning},
		{"variable off", func(w *world) { w.SetVariable("ISSUE_ASSISTANT", "off") }, "settings/variables/actions", "online-off", "nothing starts", diag.Warning},
		{"no release", func(w *world) {
			w.files[".github/workflows/issue-assistant.yml"] = &fstest.MapFile{Data: []byte("if: vars.ISSUE_ASSISTANT == 'on'\n")}
		}, "settings/variables/actions", "online-off", "no release", diag.Error},
	}
	if len(faults) < 15 {
		t.Fatal("too few faults")
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setup.Config.Lifecycle.CloseWithRelease = false
			f.change(w)
			ds, err := w.look(t)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, d := range ds {
				if d.Hint == "" {
					t.Errorf("no remedy: %+v", d)
				}
				found = found || d.Path == "octo/demo/"+f.page && d.Code == f.code && d.Severity == f.severity && strings.Contains(d.Message, f.words)
			}
			if !found || len(ds) > 2 {
				t.Errorf("want %s [%s] %s %q, got %+v", f.page, f.code, f.severity, f.words, ds)
			}
		})
	}
}

// TestOnlineSaysUnknownNotWrong: a token that may read little finds nothing wrong, and says what it did not see.
func TestOnlineSaysUnknownNotWrong(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError} {
		w := newWorld(t)
		w.AddFault(ghtest.Fault{Match: func(r ghtest.Request) bool { return r.Path != "/repos/octo/demo" && r.Path != "/graphql" }, Status: status, Times: -1})
		ds, err := w.look(t)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			if d.Severity != diag.Notice || d.Code != "online-unknown" || d.Hint == "" {
				t.Errorf("%d: %+v", status, d)
			}
		}
		if len(ds) < 10 {
			t.Errorf("%d: only %d unknown: %+v", status, len(ds), ds)
		}
	}
	w := newWorld(t)
	w.acts.Allowed = "selected"
	w.AddFault(ghtest.Fault{Method: http.MethodGet, Path: "/repos/octo/demo/actions/permissions/selected-actions", Status: http.StatusForbidden, Times: -1})
	ds, err := w.look(t)
	if err != nil || len(ds) != 2 || ds[0].Code != "online-unknown" || !strings.Contains(ds[1].Message, "Auto-close") {
		t.Errorf("%v %+v", err, ds)
	}
	w = newWorld(t)
	w.AddFault(ghtest.Fault{Method: http.MethodGet, Path: "/repos/octo/demo", Status: http.StatusNotFound, Times: -1})
	if _, err := w.look(t); err == nil {
		t.Error("a repository that cannot be read must be an error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := ghapi.New(ghapi.Options{Repo: "octo/demo", HTTP: w.Transport(), Now: w.Now, Sleep: w.Advance})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := check.Online(ctx, c, check.Setup{Root: os.DirFS(t.TempDir())}); err == nil {
		t.Error("a canceled check must end in an error")
	}
}
