package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestGeneratedFilesAreCurrent regenerates everything and compares.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	if err := run(testtool.Root(t), true, &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := run(root, true, &bytes.Buffer{}); err == nil || strings.Count(err.Error(), "is not what") != 9 {
		t.Errorf("nothing is there, and check says %v", err)
	}
	readme := filepath.Join(root, readmePath)
	if err := os.WriteFile(readme, []byte("a\n"+markBegin+"\nOUTDATED\n"+markEnd+"\nz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(root, false, &out); err != nil {
		t.Fatal(err)
	}
	if want := "wrote README.md\nwrote docs/reference/settings.md\nwrote schema/answer-follow-up.schema.json\nwrote schema/answer-maintainer-reply.schema.json\nwrote schema/answer-reanalyze.schema.json\nwrote schema/answer-release-reply.schema.json\nwrote schema/answer-triage.schema.json\nwrote schema/config.schema.json\nwrote schema/findings.schema.json\nwrote schema/labels.schema.json\n"; out.String() != want {
		t.Errorf("said %q", out.String())
	}
	out.Reset()
	if err := run(root, false, &out); err != nil || out.Len() > 0 {
		t.Errorf("a second run wrote %q: %v", out.String(), err)
	}
	got, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got); !strings.HasPrefix(s, "a\n"+markBegin) || !strings.HasSuffix(s, markEnd+"\nz\n") || strings.Contains(s, "OUTDATED") ||
		!strings.Contains(s, "| `[engine]` `max_turns` | `40` |") {
		t.Errorf("README: %s", s)
	}
	if err := os.WriteFile(readme, []byte(strings.Replace(string(got), "`40`", "`41`", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true, &out); err == nil || !strings.Contains(err.Error(), "README.md is not what") {
		t.Errorf("a wrong README passes: %v", err)
	}
}

func TestReadmeWithoutMarkers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", markBegin, markEnd + markBegin} {
		files, err := generate(fstest.MapFS{readmePath: {Data: []byte(text)}})
		if _, ok := files[readmePath]; ok || err != nil || len(files) != 9 {
			t.Errorf("%q: %v %v", text, files, err)
		}
	}
}

// TestTablesAreWhole: every row of the generated tables has as many cells as its head.
func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"fragment": fragment(), "reference": reference()} {
		rows := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !strings.HasPrefix(l, "|") })
		if len(rows) < 20 {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		want := 3
		if name == "reference" {
			want = 4
		}
		for _, row := range rows {
			if got := strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") - 1; got != want {
				t.Errorf("%s: %d cells: %s", name, got, row)
			}
		}
	}
}

func TestEncodeIsStable(t *testing.T) {
	t.Parallel()
	first, err := encode(configSchema())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		again, err := encode(configSchema())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Fatal(fmt.Sprint("two runs differ:\n", diff))
		}
	}
}
