package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// MaxRulesBytes is the size above which rules.md is refused: it is sent with every request of a run.
const MaxRulesBytes = 64 << 10

// MaxBytes is the size above which a settings file is not read.
const MaxBytes = 64 << 10

// maxFindings bounds what is said about one file.
const maxFindings = 50

// field is a rule and a pointer to where its value goes.
type field struct {
	rule Rule
	into any
}

// reader collects findings about one file.
type reader struct {
	path   string
	prefix string // before every code: config or labels
	doc    tomldoc.Doc
	ds     []diag.Diagnostic
}

func (r *reader) say(severity diag.Severity, pos tomldoc.Pos, code, message, hint string) {
	r.ds = append(r.ds, diag.Diagnostic{
		Path: r.path, Line: pos.Line, Col: pos.Col, Severity: severity,
		Code: r.prefix + "-" + code, Message: message, Hint: hint,
	})
}

func (r *reader) fail(pos tomldoc.Pos, code, message, hint string) {
	r.say(diag.Error, pos, code, message, hint)
}

// findings returns what was found in the order of the file, at most maxFindings.
func (r *reader) findings() []diag.Diagnostic {
	diag.Sort(r.ds)
	if len(r.ds) <= maxFindings {
		return r.ds
	}
	more := len(r.ds) - maxFindings
	last := r.ds[maxFindings-1]
	ds := r.ds[:maxFindings:maxFindings]
	severity := diag.Warning
	if diag.HasErrors(r.ds[maxFindings:]) {
		severity = diag.Error
	}
	return append(ds, diag.Diagnostic{
		Path: r.path, Line: last.Line, Col: last.Col, Severity: severity,
		Code: r.prefix + "-more", Message: fmt.Sprintf("%d more findings are not shown", more), Hint: "mend those above first",
	})
}

// open reads the file's syntax. It returns false when there is nothing to go on with.
func (r *reader) open(data []byte, tables []Table) bool {
	doc, err := tomldoc.Parse(data, MaxBytes)
	if err != nil {
		r.fail(err.Pos, string(err.Kind), r.syntaxMessage(err), syntaxHint(err, tables))
		return false
	}
	r.doc = doc
	return true
}

func (r *reader) syntaxMessage(err *tomldoc.Error) string {
	if err.Kind != tomldoc.KindSyntax {
		return err.Message
	}
	if err.Key != "" {
		return "this is not TOML, at the key " + shorten.Quoted(err.Key) + ": " + err.Message
	}
	return "this is not TOML: " + err.Message
}

func syntaxHint(err *tomldoc.Error, tables []Table) string {
	switch err.Kind {
	case tomldoc.KindTooLarge:
		return fmt.Sprintf("keep the file below %d bytes", MaxBytes)
	case tomldoc.KindEncoding:
		return encodingHint
	case tomldoc.KindDuplicate:
		return "keep one of the two and remove the other"
	case tomldoc.KindSyntax, tomldoc.KindRange:
	}
	if rule, ok := ruleOf(err.Key, tables); ok {
		return "write " + rule.Want() + ", such as " + rule.Sample()
	}
	if strings.Contains(err.Message, "'.' or ']'") || strings.Contains(err.Message, "table") {
		return "write a table's name in brackets on a line of its own, such as [" + tables[0].Name + "]"
	}
	return "write one key = value on a line, texts in quotes, such as " + tables[0].Rules[0].Sample()
}

const encodingHint = "save the file as UTF-8"

// ruleOf finds the rule of a dotted key; a key in a table that does not exist is found by its last part.
func ruleOf(dotted string, tables []Table) (Rule, bool) {
	table, key, ok := strings.Cut(dotted, ".")
	if !ok {
		table, key = "", dotted
	}
	key = key[strings.LastIndexByte(key, '.')+1:]
	var found []Rule
	for _, t := range tables {
		for _, rule := range t.Rules {
			if rule.Key != key {
				continue
			}
			if t.Name == table {
				return rule, true
			}
			found = append(found, rule)
		}
	}
	if len(found) != 1 {
		return Rule{}, false
	}
	return found[0], true
}

