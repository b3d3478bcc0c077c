package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module writes a module of two packages: the tests of b run all of b and the half of a that a's own test leaves out.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"go.mod":                "module example.com/m\n\ngo 1.26\n",
		"internal/a/a.go":       "package a\n\nfunc Sign(n int) int {\n\tif n < 0 {\n\t\treturn -1\n\t}\n\treturn 1\n}\n",
		"internal/a/a_test.go":  "package a\n\nimport \"testing\"\n\nfunc TestSign(t *testing.T) {\n\tif Sign(2) != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
		"internal/b/b.go":       "package b\n\nimport \"example.com/m/internal/a\"\n\nfunc Less() int { return a.Sign(-2) }\n",
		"internal/b/b_test.go":  "package b\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif Less() != -1 {\n\t\tt.Fatal()\n\t}\n}\n",
		"internal/c/c.go":       "package c\n\nconst Nothing = 1\n",
		"outside/o.go":          "package outside\n\nfunc Uncounted() {}\n",
		"internal/a/testdata/x": "",
	}
	maps.Copy(all, files)
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const tableOfModule = `| package | statements | run by all tests | by its own tests |
|---|---|---|---|
| ` + "`internal/a`" + ` | 3 | 100.0 % | 66.7 % |
| ` + "`internal/b`" + ` | 1 | 100.0 % | 100.0 % |
| together | 4 | 100.0 % | |
`

func TestTestsOfOtherPackagesCount(t *testing.T) {
	t.Parallel()
	dir := module(t, nil)
	out := filepath.Join(dir, "page.md")
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"-dir", dir, "-out", out}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tableOfModule, stdout.String()); diff != "" {
		t.Error(diff)
	}
	written, err := os.ReadFile(out)
	if err != nil || !strings.HasSuffix(string(written), tableOfModule) {
		t.Errorf("the page is %q, %v", written, err)
	}
}

func TestTooLittleAndFailuresAreErrors(t *testing.T) {
	t.Parallel()
	untested := "package a\n\nfunc Sign(n int) int {\n\tif n < 0 {\n\t\treturn -1\n\t}\n\treturn 1\n}\n\nfunc Nobody() int { return 1 }\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"untested": {map[string]string{"internal/d/d.go": "package d\n\nfunc Nobody() int { return 1 }\n"}, "below 85 %: internal/d 0.0 %"},
		"below":    {map[string]string{"internal/a/a.go": untested}, "below 85 %: internal/a 75.0 %"},
		"failed":   {map[string]string{"internal/b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) { t.Fatal() }\n"}, "the tests of example.com/m/internal/b fail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, c.files)
			out := filepath.Join(dir, "page.md")
			err := run(t.Context(), []string{"-dir", dir, "-out", out}, io.Discard, io.Discard)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(out); name == "failed" && err == nil {
				t.Error("figures of a failed run were written")
			}
		})
	}
}

func TestProfilesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "mode: atomic\n", "mode: set\nm/internal/a/a.go:1.2,3.4 1\n", "mode: set\nm/internal/a/a.go:1.2,3.4 x 1\n", "mode: set\nno-place 1 1\n"} {
		if err := (profile{}).add("m/internal/a", text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if err := run(t.Context(), []string{"-dir", t.TempDir()}, io.Discard, io.Discard); err == nil {
		t.Error("a folder without a module was measured")
	}
	if err := run(t.Context(), []string{"-nope"}, io.Discard, io.Discard); err == nil {
		t.Error("an unknown flag was accepted")
	}
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-dir", empty}, io.Discard, io.Discard); err == nil {
		t.Error("a module without packages has figures")
	}
}
