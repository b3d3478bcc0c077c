package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// newParser is CommonMark with GFM but without bare addresses: those are found in the text itself, more strictly than any
// parser does.
func newParser() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
}

// scan finds what is live in a source and how to take the life out of it.
type scan struct {
	src      []byte
	lo, hi   int // the text within the source; edits outside are dropped
	policy   Policy
	place    Place
	doc      ast.Node
	unclear  bool // parsers disagree about what is code
	edits    []edit
	template *template // what a whole comment may hold beside texts; nil while a text is cleaned
	strays   []edit    // backticks without a partner, which could pair with the template's
}

func newScan(src []byte, p Policy, place Place) *scan {
	return &scan{src: src, lo: 0, hi: len(src), policy: p, place: place, doc: newParser().Parse(text.NewReader(src))}
}

func (s *scan) add(kind string, start, end int, with string) {
	s.edits = append(s.edits, edit{start, end, with, kind})
}

// document visits every block.
func (s *scan) document() {
	// The walker returns an error only when the visitor does.
	_ = ast.Walk(s.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			s.heading(n)
			s.inline(n)
		case *ast.FencedCodeBlock:
			s.fence(n)
		case *ast.CodeBlock:
			s.unclear = s.unclear || s.belowEmptyMarker(n)
		case *ast.HTMLBlock:
			s.htmlBlock(n)
		case *ast.LinkReferenceDefinition:
			s.definition(n)
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
			s.inline(n)
		}
		return ast.WalkContinue, nil
	})
}

func (s *scan) lineStart(at int) int { return bytes.LastIndexByte(s.src[:at], '\n') + 1 }

