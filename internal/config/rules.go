package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Kind is the type of a value.
type Kind string

// The kinds of values.
const (
	KindText   Kind = "text"
	KindWhole  Kind = "whole number"
	KindNumber Kind = "number"
	KindSwitch Kind = "true or false"
	KindTexts  Kind = "list of texts"
)

// Rule is everything about one key: the decoder, the schema and the documentation are made from it. The bounds of a
// list hold for each of its texts.
type Rule struct {
	Key      string
	Kind     Kind
	Doc      string // what it does, one phrase
	Default  any    // nil: there is none
	Required bool

	Min, Max float64 // of numbers
	Above    bool    // Min itself is refused

	Enum     []string // the only texts allowed
	Refused  []string // texts that Pattern allows and that are refused nevertheless
	Never    string   // a pattern that no text may match
	Pattern  string
	MaxLen   int // in characters
	MaxItems int
	Empty    bool   // the empty text is allowed, whatever Pattern says
	Words    string // what a text must be, in words
	Example  string // a valid value as it stands in TOML, where Default is none

	check func(string) error // says why a text is refused, better than the rule does
}

// Want says in words what to write.
func (r Rule) Want() string {
	switch r.Kind {
	case KindWhole:
		return fmt.Sprintf("a whole number from %g to %g", r.Min, r.Max)
	case KindNumber:
		if r.Above {
			return fmt.Sprintf("a number above %g and up to %g", r.Min, r.Max)
		}
		return fmt.Sprintf("a number from %g to %g", r.Min, r.Max)
	case KindSwitch:
		return "true or false, without quotes"
	case KindTexts:
		return fmt.Sprintf("a list of at most %d texts, each %s", r.MaxItems, r.textWords())
	case KindText:
	}
	return r.textWords()
}

func (r Rule) textWords() string {
	words := r.Words
	if len(r.Enum) > 0 {
		words = "one of " + listed(slices.DeleteFunc(slices.Clone(r.Enum), func(s string) bool { return s == "" }))
	}
	if r.Empty {
		words += ", or an empty text"
	}
	return words
}

// Sample is a valid line of TOML for the key.
func (r Rule) Sample() string {
	if r.Example != "" {
		return r.Key + " = " + r.Example
	}
	return r.Key + " = " + FormatValue(r.Default)
}

// FormatValue writes a default as it stands in TOML.
func FormatValue(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case float64:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return fmt.Sprint(v)
}

// fault is what is wrong with a value. Index is the element of a list; -1: the value itself.
type fault struct {
	index               int
	code, message, hint string
}

// The codes of faults; the reader puts the file's word before them.
const (
	codeType  = "wrong-type"
	codeRange = "out-of-range"
	codeValue = "bad-value"
	// codeElement is codeValue for one text of a list.
	codeElement = "bad-element"
)

func (r Rule) fault(code, value string) fault {
	if code == codeElement {
		return fault{
			-1, codeValue, fmt.Sprintf("%s is not %s", value, r.textWords()),
			"write each as " + r.textWords() + ", such as " + r.Sample(),
		}
	}
	return fault{-1, code, fmt.Sprintf("%s is not %s", value, r.Want()), "write " + r.Want() + ", such as " + r.Sample()}
}

// convert checks a value of a TOML tree. Without faults it returns string, int, float64, bool or []string.
func (r Rule) convert(v any) (any, []fault) {
	switch r.Kind {
	case KindWhole, KindNumber:
		return r.convertNumber(v)
	case KindSwitch:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case KindText:
		if s, ok := v.(string); ok {
			return s, r.checkText(s)
		}
	case KindTexts:
		return r.convertTexts(v)
	}
	return nil, []fault{r.fault(codeType, describe(v))}
}

func (r Rule) convertNumber(v any) (any, []fault) {
	var f float64
	switch n := v.(type) {
	case int64:
		f = float64(n)
	case float64:
		f = n
	case string:
		bad := r.fault(codeType, describe(v))
		if parsed, err := strconv.ParseFloat(n, 64); err == nil && r.inRange(parsed) {
			bad.hint = fmt.Sprintf("write %s = %s, without quotes", r.Key, number(parsed))
		}
		return nil, []fault{bad}
	default:
		return nil, []fault{r.fault(codeType, describe(v))}
	}
	if r.Kind == KindWhole && f != math.Trunc(f) { // also nan; 40.0 is a whole number, as in JSON schemas
		return nil, []fault{r.fault(codeType, describe(v))}
	}
	if !r.inRange(f) {
		return nil, []fault{r.fault(codeRange, describe(v))}
	}
	if r.Kind == KindWhole {
		return int(f), nil
	}
	return f, nil
}

// inRange is false for nan and for the infinities.
func (r Rule) inRange(f float64) bool {
	if r.Kind == KindWhole && f != math.Trunc(f) {
		return false
	}
	return (f > r.Min || !r.Above && f == r.Min) && f <= r.Max
}

func (r Rule) convertTexts(v any) (any, []fault) {
	list, ok := v.([]any)
	if !ok {
		bad := r.fault(codeType, describe(v))
		if s, isText := v.(string); isText && r.checkText(s) == nil {
			bad.hint = fmt.Sprintf("write %s = [%s], in brackets", r.Key, strconv.Quote(s))
		}
		return nil, []fault{bad}
	}
	if len(list) > r.MaxItems {
		return nil, []fault{r.fault(codeRange, fmt.Sprintf("a list of %d", len(list)))}
	}
	texts := make([]string, 0, len(list))
	var faults []fault
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			bad := r.fault(codeElement, describe(e))
			bad.index, bad.code = i, codeType
			faults = append(faults, bad)
			continue
		}
		for _, f := range r.checkText(s) {
			f.index = i
			faults = append(faults, f)
		}
		texts = append(texts, s)
	}
	return texts, faults
}

func (r Rule) checkText(s string) []fault {
	if s == "" && r.Empty {
		return nil
	}
	if r.check != nil {
		if err := r.check(s); err != nil {
			return []fault{{-1, codeValue, err.Error(), "write " + r.Sample()}}
		}
	}
	code := codeValue
	if r.Kind == KindTexts {
		code = codeElement
	}
	bad := r.fault(code, describe(s))
	if len(r.Enum) > 0 {
		if slices.Contains(r.Enum, s) {
			return nil
		}
		if near := nearest(s, r.Enum); near != "" {
			bad.hint = fmt.Sprintf("did you mean %s = %q? Write %s", r.Key, near, r.textWords())
		}
		return []fault{bad}
	}
	refused := s == "" || slices.Contains(r.Refused, s) ||
		r.MaxLen > 0 && utf8.RuneCountInString(s) > r.MaxLen ||
		r.Pattern != "" && !regexp.MustCompile(r.Pattern).MatchString(s) ||
		r.Never != "" && regexp.MustCompile(r.Never).MatchString(s)
	if refused {
		return []fault{bad}
	}
	return nil
}

// describe shows a value of a TOML tree in a few words.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		if v == "" {
			return "an empty text"
		}
		return "the text " + shorten.Quoted(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strings.ToLower(number(v))
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "a date"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	}
	return "the value"
}
