package answer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Schema is what the engine gets for a task: types, closed lists and descriptions, every property required and no
// extras. It has no lengths (engines enforce them with paid extra turns; OpenAI's strict mode refuses them) and no
// single quote (it may stand in one). One line of JSON.
func Schema(name task.Name, labels Labels) ([]byte, error) {
	s, err := load(name, labels)
	if err != nil {
		return nil, err
	}
	s.Version, s.Title = "", ""
	s.walk(func(n *node) {
		n.MaxLength, n.MaxItems, n.Minimum = nil, nil, nil
		if n.Type != "object" {
			return
		}
		n.Required = nil
		for _, m := range n.Properties {
			n.Required = append(n.Required, m.name)
		}
	})
	return encode(s, "")
}

// checkedSchema is what [Parse] holds an answer against: the engine's schema with its lengths. The places in files and
// the language of a release reply may be left out.
func checkedSchema(name task.Name, labels Labels) ([]byte, error) {
	s, err := load(name, labels)
	if err != nil {
		return nil, err
	}
	if kind := s.Properties.get("kind"); kind != nil && len(kind.Enum) > 0 {
		kind.Enum = append(kind.Enum, "") // what is left of an unknown kind
	}
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

// load reads the published schema of a task's answer, which is generated from the types of this package, and closes
// its lists to the repository's labels.
func load(name task.Name, labels Labels) (*node, error) {
	data, err := assets.FS.ReadFile("schema/answer-" + string(name) + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("the task %q has no answer: %w", name, err)
	}
	s := &node{}
	if err := strict(json.NewDecoder(bytes.NewReader(data))).Decode(s); err != nil {
		return nil, fmt.Errorf("read the schema of an answer: %w", err)
	}
	for _, list := range []struct {
		property string
		labels   []config.Label
	}{{"kind", labels.Kinds}, {"areas", labels.Areas}, {"topics", labels.Topics}} {
		if property := s.Properties.get(list.property); property != nil {
			choose(property, names(list.labels))
		}
	}
	return s, nil
}

// choose closes a property (or the entries of a list) to the repository's labels. An empty list of choices cannot be
// written as an enum: the list stays open and its description says that it is empty, which [Parse] enforces.
func choose(property *node, among []string) {
	if len(among) == 0 {
		property.Description = "this repository has no such labels: always empty"
		return
	}
	target := property
	if property.Type == "array" {
		target = property.Items
	}
	target.Enum = append(target.Enum, among...)
}

// encode writes a schema. Quotes in label names become escapes, which mean the same in JSON.
func encode(s *node, indent string) ([]byte, error) {
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
	data, err := checkedSchema(name, labels)
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
