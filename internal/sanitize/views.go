package sanitize

import (
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// view is a text as a reader of another kind would see it, with the way back: at[i] is the byte of the original that
// byte i came from. A nil at means that both are the same text; from and to then are the range of a decoded piece.
type view struct {
	text         string
	at           []int
	from, to     int
	decoded      bool
	distinctOnly bool // only rules whose tokens name themselves: joined words look like anything else
}

func (v view) start(i int) int {
	switch {
	case v.decoded:
		return v.from
	case v.at == nil:
		return i
	}
	return v.at[i]
}

func (v view) end(i int) int {
	switch {
	case v.decoded:
		return v.to
	case v.at == nil:
		return i
	}
	return v.at[i-1] + v.widthAt(i-1)
}

// widthAt is the length in the original of what became byte i: up to the next byte's origin when they are neighbors.
func (v view) widthAt(i int) int {
	if i+1 < len(v.at) && v.at[i+1] > v.at[i] && v.at[i+1]-v.at[i] <= 10 {
		return v.at[i+1] - v.at[i]
	}
	return 1
}

// views gives the readings of a text: as it stands; folded (escapes, entities, percent codes and invisible characters
// undone); joined (folded, without line breaks and marks of Markdown inside words); and what base64 in it says.
func views(text string) []view {
	out := []view{{text: text}}
	folded := fold(text)
	if folded.text != text {
		out = append(out, folded)
	}
	if joined := join(folded); joined.text != folded.text {
		out = append(out, joined)
	}
	return append(out, decodeBase64(text)...)
}

type viewBuilder struct {
	text []byte
	at   []int
}

func (b *viewBuilder) add(s string, at int) {
	for i := range len(s) {
		b.text = append(b.text, s[i])
		b.at = append(b.at, at)
	}
}

var escapeSequence = lazy.Regexp(`^\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]{0,200}(\x07|\x1b\\)|[()][A-Z0-9])`)

func fold(text string) view {
	var b viewBuilder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == 0x1b:
			n := max(1, len(escapeSequence().FindString(text[i:min(len(text), i+256)])))
			i += n
			continue
		case c == '\\' && i+1 < len(text) && isPunct(text[i+1]):
			b.add(text[i+1:i+2], i+1)
			i += 2
			continue
		case c == '%' && i+2 < len(text):
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil && n >= 0x20 && n < 0x7f {
				b.add(string(rune(n)), i)
				i += 3
				continue
			}
		case c == '&':
			if n := entityLen(text[i:]); n > 0 {
				b.add(html.UnescapeString(text[i:i+n]), i)
				i += n
				continue
			}
		case c == '\\' && strings.HasPrefix(text[i:], `\u00`) && i+6 <= len(text):
			if n, err := strconv.ParseUint(text[i+2:i+6], 16, 16); err == nil && n >= 0x20 && n < 0x7f {
				b.add(string(rune(n)), i)
				i += 6
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !Invisible(r) || c == '\n' {
			for k := range n {
				b.add(text[i+k:i+k+1], i+k)
			}
		}
		i += n
	}
	return view{text: string(b.text), at: b.at}
}

var entityForm = lazy.Regexp(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);$`)

// entityLen is the length of the entity (CommonMark 6.2) at the start of s, 0 when there is none.
func entityLen(s string) int {
	end := strings.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return 0
	}
	if !entityForm().MatchString(s[:end+1]) {
		return 0
	}
	// Go also decodes names without their semicolon; Markdown does not.
	decoded := html.UnescapeString(s[:end+1])
	if decoded == s[:end+1] || strings.HasSuffix(decoded, ";") && decoded != ";" {
		return 0
	}
	return end + 1
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}

// join drops line breaks with the indentation after them, and backticks, stars and tildes, wherever a word goes on after.
func join(folded view) view {
	var b viewBuilder
	text := folded.text
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '`' || c == '*' || c == '~' || c == '"' || c == '\'' || c == '|' {
			continue
		}
		if c == '\n' || c == '\r' {
			for i+1 < len(text) && strings.IndexByte(" \t\r\n>+|`*\"'-", text[i+1]) >= 0 {
				if text[i+1] == '-' && (i+2 >= len(text) || text[i+2] != ' ') {
					break
				}
				i++
			}
			continue
		}
		b.text = append(b.text, c)
		b.at = append(b.at, folded.at[i])
	}
	return view{text: string(b.text), at: b.at, distinctOnly: true}
}

var base64Run = lazy.Regexp(`[A-Za-z0-9+/_-]{24,}`)

// decodeBase64 decodes every long run in each of the four alignments and keeps what is text.
func decodeBase64(text string) []view {
	var out []view
	for _, m := range base64Run().FindAllStringIndex(text, -1) {
		run := strings.NewReplacer("-", "+", "_", "/").Replace(text[m[0]:m[1]])
		for skip := range 4 {
			part := run[skip:]
			raw, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4])
			if err != nil || len(raw) < 16 || !mostlyText(raw) {
				continue
			}
			rest, err := base64.RawStdEncoding.DecodeString(part[:len(part)-oneOver(len(part))])
			if err == nil {
				raw = rest
			}
			out = append(out, view{text: string(raw), from: m[0], to: m[1], decoded: true, distinctOnly: true})
			break
		}
	}
	return out
}

// oneOver is 1 when a length leaves one character over, which no base64 ends with.
func oneOver(n int) int {
	if n%4 == 1 {
		return 1
	}
	return 0
}

func mostlyText(raw []byte) bool {
	good := 0
	for _, c := range raw {
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\r' || c == '\t' {
			good++
		}
	}
	return good*10 >= len(raw)*9
}
