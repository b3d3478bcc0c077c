package sanitize

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
