package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program stands for the product: it says what usage would say of the logs that are written here.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBenchWritesARowForEachForm(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "page.md")
	if err := bench(program(t, `test "$1" = usage && test -s "$3" && echo 'run · $1.25'`), "1", out, 1); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		if !strings.Contains(string(page), "| "+f.name+" | 1 MiB | ") {
			t.Errorf("no row for %s:\n%s", f.name, page)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "page.md")
	for name, err := range map[string]error{
		"no source":   bench("", "1", out, 1), // the program is built in the folder of the repository
		"no size":     bench("x", "five", out, 1),
		"other words": bench(program(t, "echo nothing"), "1", out, 1),
		"fails":       bench(program(t, "exit 3"), "1", out, 1),
		"not there":   bench(filepath.Join(t.TempDir(), "none"), "1", out, 1),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a page was written of nothing")
	}
}

// The logs are what they say: of about their size, with the closing that every reader looks for.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		path := filepath.Join(t.TempDir(), "log")
		if err := f.write(path, 1<<20); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 1<<20 || len(data) > 3<<20 {
			t.Errorf("%s has %d bytes", f.name, len(data))
		}
		last := data
		if f.lines {
			lines := strings.Split(strings.TrimSpace(string(data)), "\n")
			last = []byte("[" + lines[len(lines)-1] + "]")
		}
		var list []json.RawMessage
		if err := json.Unmarshal(last, &list); err != nil || !strings.Contains(string(list[len(list)-1]), "1.25") {
			t.Errorf("%s does not end with its result: %v", f.name, err)
		}
		if err := f.write(filepath.Join(path, "below a file"), 1); err == nil {
			t.Errorf("%s was written below a file", f.name)
		}
	}
}
