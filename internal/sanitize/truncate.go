package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// cutMark ends a text that was cut.
const cutMark = "… [cut]"

// Truncate cuts Markdown to at most limit characters (UTF-16 units, the strictest reading of GitHub's limit). It cuts
// between lines where it can, else between words or whole characters, never inside code spans, links or comments; it
// closes open fences and <details>, and the end says that something was cut.
func Truncate(markdown string, limit int) string {
	if runeLen(markdown) <= limit {
		return markdown
	}
	room := limit - runeLen("\n\n"+cutMark)
	for tries := 0; room > 0 && tries < 40; tries++ {
		head := cutAt(markdown, room)
		out := closeOpen(head)
		over := runeLen(out) - limit
		if over <= 0 {
			return out
		}
		room -= over
	}
	return prefix(cutMark, limit)
}

// prefix is the longest start of text with at most limit characters that ends at a grapheme's boundary.
func prefix(text string, limit int) string {
	n, at := 0, len(text)
	for i, r := range text {
		width := 1
		if r > 0xFFFF {
			width = 2
		}
		if n += width; n > limit {
			at = i
			break
		}
	}
	return text[:graphemeStart(text, at)]
}

// graphemeStart moves a cut at a character's boundary back to before the grapheme that it would halve.
func graphemeStart(text string, at int) int {
	for at > 0 && at < len(text) {
		r, _ := utf8.DecodeRuneInString(text[at:])
		before, size := utf8.DecodeLastRuneInString(text[:at])
		halves := extends(r) || before == 0x200D || regional(r) && oddRegionals(text[:at])
		if !halves {
			return at
		}
		at -= size
	}
	return at
}

func extends(r rune) bool {
	return unicode.IsMark(r) || r == 0x200D || r == 0x200C || skin(r) || r >= 0xE0020 && r <= 0xE007F || r >= 0x1160 && r <= 0x11FF
}

func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func oddRegionals(text string) bool {
	n := 0
	for text != "" {
		r, size := utf8.DecodeLastRuneInString(text)
		if !regional(r) {
			break
		}
		n++
		text = text[:len(text)-size]
	}
	return n%2 == 1
}

// cutAt is a start of text with at most limit characters that ends between lines or words if one is near.
func cutAt(text string, limit int) string {
	head := prefix(text, limit)
	if head == text {
		return text
	}
	if i := strings.LastIndexByte(head, '\n'); i >= 0 && len(head)-i < max(400, len(head)/8) {
		head = head[:i]
	} else if i := strings.LastIndexAny(head, " \t"); i >= 0 && len(head)-i < 200 {
		head = head[:i]
	}
	return head
}

// fenceState is the fence that is open after some lines: its mark, its length and what stands before it on its line.
type fenceState struct {
	mark   byte
	length int
	before string
}

func (f *fenceState) line(line string) {
	trimmed := strings.TrimLeft(line, " \t>")
	before := line[:len(line)-len(trimmed)]
	bare := trimmed
	if f.length == 0 { // a fence may open in a list entry
		for len(bare) > 2 && (bare[0] == '-' || bare[0] == '*' || bare[0] == '+') && bare[1] == ' ' {
			bare = strings.TrimLeft(bare[2:], " ")
		}
		if len(bare) != len(trimmed) {
			before = strings.Repeat(" ", len(line)-len(bare))
		}
	}
	n := len(verbatim.Mark(bare))
	if n == 0 {
		return
	}
	rest := strings.TrimSpace(bare[n:])
	switch {
	case f.length == 0 && (bare[0] == '~' || !strings.Contains(rest, "`")):
		*f = fenceState{bare[0], n, before}
	case f.length > 0 && bare[0] == f.mark && n >= f.length && rest == "":
		*f = fenceState{}
	}
}

// closeOpen ends a cut text: what is half goes, what is open is closed, and the mark says that it was cut.
func closeOpen(head string) string {
	var f fenceState
	details, paragraph, at := 0, 0, 0
	for line := range strings.Lines(head) {
		was := f.length > 0
		f.line(strings.TrimRight(line, "\n"))
		at += len(line)
		if was || f.length > 0 || strings.TrimSpace(line) == "" {
			paragraph = at
		}
		if !was && f.length == 0 {
			low := strings.ToLower(line)
			details = max(0, details+strings.Count(low, "<details")-strings.Count(low, "</details"))
		}
	}
	if f.length == 0 && paragraph <= len(head) {
		head = head[:paragraph] + whole(head[paragraph:])
	}
	head = strings.TrimRight(head, " \t\n")
	if f.length > 0 {
		head += "\n" + f.before + strings.Repeat(string(f.mark), f.length)
	}
	head += "\n\n" + cutMark
	if details > 0 {
		head += "\n" + strings.Repeat("\n</details>", details)
	}
	return head
}

// whole drops from a paragraph what begins in it and does not end: a code span, a link, a tag or comment.
func whole(paragraph string) string {
	end := len(paragraph)
	for i := 0; i < len(paragraph); {
		switch c := paragraph[i]; {
		case c == '\\' && i+1 < len(paragraph):
			i += 2
		case c == '`':
			n := 1
			for i+n < len(paragraph) && paragraph[i+n] == '`' {
				n++
			}
			next := closingTicks(paragraph[i+n:], n)
			if next < 0 {
				return paragraph[:i]
			}
			i += n + next
		case c == '<' && i+1 < len(paragraph) && opensTag(paragraph[i+1]):
			next := strings.IndexByte(paragraph[i:], '>')
			if strings.HasPrefix(paragraph[i:], "<!--") {
				next = strings.Index(paragraph[i:], "-->")
			}
			if next < 0 {
				return paragraph[:i]
			}
			i += next + 1
		case c == '[':
			if open := openLink(paragraph[i:]); open {
				return paragraph[:i]
			}
			i++
		default:
			i++
		}
	}
	return paragraph[:end]
}

// closingTicks is where a run of exactly n backticks ends in s, -1 when there is none.
func closingTicks(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		m := 1
		for i+m < len(s) && s[i+m] == '`' {
			m++
		}
		if m == n {
			return i + m
		}
		i += m
	}
	return -1
}

// openLink tells whether a link begins at s and its address does not end.
func openLink(s string) bool {
	i := strings.Index(s, "](")
	return i > 0 && strings.IndexByte(s[i:], ')') < 0
}
