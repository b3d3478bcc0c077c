package sanitize

import (
	"bytes"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/yuin/goldmark/ast"
)

// Material prepares a text of a stranger for the AI: what the page hides goes, so that the AI reads what people read.
// Invisible characters, comments (also unclosed ones), values of attributes, words behind images, titles of links and
// definitions that only hide words are hidden. Code keeps every visible byte, and tags keep their names, so that XML,
// JSX, generics and #include survive.
func Material(text string) string {
	text = normalize(text)
	if len(text) > maxText || tooDeep(text) || tooManyMarks(text) {
		return hideLinewise(text)
	}
	// What is taken out may have stood between two halves of a comment.
	for range maxRounds {
		s := newScan([]byte(text), Policy{}, Paragraph)
		s.hidden()
		if len(s.edits) == 0 {
			return text
		}
		text = apply(text, s.edits, 0, len(text))
	}
	return hideLinewise(text)
}

// hidden finds what a page does not show.
func (s *scan) hidden() {
	// The walker returns an error only when the visitor does.
	_ = ast.Walk(s.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			s.hiddenBlock(n)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				s.hiddenTags(seg.Start, seg.Stop, bytes.HasPrefix(s.src[n.Segments.At(0).Start:], []byte("<!--")))
			}
		case *ast.Image:
			s.hiddenWords(n)
		case *ast.LinkReferenceDefinition:
			s.hiddenDefinition(n)
		}
		return ast.WalkContinue, nil
	})
}

// hiddenBlock handles a block of HTML: a comment goes to its end or, when it never ends, with the rest of the block;
// so do scripts and styles, of which a page shows nothing.
func (s *scan) hiddenBlock(n *ast.HTMLBlock) {
	if n.Lines().Len() == 0 {
		return
	}
	start := n.Lines().At(0).Start
	stop := n.Lines().At(n.Lines().Len() - 1).Stop
	if n.HasClosure() {
		stop = max(stop, n.ClosureLine.Stop)
	}
	s.hiddenTags(start, stop, false)
}

var (
	hiddenElement = lazy.Regexp(`(?is)^<(script|style|template|title|noscript)\b[^>]*>`)
	oneTag        = lazy.Regexp(`(?s)^<[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*|\s*/?)?>`)
	attribute     = lazy.Regexp(`(?s)\s+[A-Za-z_:@.][^\s=/>]*\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+)`)
	quotedTag     = lazy.Regexp(`(?s)^<[A-Za-z][A-Za-z0-9-]*(?:\s+[^\s"'=<>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?)*\s*/?>`)
)

// hiddenTags takes comments and the values of attributes out of a range that is HTML. whole says that all of the range
// is part of one comment.
func (s *scan) hiddenTags(start, stop int, whole bool) {
	if whole {
		s.add("comment", start, lineSafe(s.src, start, stop), "")
		return
	}
	for i := start; i < stop; i++ {
		if s.src[i] != '<' {
			continue
		}
		part := s.src[i:stop]
		switch {
		case bytes.HasPrefix(part, []byte("<!--")), bytes.HasPrefix(part, []byte("<?")):
			end := commentEnd(part)
			s.add("comment", i, i+end, "")
			i += end - 1
		case hiddenElement().Match(part):
			name := hiddenElement().FindSubmatch(part)[1]
			end := len(part)
			if j := bytes.Index(bytes.ToLower(part), append([]byte("</"), bytes.ToLower(name)...)); j >= 0 {
				end = j
			}
			if end > 0 {
				s.add("hidden element", i, i+end, "")
				i += end - 1
			}
		default:
			i = s.hiddenAttributes(part, i)
		}
	}
}

// hiddenAttributes replaces the attributes with values of the tag at the start of part by "…" and returns the tag's last byte.
func (s *scan) hiddenAttributes(part []byte, at int) int {
	tag := quotedTag().Find(part)
	if tag == nil {
		tag = oneTag().Find(part)
	}
	if tag == nil {
		return at
	}
	if attribute().Match(tag) {
		s.add("attribute", at, at+len(tag), string(attribute().ReplaceAll(tag, nil)))
	}
	return at + len(tag) - 1
}

// commentEnd is the length of the comment or instruction at the start of part; one that never ends takes all.
func commentEnd(part []byte) int {
	closing := "-->"
	if part[1] == '?' {
		closing = "?>"
	}
	if i := bytes.Index(part[2:], []byte(closing)); i >= 0 {
		return 2 + i + len(closing)
	}
	return len(part)
}

// lineSafe leaves the line break at the end of a range.
func lineSafe(src []byte, start, stop int) int {
	if stop > start && src[stop-1] == '\n' {
		return stop - 1
	}
	return stop
}

// hiddenWords takes out the words behind an image.
func (s *scan) hiddenWords(n *ast.Image) {
	open := n.Pos() + 1
	if open <= 0 || open >= len(s.src) || s.src[open] != '[' {
		return
	}
	end := contentEnd(n)
	if end <= open+1 {
		return
	}
	closing := bytes.IndexByte(s.src[end:], ']')
	if closing < 0 || bytes.IndexByte(s.src[open:end+closing], '\n') >= 0 {
		return
	}
	if string(s.src[open+1:end+closing]) != "image" {
		s.add("words behind an image", open+1, end+closing, "image")
	}
}

// hiddenDefinition takes out a definition that leads nowhere, the known way to write a comment in Markdown, and the title
// of any other.
func (s *scan) hiddenDefinition(n *ast.LinkReferenceDefinition) {
	if n.Lines().Len() == 0 {
		return
	}
	start := n.Lines().At(0).Start
	stop := s.lineEnd(max(start, n.Lines().At(n.Lines().Len()-1).Stop-1))
	target := strings.TrimSpace(string(n.Destination))
	switch {
	case target == "" || target == "#" || strings.HasPrefix(target, "#") || !strings.Contains(target, "/"):
		s.add("definition", start, stop, "")
	case len(n.Title) > 0:
		s.add("definition", start, stop, "["+string(n.Label)+"]: "+string(n.Destination))
	}
}

// hideLinewise takes comments out of a text that no parser should read, line by line: fences are code, all else is not.
func hideLinewise(text string) string {
	var b strings.Builder
	var f fenceState
	inside := false
	for line := range strings.Lines(text) {
		was := f.length > 0
		if !inside {
			f.line(strings.TrimRight(line, "\n"))
		}
		if !inside && (was || f.length > 0) {
			b.WriteString(line)
			continue
		}
		for line != "" {
			if inside {
				i := strings.Index(line, "-->")
				if i < 0 {
					if strings.HasSuffix(line, "\n") {
						b.WriteByte('\n')
					}
					break
				}
				inside, line = false, line[i+3:]
				continue
			}
			i := strings.Index(line, "<!--")
			if i < 0 {
				b.WriteString(line)
				break
			}
			b.WriteString(line[:i])
			inside, line = true, line[i+4:]
		}
	}
	return b.String()
}
