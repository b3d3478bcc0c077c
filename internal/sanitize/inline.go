package sanitize

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// run is the text of one block as a reader sees it, with the way back to the source. Code and other things that are not
// text stand in it as one opaque byte.
type run struct {
	text     []byte
	from, to []int32 // source range of each byte
	node     []int32 // which text node it came from
	link     []bool  // inside a link
	nodes    int32
	inQuote  bool
	inItem   bool
	inCell   bool
}

const opaque = 0x01

func (r *run) add(c byte, from, to int, link bool) {
	r.text = append(r.text, c)
	r.from = append(r.from, int32(from)) //nolint:gosec // a comment is far below 2 GB
	r.to = append(r.to, int32(to))       //nolint:gosec // a comment is far below 2 GB
	r.node = append(r.node, r.nodes)
	r.link = append(r.link, link)
}

// opaque stands for something that is not text, apart from the text before and after it.
func (r *run) opaque(at int, link bool) {
	r.nodes++
	r.add(opaque, max(0, at), max(0, at)+1, link)
	r.nodes++
}

// inline judges the text of one block.
func (s *scan) inline(block ast.Node) {
	r := &run{}
	for p := block; p != nil; p = p.Parent() {
		switch p.Kind() {
		case ast.KindBlockquote:
			r.inQuote = true
		case ast.KindListItem:
			r.inItem = true
		case east.KindTableCell:
			r.inCell = true
		}
	}
	before := len(s.edits)
	s.collect(r, block, false)
	s.judge(r)
	s.stray(r, len(s.edits) > before)
}

// collect appends the text below n to the run and edits the links, images and tags on the way.
func (s *scan) collect(r *run, n ast.Node, link bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			s.collectText(r, c, link)
		case *ast.CodeSpan:
			r.opaque(c.Pos(), link)
		case *ast.RawHTML:
			s.rawHTML(c)
			r.opaque(c.Pos(), link)
		case *ast.AutoLink:
			s.autoLink(c)
			r.opaque(c.Pos(), link)
		case *ast.Image:
			s.unlink("image", c, c.Pos(), c.Pos()+1)
			s.collect(r, c, link)
		case *ast.Link:
			allowed := c.Reference == nil && len(c.Title) == 0 && s.policy.allowsURL(string(c.Destination))
			if !allowed && s.template != nil && s.template.takes(string(c.Destination)) {
				allowed = true
			}
			if !allowed {
				s.unlink("link", c, c.Pos(), c.Pos())
			}
			r.nodes++
			s.collect(r, c, allowed)
			r.nodes++
		case *east.TaskCheckBox:
			s.taskBox(c)
		default: // emphasis, strikethrough
			r.nodes++
			s.collect(r, c, link)
			r.nodes++
		}
	}
}

func (s *scan) collectText(r *run, t *ast.Text, link bool) {
	seg := t.Segment
	src := s.src
	for i := seg.Start; i < seg.Stop; {
		c := src[i]
		switch {
		case c == '\\' && i+1 < seg.Stop && isPunct(src[i+1]):
			r.add(src[i+1], i, i+2, link)
			i += 2
			continue
		case c == '&':
			if n := entityLen(string(src[i:min(seg.Stop, i+40)])); n > 0 {
				decoded := html.UnescapeString(string(src[i : i+n]))
				if strings.ContainsFunc(decoded, Invisible) {
					s.add("invisible character", i, i+n, "")
				}
				for _, b := range []byte(decoded) {
					r.add(b, i, i+n, link)
				}
				i += n
				continue
			}
		}
		r.add(c, i, i+1, link)
		i++
	}
	if t.SoftLineBreak() || t.HardLineBreak() {
		r.add('\n', seg.Stop, seg.Stop, link)
	}
}

// stray escapes backticks that have no partner: at once when something in this block becomes code, else only when the
// place asks for it.
func (s *scan) stray(r *run, now bool) {
	for i, c := range r.text {
		if c == '`' && r.to[i]-r.from[i] == 1 {
			e := edit{int(r.from[i]), int(r.to[i]), "\\`", "stray backtick"}
			if e.start < s.lo || e.end > s.hi {
				continue
			}
			if now {
				s.edits = append(s.edits, e)
			} else {
				s.strays = append(s.strays, e)
			}
		}
	}
}

