package sanitize

import (
	"iter"
	"strings"
)

// maxDepth is how deep quotes, lists and brackets may be nested; parsers take quadratic time beyond.
const maxDepth = 100

// TooDeep tells, without parsing, whether a text nests deeper than 100. Clean shows such a text as code; a command that
// takes texts from people refuses it.
func TooDeep(text string) bool { return tooDeep(text) }

func tooDeep(text string) bool {
	brackets := 0
	for line := range outsideFences(text) {
		depth, spaces := 0, 0
	marks:
		for i := range len(line) {
			switch c := line[i]; {
			case c == ' ':
				spaces++
			case c == '\t':
				spaces += 4
			case c == '>' || c == '-' || c == '+' || c == '*' || c == '.' || c == ')':
				depth++
			case digit(c):
			default:
				break marks
			}
		}
		if depth > maxDepth || depth > 0 && spaces/2+depth > 2*maxDepth {
			return true
		}
		if strings.TrimSpace(line) == "" {
			brackets = 0
		}
		for i := range len(line) {
			switch line[i] {
			case '[':
				brackets++
			case ']':
				brackets = max(0, brackets-1)
			}
			if brackets > maxDepth {
				return true
			}
		}
	}
	return false
}

// Marks that pair up cost a parser more than their number. A cleaned text has at most twice the marks that it had, so
// that the limits of the check are twice those of cleaning.
const (
	maxMarks       = 2000 // in a text that Clean parses, when they are an eighth of it
	maxBlockMarks  = 1000 // in one of its blocks, when they are an eighth of that
	leastMarkShare = 8
)

// tooManyMarks tells whether a text holds more marks than any parser handles in time that grows with its length only.
func tooManyMarks(text string) bool {
	all, block := 0, 0
	for marks, size := range blockMarks(text, "*_~[]<!\\$`") {
		all += marks
		if marks > maxBlockMarks && marks > size/leastMarkShare {
			block++
		}
	}
	return block > 0 || all > maxMarks && all > len(text)/leastMarkShare
}

// tooManyMarksLeft is tooManyMarks for a comment made of cleaned texts: only its single blocks matter.
func tooManyMarksLeft(markdown string) bool {
	for marks, size := range blockMarks(markdown, "*_~[]<!\\$") {
		if marks > 2*maxBlockMarks && marks > 2*size/leastMarkShare {
			return true
		}
	}
	return false
}

// blockMarks counts the marks and the bytes of each block between blank lines, code left out.
func blockMarks(text, which string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		marks, size := 0, 0
		for line := range outsideFences(text) {
			if strings.Trim(line, " \t\n>") == "" {
				if !yield(marks, size) {
					return
				}
				marks, size = 0, 0
			}
			size += len(line)
			for i := range len(line) {
				if strings.IndexByte(which, line[i]) >= 0 {
					marks++
				}
			}
		}
		yield(marks, size)
	}
}

// outsideFences gives the lines that do not stand in a fenced block of code.
func outsideFences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var f fenceState
		for line := range strings.Lines(text) {
			f.line(strings.TrimRight(line, "\n"))
			if f.length == 0 && !yield(line) {
				return
			}
		}
	}
}
