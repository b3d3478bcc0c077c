package sanitize

import (
	"bytes"
	"regexp"
	"strings"
)

// What GitHub makes live in plain text, each read more widely than GitHub does. docs.github.com, "Basic writing and
// formatting syntax" and "Autolinked references and URLs"; the address forms are those of the GFM specification, 6.9.
var (
	addressPattern  = regexp.MustCompile(`(?i)(?:https?|ftps?)://[^\s<\x01]*|www\.[^\s<\x01]+|(?:mailto|xmpp):[^\s<\x01]+`)
	emailPattern    = regexp.MustCompile(`[\pL\pN.!#$%&'*+/=?^_{|}~-]+@[\pL\pN_-]+(?:\.[\pL\pN_-]+)+`)
	commitAtPattern = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]+)?@[0-9a-fA-F]{7,40}`)
	mentionPattern  = regexp.MustCompile(`@[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9_.-]+)*`)
	numberPattern   = regexp.MustCompile(`(?i)(?:[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]*#[0-9]+|GH-[0-9]+`)
	hashPattern     = regexp.MustCompile(`[0-9a-fA-F]{7,64}`)
	uuidPattern     = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	bracketPattern  = regexp.MustCompile(`\[(?:\^[^\]\s]*|![A-Za-z]*|[ xX])\]|\[[^\[\]\n]+\]:`)
	slashPattern    = regexp.MustCompile(`(?m)^[ \t]*(/[A-Za-z][A-Za-z0-9_-]*)(?:[ \t\n:,.!?]|$)`)
	mathPattern     = regexp.MustCompile(`\$\$+|\$[^\s$][^$\n\x01]*\$|\$[^\s$]\$`)
	closingPattern  = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|duplicates?[\s*_]+of)[\s:*_~-]*$`)
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
	code = codeSpan(code)
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
	for _, m := range addressPattern.FindAllIndex(r.text, -1) {
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
	for _, m := range emailPattern.FindAllIndex(r.text, -1) {
		if free(taken, m[0], m[1]) {
			s.wrap("e-mail address", r, m[0], m[1], m[0]+bytes.IndexByte(r.text[m[0]:m[1]], '@'))
			take(taken, m[0], m[1])
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
	if to < len(r.text) && r.node[to] == r.node[from] && strings.IndexByte(" \n).,:;!?", r.text[to]) < 0 {
		return false
	}
	return from == 0 || r.node[from-1] != r.node[from] || strings.IndexByte(" \n(", r.text[from-1]) >= 0
}

// closes tells whether a keyword that closes or marks an issue stands before at.
func (s *scan) closes(r *run, at int) bool {
	return closingPattern.Match(r.text[max(0, at-40):at])
}

// references judges mentions, commits of other repositories, and numbers.
func (s *scan) references(r *run, taken []bool) {
	for _, m := range commitAtPattern.FindAllIndex(r.text, -1) {
		if m[1] < len(r.text) && alnum(r.text[m[1]]) || !free(taken, m[0], m[1]) {
			continue
		}
		s.wrap("commit reference", r, m[0], m[1], m[0]+bytes.IndexByte(r.text[m[0]:m[1]], '@'))
		take(taken, m[0], m[1])
	}
	for _, m := range mentionPattern.FindAllIndex(r.text, -1) {
		if r.edge(m[0]) && free(taken, m[0], m[1]) {
			s.wrap("mention", r, m[0], m[1], m[0])
			take(taken, m[0], m[1])
		}
	}
	for _, m := range numberPattern.FindAllIndex(r.text, -1) {
		s.number(r, taken, m[0], m[1])
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
	for _, m := range uuidPattern.FindAllIndex(r.text, -1) {
		take(taken, m[0], m[1])
	}
	for _, m := range hashPattern.FindAllIndex(r.text, -1) {
		from, to := m[0], m[1]
		hash := string(r.text[from:to])
		if !hasDigit(hash) || !hasLetter(hash) || !free(taken, from, to) || !r.edge(from) || len(hash) > 40 {
			continue
		}
		if to < len(r.text) && r.node[to] == r.node[to-1] && (alnum(r.text[to]) || r.text[to] == '_') {
			continue
		}
		for from > 0 && r.node[from-1] == r.node[from] && (alnum(r.text[from-1]) || strings.IndexByte("-_.", r.text[from-1]) >= 0) {
			from--
		}
		if from == m[0] && s.policy.allowsSHA(hash) {
			continue
		}
		if !free(taken, from, to) {
			from = m[0]
		}
		s.wrap("commit reference", r, from, to, m[0])
		take(taken, from, to)
	}
}

// openings judges what begins something: tags, footnotes, alerts, task boxes, definitions, commands, formulas.
func (s *scan) openings(r *run, taken []bool) {
	for i, c := range r.text {
		if c == '<' && r.to[i]-r.from[i] == 1 && i+1 < len(r.text) && opensTag(r.text[i+1]) {
			s.add("raw HTML", int(r.from[i]), int(r.to[i]), "&lt;")
		}
	}
	for _, m := range bracketPattern.FindAllIndex(r.text, -1) {
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
	for _, m := range slashPattern.FindAllSubmatchIndex(r.text, -1) {
		if free(taken, m[2], m[3]) {
			s.wrap("slash command", r, m[2], m[3], m[2])
			take(taken, m[2], m[3])
		}
	}
	for _, m := range mathPattern.FindAllIndex(r.text, -1) {
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
