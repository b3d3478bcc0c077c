package search

import (
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// term is one word of an issue, as the index stores it.
type term struct {
	hash uint64
	tf   float64 // weighed over the fields and their lengths
	in   fieldSet
}

// analyzed is an issue taken apart.
type analyzed struct {
	terms    []term
	title    uint64 // of the whole title; 0: it says nothing
	evidence int    // different words that say something
}

// counts are how often a term stands in each field, in units of its weight.
type counts struct {
	n    [fields]float32
	said bool // it counts as evidence
}

// analyzer takes issues apart. Index and query must share a seed. It is not safe for concurrent use.
type analyzer struct {
	seed  maphash.Seed
	keep  bool // remember the words behind the hashes
	words map[uint64]string

	terms  map[uint64]*counts
	order  []uint64
	free   []*counts
	length [fields]float64
	word   []byte
	pair   []byte
	key    []byte
	shown  string // the word as the issue has it, when words are kept
}

// sharedSeed makes the hashes of all analyzers of the process the same; it is read only.
var sharedSeed = maphash.MakeSeed() //nolint:gochecknoglobals // read only, one for the process

func newAnalyzer(keep bool) *analyzer {
	a := &analyzer{seed: sharedSeed, keep: keep, terms: map[uint64]*counts{}}
	if keep {
		a.words = map[uint64]string{}
	}
	return a
}

// analyze takes an issue apart. The result does not share memory with the analyzer.
func (a *analyzer) analyze(d Doc) analyzed {
	clear(a.terms)
	a.order = a.order[:0]
	a.length = [fields]float64{}

	title := strings.TrimSpace(clip(d.Title, maxTitle))
	if !claimsDuplicate(title) {
		a.line(title, inTitle)
	}
	for _, l := range d.Labels[:min(len(d.Labels), 20)] {
		a.line(clip(l, 100), inLabel)
	}
	a.body(d.Body)
	return a.result(title)
}

// claimsDuplicate reports whether a title says nothing but whose duplicate the issue is: words without evidence.
func claimsDuplicate(title string) bool {
	s := strings.ToLower(strings.TrimLeft(title, "[(# "))
	return strings.HasPrefix(s, "duplicate of") || strings.HasPrefix(s, "duplicate #") || strings.HasPrefix(s, "dup of")
}

func (a *analyzer) result(title string) analyzed {
	out := analyzed{terms: make([]term, 0, len(a.order))}
	var norm [fields]float64
	for f := range norm {
		norm[f] = weightOf[f] / (1 - lengthOf[f] + lengthOf[f]*max(a.length[f], usual[f]/4)/usual[f])
	}
	for _, h := range a.order {
		c := a.terms[h]
		t := term{hash: h}
		for f, n := range c.n {
			if n > 0 {
				t.tf += norm[f] * float64(n)
				t.in |= 1 << f
			}
		}
		if c.said {
			out.evidence++
		}
		out.terms = append(out.terms, t)
		a.free = append(a.free, c)
	}
	if plain := squeeze(title); len(plain) > 0 && !claimsDuplicate(title) {
		out.title = a.hashOf('t', plain)
	}
	return out
}

// squeeze is a title without case, punctuation and spaces.
func squeeze(title string) []byte {
	var b []byte
	for _, r := range title {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b
}

// body reads the start and the end of a description line by line.
func (a *analyzer) body(s string) {
	if len(s) > maxBody {
		s = s[:maxBody/2] + "\n" + s[len(s)-maxBody/2:]
	}
	s = withoutComments(s)
	form := strings.HasPrefix(strings.TrimSpace(s), "### ") && strings.Count(s, "\n### ") >= 1
	var fence verbatim.Fence
	environment := false
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		before := fence
		code := fence.Holds(line)
		switch {
		case line == "" || len(a.order) > maxTerms || fence != before:
		case code && isError(line):
			a.errorLine(line)
		case code:
			a.line(line, inCode)
		case line[0] == '#' && strings.HasPrefix(strings.TrimLeft(line, "#"), " "):
			heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
			environment = isEnvironment(heading)
			if !form {
				a.line(heading, inBody)
			}
		case line == "_No response_" || strings.HasPrefix(line, "- [") || strings.HasPrefix(line, "* ["):
		case isError(line):
			a.errorLine(line)
		case (environment && len(line) <= 60) || isEnvironmentLine(line):
			a.line(line, inForm)
		default:
			a.line(line, inBody)
		}
	}
}

// withoutComments takes HTML comments out: they are the template's words.
func withoutComments(s string) string {
	if !strings.Contains(s, "<!--") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<!--")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, s, ok = strings.Cut(rest, "-->"); !ok {
			return b.String()
		}
	}
}

// isError reports whether a line reads like a message of a program.
func isError(line string) bool {
	if len(line) > 400 {
		line = line[:400]
	}
	if strings.Contains(line, "Exception") || strings.Contains(line, "rror:") || strings.Contains(line, "RROR") {
		return true
	}
	inside := false
	for i := range len(line) {
		c := line[i]
		if !inside {
			for _, mark := range errorMarks()[c] {
				if strings.HasPrefix(line[i:], mark) {
					return true
				}
			}
		}
		inside = c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return false
}

// isEnvironment reports whether a form's field asks where the program runs.
func isEnvironment(heading string) bool {
	heading = strings.ToLower(heading)
	for w := range strings.FieldsFuncSeq(heading, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if _, ok := environmentWords()[w]; ok {
			return true
		}
	}
	return false
}

// isEnvironmentLine reports whether a line is of the kind "OS: Ubuntu 24.04".
func isEnvironmentLine(line string) bool {
	key, _, ok := strings.Cut(strings.TrimLeft(line, "-* "), ":")
	return ok && len(key) <= 24 && len(line) <= 80 && isEnvironment(key)
}

// errorLine reads a message: its words, and each two that follow each other.
func (a *analyzer) errorLine(line string) {
	a.pair = append(a.pair[:0], 0)
	a.line(line, inError)
	a.pair = a.pair[:0]
}