// table reads the keys of one table. name is how messages call it: "engine", "label".
func (r *reader) table(p tomldoc.Path, name string, tree map[string]any, fields []field, tables []Table) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.rule.Key == key })
		if i < 0 {
			r.unknownKey(p.Key(key), name, key, fields, tables)
			continue
		}
		r.value(p.Key(key), name, fields[i], tree[key])
	}
	for _, f := range fields {
		if _, ok := tree[f.rule.Key]; f.rule.Required && !ok {
			r.fail(r.doc.KeyPos(p), "missing-key", name+"."+f.rule.Key+" is missing",
				"write "+f.rule.Want()+", such as "+f.rule.Sample())
		}
	}
}

// value checks one value and stores it when it is valid.
func (r *reader) value(p tomldoc.Path, table string, f field, value any) {
	converted, ok := r.checked(p, table, f.rule, value)
	if !ok {
		return
	}
	switch into := f.into.(type) {
	case *string:
		*into, ok = converted.(string)
	case *engine.Name:
		var name string
		name, ok = converted.(string)
		*into = engine.Name(name)
	case *int:
		*into, ok = converted.(int)
	case *float64:
		*into, ok = converted.(float64)
	case *bool:
		*into, ok = converted.(bool)
	case *[]string:
		*into, ok = converted.([]string)
	default:
		ok = false
	}
	if !ok {
		panic(fmt.Sprintf("the rule of %s does not fit its field", f.rule.Key)) // a fault of this package; a test reads every key
	}
}

// checked converts one value and says what is wrong with it.
func (r *reader) checked(p tomldoc.Path, table string, rule Rule, value any) (any, bool) {
	converted, faults := rule.convert(value)
	for _, bad := range faults {
		pos := r.doc.ValuePos(p)
		if bad.index >= 0 {
			pos = r.doc.ValuePos(p.Index(bad.index))
		}
		r.fail(pos, bad.code, table+"."+rule.Key+": "+bad.message, bad.hint)
	}
	return converted, len(faults) == 0
}

// gone are keys of the earlier tool whose set-up `install` carries over.
var gone = map[string]string{
	"unmapped_options": "remove it: an answer without a label needs no list",
	"files":            "remove it: no file has to name the engine",
	"prompt":           "remove it: what the AI should know stands in " + RulesPath,
}

func (r *reader) unknownKey(p tomldoc.Path, table, key string, fields []field, tables []Table) {
	where := "in [" + table + "]"
	if table == "" {
		where = "above the first table"
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.rule.Key
	}
	pos := r.doc.KeyPos(p)
	near := nearest(key, known)
	if near != "" && strings.EqualFold(near, key) {
		r.fail(pos, "letter-case", fmt.Sprintf("unknown key %s %s: the case of letters counts", shorten.Quoted(key), where), "write "+near)
		return
	}
	r.fail(pos, "unknown-key", fmt.Sprintf("unknown key %s %s", shorten.Quoted(key), where), keyHint(key, near, known, tables))
}

func keyHint(key, near string, known []string, tables []Table) string {
	plain := plainName(key)
	var homes []string
	for _, t := range tables {
		for _, rule := range t.Rules {
			if rule.Key == plain && !t.Named {
				homes = append(homes, t.Name)
			}
		}
	}
	switch {
	case near != "" && plainName(near) == plain:
		return "write " + near
	case len(homes) == 1:
		return fmt.Sprintf("%s belongs to [%s]: write it below a line [%s]", plain, homes[0], homes[0])
	case gone[plain] != "":
		return gone[plain]
	case near != "":
		return "did you mean " + near + "?"
	case len(known) > 0:
		return "remove it, or write one of " + listed(known)
	}
	for _, t := range tables { // no table to look in: any key that looks like it
		for _, rule := range t.Rules {
			if nearest(key, []string{rule.Key}) != "" {
				return fmt.Sprintf("did you mean %s below a line [%s]?", rule.Key, t.Name)
			}
		}
	}
	return "remove it: only tables stand here, such as [engine]"
}
