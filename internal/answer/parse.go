package answer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Repair is one fault that was mended. What is ours; Value is the AI's and may hold anything.
type Repair struct {
	Field string // where, for example next_steps[2]
	What  string // what was done
	Value string // what was dropped or replaced; may be empty
}

// Parse reads the raw answer of a task. Small faults are mended and named; an error of one line refuses the answer as
// a whole.
func Parse(name task.Name, raw string, labels Labels) (Answer, []Repair, error) {
	if _, err := prototype(name); err != nil {
		return Answer{}, nil, err
	}
	if len(raw) > MaxBytes {
		return Answer{}, nil, fmt.Errorf("the answer has %d bytes, more than the %d that can travel between jobs", len(raw), MaxBytes)
	}
	if !utf8.ValidString(raw) {
		return Answer{}, nil, errors.New("the answer is not UTF-8")
	}
	object, wrapped, err := find(raw)
	if err != nil {
		return Answer{}, nil, err
	}
	m := mender{labels: labels}
	if wrapped != "" {
		m.note("", "took the JSON object out of "+wrapped, "")
	}
	checked, err := compile(name, labels)
	if err != nil {
		return Answer{}, nil, err
	}
	if checked.Validate(object) != nil || m.needed(object) {
		s, err := load(name, labels)
		if err != nil {
			return Answer{}, nil, err
		}
		m.object("", s, object)
		if err := checked.Validate(object); err != nil {
			return Answer{}, m.repairs, refusal(err)
		}
	}
	a, err := typed(name, object)
	if err != nil {
		return Answer{}, m.repairs, fmt.Errorf("the answer does not fit its type: %w", err)
	}
	return a, m.repairs, nil
}

func typed(name task.Name, object map[string]any) (Answer, error) {
	p, err := prototype(name)
	if err != nil {
		return Answer{}, err
	}
	if err := into(object, p); err != nil {
		return Answer{}, err
	}
	a := Answer{Task: name}
	switch p := p.(type) {
	case *Analysis:
		a.Analysis = p
	case *FollowUp:
		a.FollowUp = p
	case *MaintainerReply:
		a.MaintainerReply = p
	case *ReleaseReply:
		a.ReleaseReply = p
	}
	return a, nil
}

// refusal turns the first fault that the checker found into one line of ours. Only names of properties and quoted
// words of the answer get into it.
func refusal(err error) error {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return fmt.Errorf("check the answer: %w", err)
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	where := "the answer"
	if len(v.InstanceLocation) > 0 {
		where = field(v.InstanceLocation)
	}
	return fmt.Errorf("%s %s", where, fault(v.ErrorKind))
}

func fault(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "is " + k.Got + ", want " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		quoted := make([]string, len(k.Properties))
		for i, p := range k.Properties {
			quoted[i] = shorten.Quoted(p)
		}
		return "has what no answer has: " + strings.Join(quoted, ", ")
	case *kind.Enum:
		if s, ok := k.Got.(string); ok {
			return "is " + shorten.Quoted(s) + ", which is none of the words allowed there"
		}
		return "is none of the words allowed there"
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, at most %d are allowed", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d entries, at most %d are allowed", k.Got, k.Want)
	}
	return "does not fit the schema"
}

// field writes a place as people do: next_steps[2].
func field(location []string) string {
	var b strings.Builder
	for i, part := range location {
		switch _, err := strconv.Atoi(part); {
		case err == nil:
			b.WriteString("[" + part + "]")
		case i > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}
