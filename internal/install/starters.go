package install

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

func (m *maker) rules() error {
	text, err := Core(m.Templates)
	if err != nil {
		return err
	}
	below, err := fs.ReadFile(m.Templates, "workflows/rules.md.tmpl")
	if err != nil {
		return fmt.Errorf("read a template: %w", err)
	}
	c, err := planRules(m.old[config.RulesPath].data, text, string(below), m.carried.project, m.Force)
	if err != nil {
		return err
	}
	m.add(c)
	return nil
}

// starters are written when there is no such file, and never touched again.
func (m *maker) starters() error {
	if m.starter.labels == nil {
		data, err := fs.ReadFile(m.Templates, config.LabelsPath)
		if err != nil {
			return fmt.Errorf("read a starter: %w", err)
		}
		m.starter.labels = data
	}
	files := []File{{config.Path, m.starter.config}, {config.LabelsPath, m.starter.labels}}
	if m.starter.findings != nil {
		files = append(files, File{findingsPath, m.starter.findings})
	}
	for _, f := range files {
		if old := m.old[f.Path].data; old != nil {
			m.add(Change{Path: f.Path, State: Unchanged, Old: old, New: old, Note: "yours"})
		} else {
			m.add(Change{Path: f.Path, State: Created, New: f.Data})
		}
	}
	return nil
}

var (
	// ignoresMaterial are the lines that keep the material out of commits.
	ignoresMaterial = lazy.Regexp(`^/?(?:\*\*/)?\.issue-assistant/material/?$`)
	// hidesRules are the lines that would keep the rules and settings out of commits as well.
	hidesRules = lazy.Regexp(`^/?(?:\*\*/)?\.issue-assistant(?:/|/\*\*?)?$`)
)

// ignoreState reads a .gitignore: whether the material is ignored, and whether the whole folder is.
func ignoreState(data []byte) (material, hidden bool) {
	for line := range strings.Lines(string(toLF(data))) {
		line = strings.TrimRight(line, " \t\n")
		material = material || ignoresMaterial().MatchString(line)
		hidden = hidden || hidesRules().MatchString(line)
	}
	return material, hidden
}

func (m *maker) ignore() error {
	old := m.old[ignorePath].data
	c := Change{Path: ignorePath, Old: old, New: old, State: Unchanged}
	if !utf8.Valid(old) {
		return fmt.Errorf("%s is not UTF-8: add the line %s by hand, then run install again", ignorePath, ignoreLine)
	}
	material, hidden := ignoreState(old)
	if material && !hidden {
		m.add(c)
		return nil
	}
	newline := "\n"
	if isCRLF(old) {
		newline = "\r\n"
	}
	var b strings.Builder
	for line := range strings.Lines(string(old)) {
		if hidesRules().MatchString(strings.TrimRight(line, " \t\r\n")) {
			c.Note = "a line hid the rules and settings; it now hides the material only"
			if material {
				continue
			}
			line, material = ignoreLine+newline, true
		}
		b.WriteString(line)
	}
	text := b.String()
	if !material {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += newline
		}
		text += ignoreLine + newline
	}
	c.State, c.New = Updated, []byte(text)
	if old == nil {
		c.State = Created
	}
	m.add(c)
	return nil
}
