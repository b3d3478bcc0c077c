package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// onlineStage is a right set-up and its repository; the checkout knows it by its remote alone.
func onlineStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: ghtest.New(ghtest.Options{}), dir: t.TempDir(), env: map[string]string{"GH_TOKEN": "t"}}
	files := rightFiles(t)
	files[".git/config"] = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://github.com/me/fork.git\n[remote \"origin\"]\n\turl = git@github.com:octo/demo.git\n"
	for name, text := range files {
		s.write(t, name, text)
		if strings.HasPrefix(name, ".github/workflows/") {
			s.AddWorkflow(ghapi.Workflow{Path: name, Name: name})
		}
	}
	labels, _ := config.ParseLabels("", []byte(files[seedLabels]))
	for _, l := range labels.Labels {
		s.AddLabel(ghapi.Label{Name: l.Name})
	}
	s.AddCommit(ghapi.Commit{SHA: strings.Repeat("e", 40), Date: s.Now().Add(-time.Hour)})
	s.SetEnvironment(ghapi.Environment{Name: "issue-assistant", CustomBranches: true, Branches: []string{"main"}}, "ANTHROPIC_API_KEY")
	return s
}

func TestCheckOnline(t *testing.T) {
	t.Parallel()
	s := onlineStage(t)
	// What GitHub shows to nobody is unknown, not wrong.
	if code := s.run(t, "check", "--online"); code != ExitOK || !strings.Contains(s.out, "octo/demo/settings: notice: ") || !strings.Contains(s.err, "everything fits, 1 unknown") {
		t.Errorf("%d %s %s", code, s.out, s.err)
	}
	if code := s.run(t, "check", "--online", "--format", "annotations"); code != ExitOK || !strings.HasPrefix(s.out, "::notice file=octo/demo/settings,title=online-unknown::") {
		t.Errorf("%d %s", code, s.out)
	}
	if s.writes() > 0 {
		t.Error("check wrote")
	}
	// Without the flag nothing is asked.
	before := len(s.Log())
	if code := s.run(t, "check"); code != ExitOK || len(s.Log()) != before || s.out != "" {
		t.Errorf("%d, %d requests, %s", code, len(s.Log())-before, s.out)
	}
	// A fault online is a problem (1), not a wrong setting (2), and stands beside those of the files.
	s.SetActions(ghtest.ActionsState{ArtifactDays: 90})
	s.write(t, seedForm, strings.Replace(goodForm, `["bug"]`, `["nope"]`, 1))
	code := s.run(t, "check", "--online", "--format", "json")
	var ds []diag.Diagnostic
	if err := json.Unmarshal([]byte(s.out), &ds); err != nil || code != ExitProblem || len(ds) != 3 || ds[0].Path != seedForm || ds[2].Code != "online-actions-off" {
		t.Errorf("%d %v %+v", code, err, ds)
	}
	s.write(t, seedConfig, "[engine]\nmax_turns = 0\n")
	if code := s.run(t, "check", "--online"); code != ExitUsage {
		t.Errorf("wrong settings: %d", code)
	}
}

func TestCheckOnlineNeedsARepository(t *testing.T) {
	t.Parallel()
	s := onlineStage(t)
	s.AddFault(ghtest.Fault{Method: http.MethodGet, Path: "/repos/octo/demo", Status: http.StatusNotFound, Times: 1})
	if code := s.run(t, "check", "--online"); code != ExitFailure || !strings.Contains(s.err, "hint: a token that may read the repository") {
		t.Errorf("%d %s", code, s.err)
	}
	s.write(t, ".git/config", "[core]\n")
	if code := s.run(t, "check", "--online"); code != ExitUsage || !strings.Contains(s.err, "set GITHUB_REPOSITORY") {
		t.Errorf("%d %s", code, s.err)
	}
	s.env["GITHUB_REPOSITORY"] = "octo/demo"
	if code := s.run(t, "check", "--online"); code != ExitOK {
		t.Errorf("%d %s", code, s.err)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://github.com/octo/demo.git":                 "octo/demo https://github.com",
		"https://github.com/octo/demo":                     "octo/demo https://github.com",
		"https://x-access-token:SECRET@github.com/octo/d1": "octo/d1 https://github.com",
		"git@ghe.example.com:octo/demo.git":                "octo/demo https://ghe.example.com",
		"ssh://git@github.com/octo/my.site.git":            "octo/my.site https://github.com",
		"ssh://git@ghe.example.com:2222/octo/demo":         "octo/demo https://ghe.example.com",
		"/srv/git/demo.git":                                " ",
		"file:///srv/octo/demo":                            " ",
		"https://github.com/octo/demo/extra":               " ",
		"https://github.com/../demo\x1b":                   " ",
	} {
		s := &stage{dir: t.TempDir()}
		s.write(t, ".git/config", "[remote \"origin\"]\n\turl = "+url+"\n")
		if repo, server := origin(s.dir); repo+" "+server != want {
			t.Errorf("%s: %s %s", url, repo, server)
		}
	}
	if repo, _ := origin(t.TempDir()); repo != "" {
		t.Errorf("no repository: %s", repo)
	}
}
