package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// MaxLabels bounds labels.toml.
const MaxLabels = 200

// wordSpam is what an answer says about advertising instead of naming a kind, so no kind may be called so.
const wordSpam = "spam"

// LabelRules describes the keys of one [[label]].
func LabelRules() []Rule {
	name := Rule{Kind: KindText, Words: labelWords, Pattern: linePattern, MaxLen: 50}
	option := Rule{
		Kind: KindTexts, Words: "an answer of the form on one line, at most 200 characters", Pattern: linePattern,
		MaxLen: 200, MaxItems: 100,
	}
	rule := func(r Rule, key, doc, example string) Rule {
		r.Key, r.Doc, r.Example = key, doc, example
		return r
	}
	required := func(r Rule) Rule {
		r.Required = true
		return r
	}
	previous := name
	previous.Kind, previous.MaxItems = KindTexts, 20
	return []Rule{
		required(rule(name, "name", "the label's name; the case of letters does not tell two labels apart", `"bug"`)),
		required(rule(Rule{Kind: KindText, Words: "six hex digits without #", Pattern: `^[0-9A-Fa-f]{6}$`}, "color", "its color", `"d73a4a"`)),
		required(rule(Rule{Kind: KindText, Words: "a text on one line, at most 100 characters", Pattern: linePattern, MaxLen: 100},
			"description", "what it means; the AI reads it", `"Something does not work"`)),
		required(rule(Rule{Kind: KindText, Enum: Groups}, "group", "what it is for; the AI chooses among type, area and topic", `"type"`)),
		rule(option, "form_options", "answers of the issue form's area field that choose this label", `["Command line"]`),
		rule(Rule{Kind: KindSwitch, Default: true}, "ask", "whether the reporter of such an issue may be asked for more", ""),
		rule(previous, "previous", "former names: the label is renamed, its issues keep it", `["defect"]`),
	}
}

// ParseLabels reads labels.toml. The LabelFile must not be used when one of the findings is an error.
func ParseLabels(path string, data []byte) (LabelFile, []diag.Diagnostic) {
	r := &reader{path: path, prefix: "labels"}
	rules := LabelRules()
	p, trees, ok := r.list(data, Table{Name: "label", Rules: rules}, "label", "labels", MaxLabels)
	if !ok {
		return LabelFile{}, r.findings()
	}
	var f LabelFile
	for i, tree := range trees {
		l := Label{Ask: true}
		r.table(p.Index(i), "label", tree, []field{
			{rules[0], &l.Name},
			{rules[1], &l.Color},
			{rules[2], &l.Description},
			{rules[3], &l.Group},
			{rules[4], &l.FormOptions},
			{rules[5], &l.Ask},
			{rules[6], &l.Previous},
		}, nil)
		l.Color = strings.ToLower(l.Color)
		f.Labels = append(f.Labels, l)
	}
	r.labelsTogether(p, f)
	return f, r.findings()
}

// list opens a file that is one list of tables, [[NAME]], of at most most entries, which people call one and many. ok is
// false when nothing of it can be used; the findings say why.
func (r *reader) list(data []byte, table Table, one, many string, most int) (p tomldoc.Path, trees []map[string]any, ok bool) {
	if !r.open(data, []Table{table}) {
		return "", nil, false
	}
	hint := "write [[" + table.Name + "]], in double brackets, before each " + one
	for _, key := range slices.Sorted(maps.Keys(r.doc.Tree)) {
		if key != table.Name {
			r.fail(r.doc.KeyPos(tomldoc.Path("").Key(key)), "unknown-key", "unknown key "+shorten.Quoted(key), hint)
		}
	}
	p = tomldoc.Path("").Key(table.Name)
	trees, ok = tables(r.doc.Tree[table.Name])
	switch {
	case !ok:
		r.fail(r.doc.KeyPos(p), "wrong-type", fmt.Sprintf("%s is %s, not a list of tables", table.Name, describe(r.doc.Tree[table.Name])), hint)
	case len(trees) > most:
		r.fail(r.doc.KeyPos(p.Index(most)), "out-of-range", fmt.Sprintf("the file has %d %s", len(trees), many), fmt.Sprintf("keep at most %d", most))
	}
	return p, trees, ok && len(trees) <= most
}

