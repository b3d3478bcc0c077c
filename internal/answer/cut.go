package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// runes counts characters as JSON Schema's maxLength does.
func runes(s string) int { return utf8.RuneCountInString(s) }

// cut shortens a text to at most limit characters: after the last whole sentence, else between two words with an
// ellipsis, else between two characters. A fence that the cut would leave open is closed.
func cut(s string, limit int) string {
	if runes(s) <= limit {
		return s
	}
	if reserve := 1 + longestFence(s); reserve > 1 && reserve < limit/2 {
		if short := cutProse(s, limit-reserve); openFence(short) != "" {
			return strings.TrimRight(short, "…\n") + "\n" + openFence(short)
		}
	}
	return cutProse(s, limit)
}

func cutProse(s string, limit int) string {
	if limit <= 0 {
		return ""
	}
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	// A sentence that ends in the second half keeps enough of the text.
	for i := limit; i > limit/2; i-- {
		if endsSentence(r, i) {
			return strings.TrimRightFunc(string(r[:i]), unicode.IsSpace)
		}
	}
	for i := limit - 1; i > limit/2; i-- {
		if unicode.IsSpace(r[i]) {
			return strings.TrimRightFunc(string(r[:i]), unicode.IsSpace) + "…"
		}
	}
	i := limit - 1
	for i > 1 && joined(r[i-1], r[i]) {
		i--
	}
	return string(r[:i]) + "…"
}

// endsSentence reports whether r[:i] ends with a sentence.
func endsSentence(r []rune, i int) bool {
	switch r[i-1] {
	case '。', '！', '？', '…':
		return true
	case '.', '!', '?':
		return i == len(r) || unicode.IsSpace(r[i])
	case '\n':
		return true
	}
	return false
}

// joined reports whether a cut between two characters would break a letter or an emoji.
func joined(a, b rune) bool {
	const joiner, selector = '\u200d', '\ufe0f'
	return a == joiner || b == joiner || b == selector || unicode.Is(unicode.M, b) ||
		(b >= 0x1f3fb && b <= 0x1f3ff) || // skin tones
		(a >= 0x1f1e6 && a <= 0x1f1ff && b >= 0x1f1e6 && b <= 0x1f1ff) // flags
}

// openFence is the mark that closes the fence left open at the end of a text, or nothing.
func openFence(s string) string {
	var open verbatim.Fence
	for line := range strings.Lines(s) {
		open.Holds(line)
	}
	return string(open)
}

func longestFence(s string) int {
	longest := 0
	for line := range strings.Lines(s) {
		longest = max(longest, len(verbatim.Mark(line)))
	}
	return longest
}
