package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnswerIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1}`:                 `{"a":1}`,
		" \n{\"a\": 1}\n ":        `{"a": 1}`,
		"[1]":                     "[1]",
		"```json\n{\"a\":1}\n```": `{"a":1}`,
		"Here you are:\n```JSON\n{\"a\":1}\n```\n":         `{"a":1}`,
		"```\n{\"a\":\"```\"}\n```":                        `{"a":"` + "```" + `"}`,
		"```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```": "",
		"```yaml\na: 1\n```":                               "",
		"```json\n{\"a\":1}":                               "",
		`{"a":1} and more`:                                 "",
		`{"a":`:                                            "",
		"it is fine":                                       "",
		`"text"`:                                           "",
		"":                                                 "",
		"```":                                              "",
	} {
		got, ok := answerIn(text)
		if ok != (want != "") || string(got) != want {
			t.Errorf("%q: %q %t, want %q", text, got, ok, want)
		}
	}
}

func FuzzAnswerIn(f *testing.F) {
	f.Add("```json\n{\"a\":1}\n```")
	f.Add(`{"a":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := answerIn(text); ok && (!json.Valid(got) || !strings.Contains(text, string(got))) {
			t.Errorf("%q gives %q", text, got)
		}
	})
}

func TestPackageVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "a", "b", "program")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		program: "x", filepath.Join(dir, "package.json"): `{"name":"n","version":"1.2.3"}`, filepath.Join(dir, "a", "package.json"): `{"name":"other","version":"9"}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, name string
		up         int
		want       string
	}{{program, "n", 3, "1.2.3"}, {program, "n", 2, ""}, {program, "other", 3, "9"}, {program, "none", 9, ""}, {"/nowhere", "n", 3, ""}} {
		if got := PackageVersion(c.path, c.name, c.up); got != c.want {
			t.Errorf("%s %s %d: %q, want %q", c.path, c.name, c.up, got, c.want)
		}
	}
}
