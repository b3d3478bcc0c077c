package sanitize

import "strings"

// Place is where a text will stand in a comment.
type Place int

// The places. What comes before the text is the template's; the lines after the first come with the indentation they need.
const (
	Paragraph   Place = iota // a block of its own between blank lines; lists, quotes, tables and code may stand in it
	ListEntry                // after "- "
	NestedEntry              // after "  - "
	Quote                    // after "> "
	AfterNumber              // after "- #7: ", one line
	Cell                     // a cell of a table, one line
	BesideCode               // directly between two code spans of a line, one line
	Line                     // after "- " or words of the template, one line
)

// frame is the template around a text: before and after it, and what starts every later line.
type frame struct {
	before, after, indent string
}

func (p Place) frame() frame {
	switch p {
	case ListEntry:
		return frame{before: "- ", indent: "  "}
	case NestedEntry:
		return frame{before: "- x\n  - ", indent: "    "}
	case Quote:
		return frame{before: "> ", indent: "> "}
	case AfterNumber:
		return frame{before: "- 7: "}
	case Cell:
		return frame{before: "| a | b |\n| --- | --- |\n| x | ", after: " |"}
	case BesideCode:
		return frame{before: "- `a`", after: "`b`"}
	case Line:
		return frame{before: "- x: "}
	default:
		return frame{}
	}
}

func (p Place) oneLine() bool { return p >= AfterNumber }

// indent starts every line after the first with the place's indentation; blank lines get no spaces at their end.
func (p Place) indent(text string) string {
	in := p.frame().indent
	bare := strings.TrimRight(in, " ")
	return laterLines(text, func(line string) string {
		if strings.Trim(line, " \t\n") == "" {
			return bare + line
		}
		return in + line
	})
}

// unindent takes the indentation off again.
func (p Place) unindent(text string) string {
	in := p.frame().indent
	bare := strings.TrimRight(in, " ")
	return laterLines(text, func(line string) string {
		if rest, ok := strings.CutPrefix(line, in); ok {
			return rest
		}
		return strings.TrimPrefix(line, bare)
	})
}

// laterLines is a text with every line after the first changed.
func laterLines(text string, change func(line string) string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	first := true
	for line := range strings.Lines(text) {
		if !first {
			line = change(line)
		}
		first = false
		b.WriteString(line)
	}
	return b.String()
}
