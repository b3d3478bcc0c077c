package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestActionlint lints every generated workflow and this repository's own, scripts with shellcheck.
func TestActionlint(t *testing.T) {
	t.Parallel()
	shellcheck := testtool.Need(t, "shellcheck")
	lint := buildLint(t)
	folders := []string{lintFolder(t, ownWorkflows(t))}
	for _, name := range engine.Names {
		files := rendered(t, name)
		files[".github/workflows/agent.yml"] = workFile
		folders = append(folders, lintFolder(t, files))
	}
	for _, found := range runLint(t, lint, shellcheck, folders...) {
		t.Error(found)
	}
	// Files that must be refused show that the check checks, and that shellcheck ran.
	for what, change := range map[string][2]string{
		"expression": {"needs.analyze.outputs.ended", "needs.analyze.outputs.end"},
		"script":     {"      - name: Material\n", "      - name: Say\n        shell: bash\n        run: rm -r $1/x\n      - name: Material\n"},
		"input":      {"inputs.comment", "inputs.remark"},
	} {
		files := rendered(t, engine.Claude)
		path := workflowPath("triage")
		text := strings.Replace(files[path], change[0], change[1], 1)
		if text == files[path] {
			t.Fatalf("%q is not there", change[0])
		}
		files[path] = text
		if found := runLint(t, lint, shellcheck, lintFolder(t, files)); len(found) == 0 {
			t.Errorf("actionlint accepted a broken %s", what)
		}
	}
}

// buildLint builds tools/lint, a module of its own.
func buildLint(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "lint")
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = filepath.Join(testtool.Root(t), "tools", "lint")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s", text)
		testtool.Missing(t, "actionlint (tools/lint)")
	}
	return out
}

// lintFolder lays workflows out in a repository and returns their folder.
func lintFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{".git", workflowDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, workflowDir)
}

func runLint(t *testing.T, lint, shellcheck string, folders ...string) []string {
	t.Helper()
	cmd := exec.Command(lint, append([]string{"-shellcheck", shellcheck}, folders...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("actionlint: %v\n%s", err, stderr.String())
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		found = append(found, line)
	}
	return found
}

// ownWorkflows are the files in this repository's .github/workflows.
func ownWorkflows(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testtool.Root(t), workflowDir, "*.yml"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no workflows here", err)
	}
	out := map[string]string{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[workflowDir+"/"+filepath.Base(p)] = string(data)
	}
	return out
}

// TestOwnProperties holds what people wrote into .github/workflows to the rules that fit it.
func TestOwnProperties(t *testing.T) {
	t.Parallel()
	for rule, found := range violations(t, ownWorkflows(t), true) {
		t.Errorf("%s:\n%s", rule, strings.Join(found, "\n"))
	}
}

type nodeFile struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

type nodeEval struct {
	Expr     string         `json:"expr"`
	Contexts map[string]any `json:"contexts"`
	Status   string         `json:"status"`
}

type nodeRequest struct {
	Lint    []nodeFile `json:"lint"`
	Actions []nodeFile `json:"actions"`
	Eval    []nodeEval `json:"eval"`
}

type nodeAnswer struct {
	Lint    map[string][]string `json:"lint"`
	Actions map[string][]string `json:"actions"`
	Eval    []any               `json:"eval"`
}

