package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// description is a small OpenAPI document that has every path.
func description(t *testing.T, schema string) []byte {
	t.Helper()
	all := map[string]any{"/unused": map[string]any{}}
	for _, p := range paths() {
		all[p] = map[string]any{"get": map[string]any{
			"summary": "prose", "responses": map[string]any{"200": map[string]any{
				"description": "prose", "content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"$ref": schema}}},
			}},
		}}
	}
	data, err := json.Marshal(map[string]any{
		"openapi": "3.0.3", "info": map[string]any{"version": "1"}, "paths": all,
		"components": map[string]any{"schemas": map[string]any{
			"used":   map[string]any{"description": "prose", "properties": map[string]any{"description": map[string]any{"$ref": "#/components/schemas/inner"}}},
			"inner":  map[string]any{"type": "string", "example": "prose"},
			"unused": map[string]any{},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const sdl = `
"prose" type Query { "prose" viewer: User! repository(owner: String!): Repository other: String }
type User { login: String! gone: Gone }
type Repository { issues(states: [IssueState!]): IssueConnection issues(states: [IssueState!]): IssueConnection }
type IssueConnection { totalCount: Int! }
enum IssueState { "prose" OPEN CLOSED }
type Gone { x: String }
`

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec, schema := filepath.Join(dir, "spec.json"), filepath.Join(dir, "schema.graphql")
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(spec, description(t, "#/components/schemas/used"))
	write(schema, []byte(sdl))
	var first []byte
	for range 2 {
		if err := run([]string{spec, schema, dir}); err != nil {
			t.Fatal(err)
		}
		packed, err := os.ReadFile(filepath.Join(dir, "openapi.json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, packed) {
			t.Error("two runs differ")
		}
		first = packed
	}
	for name, want := range map[string][2]string{
		"openapi.json.gz":   {`"inner":{"type":"string"}`, "prose unused"},
		"schema.graphql.gz": {"enum IssueState", "prose Gone other"},
	} {
		got := unpack(t, filepath.Join(dir, name))
		if !strings.Contains(got, want[0]) {
			t.Errorf("%s lacks %s: %s", name, want[0], got)
		}
		for bad := range strings.FieldsSeq(want[1]) {
			if strings.Contains(got, bad) {
				t.Errorf("%s keeps %q: %s", name, bad, got)
			}
		}
	}
	// A property that is called "description" stays.
	if !strings.Contains(unpack(t, filepath.Join(dir, "openapi.json.gz")), `"description":{"$ref"`) {
		t.Error("a property was taken for prose")
	}
}

func unpack(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad, schema := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "schema")
	for name, data := range map[string][]byte{good: description(t, "#/components/schemas/used"), bad: description(t, "#/components/schemas/none"), schema: []byte("type {")} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{}, {"none", schema, dir}, {good, "none", dir}, {bad, schema, dir}, {schema, schema, dir}, {good, schema, dir}} {
		if err := run(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if _, err := slimOpenAPI([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "/rate_limit") {
		t.Errorf("no paths: %v", err)
	}
}
