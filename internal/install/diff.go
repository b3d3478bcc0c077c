package install

import (
	"fmt"
	"strings"
)

// Diff is a unified diff of a change, with three lines of context; empty when nothing differs.
func Diff(name string, old, now []byte) string {
	if string(old) == string(now) {
		return ""
	}
	a, b := splitLines(old), splitLines(now)
	edits := lineEdits(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n", name, name)
	const context = 3
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i++
			continue
		}
		start := max(0, i-context)
		end := i
		for gap := 0; end < len(edits) && gap <= 2*context; end++ {
			if edits[end].op == ' ' {
				gap++
			} else {
				gap = 0
				i = end + 1
			}
		}
		end = min(len(edits), i+context)
		writeHunk(&out, edits[start:end])
		i = end
	}
	return out.String()
}

func writeHunk(out *strings.Builder, edits []edit) {
	var olds, news int
	for _, e := range edits {
		if e.op != '+' {
			olds++
		}
		if e.op != '-' {
			news++
		}
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", edits[0].oldLine, olds, edits[0].newLine, news)
	for _, e := range edits {
		out.WriteByte(e.op)
		out.WriteString(strings.TrimSuffix(e.text, "\n"))
		out.WriteByte('\n')
		if !strings.HasSuffix(e.text, "\n") {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

type edit struct {
	op               byte // ' ', '-' or '+'
	text             string
	oldLine, newLine int // where the next line of each side stands, from 1
}

// maxDiffCells bounds the work of a diff; larger pairs are shown as replaced as a whole.
const maxDiffCells = 4_000_000

// lineEdits aligns two texts by their longest common sequence of lines.
func lineEdits(a, b []string) []edit {
	var edits []edit
	i, j := 0, 0
	emit := func(op byte, text string) {
		edits = append(edits, edit{op, text, i + 1, j + 1})
		if op != '+' {
			i++
		}
		if op != '-' {
			j++
		}
	}
	for i < len(a) && j < len(b) && a[i] == b[j] {
		emit(' ', a[i])
	}
	ea, eb := len(a), len(b)
	for ea > i && eb > j && a[ea-1] == b[eb-1] {
		ea, eb = ea-1, eb-1
	}
	n, m := ea-i, eb-j
	i0, j0 := i, j
	var lcs [][]int32
	if n*m <= maxDiffCells {
		lcs = make([][]int32, n+1)
		for x := range lcs {
			lcs[x] = make([]int32, m+1)
		}
		for x := n - 1; x >= 0; x-- {
			for y := m - 1; y >= 0; y-- {
				if a[i0+x] == b[j0+y] {
					lcs[x][y] = lcs[x+1][y+1] + 1
				} else {
					lcs[x][y] = max(lcs[x+1][y], lcs[x][y+1])
				}
			}
		}
	}
	for i < ea || j < eb {
		switch {
		case i < ea && j < eb && lcs != nil && a[i] == b[j]:
			emit(' ', a[i])
		case i < ea && (j == eb || lcs == nil || lcs[i-i0+1][j-j0] >= lcs[i-i0][j-j0+1]):
			emit('-', a[i])
		default:
			emit('+', b[j])
		}
	}
	for i < len(a) {
		emit(' ', a[i])
	}
	return edits
}

func splitLines(data []byte) []string {
	lines := strings.SplitAfter(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
