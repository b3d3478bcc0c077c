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

// line reads the words of one line into a field. Code between backticks is code.
func (a *analyzer) line(s string, field int) {
	code := false
	for len(s) > 0 {
		at := -1
		for i := range len(s) {
			if c := s[i]; c <= ' ' || c == '`' {
				at = i
				break
			}
		}
		chunk := s
		if at >= 0 {
			chunk = s[:at]
		}
		in := field
		if code && field == inBody {
			in = inCode
		}
		if chunk != "" && len(chunk) <= 400 {
			a.chunk(chunk, in)
		}
		if at < 0 {
			return
		}
		if s[at] == '`' {
			code = !code
		}
		s = s[at+1:]
	}
}

// chunk reads what stands between two spaces.
func (a *analyzer) chunk(s string, field int) {
	if strings.Contains(s, "://") {
		a.url(s, field)
		return
	}
	s = trimmed(s)
	if s == "" {
		return
	}
	if isPath(s) {
		a.path(s, field)
		return
	}
	start := -1
	var kind int
	for i, r := range s {
		k := kindOf(r)
		if k != kind || k == other {
			if start >= 0 {
				a.run(s[start:i], kind, field)
			}
			start = -1
			if k != other {
				start = i
			}
			kind = k
		}
	}
	if start >= 0 {
		a.run(s[start:], kind, field)
	}
	if strings.HasPrefix(s, "--") && len(s) > 4 {
		a.emit([]byte(strings.ToLower(s[2:])), inCode, 1, true) // an option
	}
}

// trimmed is a word without the punctuation around it; what paths and options start with stays.
func trimmed(s string) string {
	punctuation := func(r rune) bool { return kindOf(r) == other && r != '-' && r != '/' && r != '\\' }
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if !punctuation(r) {
			break
		}
		s = s[n:]
	}
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		if !punctuation(r) {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

// Kinds of characters.
const (
	other = iota
	plain // letters of scripts with spaces, digits, _
	pairs // scripts without spaces
)

func kindOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return plain
		}
		return other
	case r < 0x2e80:
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return plain
		}
		return other
	case r >= 0xff10 && r <= 0xff5a && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return plain // full width
	case r >= 0x3041 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, unicode.In(r, unicode.Han, unicode.Katakana, unicode.Hangul):
		return pairs
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return plain
	}
	return other
}

func (a *analyzer) run(s string, kind, field int) {
	if kind == pairs {
		a.cjk(s, field)
		return
	}
	a.identifier(s, field)
}

// isPath reports whether a word is a path or a file's name.
func isPath(s string) bool {
	slash, dot, colon := -1, -1, -1
	for i := range len(s) {
		switch s[i] {
		case '/', '\\':
			if slash < 0 {
				slash = i
			}
		case '.':
			if colon < 0 {
				dot = i
			}
		case ':':
			if colon < 0 {
				colon = i
			}
		}
	}
	if slash >= 0 {
		return slash < len(s)-1 && len(s) > 3
	}
	if colon >= 0 {
		s = s[:colon]
	}
	if dot <= 0 || len(s)-dot > 6 {
		return false
	}
	_, ok := extensions()[strings.ToLower(s[dot+1:])]
	return ok
}

