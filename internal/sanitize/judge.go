package sanitize

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// closingWords are GitHub's keywords ("Linking a pull request to an issue") and the words that mark a duplicate.
var closingWords = [...]string{"close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"}

// closes tells whether a keyword that closes or marks an issue stands before at, with any of the marks people put between.
func (s *scan) closes(r *run, at int) bool {
	word, before := lastWord(r.text, at)
	if word == "of" {
		word, _ = lastWord(r.text, before)
		return word == "duplicate" || word == "duplicates"
	}
	return slices.Contains(closingWords[:], word)
}

// lastWord is the word before at, in lower case, and where it begins. Spaces of any script and any number of them may
// stand between, and a long s counts as an s, as it does where letter case is ignored.
func lastWord(text []byte, at int) (string, int) {
	end := at
	for end > 0 {
		r, size := utf8.DecodeLastRune(text[:end])
		if !unicode.IsSpace(r) && !strings.ContainsRune(":*_~-", r) {
			break
		}
		end -= size
	}
	start := end
	for start > 0 && end-start < 24 {
		r, size := utf8.DecodeLastRune(text[:start])
		if r != 'ſ' && (size > 1 || !alnum(text[start-1])) {
			break
		}
		start -= size
	}
	return strings.ToLower(strings.ReplaceAll(string(text[start:end]), "ſ", "s")), start
}

// references judges mentions, commits of other repositories, and numbers.
func (s *scan) references(r *run, taken []bool) {
	for at := nextAt(r.text, 0); at >= 0; at = nextAt(r.text, at+1) {
		from, to := back(r.text, at), at+1
		for to < len(r.text) && hexDigit(r.text[to]) {
			to++
		}
		if from == at || to-at < 8 || to-at > 41 || to < len(r.text) && alnum(r.text[to]) || !free(taken, from, to) {
			continue
		}
		s.wrap("commit reference", r, from, to, at)
		take(taken, from, to)
	}
	for _, m := range findAll(mentionPattern(), r.text, "@") {
		if r.edge(m[0]) && free(taken, m[0], m[1]) {
			s.wrap("mention", r, m[0], m[1], m[0])
			take(taken, m[0], m[1])
		}
	}
	for _, m := range findAll(numberPattern(), r.text, "#", "gh-") {
		from := m[0]
		if r.text[from] == '#' {
			from = back(r.text, from)
		}
		s.number(r, taken, from, m[1])
	}
}

// number keeps "#12" when 12 was checked and nothing closes with it.
func (s *scan) number(r *run, taken []bool, from, to int) {
	if !free(taken, from, to) || to < len(r.text) && alnum(r.text[to]) && r.node[to] == r.node[to-1] {
		return
	}
	text := string(r.text[from:to])
	key := from
	if i := strings.IndexByte(text, '#'); i >= 0 {
		key = from + i
		if s.policy.Issues != nil && allowsNumber(s.policy.Issues, text[i+1:]) && (key == from || r.node[key] != r.node[key-1]) && r.node[to-1] == r.node[key] && !s.closes(r, key) {
			return
		}
		for key > from && r.node[from] != r.node[key] {
			from++
		}
	} else if !r.edge(from) {
		return
	}
	kind := "issue reference"
	if s.closes(r, from) || s.closes(r, key) {
		kind = "closing keyword"
	}
	s.wrap(kind, r, from, to, key)
	take(taken, from, to)
}

// hashes shows commits that are not of this repository as code. Letters only or digits only are words and numbers.
func (s *scan) hashes(r *run, taken []bool) {
	if bytes.IndexByte(r.text, '-') >= 0 {
		s.uuids(r, taken)
	}
	for from := 0; from < len(r.text); from++ {
		to := from
		for to < len(r.text) && hexDigit(r.text[to]) {
			to++
		}
		if to-from >= 7 {
			s.hash(r, taken, from, to)
		}
		from = to
	}
}

func hexDigit(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// uuids take their parts out of the question: they are looked at as a whole.
func (s *scan) uuids(r *run, taken []bool) {
	for _, m := range uuidPattern().FindAllIndex(r.text, -1) {
		take(taken, m[0], m[1])
	}
}

func (s *scan) hash(r *run, taken []bool, from, to int) {
	start := from
	hash := string(r.text[from:to])
	if !hasDigit(hash) || !hasLetter(hash) || !free(taken, from, to) || !r.edge(from) || len(hash) > 40 {
		return
	}
	if to < len(r.text) && r.node[to] == r.node[to-1] && (alnum(r.text[to]) || r.text[to] == '_') {
		return
	}
	for from > 0 && r.node[from-1] == r.node[from] && (alnum(r.text[from-1]) || strings.IndexByte("-_.", r.text[from-1]) >= 0) {
		from--
	}
	if from == start && s.policy.allowsSHA(hash) {
		return
	}
	if !free(taken, from, to) {
		from = start
	}
	s.wrap("commit reference", r, from, to, start)
	take(taken, from, to)
}

// openings judges what begins something: tags, footnotes, alerts, task boxes, definitions, commands, formulas.
func (s *scan) openings(r *run, taken []bool) {
	for i, c := range r.text {
		if c == '<' && r.to[i]-r.from[i] == 1 && i+1 < len(r.text) && opensTag(r.text[i+1]) {
			s.add("raw HTML", int(r.from[i]), int(r.to[i]), "&lt;")
		}
	}
	for _, m := range findAll(bracketPattern(), r.text, "[") {
		i := m[0]
		start := i == 0 || r.text[i-1] == '\n'
		if r.to[i]-r.from[i] != 1 && r.text[i+1] != '!' || r.text[i+1] != '^' && !start || r.link[i] {
			continue
		}
		if r.text[i+1] == '!' {
			// Whether GitHub looks at the source or at the page for an alert is not documented: code is neither.
			s.wrap("alert", r, i, m[1], i)
			continue
		}
		s.add(bracketKind(r.text[i+1]), int(r.from[i]), int(r.to[i]), `\[`)
	}
	for _, m := range commandsIn(r.text) {
		if free(taken, m[2], m[3]) {
			s.wrap("slash command", r, m[2], m[3], m[2])
			take(taken, m[2], m[3])
		}
	}
	for _, m := range findAll(mathPattern(), r.text, "$") {
		if m[1] < len(r.text) && alnum(r.text[m[1]]) && !bytes.HasPrefix(r.text[m[0]:], []byte("$$")) {
			continue
		}
		if free(taken, m[0], m[1]) {
			s.wrap("formula", r, m[0], m[1], m[0])
			take(taken, m[0], m[1])
		}
	}
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
