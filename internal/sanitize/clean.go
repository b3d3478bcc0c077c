package sanitize

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

const (
	maxRounds = 12        // a text that still changes after so many passes is shown as code
	maxText   = 256 << 10 // bytes; GitHub's comments end at 262,144
)

// Clean returns text so that nothing in it is live where it will stand, with the place's indentation on the lines after
// the first: the caller writes what comes before the place's text and then the result. Code keeps its text exactly, and a
// text in which nothing is live comes out as it was. A text that cannot be cleaned comes out as code.
func Clean(text string, place Place, p Policy) string {
	return place.indent(clean(text, place, p))
}

// clean is Clean without the indentation; clean(clean(x)) == clean(x).
func clean(text string, place Place, p Policy) string {
	text = trimFor(place, normalize(text))
	if text == "" {
		return ""
	}
	if len(text) > maxText || tooDeep(text) || tooManyMarks(text) {
		if place.oneLine() {
			text = unmarked(text)
		}
		return asCode(text, place)
	}
	for range maxRounds {
		edited, state := cleanOnce(text, place, p)
		if state == done {
			return text
		}
		if state == hopeless {
			break
		}
		if edited = trimFor(place, edited); edited == "" || len(edited) > maxText {
			break
		}
		text = edited
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return asCode(text, place)
}

// state says what a pass over a text came to.
type state int

const (
	done     state = iota // nothing is live and the place is as it was
	again                 // edited: another pass must look at it
	hopeless              // the text breaks its place, whatever is escaped
)

// cleanOnce parses the text in its place and applies every edit that was found.
func cleanOnce(text string, place Place, p Policy) (string, state) {
	f := place.frame()
	body := place.indent(text)
	src := f.before + body + f.after
	lo, hi := len(f.before), len(f.before)+len(body)
	s := newScan([]byte(src), p, place)
	s.lo, s.hi = lo, hi
	s.document()
	if s.unclear {
		return text, hopeless
	}
	if len(s.edits) == 0 {
		if s.fits() {
			return text, done
		}
		return settle(text, place, s)
	}
	return place.unindent(apply(src, s.edits, lo, hi)), again
}

// settle helps a text that breaks its place although nothing in it is live: stray backticks first, then its first
// character. When neither helps the text becomes code.
func settle(text string, place Place, s *scan) (string, state) {
	if len(s.strays) > 0 {
		f := place.frame()
		src := string(s.src)
		return place.unindent(apply(src, s.strays, len(f.before), len(src)-len(f.after))), again
	}
	if isPunct(text[0]) && text[0] != '\\' && text[0] != '`' && text[0] != '&' {
		return "\\" + text, again
	}
	return text, hopeless
}

// trimFor takes off what a place cannot hold at its edges; a one-line place gets one line.
func trimFor(place Place, text string) string {
	if place.oneLine() {
		text = oneLine(text)
		switch place {
		case Cell:
			text = escapePipes(text)
		case BesideCode:
			if strings.HasPrefix(text, "`") {
				text = " " + text
			}
			if strings.HasSuffix(text, "`") || strings.HasSuffix(text, "\\") {
				text += " "
			}
		default:
		}
		return text
	}
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if strings.TrimLeft(line, " \t") != "" {
			break
		}
		if !ok {
			return ""
		}
		text = rest
	}
	text = strings.TrimRight(spaced(text, place), " \t\n")
	if place == Paragraph {
		return text
	}
	if place == NestedEntry {
		text = unlisted(text)
	}
	bare := strings.TrimLeft(text, " \t")
	if strings.HasPrefix(expandTabs(text[:len(text)-len(bare)]), "    ") {
		return "    " + expandTabs(text[:len(text)-len(bare)])[4:] + bare
	}
	return bare
}

var (
	oddNumber = lazy.Regexp(`^[ \t]*(?:[-+*>][ \t]+|>|0*1[.)][ \t]+)*(\d{1,9})[.)](?:[ \t\n]|$)`)
	oddMarker = lazy.Regexp(`^[ \t]*(?:[-+*>][ \t]+|>|\d{1,9}[.)][ \t]+)*(?:[-+*]|\d{1,9}[.)])[ \t]*(?:\n|$)`)
)

// unlisted makes a list that begins a nested entry text when it begins with another number than one, or empty: those may
// not interrupt the paragraph of the entry above, and parsers disagree whether this one does.
func unlisted(text string) string {
	if m := oddNumber().FindStringSubmatchIndex(text); m != nil && text[m[2]:m[3]] != "1" {
		return text[:m[3]] + "\\" + text[m[3]:]
	}
	m := oddMarker().FindStringIndex(text)
	if m == nil {
		return text
	}
	end := len(strings.TrimRight(text[:m[1]], " \t\n"))
	return text[:end-1] + "\\" + text[end-1:]
}

// spaced writes tabs before a line's words as spaces: parsers disagree about tabs between and after markers. Fences keep
// theirs, and so does indented code where no list or quote is near.
func spaced(text string, place Place) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	var f fenceState
	marked := place != Paragraph
	for line := range strings.Lines(text) {
		was := f.length > 0
		f.line(strings.TrimRight(line, "\n"))
		lead := len(line) - len(strings.TrimLeft(line, " \t>-+*.)0123456789"))
		bare := len(line) - len(strings.TrimLeft(line, " \t"))
		marked = marked || lead > bare
		if !was && marked && strings.Contains(line[:lead], "\t") {
			line = expandTabs(line[:lead]) + line[lead:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// oneLine joins lines by one space; spaces inside a line stay, they may be code.
func oneLine(text string) string {
	text = strings.Trim(text, " \t\n")
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.Trim(strings.ReplaceAll(line, "\t", " "), " \n")
		if line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// expandTabs writes the tabs at the start of a line as spaces up to the next column that four divides.
func expandTabs(lead string) string {
	var b strings.Builder
	for i := range len(lead) {
		if lead[i] != '\t' {
			b.WriteByte(lead[i])
			continue
		}
		b.WriteString(strings.Repeat(" ", 4-b.Len()%4))
	}
	return b.String()
}

// escapePipes puts a backslash before every pipe that has none.
func escapePipes(text string) string {
	if !strings.Contains(text, "|") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '|' {
			n := 0
			for n < i && text[i-1-n] == '\\' {
				n++
			}
			if n%2 == 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// asCode shows any text without letting it do anything.
func asCode(text string, place Place) string {
	if !place.oneLine() {
		return strings.TrimSuffix(verbatim.Block("", text), "\n")
	}
	if place == Cell {
		// A backslash before a pipe cannot be shown in a cell's code.
		text = strings.NewReplacer("\\", "/", "|", "/").Replace(text)
	}
	code := verbatim.Span(strings.Trim(text, " "))
	if place == BesideCode {
		return " " + code + " "
	}
	return code
}

// unmarked leaves the words of a text that is nothing but marks.
func unmarked(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r < 0x7f && isPunct(byte(r)) })
	return strings.Join(words, " ")
}
