// Command genusage writes schema/usage.schema.json, the format of a usage record, from the Go types.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/issue-assistant/issue-assistant/internal/usage"
)

const (
	path = "schema/usage.schema.json"
	id   = "https://raw.githubusercontent.com/issue-assistant/issue-assistant/main/" + path
)

func main() {
	data, err := schema()
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genusage:", err)
		os.Exit(1)
	}
}

// schema is the text of the file.
func schema() ([]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(&usage.Record{})
	s.ID, s.Title = id, "Usage record"
	s.Description = "One run of the issue assistant: numbers, ids and fixed words only. null is unknown."
	orNull(s, reflect.TypeFor[usage.Record]())
	models, _ := s.Properties.Get("models")
	orNull(models.Items, reflect.TypeFor[usage.RecordModel]())
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	return append(data, '\n'), nil
}

// orNull lets every field be null that is a pointer in Go.
func orNull(s *jsonschema.Schema, t reflect.Type) {
	for f := range t.Fields() {
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		described := &jsonschema.Schema{Description: value.Description}
		value.Description = ""
		described.OneOf = []*jsonschema.Schema{value, {Type: "null"}}
		s.Properties.Set(name, described)
	}
}
