// Command gensession writes the schemas of the files that `session decide` and `chunk … --state` read, and of the report
// that `cost --json` prints.
//
// It is a program of its own so that the reflection of Go types stays out of the product.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/usage/report"
)

func main() {
	dir := "schema"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := writeAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "gensession:", err)
		os.Exit(1)
	}
}

func writeAll(dir string) error {
	for name, schema := range schemas() {
		if err := write(filepath.Join(dir, name), schema); err != nil {
			return err
		}
	}
	return nil
}

func schemas() map[string]*jsonschema.Schema {
	input := reflect(session.Input{}, "Input of `issue-assistant session decide`")
	nullable(input, "key", "saved")
	saved := property(input, "saved").AnyOf[0]
	nullable(saved, "effort")
	enum(input, "mode", session.Off, session.Shadow, session.Auto)
	enum(input, "permission", session.PermissionRead, session.PermissionComment, session.PermissionWrite)
	enum(input, "store", session.StoreOK, session.StoreMissing, session.StoreHash, session.StoreUntrusted, session.StoreSecret)
	state := reflect(chunk.State{}, "Input of `issue-assistant chunk poll` and `chunk wrap` with --state")
	nullable(state, "chunk")
	record := property(state, "chunk").AnyOf[0]
	nullable(record, "calls", "context_tokens", "cost_usd")
	enum(record, "state", chunk.Open, chunk.Working, chunk.Waiting, chunk.Releasing, chunk.Wrapping, chunk.Wrapped, chunk.Released, chunk.Failed)
	enum(property(state, "facts"), "github", "ok", "timeout", "unreadable", "rate_limit")
	cost := reflect(report.Report{}, "Output of `issue-assistant cost --json`")
	nullable(cost, "forecast")
	for _, row := range []*jsonschema.Schema{property(cost, "rows").Items, property(cost, "total")} {
		nullable(row, "per_issue_usd", "per_answer_usd", "cached_share")
		for _, spread := range []string{"turns", "seconds", "usd"} {
			nullable(property(row, spread), "median", "p90", "max")
		}
	}
	return map[string]*jsonschema.Schema{"session-input.schema.json": input, "chunk.schema.json": state, "cost.schema.json": cost}
}

func reflect(v any, title string) *jsonschema.Schema {
	r := jsonschema.Reflector{ExpandedStruct: true, DoNotReference: true, Anonymous: true}
	s := r.Reflect(v)
	s.Title = title
	notNegative(s)
	return s
}

// notNegative bounds every number: counts, tokens and dollars are never below zero.
func notNegative(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "integer" || s.Type == "number" {
		s.Minimum = "0"
	}
	notNegative(s.Items)
	notNegative(s.AdditionalProperties)
	if s.Properties == nil {
		return
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		notNegative(p.Value)
	}
}

func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, ok := s.Properties.Get(name)
	if !ok {
		panic("no property " + name)
	}
	return p
}

func nullable(s *jsonschema.Schema, names ...string) {
	for _, name := range names {
		s.Properties.Set(name, &jsonschema.Schema{AnyOf: []*jsonschema.Schema{property(s, name), {Type: "null"}}})
	}
}

func enum[T ~string](s *jsonschema.Schema, name string, values ...T) {
	p := property(s, name)
	p.Enum = slices.Collect(func(yield func(any) bool) {
		for _, v := range values {
			if !yield(string(v)) {
				return
			}
		}
	})
}

func write(path string, s *jsonschema.Schema) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
