package config_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

const goodAccept = "[[accept]]\ntool = \"CodeQL\"\nrule = \"go/x\"\nreason = \"won't fix\"\ncomment = \"x\"\n"

func TestParseFindings(t *testing.T) {
	t.Parallel()
	entries, ds := config.ParseFindings("f.toml", []byte("# first\n"+goodAccept+"path = \"a/**/*.go\"\nexpires = 2027-01-31\n\n"+goodAccept+"expires = \"2027-02-01\"\n"))
	if len(ds) > 0 || len(entries) != 2 {
		t.Fatalf("%v %v", entries, ds)
	}
	if e := entries[0]; e.Line != 2 || e.Path != "a/**/*.go" || !e.Expires.Equal(time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", e)
	}
	if e := entries[1]; e.Line != 10 || e.Expires.Day() != 1 {
		t.Errorf("%+v", e)
	}
	for at, want := range map[string]bool{"2027-01-31T23:59:59Z": false, "2027-02-01T00:00:00Z": true} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := entries[0].Expired(now); got != want {
			t.Errorf("at %s expired: %v", at, got)
		}
	}
}

func TestWrongFindings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[accept]\ntool = \"x\"":   "f.toml:1",
		"[[accepts]]":              "unknown key",
		"[[accept]]\ntool = \"x\"": "rule is missing",
		strings.Replace(goodAccept, "won't fix", "wontfix", 1): "won't fix",
		goodAccept + "Path = \"x\"":                            "case of letters",
		goodAccept + "expires = 5":                             "not a date",
		goodAccept + "expires = \"soon\"":                      "not a date",
		goodAccept + "expires = 2027-01-31T10:00:00Z":          "not a date",
		goodAccept + "path = \"/abs\"":                         "root of the repository",
		goodAccept + "path = \"../x\"":                         "root of the repository",
		goodAccept + "path = \"a/[b\"":                         "bracket",
		goodAccept + "path = 'a\\b'":                           "backslash",
		goodAccept + "comment = \"again\"":                     "second time",
		"\xff":                                                 "UTF-8",
		strings.Repeat(goodAccept, config.MaxAccepts+1):        "entries",
	} {
		_, ds := config.ParseFindings("f.toml", []byte(text))
		var b strings.Builder
		if err := diag.Write(&b, "human", ds); err != nil {
			t.Fatal(err)
		}
		if !diag.HasErrors(ds) || !strings.Contains(b.String(), want) {
			t.Errorf("%.60q: %s, want %q", text, b.String(), want)
		}
	}
}

func TestMatchPath(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		glob, file string
		want       bool
	}{
		{"tests", "tests/a.go", true},
		{"tests", "tests_old/a.go", false},
		{"tests/", "tests/x/y", true},
		{"a/b.go", "a/b.go", true},
		{"a/b.go", "a/b.go.txt", false},
		{"*.go", "a.go", true},
		{"*.go", "a/b.go", false},
		{"**/*.go", "a.go", true},
		{"**/*.go", "a/b/c.go", true},
		{"a/**", "a/b/c", true},
		{"a/**", "a", true},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"a/**/z", "a/b/c/zz", false},
		{"a/*/z", "a/b/c/z", false},
		{"?.go", "a.go", true},
		{"[ab].go", "c.go", false},
		{"**", "any/thing", true},
		{"**/b/**/d", "a/b/c/b/d", true},
		{strings.Repeat("**/a/", 50) + "b", strings.Repeat("a/", 200) + "c", false},
	} {
		if got := config.MatchPath(x.glob, x.file); got != x.want {
			t.Errorf("%q of %q: %v", x.glob, x.file, got)
		}
	}
}

func TestLoadFindings(t *testing.T) {
	t.Parallel()
	if entries, ds, err := config.LoadFindings(fstest.MapFS{}); len(entries)+len(ds) > 0 || err != nil {
		t.Errorf("%v %v %v", entries, ds, err)
	}
	if entries, ds, err := config.LoadFindings(fstest.MapFS{config.FindingsPath: {Data: []byte(goodAccept)}}); len(entries) != 1 || len(ds) > 0 || err != nil {
		t.Errorf("%v %v %v", entries, ds, err)
	}
}

func FuzzParseFindings(f *testing.F) {
	f.Add([]byte(goodAccept + "expires = 2027-01-31\npath = \"a/**\"\n"))
	f.Add([]byte("accept = [{tool = 1}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, ds := config.ParseFindings("f.toml", data)
		if diag.HasErrors(ds) {
			return
		}
		for _, e := range entries {
			if e.Tool == "" || e.Rule == "" || e.Reason == "" || e.Comment == "" {
				t.Errorf("an entry without a reason: %+v", e)
			}
			config.MatchPath(e.Path, "a/b/c.go")
		}
	})
}
