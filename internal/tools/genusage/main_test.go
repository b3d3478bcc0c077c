package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

func TestSchemaIsUpToDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said bytes.Buffer
	if code(write(dir), &said) != 1 || !strings.HasPrefix(said.String(), "genusage: ") {
		t.Errorf("a folder without schema/ was written to: %s", said.String())
	}
	if err := os.Mkdir(filepath.Join(dir, "schema"), 0o750); err != nil {
		t.Fatal(err)
	}
	if code(write(dir), &said) != 0 {
		t.Fatal(said.String())
	}
	got, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(testtool.Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run `go run ./internal/tools/genusage` (-want +got):\n%s", diff)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRecordsFit holds the record of every case against the schema.
func TestRecordsFit(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	var last []byte
	for _, dir := range []string{"exec", "engine-logs"} {
		paths, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", dir, "*"))
		if err != nil || len(paths) == 0 {
			t.Fatal(err, len(paths))
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			run, err := usage.Read(bytes.NewReader(data), int64(len(data)), usage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			run.Override(usage.Given{Task: "triage", Session: &usage.Session{Decision: "fresh", Reasons: []string{"rules_changed"}}})
			if last, err = usage.NewRecord(run, usage.Job{Repository: "octo/demo", RunID: 1, Attempt: 1}).Encode(); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(decode(t, last)); err != nil {
				t.Errorf("%s: %v\n%s", filepath.Base(p), err, last)
			}
		}
	}
	for _, change := range [][2]string{
		{`"schema":1`, `"schema":2`},
		{`"ended":"`, `"ended":"x`},
		{`"task":"triage"`, `"task":"# x"`},
		{`"issue":0`, `"issue":-1`},
		{`"run_id":1`, `"run_id":"1"`},
		{`"session":{`, `"extra":1,"session":{`},
		{`"cost_basis":"`, `"cost_basis":"x`},
	} {
		wrong := strings.Replace(string(last), change[0], change[1], 1)
		if wrong == string(last) {
			t.Errorf("%s is not in the record", change[0])
		}
		if s.Validate(decode(t, []byte(wrong))) == nil {
			t.Errorf("the schema lets %s through", change[1])
		}
	}
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
