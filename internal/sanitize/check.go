package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is something live in a comment that may not be, with its byte range.
type Problem struct {
	Kind       string // "mention", "link", "image", "nesting", ...
	Start, End int
}

// MaxComment is GitHub's limit for a comment, in characters.
const MaxComment = 65536

// CheckComment parses a whole comment and returns everything in it that is live and not allowed, in order; nil means that
// it may be posted. What the template writes itself passes by [Policy.Template], its one mention by [Policy.Reporter].
func CheckComment(markdown string, p Policy) []Problem {
	if tooDeep(markdown) || tooManyMarksLeft(markdown) {
		return []Problem{{"nesting", 0, len(markdown)}}
	}
	var problems []Problem
	if n := runeLen(markdown); n > MaxComment {
		problems = append(problems, Problem{"length", 0, len(markdown)})
	}
	if normalize(markdown) != markdown {
		problems = append(problems, invisibles(markdown)...)
	}
	s := newScan([]byte(markdown), p, Paragraph)
	s.template = newTemplate(p)
	s.document()
	if s.unclear {
		problems = append(problems, Problem{"unclear code", 0, len(markdown)})
	}
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	for _, e := range s.edits {
		if e.kind == "stray backtick" || s.template.allows(markdown, e) {
			continue
		}
		problems = append(problems, Problem{e.kind, e.start, e.end})
	}
	return problems
}

func invisibles(markdown string) []Problem {
	for i, r := range markdown {
		if Invisible(r) && normalize(markdown[:i]+string(r)) != markdown[:i]+string(r) {
			return []Problem{{"invisible character", i, i + len(string(r))}}
		}
	}
	return []Problem{{"invisible character", 0, len(markdown)}}
}

// template counts down what the comment's own template may still write.
type template struct {
	left     map[string]int
	reporter string
}

func newTemplate(p Policy) *template {
	t := &template{left: map[string]int{}}
	for _, piece := range p.Template {
		t.left[strings.TrimSpace(piece)]++
	}
	if p.Reporter != "" {
		t.reporter = "@" + strings.ToLower(p.Reporter)
	}
	return t
}

// takes counts an address of the template down.
func (t *template) takes(address string) bool {
	if t.left[address] == 0 {
		return false
	}
	t.left[address]--
	return true
}

// allows tells whether a finding is the template's own: the reporter's mention, or a listed piece that holds it.
func (t *template) allows(markdown string, e edit) bool {
	if e.kind == "mention" && t.reporter != "" && strings.ToLower(markdown[e.start:e.end]) == t.reporter {
		t.reporter = ""
		return true
	}
	for piece, n := range t.left {
		if n > 0 && holds(markdown, piece, e) {
			t.left[piece]--
			return true
		}
	}
	return false
}

// holds tells whether piece stands in markdown around a finding.
func holds(markdown, piece string, e edit) bool {
	if piece == "" {
		return false
	}
	for from := max(0, e.start-len(piece)); from <= e.start && from+len(piece) <= len(markdown); from++ {
		if strings.HasPrefix(markdown[from:], piece) && from+len(piece) >= min(e.end, len(markdown)) {
			return true
		}
	}
	return false
}
