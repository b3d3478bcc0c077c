package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// node is a JSON schema as the published files of answers use it. The order of its properties is kept: models fill
// them in that order.
type node struct {
	Version     string     `json:"$schema,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Items       *node      `json:"items,omitempty"`
	Extra       *bool      `json:"additionalProperties,omitempty"`
	Type        string     `json:"type,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	MaxLength   *int       `json:"maxLength,omitempty"`
	MaxItems    *int       `json:"maxItems,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
}

type property struct {
	name   string
	schema *node
}

// properties is a JSON object whose members keep their order.
type properties []property

func (p properties) get(name string) *node {
	for _, m := range p {
		if m.name == name {
			return m.schema
		}
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(m.schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *properties) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("properties are not an object"), err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		m := property{name: fmt.Sprint(t), schema: &node{}}
		if err := strict(d).Decode(m.schema); err != nil {
			return fmt.Errorf("property %s: %w", m.name, err)
		}
		*p = append(*p, m)
	}
	return nil
}

// strict refuses a keyword that node does not know: it would be lost on the way to the engine.
func strict(d *json.Decoder) *json.Decoder {
	d.DisallowUnknownFields()
	return d
}

// walk visits a schema and everything in it.
func (s *node) walk(visit func(*node)) {
	visit(s)
	if s.Items != nil {
		s.Items.walk(visit)
	}
	for _, m := range s.Properties {
		m.schema.walk(visit)
	}
}
