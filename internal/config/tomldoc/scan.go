package tomldoc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// entry is where a key and its value start, as byte offsets.
type entry struct{ key, value int }

// part is one piece of a dotted key.
type part struct {
	name       string
	start, end int
}

// scanner finds the keys and values of a document that the decoder accepts. In a document that it refuses the scanner
// goes as far as it can: it always moves forward and never fails.
type scanner struct {
	text    string
	pos     int
	entries map[Path]entry
	order   []Path       // keys and tables as they come, for the comparison with the decoder
	arrays  map[Path]int // number of elements of the arrays of tables
	depth   int
	tooDeep int // offset of the value that is nested too deep; -1: none

	again, againEnd, first int // the first key that stands twice; -1: none
}

func (s *scanner) document() {
	s.again, s.tooDeep = -1, -1
	defined := map[Path]bool{}
	var table Path
	for s.pos < len(s.text) && s.tooDeep < 0 {
		s.blank()
		switch {
		case s.pos >= len(s.text):
		case s.text[s.pos] == '[':
			table = s.header(defined)
			s.restOfLine()
		default:
			s.pair(table)
			s.restOfLine()
		}
	}
}

// header reads [table] or [[array of tables]] and returns the path of the table that it opens.
func (s *scanner) header(defined map[Path]bool) Path {
	s.pos++
	array := s.peek('[')
	if array {
		s.pos++
	}
	parts := s.key()
	var p Path
	for i, k := range parts {
		p = p.Key(k.name)
		last := i == len(parts)-1
		if last && array {
			s.note(p, k.start, k.start)
			n := s.arrays[p]
			s.arrays[p] = n + 1
			p = p.Index(n)
			s.note(p, k.start, k.start)
			continue
		}
		if last && defined[p] {
			s.twice(p, k)
		}
		if last {
			defined[p] = true
		}
		s.note(p, k.start, k.start)
		if n := s.arrays[p]; n > 0 {
			p = p.Index(n - 1)
		}
	}
	s.closing(']')
	if array {
		s.closing(']')
	}
	return p
}

// pair reads key = value below the path.
func (s *scanner) pair(p Path) {
	parts := s.key()
	for i, k := range parts {
		p = p.Key(k.name)
		if _, ok := s.entries[p]; ok && i == len(parts)-1 {
			s.twice(p, k)
		}
		s.note(p, k.start, k.start)
	}
	s.spaces()
	if !s.peek('=') {
		return
	}
	s.pos++
	s.spaces()
	if e, ok := s.entries[p]; ok && s.again < 0 {
		s.entries[p] = entry{e.key, s.pos}
	}
	s.value(p)
}

func (s *scanner) note(p Path, key, value int) {
	if _, ok := s.entries[p]; ok {
		return
	}
	s.entries[p] = entry{key, value}
	s.order = append(s.order, p)
}

func (s *scanner) twice(p Path, k part) {
	if s.again < 0 {
		s.again, s.againEnd, s.first = k.start, k.end, s.entries[p].key
	}
}

// key reads a dotted key.
func (s *scanner) key() []part {
	var parts []part
	for {
		s.spaces()
		start := s.pos
		var name string
		switch {
		case s.peek('"'), s.peek('\''):
			quote := s.text[s.pos]
			s.str()
			name = s.text[start:s.pos]
			name = strings.TrimSuffix(name[1:], string(quote))
			if quote == '"' {
				name = unescape(name)
			}
		default:
			for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n.=[]{},#\"'", rune(s.text[s.pos])) {
				s.pos++
			}
			name = s.text[start:s.pos]
		}
		if len(parts) == maxDepth {
			s.tooDeep = start
			s.pos = len(s.text)
			return parts
		}
		parts = append(parts, part{name, start, s.pos})
		s.spaces()
		if !s.peek('.') {
			return parts
		}
		s.pos++
	}
}

// value reads any value and notes what stands inside of it.
func (s *scanner) value(p Path) {
	if s.depth >= maxDepth {
		s.tooDeep = s.pos
		s.pos = len(s.text)
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	switch {
	case s.peek('"'), s.peek('\''):
		s.str()
	case s.peek('['):
		s.array(p)
	case s.peek('{'):
		s.inline(p)
	default:
		for s.pos < len(s.text) && !strings.ContainsRune(",]}#\n", rune(s.text[s.pos])) {
			s.pos++
		}
	}
}

func (s *scanner) array(p Path) {
	s.pos++
	for i := 0; ; i++ {
		s.blank()
		if s.pos >= len(s.text) || s.peek(']') {
			break
		}
		start := s.pos
		s.entries[p.Index(i)] = entry{start, start}
		s.value(p.Index(i))
		s.blank()
		if s.peek(',') {
			s.pos++
		} else if s.pos == start {
			s.pos++ // a broken document: go on
		}
	}
	s.closing(']')
}

func (s *scanner) inline(p Path) {
	s.pos++
	for {
		s.blank()
		if s.pos >= len(s.text) || s.peek('}') {
			break
		}
		start := s.pos
		s.pair(p)
		s.blank()
		if s.peek(',') {
			s.pos++
		} else if s.pos == start {
			s.pos++
		}
	}
	s.closing('}')
}

// str reads a string of any of the four forms.
func (s *scanner) str() {
	quote := s.text[s.pos : s.pos+1]
	long := strings.Repeat(quote, 3)
	multi := strings.HasPrefix(s.text[s.pos:], long)
	end := quote
	if multi {
		end = long
	}
	s.pos += len(end)
	for s.pos < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.pos:], end):
			s.pos += len(end)
			for i := 0; multi && i < 2 && strings.HasPrefix(s.text[s.pos:], quote); i++ {
				s.pos++ // up to two quotes before the closing three belong to the text
			}
			return
		case quote == `"` && s.text[s.pos] == '\\':
			s.pos = min(s.pos+2, len(s.text))
		case !multi && s.text[s.pos] == '\n':
			return // a broken document
		default:
			s.pos++
		}
	}
}

func (s *scanner) peek(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *scanner) closing(c byte) {
	s.spaces()
	if s.peek(c) {
		s.pos++
	}
}

func (s *scanner) spaces() {
	for s.peek(' ') || s.peek('\t') {
		s.pos++
	}
}

// blank skips spaces, line ends and comments.
func (s *scanner) blank() {
	for {
		switch {
		case s.peek(' '), s.peek('\t'), s.peek('\r'), s.peek('\n'):
			s.pos++
		case s.peek('#'):
			s.restOfLine()
		default:
			return
		}
	}
}

func (s *scanner) restOfLine() {
	if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
		return
	}
	s.pos = len(s.text)
}

// unescape reads the escapes of a quoted key. What is no escape stays as it is; the decoder has refused it.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	short := map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if text, ok := short[s[i]]; ok {
			b.WriteString(text)
			continue
		}
		n := digits[s[i]]
		if n == 0 || i+n >= len(s) {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		code, err := strconv.ParseInt(s[i+1:i+1+n], 16, 32)
		if err != nil {
			code = utf8.RuneError
		}
		b.WriteRune(rune(code)) // WriteRune itself replaces what is no character
		i += n
	}
	return b.String()
}