// tables accepts [[label]] and label = [{...}].
func tables(v any) ([]map[string]any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case []map[string]any:
		return v, true
	case []any:
		trees := make([]map[string]any, 0, len(v))
		for _, e := range v {
			tree, ok := e.(map[string]any)
			if !ok {
				return nil, false
			}
			trees = append(trees, tree)
		}
		return trees, true
	}
	return nil, false
}

// labelsTogether checks what the labels say about each other.
func (r *reader) labelsTogether(p tomldoc.Path, f LabelFile) {
	names := map[string]tomldoc.Pos{}
	for i, l := range f.Labels {
		at := p.Index(i)
		pos := r.doc.ValuePos(at.Key("name"))
		if first, ok := names[FoldLabel(l.Name)]; ok && l.Name != "" {
			r.fail(pos, "duplicate-label", fmt.Sprintf("the label %s stands in line %d already; the case of letters does not count",
				shorten.Quoted(l.Name), first.Line), "keep one of the two and remove the other")
			continue
		}
		names[FoldLabel(l.Name)] = pos
		choosable := l.Group == GroupType || l.Group == GroupArea || l.Group == GroupTopic
		if len(l.FormOptions) > 0 && l.Group != "" && !choosable {
			r.fail(r.doc.KeyPos(at.Key("form_options")), "conflict",
				fmt.Sprintf("the label %s is in the group %s, which no form chooses", shorten.Quoted(l.Name), l.Group),
				"remove form_options, or move the label to type, area or topic")
		}
		if l.Group == GroupType && FoldLabel(l.Name) == wordSpam {
			r.fail(pos, "conflict", "no kind can be called spam: answers use the word for advertising, which gets the label invalid",
				"choose another name")
		}
	}
	options := map[string]string{}
	for i, l := range f.Labels {
		for j, former := range l.Previous {
			if _, ok := names[FoldLabel(former)]; ok {
				r.fail(r.doc.ValuePos(p.Index(i).Key("previous").Index(j)), "conflict",
					fmt.Sprintf("%s is a former name and the name of a label of this file", shorten.Quoted(former)),
					"remove it from previous, or remove that label")
				continue
			}
			names[FoldLabel(former)] = r.doc.ValuePos(p.Index(i).Key("previous").Index(j))
		}
		for j, option := range l.FormOptions {
			if other, ok := options[option]; ok && l.Group == GroupArea {
				r.fail(r.doc.ValuePos(p.Index(i).Key("form_options").Index(j)), "conflict",
					fmt.Sprintf("the answer %s already chooses the label %s", shorten.Quoted(option), shorten.Quoted(other)),
					"keep it in one of the two")
				continue
			}
			if l.Group == GroupArea {
				options[option] = l.Name
			}
		}
	}
	if !slices.ContainsFunc(f.Labels, func(l Label) bool { return l.Group == GroupType }) {
		r.fail(tomldoc.Pos{Line: 1, Col: 1}, "no-kind", "no label is in the group type: an answer could not say what an issue is",
			`give one label group = "type"`)
	}
}

// CheckLifecycleLabels finds the labels that the assistant sets itself and labels.toml lacks or puts into another group.
func CheckLifecycleLabels(path string, f LabelFile, c Config) []diag.Diagnostic {
	var ds []diag.Diagnostic
	for _, name := range LifecycleLabels {
		if name == LabelFixed && !c.Lifecycle.CloseWithRelease {
			continue
		}
		l, ok := f.Find(name)
		switch {
		case !ok:
			ds = append(ds, diag.Diagnostic{
				Path: path, Severity: diag.Error, Code: "labels-lifecycle",
				Message: fmt.Sprintf("the label %q is missing: the assistant sets it itself", name),
				Hint:    fmt.Sprintf("add [[label]] with name = %q and group = %q", name, GroupLifecycle),
			})
		case l.Group != GroupLifecycle:
			ds = append(ds, diag.Diagnostic{
				Path: path, Severity: diag.Error, Code: "labels-lifecycle",
				Message: fmt.Sprintf("the label %q is in the group %s, but the assistant sets it itself", name, l.Group),
				Hint:    fmt.Sprintf("write group = %q", GroupLifecycle),
			})
		}
	}
	return ds
}
