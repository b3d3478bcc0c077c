package install

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// carryFindings copies the accepted alerts.
func (m *maker) carryFindings(data []byte) {
	accepts, ds := config.ParseFindings(findingsPath, data)
	if i := slices.IndexFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); i >= 0 {
		m.note("%s does not fit and was not carried over: line %d: %s; mend it and put it into %s", oldFindings, ds[i].Line, ds[i].Message, findingsPath)
		return
	}
	m.starter.findings = toLF(data)
	m.note("%s was copied to %s; the old file stays and may go", oldFindings, findingsPath)
	for _, a := range accepts {
		if a.Path != "" {
			m.note("%s: a path names a file, a folder or a glob now, it was the beginning of a path: look at %q", findingsPath, a.Path)
		}
	}
}

// carryLabels copies the labels and adds those that the earlier tool did not need.
func (m *maker) carryLabels(data []byte) error {
	file, ds := config.ParseLabels(config.LabelsPath, data)
	if diag.HasErrors(ds) {
		i := slices.IndexFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
		m.note("%s does not fit and was not carried over: line %d: %s; mend it and put it into %s", oldLabels, ds[i].Line, ds[i].Message, config.LabelsPath)
		return nil
	}
	ours, err := fs.ReadFile(m.Templates, config.LabelsPath)
	if err != nil {
		return fmt.Errorf("read a starter: %w", err)
	}
	all, ds := config.ParseLabels(config.LabelsPath, ours)
	if diag.HasErrors(ds) {
		return fmt.Errorf("read a starter: %s", ds[0].Message)
	}
	text := toLF(data)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	var added []string
	for _, name := range config.LifecycleLabels {
		l, known := all.Find(name)
		if _, there := file.Find(name); there || !known {
			continue
		}
		text = fmt.Appendf(text, "\n[[label]]\nname = %q\ncolor = %q\ndescription = %q\ngroup = %q\n", l.Name, l.Color, l.Description, l.Group)
		added = append(added, name)
	}
	m.note("%s was copied to %s; the old file stays and may go", oldLabels, config.LabelsPath)
	if _, ds := config.ParseLabels(config.LabelsPath, text); diag.HasErrors(ds) { // label = [ … ] takes no [[label]]
		m.note("add these labels to %s, group %s: %s", config.LabelsPath, config.GroupLifecycle, strings.Join(added, ", "))
		text = data
	} else if len(added) > 0 {
		m.note("%s was given the labels that are new: %s", config.LabelsPath, strings.Join(added, ", "))
	}
	m.starter.labels = text
	return nil
}
