package apply

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

type titled struct{ title, anchor string }

// headings lists the headings of a Markdown file with the anchors that GitHub gives them: lower case, letters, digits,
// underscores and hyphens, a hyphen for each space, -1, -2 for repeats.
func headings(data []byte) []titled {
	const deep = 1 << 20
	if len(data) > deep {
		data = data[:deep]
	}
	doc := goldmark.DefaultParser().Parse(text.NewReader(data))
	var out []titled
	used := map[string]int{}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		title := strings.Join(strings.Fields(words(h, data)), " ")
		anchor := slug(title)
		if n := used[anchor]; n > 0 {
			used[anchor]++
			anchor = fmt.Sprintf("%s-%d", anchor, n)
		}
		used[anchor]++
		out = append(out, titled{title, anchor})
	}
	return out
}

func words(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.RawHTML, *ast.Image:
		default:
			b.WriteString(words(c, source))
		}
	}
	return b.String()
}

func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
