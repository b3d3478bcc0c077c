// Package verbatim knows how Markdown shows a text as it is: it puts words of strangers into code that they cannot end,
// and tells line by line, for texts that need no parser, what is fenced code. Facts: CommonMark 0.31, 4.5 and 6.1.
package verbatim

import "strings"

// fenceMin is the length of the shortest fence.
const fenceMin = 3

// Span is a text of one line as inline code.
func Span(text string) string {
	ticks := strings.Repeat("`", longestTicks(text)+1)
	if text == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || text[0] == ' ' && text[len(text)-1] == ' ' {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// Block is a text as fenced code, a line break at its end. A language may be named.
func Block(language, text string) string {
	fence := strings.Repeat("`", max(fenceMin, longestTicks(text)+1))
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// longestTicks is the length of the longest run of backticks.
func longestTicks(text string) int {
	longest, n := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// Mark is the run of backticks or tildes at the start of a line that is long enough for a fence, or nothing. Spaces may
// stand before it.
func Mark(line string) string {
	line = strings.TrimLeft(line, " ")
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := 1
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < fenceMin {
		return ""
	}
	return line[:n]
}

// Fence is the mark of the fenced code that is open, line by line; empty outside of code.
type Fence string

// Holds takes the next line and reports whether it is of fenced code: in it, or its first or last line.
func (f *Fence) Holds(line string) bool {
	mark, open := Mark(line), string(*f)
	if mark == "" {
		return open != ""
	}
	_, rest, _ := strings.Cut(line, mark)
	switch {
	case open == "" && mark[0] == '`' && strings.Contains(rest, "`"):
		return false // inline code at the start of a line
	case open == "":
		*f = Fence(mark)
	case mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(rest) == "":
		*f = ""
	}
	return true
}
