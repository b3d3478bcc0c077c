package sanitize

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// What GitHub makes live in plain text, each read more widely than GitHub does. docs.github.com, "Basic writing and
// formatting syntax" and "Autolinked references and URLs"; the address forms are those of the GFM specification, 6.9.
var (
	addressPattern = lazy.Regexp(`(?i)(?:https?|ftps?)://[^\s<\x01]*|www\.[^\s<\x01]*|(?:mailto|xmpp):[^\s<\x01]+`)
	mentionPattern = lazy.Regexp(`@[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9_.-]+)*`)
	numberPattern  = lazy.Regexp(`(?i)#[0-9]+|GH-[0-9]+`)
	uuidPattern    = lazy.Regexp(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	bracketPattern = lazy.Regexp(`\[(?:\^[^\]\s]*|![A-Za-z]*|[ xX])\]|\[[^\[\]\n]+\]:`)
	slashPattern   = lazy.Regexp(`(?m)^[ \t]*(/[A-Za-z][A-Za-z0-9_-]*)(?:[ \t\n:,.!?]|$)`)
	mathPattern    = lazy.Regexp(`\$\$+|\$[^\s$][^$\n\x01]*\$|\$[^\s$]\$`)
)

// judge finds what is live in the text of a block.
func (s *scan) judge(r *run) {
	if len(r.text) == 0 {
		return
	}
	taken := make([]bool, len(r.text)) // bytes of an allowed address: nothing in them is looked at again
	s.addresses(r, taken)
	s.references(r, taken)
	s.hashes(r, taken)
	s.openings(r, taken)
}

// free tells whether no byte of a range was judged already.
func free(taken []bool, from, to int) bool {
	for i := from; i < to; i++ {
		if taken[i] {
			return false
		}
	}
	return true
}

func take(taken []bool, from, to int) {
	for i := from; i < to; i++ {
		taken[i] = true
	}
}

// edge tells whether a word of the same text node can begin at i.
func (r *run) edge(i int) bool {
	return i == 0 || r.node[i] != r.node[i-1] || !alnum(r.text[i-1])
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// wrap shows a range as code; of a range that spans several nodes only the part around key.
func (s *scan) wrap(kind string, r *run, from, to, key int) {
	a, b := key, key+1
	for a > from && r.node[a-1] == r.node[key] && r.to[a-1] <= r.from[a] && s.adjacent(r, a-1) {
		a--
	}
	for b < to && r.node[b] == r.node[key] && s.adjacent(r, b-1) {
		b++
	}
	// A character of several bytes that came from one entity is taken whole.
	for a > 0 && r.from[a-1] == r.from[a] && r.to[a-1] == r.to[a] {
		a--
	}
	for b < len(r.text) && r.from[b] == r.from[b-1] && r.to[b] == r.to[b-1] {
		b++
	}
	code := string(bytes.ReplaceAll(r.text[a:b], []byte{'\n'}, []byte{' '}))
	code = verbatim.Span(code)
	if r.inCell {
		code = escapePipes(code)
	}
	s.add(kind, int(r.from[a]), int(r.to[b-1]), code)
}

// adjacent tells whether bytes i and i+1 stand next to each other in the source, or came from the same entity.
func (s *scan) adjacent(r *run, i int) bool {
	return r.to[i] == r.from[i+1] || r.from[i] == r.from[i+1]
}

// addresses judges bare addresses and e-mail addresses.
func (s *scan) addresses(r *run, taken []bool) {
	for _, m := range findAll(addressPattern(), r.text, "://", "www.", "mailto:", "xmpp:") {
		from, to := m[0], m[1]
		to = from + len(trimAddress(string(r.text[from:to])))
		if to <= from {
			continue
		}
		if low := strings.ToLower(string(r.text[from:to])); strings.HasPrefix(low, "www.") && !r.edge(from) {
			continue
		}
		if s.allowedBare(r, from, to) {
			take(taken, from, to)
			continue
		}
		kind := "link"
		if s.closes(r, from) {
			kind = "closing keyword"
		}
		s.wrap(kind, r, from, m[1], from)
		take(taken, from, m[1])
	}
	for at := nextAt(r.text, 0); at >= 0; at = nextAt(r.text, at+1) {
		from, to := emailAround(r.text, at)
		if from < at && to > at && free(taken, from, to) {
			s.wrap("e-mail address", r, from, to, at)
			take(taken, from, to)
		}
	}
}

// trimAddress takes off what GFM does not count to an address.
func trimAddress(a string) string {
	for a != "" {
		switch c := a[len(a)-1]; {
		case strings.IndexByte("?!.,:*_~'\";|", c) >= 0:
			a = a[:len(a)-1]
		case c == ')' && strings.Count(a, ")") > strings.Count(a, "("):
			a = a[:len(a)-1]
		default:
			return a
		}
	}
	return a
}

// allowedBare tells whether a bare address is allowed and stands where every reader sees the same address.
func (s *scan) allowedBare(r *run, from, to int) bool {
	address := string(r.text[from:to])
	if !s.policy.allowsURL(address) || s.closes(r, from) {
		return false
	}
	for i := from; i < to; i++ {
		if r.node[i] != r.node[from] || r.to[i]-r.from[i] != 1 || strings.IndexByte("*~[]()'$!;@", r.text[i]) >= 0 {
			return false
		}
	}
	// The source decides where an address ends: code and emphasis right behind it would become part of it.
	end, start := int(r.to[to-1]), int(r.from[from])
	if end < len(s.src) && strings.IndexByte(").,:;!?", s.src[end]) >= 0 {
		end++
	}
	return (end >= len(s.src) || strings.IndexByte(" \n", s.src[end]) >= 0) && (start == 0 || strings.IndexByte(" \n(", s.src[start-1]) >= 0)
}

func bracketKind(c byte) string {
	switch c {
	case '^':
		return "footnote"
	case ' ', 'x', 'X':
		return "task list"
	}
	return "reference definition"
}

// findAll finds a pattern where one of the words, in lower case, stands in the text.
func findAll(pattern *regexp.Regexp, text []byte, words ...string) [][]int {
	lower := bytes.ToLower(text)
	for _, word := range words {
		if bytes.Contains(lower, []byte(word)) {
			return pattern.FindAllIndex(text, -1)
		}
	}
	return nil
}

func commandsIn(text []byte) [][]int {
	if bytes.IndexByte(text, '/') < 0 {
		return nil
	}
	return slashPattern().FindAllSubmatchIndex(text, -1)
}

func nextAt(text []byte, from int) int {
	if i := bytes.IndexByte(text[from:], '@'); i >= 0 {
		return from + i
	}
	return -1
}

// back is where the word or "owner/name" before at begins.
func back(text []byte, at int) int {
	from, slash := at, false
	for from > 0 {
		c := text[from-1]
		if c == '/' && !slash && from < at {
			slash = true
		} else if !isWord(c) && c != '.' {
			break
		}
		from--
	}
	return from
}

// emailAround is the e-mail address around an "@", read as widely as any parser does; an empty range when there is none.
func emailAround(text []byte, at int) (int, int) {
	from := at
	for from > 0 && (isWord(text[from-1]) || text[from-1] >= 0x80 || strings.IndexByte(".!#$%&'*+/=?^{|}~", text[from-1]) >= 0) {
		from--
	}
	to := at + 1
	for to < len(text) && (isWord(text[to]) || text[to] >= 0x80 || text[to] == '.') {
		to++
	}
	for text[to-1] == '.' {
		to--
	}
	if bytes.IndexByte(text[at:to], '.') < 0 {
		return at, at
	}
	return from, to
}
