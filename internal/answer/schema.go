package answer

import (
	"bytes"
	"encoding/json"
	"fmt"

	schemas "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Schema is what the engine gets for a task: types, closed lists and descriptions, every property required and no
// extras. It has no lengths (engines enforce them with paid extra turns; OpenAI's strict mode refuses them) and no
// single quote (it may stand in one). One line of JSON.
func Schema(name task.Name, labels Labels) ([]byte, error) {
	s, err := reflect(name, labels)
	if err != nil {
		return nil, err
	}
	for property := range walk(s) {
		property.MaxLength, property.MaxItems, property.Minimum = nil, nil, ""
		if property.Type == "object" {
			property.Required = keys(property)
		}
	}
	return encode(s, "")
}

// CheckedSchema is what [Parse] holds an answer against: the engine's schema with its lengths. The places in files and
// the language of a release reply may be left out.
func CheckedSchema(name task.Name, labels Labels) ([]byte, error) {
	s, err := reflect(name, labels)
	if err != nil {
		return nil, err
	}
	if kind, ok := s.Properties.Get("kind"); ok && len(kind.Enum) > 0 {
		kind.Enum = append(kind.Enum, "") // what is left of an unknown kind
	}
	s.Version = schemas.Version
	s.Title = "Answer of the task " + string(name)
	return encode(s, "  ")
}

// prototype is the Go type of a task's answer.
func prototype(name task.Name) (any, error) {
	switch name {
	case task.Triage, task.Reanalyze:
		return &Analysis{}, nil
	case task.FollowUp:
		return &FollowUp{}, nil
	case task.MaintainerReply:
		return &MaintainerReply{}, nil
	case task.ReleaseReply:
		return &ReleaseReply{}, nil
	case task.None:
	}
	return nil, fmt.Errorf("the task %q has no answer", name)
}

func reflect(name task.Name, labels Labels) (*schemas.Schema, error) {
	p, err := prototype(name)
	if err != nil {
		return nil, err
	}
	r := schemas.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(p)
	s.Version = ""
	for _, list := range []struct {
		property string
		labels   []config.Label
	}{{"kind", labels.Kinds}, {"areas", labels.Areas}, {"topics", labels.Topics}} {
		property, ok := s.Properties.Get(list.property)
		if !ok {
			continue
		}
		choose(property, names(list.labels))
	}
	// The tag's maxLength of a list of texts belongs to its entries.
	for property := range walk(s) {
		if property.Type == "array" && property.MaxLength != nil {
			property.Items.MaxLength, property.MaxLength = property.MaxLength, nil
		}
	}
	return s, nil
}

// choose closes a property (or the entries of a list) to the repository's labels. An empty list of choices cannot be
// written as an enum: the list stays open and its description says that it is empty, which [Parse] enforces.
func choose(property *schemas.Schema, among []string) {
	if len(among) == 0 {
		property.Description = "this repository has no such labels: always empty"
		return
	}
	target := property
	if property.Type == "array" {
		target = property.Items
	}
	for _, name := range among {
		target.Enum = append(target.Enum, name)
	}
}

// walk visits a schema and everything in it.
func walk(s *schemas.Schema) func(yield func(*schemas.Schema) bool) {
	return func(yield func(*schemas.Schema) bool) { visit(s, yield) }
}

func visit(s *schemas.Schema, yield func(*schemas.Schema) bool) bool {
	if s == nil {
		return true
	}
	if !yield(s) || !visit(s.Items, yield) {
		return false
	}
	if s.Properties == nil {
		return true
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if !visit(p.Value, yield) {
			return false
		}
	}
	return true
}

func keys(s *schemas.Schema) []string {
	var out []string
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		out = append(out, p.Key)
	}
	return out
}

// encode writes a schema. Quotes in label names become escapes, which mean the same in JSON.
func encode(s *schemas.Schema, indent string) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	data = bytes.ReplaceAll(data, []byte("'"), []byte(`\u0027`))
	if indent == "" {
		return data, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", indent); err != nil {
		return nil, fmt.Errorf("indent the schema: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// compile prepares the checked schema of a task for use.
func compile(name task.Name, labels Labels) (*jsonschema.Schema, error) {
	data, err := CheckedSchema(name, labels)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the schema of an answer: %w", err)
	}
	c := jsonschema.NewCompiler()
	const place = "answer.schema.json"
	if err := c.AddResource(place, doc); err != nil {
		return nil, fmt.Errorf("load the schema of an answer: %w", err)
	}
	s, err := c.Compile(place)
	if err != nil {
		return nil, fmt.Errorf("compile the schema of an answer: %w", err)
	}
	return s, nil
}
