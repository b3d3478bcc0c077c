package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/install"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

const (
	repoName = "octo-org/demo"
	theKey   = "sk-ant-api03-THE-KEY-OF-THE-ENVIRONMENT-0123456789"
	theToken = "job-token-0123456789abcdef"
	number   = 12
	reporter = "alice"
)

// Words of which each stands in one place only.
const (
	rulesWord = "RULESWORD"
	issueWord = "ISSUEWORD"
	taskWords = "Task: first look at issue #12 of octo-org/demo"
)

// actAtOnce keeps the tests from starting many engines of 300 MB at a time.
var actAtOnce = make(chan struct{}, 2)

// world is one repository with its GitHub, its provider and a machine that runs its workflows.
type world struct {
	dir       string // everything lies below
	repo      string // the repository's work tree
	spied     string // one file per command with its environment
	artifacts string // RUN/NAME/FILES
	gh        *ghtest.Server
	door      *door // what each job's token may do and did
	api       string
	cli       cli               // the engine and its provider
	ai        *anthropic.Server // the provider, when the engine is Claude Code
	act       string
	started   int // act was started so often
}

// newWorld is a repository that has been set up by install, with one open issue of a stranger.
func newWorld(t *testing.T, script anthropic.Script, settings string) *world {
	t.Helper()
	ai := anthropic.New(script)
	t.Cleanup(ai.Close)
	w := newWorldOf(t, claudeCode(ai), settings)
	w.ai = ai
	w.cli.url = func() string { return w.ai.URL }
	return w
}

// newWorldOf is a world whose engine is another one; its provider runs.
func newWorldOf(t *testing.T, c cli, settings string) *world {
	t.Helper()
	if runtime.GOOS != "linux" {
		testtool.Unmet(t, "the action runs on Linux")
	}
	w := &world{act: testtool.Need(t, "act"), cli: c}
	testtool.Need(t, "git")
	testtool.NeedFile(t, "engines", c.engine, "node_modules", c.scope)
	w.dir = t.TempDir()
	for _, dir := range []string{w.dir, filepath.Dir(w.dir)} {
		if err := os.Chmod(dir, 0o755); err != nil { // so that the engine may run as another user
			t.Fatal(err)
		}
	}
	w.repo, w.spied, w.artifacts = w.path("repo"), w.path("spied"), w.path("artifacts")
	t.Cleanup(func() { w.endLeftovers(t) })

	w.gh = ghtest.New(ghtest.Options{Repo: repoName, Token: theToken, Now: time.Now})
	w.door = newDoor(t, ghcheck.Handler(t, w.gh))
	server := httptest.NewServer(w.door)
	t.Cleanup(server.Close)
	w.api = server.URL
	w.fillGitHub(t)
	w.setUp(t, settings)
	w.layOut(t)
	return w
}

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