func (s *scan) rawHTML(n *ast.RawHTML) {
	comment := n.Segments.Len() > 0 && bytes.HasPrefix(s.src[n.Segments.At(0).Start:], []byte("<!--"))
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		if comment {
			end := seg.Stop
			if end > seg.Start && s.src[end-1] == '\n' {
				end--
			}
			s.add("raw HTML", seg.Start, end, "")
			continue
		}
		s.tags(s.src[seg.Start:seg.Stop], seg.Start)
	}
}

// autoLink keeps an allowed "<https://...>" and shows any other as code.
func (s *scan) autoLink(n *ast.AutoLink) {
	label := string(n.Label(s.src))
	if n.AutoLinkType == ast.AutoLinkURL && s.policy.allowsURL(label) {
		return
	}
	kind := "link"
	if n.AutoLinkType == ast.AutoLinkEmail {
		kind = "e-mail address"
	}
	at := max(0, n.Pos())
	end := bytes.IndexByte(s.src[at:], '>')
	if s.src[at] != '<' || end < 0 {
		at = bytes.LastIndexByte(s.src[:at+1], '<')
		if at < 0 || end < 0 {
			return
		}
		end = bytes.IndexByte(s.src[at:], '>')
	}
	s.add(kind, at, at+end+1, verbatim.Span(label))
}

func (s *scan) taskBox(n *east.TaskCheckBox) {
	at := n.Pos()
	if at < 0 && n.NextSibling() != nil {
		at = n.NextSibling().Pos()
	}
	line := s.src[s.lineStart(max(at, 0)):]
	if at >= 0 && at < len(s.src) && s.src[at] == '[' {
		s.add("task list", at, at+1, `\[`)
		return
	}
	if i := bytes.IndexByte(line, '['); i >= 0 {
		at = s.lineStart(max(at, 0)) + i
		s.add("task list", at, at+1, `\[`)
	}
}

// unlink leaves the words of a link or an image. The opening bracket ends at open+1. When the end cannot be found on the
// same line the bracket is escaped: then the address stands as text and is judged as such.
func (s *scan) unlink(kind string, n ast.Node, at, open int) {
	if at < 0 || open >= len(s.src) || s.src[open] != '[' {
		return
	}
	if hasImage(n) {
		s.edits = append(s.edits, edit{len(s.src), len(s.src), "", kind}) // the image first; this holds the finding
		return
	}
	start := max(open+1, contentEnd(n))
	closing := start
	for closing < len(s.src) && bytes.IndexByte([]byte("*_~`> \n"), s.src[closing]) >= 0 {
		closing++
	}
	end := -1
	if closing < len(s.src) && s.src[closing] == ']' {
		end = s.linkTail(closing + 1)
	}
	if end < 0 {
		s.add(kind, open, open+1, `\[`)
		if at < open {
			s.add(kind, at, open, `\!`)
		}
		return
	}
	s.add(kind, at, open+1, "")
	s.add(kind, closing, end, "")
}

// linkTail is the end of "(address "title")" at i, -1 when it is not there or not on one line.
func (s *scan) linkTail(i int) int {
	if i >= len(s.src) || s.src[i] != '(' {
		return -1
	}
	depth := 0
	for quote := byte(0); i < len(s.src); i++ {
		c := s.src[i]
		switch {
		case c == '\n':
			return -1
		case c == '\\' && i+1 < len(s.src) && isPunct(s.src[i+1]):
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (s.src[i-1] == ' ' || s.src[i-1] == '\t'):
			quote = c
		case c == '<' && s.src[i-1] == '(':
			quote = '>'
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func hasImage(n ast.Node) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindImage || hasImage(c) {
			return true
		}
	}
	return false
}

// contentEnd is where the last text below n ends.
func contentEnd(n ast.Node) int {
	end := 0
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			end = max(end, c.Segment.Stop)
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				end = max(end, c.Segments.At(i).Stop)
			}
		default:
			end = max(end, contentEnd(c))
		}
	}
	return end
}