func (s *scan) lineEnd(at int) int {
	if i := bytes.IndexByte(s.src[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s.src)
}

// heading takes off the marks of a heading: "## " before it, or the line below it.
func (s *scan) heading(n *ast.Heading) {
	lines := n.Lines()
	if at := n.Pos(); at >= 0 && at < len(s.src) && s.src[at] == '#' && (lines.Len() == 0 || s.lineStart(at) == s.lineStart(lines.At(0).Start)) {
		end := at
		for end < len(s.src) && s.src[end] == '#' {
			end++
		}
		for end < len(s.src) && (s.src[end] == ' ' || s.src[end] == '\t') {
			end++
		}
		s.add("heading", at, end, "")
		// A closing run of marks goes too; what is left of the line is the heading's text.
		if lines.Len() > 0 {
			if stop, eol := lines.At(0).Stop, s.lineEnd(at); stop > end && stop < eol {
				s.add("heading", stop, eol, "")
			}
		}
		return
	}
	if lines.Len() == 0 {
		return
	}
	next := s.lineEnd(max(lines.At(0).Start, lines.At(lines.Len()-1).Stop-1)) + 1
	if next >= len(s.src) {
		return
	}
	eol := s.lineEnd(next)
	end := next + len(bytes.TrimRight(s.src[next:eol], " \t\r"))
	start := end
	for start > next && (s.src[start-1] == '=' || s.src[start-1] == '-') {
		start--
	}
	s.add("heading", start, end, "")
}

// liveFences are the languages that GitHub draws instead of showing.
var liveFences = map[string]bool{"mermaid": true, "math": true, "geojson": true, "topojson": true, "stl": true, "suggestion": true}

// fence makes a drawing plain text, and closes a fence that would run on into the template.
func (s *scan) fence(n *ast.FencedCodeBlock) {
	at := n.Pos()
	if at < 0 || at >= len(s.src) {
		return
	}
	mark := s.src[at]
	run := at
	for run < len(s.src) && s.src[run] == mark {
		run++
	}
	if info := strings.TrimSpace(string(s.src[run:s.lineEnd(run)])); info != "" && !plainInfo(info) {
		s.add("live block", run, s.lineEnd(run), "text")
	}
	end := s.lineEnd(at)
	if lines := n.Lines(); lines.Len() > 0 {
		end = s.lineEnd(max(at, lines.At(lines.Len()-1).Stop-1))
	}
	if end < s.hi || !s.ownBlock(n) {
		return
	}
	s.add("open fence", s.hi, s.hi, "\n"+s.place.frame().indent+strings.Repeat(string(mark), run-at))
}

// plainInfo tells whether the words after a fence are a language that is shown as code.
func plainInfo(info string) bool {
	language, _, _ := strings.Cut(info, " ")
	if liveFences[strings.ToLower(strings.Trim(language, "{}., "))] || len(info) > 100 {
		return false
	}
	for i := range len(info) {
		if c := info[i]; !isWord(c) && strings.IndexByte(" +#.,:=/\"{}", c) < 0 {
			return false
		}
	}
	return true
}

// ownBlock tells whether a block stands directly in the place and not in a list or quote of the text.
func (s *scan) ownBlock(n ast.Node) bool {
	depth := 0
	for p := n.Parent(); p != nil && p != s.doc; p = p.Parent() {
		depth++
	}
	switch s.place {
	case ListEntry:
		return depth == 2
	case NestedEntry:
		return depth == 4
	case Quote:
		return depth == 1
	default:
		return depth == 0
	}
}

// htmlBlock turns tags into text and drops comments. Lines from a code fence on wait for the next pass: they are code
// once the tag before them is text.
func (s *scan) htmlBlock(n *ast.HTMLBlock) {
	segments := n.Lines().Sliced(0, n.Lines().Len())
	if n.HasClosure() {
		segments = append(slices.Clip(segments), n.ClosureLine)
	}
	first := true
	for _, seg := range segments {
		line := s.src[seg.Start:seg.Stop]
		if trimmed := bytes.TrimLeft(line, " \t"); !first && (bytes.HasPrefix(trimmed, []byte("```")) || bytes.HasPrefix(trimmed, []byte("~~~"))) {
			return
		}
		first = false
		s.tags(line, seg.Start)
	}
	if len(segments) == 0 {
		s.add("raw HTML", n.Pos(), n.Pos()+1, "&lt;")
	}
}

// tags turns the opening of every tag on a line into text; a whole comment goes.
func (s *scan) tags(line []byte, base int) {
	for i := 0; i < len(line); i++ {
		if line[i] != '<' {
			continue
		}
		if bytes.HasPrefix(line[i:], []byte("<!--")) {
			if n := bytes.Index(line[i+4:], []byte("-->")); n >= 0 {
				s.add("raw HTML", base+i, base+i+4+n+3, "")
				i += 4 + n + 2
				continue
			}
		}
		if i+1 < len(line) && opensTag(line[i+1]) {
			s.add("raw HTML", base+i, base+i+1, "&lt;")
		}
	}
}

func opensTag(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '!' || c == '?'
}

// definition makes "[label]: address" text.
func (s *scan) definition(n *ast.LinkReferenceDefinition) {
	at := n.Pos()
	if n.Lines().Len() > 0 {
		at = n.Lines().At(0).Start
	}
	if i := bytes.IndexByte(s.src[at:s.lineEnd(at)], '['); i >= 0 {
		s.add("reference definition", at+i, at+i+1, `\[`)
	}
}

// belowEmptyMarker tells whether indented code begins a list entry whose first line is empty: parsers disagree whether it
// is code or text.
func (s *scan) belowEmptyMarker(n *ast.CodeBlock) bool {
	return n.Parent().Kind() == ast.KindListItem && n.PreviousSibling() == nil && n.Lines().Len() > 0 &&
		s.lineStart(n.Lines().At(0).Start) != s.lineStart(max(0, n.Parent().Pos()))
}

// fits tells whether the text left its place's own structure as it is.
func (s *scan) fits() bool {
	switch s.place {
	case Paragraph:
		return true
	case Quote:
		quote := only(s.doc)
		return quote != nil && quote.Kind() == ast.KindBlockquote
	case Cell:
		table := only(s.doc)
		return table != nil && table.Kind() == east.KindTable && siblings(table.FirstChild()) == 2 && siblings(table.LastChild().FirstChild()) == 2
	default:
	}
	item := onlyItem(only(s.doc))
	if item == nil {
		return false
	}
	switch s.place {
	case ListEntry:
		return true
	case NestedEntry:
		return siblings(item.FirstChild()) == 2 && onlyItem(item.LastChild()) != nil
	default:
	}
	line := only(item)
	if line == nil || line.FirstChild() == nil {
		return false
	}
	if s.place == BesideCode {
		return isCode(line.FirstChild(), s.src, "a") && isCode(line.LastChild(), s.src, "b")
	}
	return len(s.strays) == 0
}

// siblings counts n and what comes after it; goldmark's own ChildCount is wrong beside tables.
func siblings(n ast.Node) int {
	count := 0
	for ; n != nil; n = n.NextSibling() {
		count++
	}
	return count
}

func only(n ast.Node) ast.Node {
	if siblings(n.FirstChild()) != 1 {
		return nil
	}
	return n.FirstChild()
}

func onlyItem(list ast.Node) ast.Node {
	if list == nil || list.Kind() != ast.KindList {
		return nil
	}
	return only(list)
}

func isCode(n ast.Node, src []byte, want string) bool {
	if n == nil || n.Kind() != ast.KindCodeSpan {
		return false
	}
	t, ok := n.FirstChild().(*ast.Text)
	return ok && string(t.Segment.Value(src)) == want
}
