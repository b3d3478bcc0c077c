package verbatim_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

func TestFence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		code string // a letter per line: c is of fenced code, . is not
		open string // what is open at the end
	}{
		"none":                   {"a\nb\n", "..", ""},
		"backticks":              {"a\n```\nb\n```\nc", ".ccc.", ""},
		"tildes":                 {"~~~ go\nb\n~~~~\nc", "ccc.", ""},
		"line breaks of Windows": {"```\r\nb\r\n```\r\nc\r\n", "ccc.", ""},
		"spaces before":          {"  ```\nb\n   ```\nc", "ccc.", ""},
		"the other mark":         {"```\n~~~\n```\nc", "ccc.", ""},
		"a shorter one":          {"````\n```\n````\nc", "ccc.", ""},
		"words do not close":     {"```\n```go\n```\nc", "ccc.", ""},
		"two are no fence":       {"``\nb", "..", ""},
		"inline code":            {"``` a ```\nb", "..", ""},
		"tildes take backticks":  {"~~~ a`\nb", "cc", "~~~"},
		"left open":              {"a\n`````x\nb", ".cc", "`````"},
		"in a quote":             {"> ```\nb", "..", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f verbatim.Fence
			got := ""
			for line := range strings.Lines(c.text) {
				if f.Holds(line) {
					got += "c"
				} else {
					got += "."
				}
			}
			if got != c.code || string(f) != c.open {
				t.Errorf("got %q, open %q; want %q, open %q", got, f, c.code, c.open)
			}
		})
	}
}

// FuzzCode asks a parser: whatever the text holds, it is one piece of code and nothing else, and its words are all there.
func FuzzCode(f *testing.F) {
	for _, s := range []string{"", " ", "  ", "a", "`", "``", " `a` ", "a``b`c", "```\nx\n```", "~~~", "a\n\n````\n", "\\`", "<b>", " a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\r\x00") {
			return // parsers write both anew
		}
		source := []byte(verbatim.Block("text", s))
		block, ok := only(source).(*ast.FencedCodeBlock)
		if !ok {
			t.Fatalf("%q is no fenced code", source)
		}
		var got bytes.Buffer
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			got.Write(line.Value(source))
		}
		if want := strings.TrimRight(s, "\n") + "\n"; got.String() != want {
			t.Fatalf("the block shows %q, not %q", got.String(), want)
		}
		var fence verbatim.Fence
		for line := range strings.Lines(string(source)) {
			if !fence.Holds(line) {
				t.Fatalf("%q is not seen as code", line)
			}
		}
		if fence != "" {
			t.Fatalf("%q stays open", source)
		}

		if strings.ContainsAny(s, "\n\t\v\f") {
			return // a span stands on one line
		}
		source = []byte("x " + verbatim.Span(s) + " y")
		paragraph := only(source)
		if paragraph == nil || paragraph.ChildCount() != 3 || paragraph.FirstChild().NextSibling().Kind() != ast.KindCodeSpan {
			t.Fatalf("%q is not one span", source)
		}
		var shown strings.Builder
		for c := paragraph.FirstChild().NextSibling().FirstChild(); c != nil; c = c.NextSibling() {
			shown.Write(c.(*ast.Text).Segment.Value(source))
		}
		if strings.Trim(shown.String(), " ") != strings.Trim(s, " ") {
			t.Fatalf("the span shows %q, not %q", shown.String(), s)
		}
	})
}

// only is the one block of a document, nil when there are more.
func only(source []byte) ast.Node {
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	if doc.ChildCount() != 1 {
		return nil
	}
	return doc.FirstChild()
}
