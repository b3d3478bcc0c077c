package report

import (
	"fmt"
	"strings"
)

// Markdown is the report for a job summary: the table, two charts, forecast and advice. Names are words of closed lists,
// checked model names or numbers; pipes and brackets are escaped all the same.
func (rep Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## What the runs cost, %s to %s\n\n", rep.Since.Format(dayFormat), rep.Until.Format(dayFormat))
	table := rep.table(pageColumns())
	for i, line := range table {
		for k, cell := range line {
			if i == len(table)-1 {
				cell = "**" + escape(cell) + "**"
			} else {
				cell = escape(cell)
			}
			fmt.Fprintf(&b, "| %s ", cell)
			if k == len(line)-1 {
				b.WriteString("|\n")
			}
		}
		if i == 0 {
			b.WriteString("|---" + strings.Repeat("|---:", len(line)-1) + "|\n")
		}
	}
	b.WriteString("\nturns and time: median/90th percentile. stopped: at a limit, behind + for another reason. unknown: runs whose cost is not known.\n")
	b.WriteString(rep.dayChart())
	b.WriteString(rep.modelChart())
	for _, s := range rep.sentences() {
		b.WriteString("\n- " + s)
	}
	b.WriteString("\n")
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("|", "\\|", "[", "\\[", "]", "\\]", "<", "&lt;", "`", "\\`", "*", "\\*", "_", "\\_").Replace(s)
}
