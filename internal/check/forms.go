package check

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

const formsDir = ".github/ISSUE_TEMPLATE"

// unmapped are options that say nothing about an area.
var unmapped = lazy.Regexp(`(?i)^(other|others|other .*|none|none of .*|unknown|not sure.*|unsure|general|something else|anything else|n/a|i('m| am)? (do not|don't|not) (know|sure).*|.*\((other|unknown)\))$`)

// Forms compares the issue forms with labels.toml: the labels that a form sets, and the options of the field that
// chooses an area label. Syntax: https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-issue-forms
func Forms(root fs.FS, c config.Config, labels config.LabelFile) []diag.Diagnostic {
	var ds []diag.Diagnostic
	options := map[string]bool{} // of the area field of all forms
	forms, fields := 0, 0
	owner := map[string]bool{}
	for _, l := range labels.Labels {
		for _, o := range l.FormOptions {
			owner[o] = true
		}
	}
	for _, f := range yamlFiles(root, formsDir) {
		if name := path.Base(f.path); name == "config.yml" || name == "config.yaml" {
			continue
		}
		if form := f.yaml(diag.Error, "form-syntax"); form != nil {
			forms++
			f.formLabels(form, labels)
			fields += f.formBody(form, c.Forms.AreaField, owner, options)
		}
		ds = append(ds, f.ds...)
	}
	switch {
	case len(owner) == 0:
	case forms > 0 && fields == 0 && c.Forms.AreaField != "":
		ds = append(ds, noField(root, c.Forms.AreaField))
	case forms > 0:
		ds = append(ds, unusedOptions(root, labels, options)...)
	}
	return ds
}

// formLabels checks the labels that a form sets: a list, or a text with commas.
func (f *file) formLabels(form *yaml.Node, labels config.LabelFile) {
	if form.Kind != yaml.MappingNode {
		f.say(diag.Error, form.Line, form.Column, "form-shape", "a form is a table of keys such as name, description and body", "see GitHub's page on the syntax of issue forms")
		return
	}
	for _, n := range items(get(form, "labels")) {
		for name := range strings.SplitSeq(value(n), ",") {
			name = strings.TrimSpace(name)
			if _, ok := labels.Find(name); ok || name == "" {
				continue
			}
			hint := "add it to " + config.LabelsPath + ", or remove it here: GitHub leaves out labels that the repository lacks"
			for _, l := range labels.Labels {
				for _, former := range l.Previous {
					if config.FoldLabel(former) == config.FoldLabel(name) {
						hint = fmt.Sprintf("write %q, its new name", l.Name)
					}
				}
			}
			text := name
			if text == value(n) {
				text = "" // the place of the value, with its quotes
			}
			f.warn(n, text, "form-label", fmt.Sprintf("the label %s is not in %s", shorten.Quoted(name), config.LabelsPath), hint)
		}
	}
}

// formBody checks the fields of a form and returns how many of them choose an area.
func (f *file) formBody(form *yaml.Node, area string, owner, options map[string]bool) int {
	if form.Kind != yaml.MappingNode {
		return 0
	}
	body := get(form, "body")
	if body == nil || body.Kind != yaml.SequenceNode {
		f.say(diag.Error, form.Line, form.Column, "form-shape", "the form has no list of fields (body)", "see GitHub's page on the syntax of issue forms")
		return 0
	}
	found := 0
	for _, field := range items(body) {
		label := get(field, "attributes", "label")
		if area == "" || value(label) != area {
			if area != "" && strings.EqualFold(strings.TrimSpace(value(label)), area) {
				f.warn(label, "", "form-area", fmt.Sprintf("the field is called %s, area_field says %s: they must be the same", shorten.Quoted(value(label)), shorten.Quoted(area)),
					"write both in the same way")
			}
			continue
		}
		found++
		if kind := value(get(field, "type")); kind != "dropdown" && kind != "checkboxes" {
			f.warn(label, "", "form-area", fmt.Sprintf("the field %s is of the type %s, whose answers no form_options can match", shorten.Quoted(area), shorten.Quoted(kind)),
				"make it a dropdown, or name another field in area_field")
			continue
		}
		f.formOptions(get(field, "attributes", "options"), owner, options)
	}
	return found
}

func (f *file) formOptions(list *yaml.Node, owner, options map[string]bool) {
	here := map[string]bool{}
	for _, o := range items(list) {
		if o.Kind == yaml.MappingNode {
			o = get(o, "label") // checkboxes
		}
		text := strings.TrimSpace(value(o))
		switch {
		case o == nil || text == "":
			continue
		case here[text]:
			f.say(diag.Error, o.Line, o.Column, "form-option", fmt.Sprintf("the option %s stands twice", shorten.Quoted(text)), "keep one: GitHub refuses the form")
		case len(owner) > 0 && !owner[text] && !unmapped().MatchString(text):
			f.warn(o, "", "form-option", fmt.Sprintf("no label of %s has the option %s in its form_options", config.LabelsPath, shorten.Quoted(text)),
				"add it to the form_options of a label, or call it Other")
		}
		here[text], options[text] = true, true
	}
}

// noField is said once, where the field is named.
func noField(root fs.FS, area string) diag.Diagnostic {
	d := diag.Diagnostic{
		Path: config.LabelsPath, Line: 1, Col: 1, Severity: diag.Warning, Code: "form-area",
		Message: fmt.Sprintf("labels have form_options, but no issue form has a field %s", shorten.Quoted(area)),
		Hint:    "name the form's field in [forms] area_field of " + config.Path + ", or remove form_options",
	}
	if f := read(root, config.Path); f != nil {
		if doc, err := tomldoc.Parse([]byte(f.text), config.MaxBytes); err == nil {
			if pos := doc.ValuePos(tomldoc.Path("").Key("forms").Key("area_field")); pos.Line > 0 {
				d.Path, d.Line, d.Col = config.Path, pos.Line, pos.Col
			}
		}
	}
	return d
}

// unusedOptions finds form_options that no form offers.
func unusedOptions(root fs.FS, labels config.LabelFile, options map[string]bool) []diag.Diagnostic {
	f := read(root, config.LabelsPath)
	if f == nil {
		return nil // said by the check of the labels
	}
	doc, bad := tomldoc.Parse([]byte(f.text), config.MaxBytes)
	if bad != nil {
		return nil
	}
	for i, l := range labels.Labels {
		for j, o := range l.FormOptions {
			if options[o] {
				continue
			}
			pos := doc.ValuePos(tomldoc.Path("").Key("label").Index(i).Key("form_options").Index(j))
			f.say(diag.Warning, pos.Line, pos.Col, "form-option", fmt.Sprintf("no issue form offers %s in its area field", shorten.Quoted(o)),
				"write the option exactly as the form does, or remove it")
		}
	}
	return f.ds
}
