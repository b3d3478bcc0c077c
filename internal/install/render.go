// Package install writes a repository's set-up: workflows from the templates, rules, starters of the settings, the
// ignored folder. It plans first and writes last, all or nothing; Check compares what is there with what it would write.
package install

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// File is a file of a repository: its slash-separated path below the root, and its bytes.
type File struct {
	Path string
	Data []byte
}

// Settings is what decides the text of the workflows. Everything else is read when a run happens.
type Settings struct {
	Engine   engine.Name
	RunsOn   string
	Findings bool  // .issue-assistant/findings.toml exists
	Work     *Work // [chunk] is set
}

type taskInfo struct {
	Name  task.Name
	Title string
	What  string
}

// tasks in the order of the router's jobs.
var tasks = []taskInfo{
	{task.Triage, "Triage", "the first analysis of a new issue"},
	{task.Reanalyze, "Analysis again", "a fresh analysis, because a maintainer asked for it"},
	{task.FollowUp, "Follow-up", "the reporter answered the questions of the assistant"},
	{task.MaintainerReply, "Reply of a maintainer", "does the issue now wait for its reporter?"},
	{task.ReleaseReply, "Reply after a release", "does the problem persist with the release that closed the issue?"},
}

// Secrets lists the names of the secrets that an engine can sign in with; one of them is enough.
func Secrets(name engine.Name) []string {
	switch name {
	case engine.Codex:
		return []string{"OPENAI_API_KEY"}
	case engine.Gemini:
		return []string{"GEMINI_API_KEY"}
	case engine.Claude:
	}
	return []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}
}

// workflowDir is where GitHub looks for workflows.
const workflowDir = ".github/workflows"

// Known lists the paths of all workflows that a release may write.
func Known() []string {
	paths := []string{workflowPath("")}
	for _, t := range tasks {
		paths = append(paths, workflowPath(string(t.Name)))
	}
	for _, name := range []string{"lifecycle", "labels", "cost", "findings", "poll"} {
		paths = append(paths, workflowPath(name))
	}
	return paths
}

func workflowPath(name string) string {
	if name == "" {
		return workflowDir + "/issue-assistant.yml"
	}
	return workflowDir + "/issue-assistant-" + name + ".yml"
}

// runnerLabel keeps expressions and YAML out of runs-on.
var runnerLabel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Render returns the workflows for the settings, by path. templates is the root that holds workflows/.
func Render(templates fs.FS, s Settings, pins Pins) ([]File, error) {
	if !slices.Contains(engine.Names, s.Engine) {
		return nil, fmt.Errorf("the engine %q is not known: write claude, codex or gemini", s.Engine)
	}
	if !runnerLabel.MatchString(s.RunsOn) {
		return nil, fmt.Errorf("runs_on in %s is %q: write the label of a runner, letters, digits, points and dashes", config.Path, s.RunsOn)
	}
	var files []File
	add := func(name, tmpl string, t *taskInfo) error {
		data, err := execute(templates, tmpl, view{Settings: s, Task: t}, pins)
		if err != nil {
			return err
		}
		files = append(files, File{workflowPath(name), stamp(data)})
		return nil
	}
	if err := add("", "issue-assistant", nil); err != nil {
		return nil, err
	}
	for i := range tasks {
		if err := add(string(tasks[i].Name), "issue-assistant-task", &tasks[i]); err != nil {
			return nil, err
		}
	}
	rest := []string{"lifecycle", "labels", "cost"}
	if s.Findings {
		rest = append(rest, "findings")
	}
	if s.Work != nil {
		rest = append(rest, "poll")
	}
	for _, name := range rest {
		if err := add(name, "issue-assistant-"+name, nil); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// view is what a template sees.
type view struct {
	Settings
	Task *taskInfo
}

// Tasks lists the tasks for the router.
func (v view) Tasks() []taskInfo { return tasks }

// Secrets lists the engine's secrets.
func (v view) Secrets() []string { return Secrets(v.Engine) }

// RunsOn quotes labels that YAML would not read as text.
func (v view) RunsOn() string {
	if plainWord.MatchString(v.Settings.RunsOn) {
		return v.Settings.RunsOn
	}
	return `"` + v.Settings.RunsOn + `"`
}

var plainWord = regexp.MustCompile(`^[a-z]+-[a-z0-9.-]*[a-z0-9]$`)

func execute(templates fs.FS, name string, v view, pins Pins) ([]byte, error) {
	file := "workflows/" + name + ".yml.tmpl"
	source, err := fs.ReadFile(templates, file)
	if err != nil {
		return nil, fmt.Errorf("read a template: %w", err)
	}
	chunk := v.Work != nil
	tmpl, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Funcs(template.FuncMap{
		"assistant": func() (string, error) { return pinText(pins.Assistant, "the action itself") },
		"uses":      func(action string) (string, error) { return pinText(pins.Others[action], action) },
		"guard":     func() string { return guard(pins.Assistant) },
		"permissions": func(parts ...string) string {
			return block(scopesOf(chunk, parts...))
		},
		"permissionsOfTask": func(t task.Name) string {
			analyze, apply := taskParts(string(t))
			return block(scopesOf(chunk, slices.Concat(analyze, apply)...))
		},
	}).Parse(string(source))
	if err != nil {
		return nil, fmt.Errorf("read a template: %w", err)
	}
	var b bytes.Buffer
	if err := tmpl.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("fill %s: %w", file, err)
	}
	return b.Bytes(), nil
}

func pinText(p Pin, what string) (string, error) {
	if !commitHash.MatchString(p.SHA) || !actionName.MatchString(p.Action) || !versionWord.MatchString(p.Version) {
		return "", fmt.Errorf("no commit is known for %s", what)
	}
	return p.String(), nil
}

// guard is the switch of the first job of every workflow. Releases run unless the repository variable is off; a build
// from source has no release to vouch for it and runs only when the variable is on.
func guard(p Pin) string {
	if p.released() {
		return "vars.ISSUE_ASSISTANT != 'off'"
	}
	return "vars.ISSUE_ASSISTANT == 'on'"
}

// stampLine is the first line of a generated file. Its checksum, pins left out, tells a file that somebody edited from
// one that an earlier release wrote.
var stampLine = regexp.MustCompile("^# Written by `issue-assistant install` \\(checksum ([0-9a-f]{16})\\)[^\n]*\n")

func stamp(data []byte) []byte {
	head := fmt.Sprintf("# Written by `issue-assistant install` (checksum %s); when you edit it, install leaves it to you.\n", checksum(data))
	return append([]byte(head), data...)
}

func checksum(data []byte) string {
	sum := sha256.Sum256(withoutPins(data))
	return fmt.Sprintf("%x", sum[:8])
}

// written says whose text a file is: ours as written (by this release or another one), ours with edits, or foreign.
type written int

const (
	foreign written = iota
	edited
	pristine
)

func authorOf(data []byte) written {
	data = toLF(data)
	m := stampLine.FindSubmatch(data)
	if m == nil {
		return foreign
	}
	if checksum(data[len(m[0]):]) != string(m[1]) {
		return edited
	}
	return pristine
}

func toLF(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

func isCRLF(data []byte) bool {
	return bytes.Contains(data, []byte("\r\n")) && !strings.Contains(strings.ReplaceAll(string(data), "\r\n", ""), "\n")
}
