package answer

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// mender repairs an object along the checked schema. What it does not know it leaves alone: the checker refuses it.
type mender struct {
	labels  Labels
	repairs []Repair
}

func (m *mender) note(field, what, value string) {
	m.repairs = append(m.repairs, Repair{Field: field, What: what, Value: value})
}

// languageTag is the shape of a BCP 47 tag, loose about what is registered.
var languageTag = lazy.Regexp(`^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4}$`)

// needed reports faults that the schema cannot express: a language that is no tag, numbers written as 12.0, repeated
// entries, and labels where the repository has none.
func (m *mender) needed(object map[string]any) bool {
	for key, v := range object {
		switch key {
		case "language":
			s, ok := v.(string)
			if ok && (!languageTag().MatchString(s) || strings.Contains(s, "_")) {
				return true
			}
		case "kind", "areas", "topics", "duplicates", "related", "references":
			return true
		}
	}
	return false
}

func (m *mender) object(at string, s *node, object map[string]any) {
	for _, p := range s.Properties {
		v, ok := object[p.name]
		if !ok {
			continue
		}
		where := p.name
		if at != "" {
			where = at + "." + p.name
		}
		object[p.name] = m.property(where, p.name, p.schema, v)
	}
}

func (m *mender) property(where, key string, s *node, v any) any {
	switch v := v.(type) {
	case string:
		switch key {
		case "language":
			return m.language(where, v)
		case "kind":
			if where != key {
				return v // of an entry of related: not a label
			}
			return m.kind(where, v)
		}
		return m.text(where, s, v)
	case []any:
		return m.list(where, key, s, v)
	}
	return v
}

func (m *mender) language(where, v string) string {
	switch {
	case !languageTag().MatchString(v):
		m.note(where, "is no language tag, taken as English:", v)
		return "en"
	case strings.Contains(v, "_"):
		return strings.ReplaceAll(v, "_", "-")
	}
	return v
}

func (m *mender) kind(where, v string) string {
	if v == "" {
		return v
	}
	name, ok := m.label(where, v, m.labels.Kinds)
	if !ok {
		return ""
	}
	return name
}

func (m *mender) text(where string, s *node, v string) string {
	if s.MaxLength == nil || runes(v) <= *s.MaxLength {
		return v
	}
	m.note(where, fmt.Sprintf("had %d characters, cut to %d", runes(v), *s.MaxLength), "")
	return cut(v, *s.MaxLength)
}

func (m *mender) list(where, key string, s *node, v []any) []any {
	switch key {
	case "areas":
		v = m.labelList(where, v, m.labels.Areas)
	case "topics":
		v = m.labelList(where, v, m.labels.Topics)
	case "duplicates", "related", "references":
		v = m.entries(where, key, s.Items, v)
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		m.note(where, fmt.Sprintf("had %d entries, kept the first %d", len(v), *s.MaxItems), "")
		v = v[:*s.MaxItems]
	}
	for i, item := range v {
		if text, ok := item.(string); ok && key != "areas" && key != "topics" {
			v[i] = m.text(fmt.Sprintf("%s[%d]", where, i), s.Items, text)
		}
	}
	return v
}

func (m *mender) labelList(where string, v []any, among []config.Label) []any {
	kept := make([]any, 0, len(v))
	seen := map[string]bool{}
	for _, item := range v {
		text, ok := item.(string)
		if !ok {
			kept = append(kept, item) // the checker refuses it
			continue
		}
		name, ok := m.label(where, text, among)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		kept = append(kept, name)
	}
	return kept
}

// label finds a label without regard to case and returns the repository's spelling.
func (m *mender) label(where, name string, among []config.Label) (string, bool) {
	if config.DenyLabel(m.labels.Deny, name) {
		m.note(where, "dropped a label that [labels] deny covers:", name)
		return "", false
	}
	for _, l := range among {
		if l.Name == name {
			return name, true
		}
	}
	for _, l := range among {
		if config.FoldLabel(l.Name) == config.FoldLabel(strings.TrimSpace(name)) {
			m.note(where, "label written as "+shorten.Quoted(l.Name)+" in the repository, not", name)
			return l.Name, true
		}
	}
	m.note(where, "dropped a label that the repository lacks:", name)
	return "", false
}

// entries repairs duplicates, related and references: entries that can name nothing are dropped, the others' texts cut.
func (m *mender) entries(where, key string, s *node, v []any) []any {
	kept := make([]any, 0, len(v))
	seen := map[string]bool{}
	for i, item := range v {
		at := fmt.Sprintf("%s[%d]", where, i)
		entry, ok := item.(map[string]any)
		if !ok {
			kept = append(kept, item)
			continue
		}
		var id string
		if key == "references" {
			ok = m.place(at, s, entry)
		} else {
			id, ok = m.number(at, entry)
		}
		if !ok || (id != "" && seen[id]) {
			continue
		}
		seen[id] = true
		m.object(at, s, entry)
		kept = append(kept, entry)
	}
	return kept
}

// number makes sure that an entry names an issue number. An invented one is dropped; an entry without one is left for
// the checker.
func (m *mender) number(at string, entry map[string]any) (id string, ok bool) {
	v, has := entry["number"]
	if !has {
		return "", true
	}
	n, isNumber := v.(json.Number)
	if !isNumber {
		m.note(at, "dropped, its number is no number:", fmt.Sprint(v))
		return "", false
	}
	whole, ok := wholeNumber(n)
	if !ok || whole < 1 {
		m.note(at, "dropped, no issue has the number", n.String())
		return "", false
	}
	entry["number"] = json.Number(fmt.Sprint(whole))
	kind, _ := entry["kind"].(string)
	return fmt.Sprintf("%s#%d", kind, whole), true
}

// place makes sure that a reference can name a file: a path or an anchor too long to be true, or a line below zero,
// drops it. null and "" stand for a part that is left out.
func (m *mender) place(at string, s *node, entry map[string]any) bool {
	for _, key := range []string{"line", "anchor"} {
		if v, has := entry[key]; has && v == nil {
			delete(entry, key)
		}
	}
	if n, isNumber := entry["line"].(json.Number); isNumber {
		whole, ok := wholeNumber(n)
		if !ok || whole < 0 {
			m.note(at, "dropped, no file has the line", n.String())
			return false
		}
		entry["line"] = json.Number(fmt.Sprint(whole))
	}
	for _, key := range []string{"path", "anchor"} {
		text, isText := entry[key].(string)
		property := s.Properties.get(key)
		if isText && property.MaxLength != nil && runes(text) > *property.MaxLength {
			m.note(at, "dropped, its "+key+" is too long:", text)
			return false
		}
	}
	return true
}

// wholeNumber reads 12 and 12.0, but not 12.5, 1e300 or what no issue can have.
func wholeNumber(n json.Number) (int, bool) {
	const limit = 1 << 31
	if len(n) > 32 || strings.ContainsAny(string(n), "eE") {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	v := r.Num().Int64()
	return int(v), v < limit && v > -limit
}
