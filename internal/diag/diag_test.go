package diag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sample = []Diagnostic{
	{Path: "b.toml", Line: 3, Col: 5, Severity: Error, Code: "config-range", Message: "max_turns is 201", Hint: "write 1 to 200"},
	{Path: "a.toml", Severity: Warning, Code: "labels", Message: "no labels"},
	{Path: "b.toml", Line: 1, Severity: Error, Code: "config-key", Message: "unknown key"},
}

func TestSortAndErrors(t *testing.T) {
	t.Parallel()
	ds := append([]Diagnostic(nil), sample...)
	Sort(ds)
	var got []string
	for _, d := range ds {
		got = append(got, d.Position())
	}
	if diff := cmp.Diff([]string{"a.toml", "b.toml:1", "b.toml:3:5"}, got); diff != "" {
		t.Error(diff)
	}
	if !HasErrors(ds) || HasErrors(ds[:1]) {
		t.Error("HasErrors must look at the severity")
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"human": "b.toml:3:5: error: max_turns is 201 [config-range]\n  hint: write 1 to 200\n" +
			"a.toml: warning: no labels [labels]\nb.toml:1: error: unknown key [config-key]\n",
		"annotations": "::error file=b.toml,line=3,col=5,title=config-range::max_turns is 201%0Ahint: write 1 to 200\n" +
			"::error file=b.toml,line=1,title=config-key::unknown key\n::warning file=a.toml,title=labels::no labels\n",
	}
	for format, text := range want {
		var b bytes.Buffer
		if err := Write(&b, format, sample); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, "json", sample); err != nil {
		t.Fatal(err)
	}
	var back []Diagnostic
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, back); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Write(&b, "json", nil); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("no findings as JSON: %q, %v", b.String(), err)
	}
	if err := Write(&b, "xml", nil); err == nil || !strings.Contains(err.Error(), "human, json, annotations") {
		t.Errorf("an unknown format must name the known ones: %v", err)
	}
}

func TestHostileTextStaysOnItsLine(t *testing.T) {
	t.Parallel()
	d := Diagnostic{Path: "x\n::error::y,z:1", Line: 1, Severity: Error, Code: "c", Message: "m\r\n::stop-commands::t", Hint: "h\x1b[31m"}
	for _, format := range []string{"human", "annotations"} {
		var b bytes.Buffer
		if err := Write(&b, format, []Diagnostic{d}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if strings.HasPrefix(line, "::") && (format == "human" || i > 0) {
				t.Errorf("%s: line %d is a command: %q", format, i+1, line)
			}
		}
		if format == "human" && strings.Contains(b.String(), "\x1b") {
			t.Errorf("a raw escape got through: %q", b.String())
		}
	}
}

func TestAnnotationsShowTenAndCountTheRest(t *testing.T) {
	t.Parallel()
	var ds []Diagnostic
	for i := range 13 {
		ds = append(ds, Diagnostic{Path: "p", Line: i + 1, Severity: Error, Code: "c", Message: "m"})
	}
	var b bytes.Buffer
	if err := Write(&b, "annotations", ds); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "::error "); n != 10 || !strings.Contains(b.String(), "3 more errors") {
		t.Errorf("%d annotations in %q", n, b.String())
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	t.Parallel()
	many := append([]Diagnostic(nil), sample...)
	for i := range 12 {
		many = append(many, Diagnostic{Path: fmt.Sprint(i), Severity: Error, Code: "c", Message: "m"})
	}
	for format, writes := range map[string]int{"human": 2, "annotations": 11, "json": 1} {
		for n := range writes {
			if err := Write(&failing{n}, format, many); err == nil {
				t.Errorf("%s: no error after %d writes", format, n)
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	in := "a\tb\x00\x1b[2J\x7f\u0085\u009b1m\u202etxt\u2066x\u2069\u2028y\u200fz\u061c 👩‍👧 é ##[add-mask]e"
	want := "a\tb" + `\x00\x1b[2J\x7f\x85\x9b1m\u202etxt\u2066x\u2069\u2028y\u200fz\u061c` + " 👩‍👧 é " + `##\x5badd-mask]e`
	if got := Printable(in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The runner looks for ##[...] inside of lines: neither format of findings may hold it, and JSON stays the same.
func TestOlderCommands(t *testing.T) {
	t.Parallel()
	words := "x ##[add-mask]e"
	for _, format := range []string{"human", "json"} {
		var b bytes.Buffer
		if err := Write(&b, format, []Diagnostic{{Path: words, Severity: Error, Code: "c", Message: words, Hint: words}}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "##[") {
			t.Errorf("%s: %q", format, b.String())
		}
		var got []Diagnostic
		if format == "json" && (json.Unmarshal(b.Bytes(), &got) != nil || len(got) != 1 || got[0].Message != words) {
			t.Errorf("%q is read as %+v", b.String(), got)
		}
	}
}