// askNode runs GitHub's own parser, language service and evaluator over everything in one process.
func askNode(t *testing.T, request nodeRequest) nodeAnswer {
	t.Helper()
	node := testtool.Need(t, "node")
	testtool.NeedFile(t, "tools", "node", "node_modules", "@actions", "languageservice", "package.json")
	input, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--no-warnings", "--import", "./jsonhook.mjs", "workflows.mjs")
	cmd.Dir = filepath.Join(testtool.Root(t), "tools", "node")
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	var answer nodeAnswer
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestGitHubsParser(t *testing.T) {
	t.Parallel()
	var request nodeRequest
	for _, name := range engine.Names {
		for path, text := range rendered(t, name) {
			request.Lint = append(request.Lint, nodeFile{string(name) + "-" + filepath.Base(path), text})
		}
	}
	for path, text := range ownWorkflows(t) {
		request.Lint = append(request.Lint, nodeFile{"own-" + filepath.Base(path), text})
	}
	action, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	request.Actions = []nodeFile{{"action.yml", string(action)}, {"broken/action.yml", strings.Replace(string(action), "shell: bash", "shel: bash", 1)}}
	// Files that must be refused show that the check checks.
	broken := rendered(t, engine.Claude)[workflowPath("triage")]
	for what, change := range map[string][2]string{
		"scope":   {"discussions: read", "discussion: read"},
		"needs":   {"needs: analyze\n", "needs: analysis\n"},
		"context": {"if: needs.analyze.outputs.ended == 'finished'", "if: secrets.X == 'finished'"},
		"key":     {"timeout-minutes: 75", "timeout-minute: 75"},
	} {
		if !strings.Contains(broken, change[0]) {
			t.Fatalf("%q is not there", change[0])
		}
		request.Lint = append(request.Lint, nodeFile{"broken-" + what + ".yml", strings.Replace(broken, change[0], change[1], 1)})
	}
	answer := askNode(t, request)
	if len(answer.Lint) != len(request.Lint) || len(answer.Actions) != len(request.Actions) {
		t.Fatalf("%d and %d answers for %d and %d files", len(answer.Lint), len(answer.Actions), len(request.Lint), len(request.Actions))
	}
	for _, files := range []map[string][]string{answer.Lint, answer.Actions} {
		for name, found := range files {
			if strings.HasPrefix(name, "broken") {
				if len(found) == 0 {
					t.Errorf("%s was accepted", name)
				}
			} else if len(found) > 0 {
				t.Errorf("%s: %s", name, strings.Join(found, "\n"))
			}
		}
	}
}

// payload is an event as GitHub sends it.
type payload struct {
	name  string // of the event
	label string
	event map[string]any
}

// payloads are GitHub's own examples of the events that our workflows know, and the cases about events.
func payloads(t *testing.T) []payload {
	t.Helper()
	index, err := os.ReadFile(testtool.NeedFile(t, "tools", "node", "node_modules", "@octokit", "webhooks-examples", "api.github.com", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Name     string           `json:"name"`
		Examples []map[string]any `json:"examples"`
	}
	if err := json.Unmarshal(index, &examples); err != nil {
		t.Fatal(err)
	}
	var out []payload
	for _, e := range examples {
		names := []string{e.Name}
		switch e.Name {
		case "issues", "issue_comment", "release", "push", "workflow_dispatch":
		case "pull_request":
			names = []string{"pull_request_target"}
		default:
			continue
		}
		for i, event := range e.Examples {
			out = append(out, payload{names[0], fmt.Sprintf("%s %d", names[0], i), event})
		}
	}
	cases := filepath.Join(testtool.Root(t), "testdata", "cases", "bugs")
	for file, key := range map[string]string{"B13-bot-actor.json": "", "B15-two-comments-race.json": "events_in_order", "B16-same-event-twice.json": "", "B18-pr-comment-as-issue-comment.json": "", "B54-template-injection-title.json": "", "B55-option-injection.json": ""} {
		data, err := os.ReadFile(filepath.Join(cases, file))
		if err != nil {
			t.Fatal(err)
		}
		for i, event := range eventsIn(t, data, key) {
			name := "issues"
			if event["comment"] != nil {
				name = "issue_comment"
			}
			out = append(out, payload{name, fmt.Sprintf("%s %d", file, i), event})
		}
	}
	// The examples hold no merged pull request.
	for _, base := range []string{"main", "v1.x"} {
		for _, merged := range []bool{true, false} {
			out = append(out, payload{"pull_request_target", fmt.Sprintf("closed, %s, merged %v", base, merged), map[string]any{
				"action":       "closed",
				"pull_request": map[string]any{"merged": merged, "base": map[string]any{"ref": base}},
				"repository":   map[string]any{"default_branch": "main"},
			}})
		}
	}
	out = append(out, payload{"schedule", "schedule", map[string]any{"schedule": "41 6 * * *"}})
	return out
}

func eventsIn(t *testing.T, data []byte, key string) []map[string]any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if key != "" {
		v = object(v)[key]
	}
	if l := list(v); l != nil {
		var out []map[string]any
		for _, e := range l {
			out = append(out, object(e))
		}
		return out
	}
	if events := list(object(v)["events"]); events != nil {
		var out []map[string]any
		for _, e := range events {
			out = append(out, object(e))
		}
		return out
	}
	return []map[string]any{object(v)}
}

func isBot(user any) bool { return object(user)["type"] == "Bot" }

// wantJob says whether a first job should run for an event; it knows nothing of the conditions' text.
func wantJob(file, job string, p payload) bool {
	issue, comment := object(p.event["issue"]), object(p.event["comment"])
	repository, pull := object(p.event["repository"]), object(p.event["pull_request"])
	byHand := p.name == "schedule" || p.name == "workflow_dispatch"
	onDefault := strings.TrimPrefix(text(p.event["ref"]), "refs/heads/") == text(repository["default_branch"])
	switch file + " " + job {
	case "issue-assistant event":
		if action := text(p.event["action"]); (action == "labeled" || action == "unlabeled") && !strings.HasPrefix(text(object(p.event["label"])["name"]), "issue-assistant:") {
			return false
		}
		return issue["pull_request"] == nil && !isBot(p.event["sender"]) && !isBot(issue["user"]) && !isBot(comment["user"])
	case "issue-assistant-lifecycle sweep":
		return byHand
	case "issue-assistant-lifecycle fixes":
		merged := pull["merged"] == true && object(pull["base"])["ref"] == repository["default_branch"]
		return p.name == "release" || (p.name == "pull_request_target" && merged)
	case "issue-assistant-labels labels":
		return p.name == "workflow_dispatch" || onDefault
	case "issue-assistant-findings findings":
		return byHand || onDefault
	}
	return true
}

// TestConditions is the truth table of every `if:`, by GitHub's own evaluator over real payloads.
func TestConditions(t *testing.T) {
	t.Parallel()
	var request nodeRequest
	var want []bool
	var labels []string
	ask := func(label, expr, status string, expected bool, contexts map[string]any) {
		request.Eval = append(request.Eval, nodeEval{expr, contexts, status})
		want, labels = append(want, expected), append(labels, label)
	}
	events := payloads(t)
	if len(events) < 60 {
		t.Fatalf("%d payloads, want at least 60", len(events))
	}
	asked := map[string]bool{} // conditions that the table covers
	runs := map[string]int{}
	files := rendered(t, engine.Claude)
	for path, source := range files {
		f := parseFlow(t, path, source)
		f.eachJob(func(name string, job map[string]any) {
			condition := text(job["if"])
			asked[path+" "+condition] = true
			if job["needs"] == nil {
				for _, p := range events {
					if _, listens := f.triggers()[p.name]; !listens && f.task() == "" {
						continue
					}
					github := map[string]any{"event_name": p.name, "event": p.event, "ref_name": strings.TrimPrefix(text(p.event["ref"]), "refs/heads/")}
					for _, v := range []string{"", "on", "off", "OFF"} {
						expected := wantJob(f.name(), name, p) && !strings.EqualFold(v, "off")
						if expected && v == "" {
							runs[f.name()+" "+name]++
						}
						ask(fmt.Sprintf("%s, %s, ISSUE_ASSISTANT=%q", path+" "+name, p.label, v), condition, "success", expected,
							map[string]any{"github": github, "vars": map[string]any{"ISSUE_ASSISTANT": v}})
					}
				}
				return
			}
			for _, word := range afterWords() {
				needs := map[string]any{
					"event":   map[string]any{"outputs": map[string]any{"task": word}},
					"analyze": map[string]any{"outputs": map[string]any{"ended": word}},
					"gate":    map[string]any{"outputs": map[string]any{"action": word}},
					"work":    map[string]any{"result": word},
				}
				expected := word == name || (name == "apply" && word == "finished") ||
					(name == "work" && word == "run") || (name == "finish" && (word == "wrap" || word == "release" || word == "success"))
				ask(path+" "+name+" after "+word, condition, "success", expected, map[string]any{"needs": needs})
			}
		})
		f.eachStep(func(job, name string, step map[string]any) {
			condition := text(step["if"])
			if condition == "" {
				return
			}
			asked[path+" "+condition] = true
			for _, status := range []string{"success", "failure", "cancelled"} {
				for _, ready := range []string{"true", "false", ""} {
					for _, material := range []string{"/folder", ""} { // none: the issue went away
						// A condition without a status function is and-ed with success() by GitHub.
						expr := condition
						if !strings.Contains(condition, "always()") {
							expr = "success() && (" + condition + ")"
						}
						always := command(step) == "usage" || strings.HasPrefix(text(step["uses"]), uploadAction)
						outputs := func(name, value string) map[string]any {
							return map[string]any{"outputs": map[string]any{name: value}}
						}
						ask(fmt.Sprintf("%s %s/%s, %s, ready=%q, material=%q", path, job, name, status, ready, material), expr, status,
							ready == "true" && (always || status == "success") && (command(step) != "run" || material != ""),
							map[string]any{"steps": map[string]any{"engine": outputs("ready", ready), "context": outputs("material", material)}})
					}
				}
			}
		})
		for line := range strings.Lines(source) {
			if c, ok := strings.CutPrefix(strings.TrimSpace(line), "if: "); ok && !strings.HasPrefix(c, ">-") && !asked[path+" "+c] {
				t.Errorf("%s: no row for: if: %s", path, c)
			}
		}
	}
	for i, got := range askNode(t, request).Eval {
		if got != want[i] {
			t.Errorf("%s: %v, want %v: %s", labels[i], got, want[i], request.Eval[i].Expr)
		}
	}
	// Counted by hand over the examples: a table in which nothing ever runs, or all of it, proves nothing.
	for job, atLeast := range map[string]int{"issue-assistant event": 30, "issue-assistant-lifecycle fixes": 14, "issue-assistant-lifecycle sweep": 3, "issue-assistant-labels labels": 3} {
		if runs[job] < atLeast {
			t.Errorf("%s runs for %d payloads, want at least %d", job, runs[job], atLeast)
		}
	}
	t.Logf("%d payloads, %d rows, runs %v", len(events), len(want), runs)
}

// afterWords are all words that a job may hand on.
func afterWords() []string {
	words := []string{"", "none", "true", "run", "quiet", "wrap", "release", "hold", "error", "triage; echo"}
	for _, x := range tasks {
		words = append(words, string(x.Name))
	}
	for _, e := range engine.Endings {
		words = append(words, string(e))
	}
	return words
}