// path reads a path: the file's name as a whole, the parts as words.
func (a *analyzer) path(s string, field int) {
	s = strings.ReplaceAll(s, `\`, "/")
	for part := range strings.SplitSeq(s, "/") {
		part, _, _ = strings.Cut(part, ":") // line and column
		last := strings.HasSuffix(s, part) || strings.Contains(s, "/"+part+":") || strings.HasPrefix(s, part+":")
		if last && strings.Contains(part, ".") {
			a.emit([]byte(strings.ToLower(part)), inPath, 1, true)
			part = part[:strings.LastIndexByte(part, '.')]
		}
		for w := range strings.FieldsFuncSeq(part, func(r rune) bool { return kindOf(r) == other }) {
			a.identifier(w, field)
		}
	}
}

// url reads the last part of an address only: hosts and folders are noise.
func (a *analyzer) url(s string, field int) {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	_, s, _ = strings.Cut(s, "://")
	if at := strings.LastIndexByte(s, '/'); at >= 0 {
		for w := range strings.FieldsFuncSeq(s[at+1:], func(r rune) bool { return kindOf(r) == other }) {
			a.identifier(w, field)
		}
	}
}

// cjk reads a run of a script without spaces: every two characters, and what they mean. Two of hiragana are grammar.
func (a *analyzer) cjk(s string, field int) {
	at := make([]int, 0, 32) // where the characters start
	for i := range s {
		at = append(at, i)
	}
	at = append(at, len(s))
	for i := range len(at) - 1 {
		if i+2 < len(at) && (!hiragana(s[at[i]:]) || !hiragana(s[at[i+1]:])) {
			a.emit([]byte(s[at[i]:at[i+2]]), field, 1, true)
		}
		for n := 2; n <= 6 && i+n < len(at); n++ {
			a.concept(s[at[i]:at[i+n]], field)
		}
	}
	if len(at) == 2 {
		a.emit([]byte(s), field, numberWeight, false)
	}
}

// hiragana reports whether a text starts with it.
func hiragana(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x3041 && r <= 0x309f
}

// identifier reads a word: as a whole and, when it is put together, its parts.
func (a *analyzer) identifier(s string, field int) {
	if len(s) > 80 {
		return
	}
	composed, digits, lower := false, 0, false
	for i, r := range s {
		switch {
		case r == '_' && i > 0 && i < len(s)-1, unicode.IsUpper(r) && lower:
			composed = true
		case unicode.IsDigit(r):
			digits++
		}
		lower = unicode.IsLower(r)
	}
	if digits == utf8.RuneCountInString(s) {
		if field != inError && digits > 1 && digits < 8 {
			a.plain(s, field, numberWeight, false)
		}
		return
	}
	if digits > 4 && digits*2 > len(s) || strings.HasPrefix(s, "0x") {
		return // an address, a hash, a date
	}
	if !composed {
		a.plain(s, field, 1, true)
		return
	}
	in := field
	if field == inBody || field == inForm {
		in = inCode
	}
	a.plain(strings.Trim(s, "_"), in, 1, true)
	start := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || s[i] == '_' || (s[i] >= 'A' && s[i] <= 'Z' && (s[i-1] < 'A' || s[i-1] > 'Z')) {
			a.plain(strings.Trim(s[start:i], "_"), field, partWeight, true)
			start = i
		}
	}
}

// plain reads one word: lower case, without its ending, no stop word.
func (a *analyzer) plain(s string, field int, weight float32, said bool) {
	a.word = a.word[:0]
	for _, r := range s {
		if r >= 0xff01 && r <= 0xff5e {
			r -= 0xfee0 // full width
		}
		a.word = utf8.AppendRune(a.word, unicode.ToLower(r))
	}
	if len(a.word) < 2 {
		return
	}
	if _, stop := stopWords()[string(a.word)]; stop {
		return
	}
	if a.keep {
		a.shown = string(a.word)
	}
	word := stem(a.word)
	if _, stop := stopWords()[string(word)]; stop {
		return
	}
	a.emitAs('w', word, field, weight, said)
	a.length[field]++
	for _, c := range concepts()[string(word)] {
		a.emitAs('c', []byte(c), field, conceptWeight, false)
	}
	if len(a.pair) > 0 && field == inError {
		if len(a.pair) > 1 {
			pair := append(a.pair, ' ')
			pair = append(pair, word...)
			a.emitAs('p', pair, inError, pairWeight, false)
		}
		a.pair = append(append(a.pair[:0], 0), word...)
	}
}

// concept adds what a word without an ending means.
func (a *analyzer) concept(word string, field int) {
	if a.keep {
		a.shown = word
	}
	for _, c := range concepts()[word] {
		a.emitAs('c', []byte(c), field, conceptWeight, false)
	}
}

// emit adds a word that is shown as it is.
func (a *analyzer) emit(word []byte, field int, weight float32, said bool) {
	if a.keep {
		a.shown = string(word)
	}
	a.emitAs('w', word, field, weight, said)
	a.length[field]++
}

func (a *analyzer) hashOf(kind byte, word []byte) uint64 {
	a.key = append(append(a.key[:0], kind), word...)
	return maphash.Bytes(a.seed, a.key)
}

func (a *analyzer) emitAs(kind byte, word []byte, field int, weight float32, said bool) {
	h := a.hashOf(kind, word)
	c, ok := a.terms[h]
	if !ok {
		if len(a.order) > 2*maxTerms {
			return
		}
		c = a.take()
		a.terms[h] = c
		a.order = append(a.order, h)
		if a.keep {
			a.words[h] = a.shown
		}
	}
	c.n[field] += weight
	c.said = c.said || (said && field != inForm && field != inLabel)
}

func (a *analyzer) take() *counts {
	if n := len(a.free); n > 0 {
		c := a.free[n-1]
		a.free = a.free[:n-1]
		*c = counts{}
		return c
	}
	return &counts{}
}
