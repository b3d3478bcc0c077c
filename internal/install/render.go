// Package install writes a repository's set-up: workflows from the templates, rules, starters of the settings, the
// ignored folder. It plans first and writes last, all or nothing; Check compares what is there with what it would write.
package install

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

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
var runnerLabel = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Render returns the workflows for the settings, by path. templates is the root that holds workflows/.
func Render(templates fs.FS, s Settings, pins Pins) ([]File, error) {
	if !slices.Contains(engine.Names, s.Engine) {
		return nil, fmt.Errorf("the engine %q is not known: write claude, codex or gemini", s.Engine)
	}
	if !runnerLabel().MatchString(s.RunsOn) {
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

// view is what the words of a template are filled from.
type view struct {
	Settings
	Task      *taskInfo
	templates fs.FS
	pins      Pins
}

// runsOn quotes labels that YAML would not read as text.
func (v view) runsOn() string {
	if plainWord().MatchString(v.RunsOn) {
		return v.RunsOn
	}
	return `"` + v.RunsOn + `"`
}

var plainWord = lazy.Regexp(`^[a-z]+-[a-z0-9.-]*[a-z0-9]$`)

func execute(templates fs.FS, name string, v view, pins Pins) ([]byte, error) {
	v.templates, v.pins = templates, pins
	return v.fill("workflows/" + name + ".yml.tmpl")
}

// word is a word of a template, [[name]] or [[name "argument" …]].
var word = lazy.Regexp(`\[\[([A-Za-z]+)((?: "[^"\]]*")*)\]\]`)

// fill replaces the words of a template. A line that holds one word alone goes when the word is empty. text/template
// would do the same, but linking it keeps every method of every library in the program: 6 MB.
func (v view) fill(file string) ([]byte, error) {
	source, err := fs.ReadFile(v.templates, file)
	if err != nil {
		return nil, fmt.Errorf("read a template: %w", err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(source) {
		var failed error
		filled := word().ReplaceAllFunc(line, func(match []byte) []byte {
			m := word().FindSubmatch(match)
			text, err := v.word(string(m[1]), arguments(string(m[2])))
			failed = errors.Join(failed, err)
			return []byte(text)
		})
		if failed == nil && bytes.Contains(filled, []byte("[[")) {
			failed = fmt.Errorf("a word is not closed: %q", bytes.TrimSpace(line))
		}
		if failed != nil {
			return nil, fmt.Errorf("fill %s: %w", file, failed)
		}
		if len(bytes.TrimSpace(filled)) == 0 && len(bytes.TrimSpace(line)) > 0 {
			continue
		}
		out.Write(filled)
	}
	return out.Bytes(), nil
}

func arguments(text string) []string {
	var args []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			args = append(args, part)
		}
	}
	return args
}

// word is the text of one word.
func (v view) word(name string, args []string) (string, error) {
	switch name {
	case "assistant":
		return pinText(v.pins.Assistant, "the action itself")
	case "uses":
		if len(args) == 1 {
			return pinText(v.pins.Others[args[0]], args[0])
		}
	case "guard":
		return guard(v.pins.Assistant), nil
	case "runsOn":
		return v.runsOn(), nil
	case "engine":
		return string(v.Engine), nil
	case "permissions":
		return v.permissions(args), nil
	case "callingJobs":
		return v.callingJobs()
	case "labelTypes": // labels wake the poll of [chunk]; else they start nothing
		if v.Work == nil {
			return "", nil
		}
		return ", labeled, unlabeled", nil
	case "labelGuard":
		if v.Work == nil {
			return "", nil
		}
		return "      && (!endsWith(github.event.action, 'labeled') || startsWith(github.event.label.name, 'issue-assistant:'))", nil
	}
	if v.Task != nil {
		if text, ok := v.taskWord(name); ok {
			return text, nil
		}
	}
	if text, ok := v.secretsWord(name); ok {
		return text, nil
	}
	if v.Work != nil {
		if text, ok := v.workWord(name); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("the word %s with %d arguments is not known here", name, len(args))
}

// stampLine is the first line of a generated file. Its checksum, pins left out, tells a file that somebody edited from
// one that an earlier release wrote.
var stampLine = lazy.Regexp("^# Written by `issue-assistant install` \\(checksum ([0-9a-f]{16})\\)[^\n]*\n")

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
	m := stampLine().FindSubmatch(data)
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