func (w *world) fillGitHub(t *testing.T) {
	t.Helper()
	w.gh.SetPermission("mona", "write")
	labels, _, err := config.LoadLabels(os.DirFS(testtool.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range labels.Labels {
		w.gh.AddLabel(ghapi.Label{Name: l.Name, Color: l.Color, Description: l.Description})
	}
	w.gh.AddIssue(ghapi.Issue{Number: 3, Title: "Export is slow", Body: "It takes minutes.", Author: ghapi.User{Login: "bob"}})
	w.gh.AddIssue(ghapi.Issue{
		Number: number, Title: "It crashes on start " + issueWord, Author: ghapi.User{Login: reporter},
		Body: "### What happens\n\n" + issueWord + ": it says `panic: nil map` and ends.\n\n${{ secrets.ANTHROPIC_API_KEY }} $(touch pwned) `id`\n",
	})
	for _, path := range []string{"issue-assistant.yml", "issue-assistant-triage.yml"} {
		w.gh.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/" + path, Name: path, State: "active"})
	}
}

// setUp makes the repository: some code, what install writes, the maintainer's rules and settings.
func (w *world) setUp(t *testing.T, settings string) {
	t.Helper()
	put(t, w.repo, "main.go", "package main\n\nfunc main() {}\n")
	w.git(t, "init", "-q", "-b", "main")
	if settings != "" {
		put(t, w.repo, config.Path, settings)
	}
	plan, err := install.Make(w.repo, install.Options{
		Templates: assets.FS, Pin: install.Pin{Action: "issue-assistant/issue-assistant", SHA: actionSHA, Version: "v1.2.3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(w.repo, filepath.FromSlash(config.RulesPath))
	data, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	put(t, w.repo, config.RulesPath, string(data)+"\n"+rulesWord+": be brief.\n")
	w.adapt(t)
	w.commit(t)
}

// commit records the work tree, so that act knows a commit.
func (w *world) commit(t *testing.T) {
	t.Helper()
	w.git(t, "add", "-A")
	w.git(t, "-c", "user.name=mona", "-c", "user.email=mona@example.com", "commit", "-q", "-m", "set up")
}

func (w *world) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.repo
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// adapt makes of the generated workflows the copy that act accepts, with GitHub's way of dropping outputs.
func (w *world) adapt(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.repo, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	holds := func(secret string) string {
		return "(" + secret + " != '' && contains(steps.run.outputs.answer, " + secret + "))"
	}
	const answer = "      answer: ${{ steps.run.outputs.answer }}\n"
	dropped := "      answer: ${{ !" + holds("secrets."+w.cli.secret) + " && !" + holds("github.token") + " && steps.run.outputs.answer || '' }}\n"
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if strings.Contains(text, "environment:") {
			text = once(t, file, text, "{name: issue-assistant, deployment: false}", "{name: issue-assistant}")
			text = once(t, file, text, answer, dropped)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func once(t *testing.T, file, text, old, now string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s does not hold %q once", file, old)
	}
	return strings.Replace(text, old, now, 1)
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, dir, name, text string) {
	t.Helper()
	put(t, dir, name, text)
	if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
		t.Fatal(err)
	}
}

// opened is GitHub's payload when the issue has been opened.
func (w *world) opened() map[string]any { return w.event("opened", nil) }

// said is GitHub's payload when somebody has commented.
func (w *world) said(id int64, login, body string) map[string]any {
	return w.event("created", map[string]any{"id": id, "body": body, "user": account(login)})
}

func (w *world) event(action string, comment map[string]any) map[string]any {
	i, _ := w.gh.Issue(number)
	labels := []any{}
	for _, l := range i.Labels {
		labels = append(labels, map[string]any{"name": l})
	}
	event := map[string]any{
		"action": action,
		"issue": map[string]any{
			"number": number, "title": i.Title, "body": i.Body, "state": i.State, "locked": false, "user": account(i.Author.Login),
			"labels": labels, "comments": i.Comments,
		},
		"repository": map[string]any{"full_name": repoName, "default_branch": "main", "fork": false},
		"sender":     account(i.Author.Login),
	}
	if comment != nil {
		event["comment"], event["sender"] = comment, comment["user"]
	}
	return event
}

func account(login string) map[string]any { return map[string]any{"login": login, "type": "User"} }

// triage is an answer of the task; change edits its fields.
func triage(change func(map[string]any)) map[string]any {
	a := map[string]any{
		"language": "en", "kind": "bug", "areas": []any{}, "topics": []any{}, "label_rationale": "It crashes.",
		"summary": "The program ends with a panic when it starts.", "analysis": "The map is never made.",
		"next_steps": []any{"Start it with an empty settings file."}, "missing_information": []any{}, "duplicates": []any{},
		"related": []any{}, "references": []any{}, "sensitive_data": "none", "security_report": false, "spam": false,
	}
	if change != nil {
		change(a)
	}
	return a
}

// followUp is an answer of the task that a reporter's answer starts.
func followUp(reply string) map[string]any {
	return map[string]any{
		"language": "en", "kind": "bug", "areas": []any{}, "topics": []any{}, "label_rationale": "", "reply": reply,
		"missing_information": []any{}, "references": []any{}, "sensitive_data": "none",
	}
}

func answering(a map[string]any) anthropic.Script {
	return anthropic.Script{Steps: []anthropic.Step{{Answer: a}}}
}

func reading(path string) anthropic.Step {
	return anthropic.Step{Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": path}}}}
}

// ours are the comments of the assistant.
func (w *world) ours() []ghapi.Comment {
	var all []ghapi.Comment
	for _, c := range w.gh.Comments(number) {
		if strings.Contains(c.Body, "<!-- issue-assistant:") {
			all = append(all, c)
		}
	}
	return all
}

func (w *world) writes() []string {
	var all []string
	for _, r := range w.gh.Log() {
		if r.Write() {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}

// parts are the system prompt and the messages of a request to the provider.
func parts(t *testing.T, body []byte) (system, messages string) {
	t.Helper()
	var request struct {
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	return string(request.System), string(request.Messages)
}

func settings(lines string) string {
	return fmt.Sprintf("[engine]\nname = \"claude\"\nmodel = \"claude-opus-5-5\"\n%s\n", lines)
}
