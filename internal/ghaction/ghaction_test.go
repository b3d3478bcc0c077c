package ghaction

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// parseOutputs reads a file of outputs the way the runner does: name=value, or name<<delimiter … delimiter.
func parseOutputs(t *testing.T, data string) map[string]string {
	t.Helper()
	got := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		eq, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if heredoc < 0 || (eq >= 0 && eq < heredoc) {
			name, value, ok := strings.Cut(lines[i], "=")
			if !ok {
				t.Fatalf("line %d is no output: %q", i+1, lines[i])
			}
			got[name] = value
			continue
		}
		name, delimiter := lines[i][:heredoc], lines[i][heredoc+2:]
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		if i == len(lines) {
			t.Fatalf("output %q has no closing delimiter", name)
		}
		got[name] = strings.Join(value, "\n")
	}
	return got
}

func TestOutputsHoldHostileValues(t *testing.T) {
	t.Parallel()
	hostile, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", "bugs", "B49-output-delimiter-injection.txt"))
	if err != nil {
		t.Fatal(err)
	}
	values := []string{string(hostile), "", "a=b", "x<<EOF\nadmin=true\nEOF", "_GitHubActionsFileCommandDelimeter_\nadmin=true", "::add-mask::x", "line\r\nline"}
	for _, value := range values {
		file := filepath.Join(t.TempDir(), "out")
		r := Runner{OutputFile: file}
		if err := r.SetOutputs(Output{"first", "1"}, Output{"answer", value}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"first": "1", "answer": value}
		if diff := cmp.Diff(want, parseOutputs(t, string(data))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

// Whoever writes the value must not be able to guess the delimiter: not from the code, not from an earlier output.
func TestDelimitersCannotBeGuessed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		text, err := fileCommand("answer", "a\nghadelimiter_\nadmin=true", false)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(text, "<<")
		delimiter, _, _ := strings.Cut(rest, "\n")
		if len(delimiter) < len("ghadelimiter_")+32 || seen[delimiter] {
			t.Fatalf("delimiter %q, seen before: %v", delimiter, seen[delimiter])
		}
		seen[delimiter] = true
	}
}

func TestOutputsAreAllOrNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out")
	r := Runner{OutputFile: file}
	for _, name := range []string{"", "a b", "a\nb", "a=b", "a<<b"} {
		if err := r.SetOutputs(Output{"good", "1"}, Output{name, "2"}); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused output left a file: %v", err)
	}
}

func TestOutputsWithoutRunner(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (Runner{Out: &out}).SetOutputs(Output{"task", "triage"}, Output{"answer", "a\nb"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "task=triage\nanswer<<ghadelimiter_") {
		t.Errorf("got %q", out.String())
	}
}

func TestUnwritableFiles(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no", "such", "folder")
	if err := (Runner{OutputFile: missing}).SetOutputs(Output{"a", "b"}); err == nil {
		t.Error("outputs into a missing folder gave no error")
	}
	if err := (Runner{SummaryFile: missing}).AddSummary("x"); err == nil {
		t.Error("a summary into a missing folder gave no error")
	}
}

func TestSummaryNeverOverItsLimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "summary")
	full := bytes.Repeat([]byte("x"), MaxSummary-10)
	if err := os.WriteFile(file, full, 0o600); err != nil {
		t.Fatal(err)
	}
	r := Runner{SummaryFile: file}
	if err := r.AddSummary("eleven chars"); !errors.Is(err, ErrSummaryFull) {
		t.Fatalf("got %v, want ErrSummaryFull", err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, full) {
		t.Error("a full summary was changed")
	}
	if err := r.AddSummary("ten chars\n"); err != nil {
		t.Fatalf("ten bytes still fit: %v", err)
	}
}

func TestSummaryBeginsALine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(file, []byte("no end"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Runner{SummaryFile: file}
	for range 2 {
		if err := r.AddSummary("line\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "no end\nline\nline\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSummaryWithoutRunnerIsPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := (Runner{Out: &out}).AddSummary("a line\n"); err != nil || out.String() != "a line\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestAnnotationsAreEscaped(t *testing.T) {
	t.Parallel()
	msg := "first\n::add-mask::x\r\n100%\x1b[31m\u202ered"
	for level, show := range map[string]func(Runner, string){"error": Runner.Error, "warning": Runner.Warning, "notice": Runner.Notice} {
		var out, errs bytes.Buffer
		show(Runner{Active: true, Out: &out, Err: &errs}, msg)
		want := "::" + level + "::first%0A::add-mask::x%0D%0A100%25\\x1b[31m\\u202ered\n"
		if got := strings.ReplaceAll(out.String(), "\r\n", "\n"); got != want || errs.Len() > 0 {
			t.Errorf("in a runner: got %q %q, want %q", got, errs.String(), want)
		}
		out.Reset()
		show(Runner{Out: &out, Err: &errs}, msg)
		want = "issue-assistant: " + level + `: first\x0a::add-mask::x\x0d\x0a100%\x1b[31m\u202ered` + "\n"
		if errs.String() != want || out.Len() > 0 {
			t.Errorf("elsewhere: got %q %q, want %q", errs.String(), out.String(), want)
		}
	}
}

func TestMaskHidesEveryLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Runner{Active: true, Out: &out}.Mask("one\n\n  two  \n")
	if want := "::add-mask::one\n::add-mask::two\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	Runner{Out: &out}.Mask("one")
	if out.Len() > 0 {
		t.Errorf("outside of a runner a secret was printed: %q", out.String())
	}
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GITHUB_OUTPUT": "o", "GITHUB_STEP_SUMMARY": "s", "GITHUB_ACTIONS": "true"}
	got := FromEnv(func(k string) string { return env[k] }, nil, nil)
	if diff := cmp.Diff(Runner{OutputFile: "o", SummaryFile: "s", Active: true}, got); diff != "" {
		t.Error(diff)
	}
}
