package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestMutationsFitTheTree keeps the list usable: a refactoring that moves a line has to move its mutation.
func TestMutationsFitTheTree(t *testing.T) {
	t.Parallel()
	list, err := parse(mutationsFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 40 {
		t.Errorf("there are %d mutations, not 40", len(list))
	}
	if err := check(testtool.Root(t), list); err != nil {
		t.Error(err)
	}
	packages := map[string]bool{}
	for _, m := range list {
		packages[filepath.Dir(m.Path)] = true
	}
	if len(packages) < 15 {
		t.Errorf("the mutations touch %d packages only", len(packages))
	}
}

// module is a repository with one package; its test notices a wrong sign and nothing else.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.com/m\n\ngo 1.26\n",
		"sign/s.go":      "package sign\n\nfunc Sign(n int) int {\n\tif n < 0 {\n\t\treturn -1\n\t}\n\treturn 1\n}\n\n// untested\nfunc Zero() int { return 0 }\n",
		"sign/s_test.go": "package sign\n\nimport \"testing\"\n\nfunc TestSign(t *testing.T) {\n\tt.Parallel()\n\tif Sign(-2) != -1 || Sign(2) != 1 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestBroken(t *testing.T) { t.Fatal() }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("s.go", filepath.Join(dir, "sign", "link.txt")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	return dir
}

const entry = "[[mutation]]\nid = \"%ID\"\nbreaks = \"the sign\"\npath = \"sign/s.go\"\nold = '%OLD'\nnew = '%NEW'\npackage = \"sign\"\nrun = \"%RUN\"\n"

func mutationOf(id, from, to, run string) string {
	return strings.NewReplacer("%ID", id, "%OLD", from, "%NEW", to, "%RUN", run).Replace(entry)
}

func TestCaughtAndSurvived(t *testing.T) {
	t.Parallel()
	dir := module(t)
	list := filepath.Join(t.TempDir(), "list.toml")
	text := mutationOf("sign", "return -1", "return 1", "TestSign") + mutationOf("zero", "return 0", "return 3", "TestSign") +
		mutationOf("hangs", "return 1\n", "for {\n\t}\n", "TestSign")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "old = 'return 1\n'", "old = \"return 1\\n\""), "new = 'for {\n\t}\n'", "new = \"for {\\n\\t}\\n\"")
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "sign", "s.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "page.md")
	var stdout bytes.Buffer
	args := []string{"-dir", dir, "-list", list, "-out", out, "-limit", "5s", "-least"}
	if err := run(t.Context(), append(args, "2"), &stdout); err != nil {
		t.Fatalf("%v\n%s", err, stdout.String())
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**2 of 3 were noticed**", "| the sign | `sign/s.go` | `TestSign` |", "| **nothing** |", "| tests that do not end |"} {
		if !strings.Contains(string(written), want) {
			t.Errorf("%q is not in:\n%s", want, written)
		}
	}
	if err := run(t.Context(), append(args, "3"), io.Discard); err == nil || !strings.Contains(err.Error(), "fewer than 3") {
		t.Errorf("two of three were enough for three: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "sign", "s.go"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the tree itself was changed, %v", err)
	}
}

func TestMutationsThatProveNothing(t *testing.T) {
	t.Parallel()
	dir := module(t)
	for name, c := range map[string]struct{ text, want string }{
		"not found":     {mutationOf("a", "return 7", "x", "TestSign"), "stands 0 times"},
		"found twice":   {mutationOf("a", "return", "x", "TestSign"), "stands 3 times"},
		"no compile":    {mutationOf("a", "return -1", "return nope", "TestSign"), "build:"},
		"fails already": {mutationOf("a", "return -1", "return 1", "TestBroken"), "fail without a mutation: `TestBroken`"},
		"no such test":  {mutationOf("a", "return -1", "return 1", "TestNobody"), "no test is named"},
		"no change":     {mutationOf("a", "return -1", "return -1", ""), "changes nothing"},
		"twice":         {mutationOf("a", "return -1", "return 1", "") + mutationOf("a", "return 0", "return 1", ""), "is there twice"},
		"unknown key":   {"[[mutation]]\nidd = \"x\"\n", "unknown key"},
		"incomplete":    {"[[mutation]]\nid = \"x\"\n", "lacks one of"},
		"no toml":       {"[[", "read the mutations"},
		"a test":        {strings.Replace(mutationOf("a", "return", "x", ""), "sign/s.go", "sign/s_test.go", 1), "changes a test"},
		"no file":       {strings.Replace(mutationOf("a", "return", "x", ""), "sign/s.go", "sign/none.go", 1), "no such file"},
		"no package":    {strings.Replace(mutationOf("a", "return -1", "x", ""), "package = \"sign\"", "package = \"none\"", 1), "none is no folder"},
		"nothing":       {"", "no mutation has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := filepath.Join(t.TempDir(), "list.toml")
			if err := os.WriteFile(list, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(t.Context(), []string{"-dir", dir, "-list", list}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestChooseByWords(t *testing.T) {
	t.Parallel()
	list := []mutation{{ID: "cap"}, {ID: "meter-reserve"}, {ID: "reserve-last"}}
	if got := choose(list, "reserve,nope"); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if got := choose(list, ""); len(got) != 3 {
		t.Errorf("got %v", got)
	}
}
