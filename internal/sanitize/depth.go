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

// tooManyMarks tells whether a text holds more marks than any parser handles in time that grows with its length only.
func tooManyMarks(text string) bool {
	if len(text) < 4<<10 {
		return false
	}
	marks := 0
	for line := range outsideFences(text) {
		for i := range len(line) {
			switch line[i] {
			case '*', '_', '~', '[', ']', '<', '!', '\\', '$':
				marks++
			}
		}
	}
	return marks > 2000 && marks > len(text)/8
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
