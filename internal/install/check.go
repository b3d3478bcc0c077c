package install

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// Check compares a repository's generated files with what this release would write, pins excepted: Dependabot moves
// them. It says nothing about the settings themselves; where these are broken it checks what does not depend on them.
func Check(root, templates fs.FS) []diag.Diagnostic {
	c := checker{root: root, templates: templates}
	c.workflows()
	c.rules()
	c.ignore()
	diag.Sort(c.found)
	return c.found
}

type checker struct {
	root, templates fs.FS
	found           []diag.Diagnostic
}

const installHint = "run `issue-assistant install`; --dry-run shows what would change"

func (c *checker) add(path string, line int, code, message, hint string) {
	c.found = append(c.found, diag.Diagnostic{Path: path, Line: line, Severity: diag.Error, Code: code, Message: message, Hint: hint})
}

// read returns nil for a file that is not there.
func (c *checker) read(path string) []byte {
	info, err := fs.Lstat(c.root, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		c.add(path, 0, "not-a-file", "this is no regular file of at most 1 MiB that can be read", "make it one; symbolic links do not count")
		return nil
	}
	data, err := fs.ReadFile(c.root, path)
	if err != nil {
		c.add(path, 0, "unreadable", "this file cannot be read", "give read access to it")
		return nil
	}
	if data == nil {
		data = []byte{}
	}
	return data
}

func (c *checker) workflows() {
	files := map[string][]byte{}
	all := Pins{}
	for _, p := range Known() {
		if data := c.read(p); data != nil {
			files[p] = toLF(data)
			all = all.merge(pinsOf(files[p]))
		}
	}
	c.pins(files)
	cfg, ds, err := config.LoadRepo(c.root)
	if err != nil || diag.HasErrors(ds) {
		return // said by the check of the settings
	}
	_, err = fs.Stat(c.root, findingsPath)
	s, err := settingsOf(c.root, cfg, err == nil)
	if err != nil {
		c.add(config.Path, 0, "chunk-work", err.Error(), "name a workflow of this repository that can be called (on: workflow_call) in chunk.work")
		return
	}
	base, err := releasePins(c.templates)
	if err != nil {
		c.add(workflowPath(""), 0, "templates", err.Error(), "")
		return
	}
	if all.Assistant == (Pin{}) {
		all.Assistant = Pin{"issue-assistant/issue-assistant", strings.Repeat("0", 40), "v0.0.0"}
	}
	rendered := map[string]map[string][]byte{} // by pins, mostly the same ones
	for _, p := range Known() {
		// Each file with its own pins: what is left after that is a difference.
		pins := pinsOf(files[p]).merge(all).merge(base)
		key := fmt.Sprint(pins)
		if rendered[key] == nil {
			set, err := Render(c.templates, s, pins)
			if err != nil {
				c.add(config.Path, 0, "workflow-settings", err.Error(), "write one runner's label in workflows.runs_on, and a known engine")
				return
			}
			rendered[key] = map[string][]byte{}
			for _, f := range set {
				rendered[key][f.Path] = f.Data
			}
		}
		c.compare(p, files[p], rendered[key][p])
	}
}

func (c *checker) compare(path string, have, want []byte) {
	switch {
	case have == nil && want == nil:
	case have == nil:
		c.add(path, 0, "workflow-missing", "this workflow is missing", installHint)
	case want == nil && authorOf(have) == foreign:
	case want == nil:
		c.add(path, 0, "workflow-unneeded", "the settings no longer ask for this workflow", "remove the file")
	case string(withoutPins(have)) != string(withoutPins(want)):
		c.add(path, firstDifference(have, want), "workflow-differs",
			"this workflow differs from what this release writes", installHint+"; --force overwrites edits")
	}
}

// pins wants every action at a full commit with its version, and the action itself at one commit in all files.
func (c *checker) pins(files map[string][]byte) {
	first := Pin{}
	for _, p := range Known() {
		data := files[p]
		if authorOf(data) == foreign {
			continue
		}
		for n, line := range strings.Split(string(data), "\n") {
			m := usesLine().FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if !commitHash().MatchString(m[3]) || m[4] == "" {
				c.add(p, n+1, "pin", "an action is not pinned to the 40 hex digits of a commit with its version behind it", "uses: OWNER/REPO@SHA # VERSION")
				continue
			}
			pin := Pin{m[2], m[3], m[4]}
			if m[2] == checkoutAction || m[2] == uploadAction {
				continue
			}
			if first == (Pin{}) {
				first = pin
			} else if pin != first {
				c.add(p, n+1, "pin-differs", "the workflows use the assistant's action at different commits", installHint)
			}
		}
	}
}

func firstDifference(a, b []byte) int {
	x, y := strings.Split(string(withoutPins(a)), "\n"), strings.Split(string(withoutPins(b)), "\n")
	if len(x) > 0 && len(y) > 0 && stampLine().MatchString(x[0]+"\n") && stampLine().MatchString(y[0]+"\n") {
		x[0] = y[0] // the checksum differs with every other difference; that one is the news
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	if len(x) == len(y) {
		return 1
	}
	return min(len(x), len(y)) + 1
}

func (c *checker) rules() {
	data := c.read(config.RulesPath)
	if data == nil {
		c.add(config.RulesPath, 0, "rules-missing", "the rules of the assistant are missing", installHint)
		return
	}
	if !utf8.Valid(data) {
		c.add(config.RulesPath, 0, "rules-encoding", "this file is not UTF-8", "save it as UTF-8")
		return
	}
	text, err := Core(c.templates)
	if err != nil {
		c.add(config.RulesPath, 0, "templates", err.Error(), "")
		return
	}
	have := toLF(data)
	found, err := findCore(have)
	switch {
	case err != nil:
		c.add(config.RulesPath, 0, "core-markers", strings.TrimPrefix(err.Error(), config.RulesPath+": "), "put the two marker lines back")
	case found == nil:
		c.add(config.RulesPath, 0, "core-missing", "the core block is missing", installHint)
	case string(have[found.start:found.end]) != coreBlock(text):
		line := 1 + strings.Count(string(have[:found.start]), "\n")
		message := "the core block is that of another release"
		if !found.intact() {
			message = "the core block was edited: your own rules belong outside of it"
		}
		c.add(config.RulesPath, line, "core-differs", message, installHint+"; --force overwrites edits")
	}
}

func (c *checker) ignore() {
	data := c.read(ignorePath)
	material, hidden := ignoreState(data)
	if hidden {
		c.add(ignorePath, 0, "rules-ignored", "a line keeps all of .issue-assistant out of commits, the rules too", "ignore "+ignoreLine+" only")
	} else if !material {
		c.add(ignorePath, 0, "material-not-ignored", fmt.Sprintf("the line %s is missing", ignoreLine), installHint)
	}
}
