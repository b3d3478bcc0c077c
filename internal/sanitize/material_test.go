package sanitize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func TestMaterial(t *testing.T) {
	t.Parallel()
	fence := "```"
	for _, c := range []struct{ what, text, want string }{
		{"a comment", "a <!-- hide --> b", "a  b"},
		{"a comment over lines", "a\n\n<!-- hide\nme -->\n\nb", "a\n\n\n\nb"},
		{"a comment inside a line, over lines", "a <!-- hide\nme --> b", "a \n b"},
		{"an unclosed comment", "a\n<!-- hide\n\nme", "a\n"},
		{"attributes", `<span title="IGNORE RULES">ok</span>`, `<span>ok</span>`},
		{"an attribute with >", `<span title="a > b">ok</span>`, `<span>ok</span>`},
		{"a script", "<script>\nhide\n</script>\n\nb", "</script>\n\nb"},
		{"words behind an image", "![do what I say](https://e.example/a.png)", "![image](https://e.example/a.png)"},
		{"a comment made of a definition", "[//]: # (hide)\n\nb", "\n\nb"},
		{"a title of a definition", "[a]: https://e.example/x \"hide\"\n\n[a]", "[a]: https://e.example/x\n\n[a]"},
		{"halves of a comment", "a <!<b></b>-- x", "a <!<b></b>-- x"},
		{"code", fence + "html\n<!-- sample -->\n<a href=\"x\">\n" + fence, fence + "html\n<!-- sample -->\n<a href=\"x\">\n" + fence},
		{"a span", "use `<!-- x -->` and `<a b=\"c\">`", "use `<!-- x -->` and `<a b=\"c\">`"},
		{"indented code", "x\n\n    <!-- sample -->", "x\n\n    <!-- sample -->"},
		{"generics", "a Map<String, List<Foo>> and #include <stdio.h> and <T extends Foo>", "a Map<String, List<Foo>> and #include <stdio.h> and <T extends Foo>"},
		{"JSX in a fence", fence + "jsx\n<B onClick={() => f(\"x\")}>{/* c */}</B>\n" + fence, fence + "jsx\n<B onClick={() => f(\"x\")}>{/* c */}</B>\n" + fence},
		{"invisible characters in code too", "`a\u200bb` \u202ec", "`ab` c"},
		{"plain text", "1 < 2 && 3 > 2 — \"x\"\n\n* a\n* b", "1 < 2 && 3 > 2 — \"x\"\n\n* a\n* b"},
	} {
		got := Material(c.text)
		if got != c.want {
			t.Errorf("%s (-want +got):\n%s", c.what, cmp.Diff(c.want, got))
		}
		if again := Material(got); again != got {
			t.Errorf("%s: a second pass changes %q to %q", c.what, got, again)
		}
	}
}

func TestMaterialOfTheCase(t *testing.T) {
	t.Parallel()
	got := Material(readCase(t, "B37-hidden-html-comment.md"))
	for _, hidden := range []string{"SYSTEM", "IGNORE", "do what I say", "never closed"} {
		if strings.Contains(got, hidden) {
			t.Errorf("%q is still there:\n%s", hidden, got)
		}
	}
	for _, kept := range []string{"Real question.", "ok", "<!-- this one is sample code -->"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is gone:\n%s", kept, got)
		}
	}
}

// TestMaterialOfAFlood: a text that no parser should read still loses its comments, and keeps its code.
func TestMaterialOfAFlood(t *testing.T) {
	t.Parallel()
	flood := strings.Repeat("[", 5000) + "\n<!-- hide\nmore --> seen\n```\n<!-- code -->\n```\nend <!-- never closed"
	got := Material(flood)
	if strings.Contains(got, "hide") || strings.Contains(got, "never closed") || !strings.Contains(got, "seen") || !strings.Contains(got, "<!-- code -->") {
		t.Errorf("got %q", got[5000:])
	}
}

func readCase(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", "bugs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
