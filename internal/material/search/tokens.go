package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
