// Command genusage writes schema/usage.schema.json, the format of a usage record, from the Go types.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	os.Exit(code(write("."), os.Stderr))
}

func code(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "genusage:", err)
	return 1
}

// write puts the file below the root of the module.
func write(root string) error {
	data, err := schema()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(path)), data, 0o644)
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
	return append(data, '\n'), err
}

// orNull lets every field be null that is a pointer in Go.
func orNull(s *jsonschema.Schema, t reflect.Type) {
	for f := range t.Fields() {
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if value, ok := s.Properties.Get(name); ok {
			described := &jsonschema.Schema{Description: value.Description}
			value.Description = ""
			described.OneOf = []*jsonschema.Schema{value, {Type: "null"}}
			s.Properties.Set(name, described)
		}
	}
}
