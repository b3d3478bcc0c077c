package report

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown is the report for a job summary: the table, two charts, forecast and advice. Names are words of closed lists,
// checked model names or numbers; pipes and brackets are escaped all the same.
func (rep Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## What the runs cost, %s to %s\n\n", rep.Since.Format(dayFormat), rep.Until.Format(dayFormat))
	table := rep.table()
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
	b.WriteString("\nturns and time: median/90th percentile; stopped: at a limit, behind + for another reason.\n")
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

// maxChartDays keeps the chart readable; more days are folded into weeks of seven.
const maxChartDays = 31

// taskColors are the bars' colors, dark enough for both of GitHub's themes.
var taskColors = []string{"#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#9d755d"}

// dayChart draws dollars per day, stacked by task: a chart of several bars draws them over each other, so each bar holds
// the sum of its task and of all below it, the highest first.
func (rep Report) dayChart() string {
	days := fold(rep.Days)
	if len(days) == 0 {
		return ""
	}
	tasks := tasksOf(days)
	colors := make([]string, len(tasks))
	for i := range tasks {
		colors[i] = taskColors[i%len(taskColors)]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n```mermaid\n---\nconfig:\n  themeVariables:\n    xyChart:\n      plotColorPalette: \"%s\"\n---\nxychart-beta\n  title \"Dollars per day\"\n", strings.Join(colors, ", "))
	labels := make([]string, len(days))
	for i, d := range days {
		labels[i] = d.Date[5:]
	}
	fmt.Fprintf(&b, "  x-axis [%s]\n  y-axis \"$\"\n", strings.Join(labels, ", "))
	for i := range tasks {
		values := make([]string, len(days))
		for k, d := range days {
			sum := 0.0
			for _, below := range tasks[i:] {
				sum += d.USD[below]
			}
			values[k] = fmt.Sprintf("%.4f", sum)
		}
		fmt.Fprintf(&b, "  bar [%s]\n", strings.Join(values, ", "))
	}
	b.WriteString("```\n\n")
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = colorWord[i%len(colorWord)] + " " + t
	}
	b.WriteString("From the top: " + escape(strings.Join(names, ", ")) + ".\n")
	return b.String()
}

// colorWord names taskColors for readers who do not see them.
var colorWord = []string{"blue", "orange", "green", "purple", "red", "brown"}

func fold(days []Day) []Day {
	if len(days) <= maxChartDays {
		return days
	}
	var out []Day
	for i, d := range days {
		if i%7 == 0 {
			out = append(out, Day{Date: d.Date, USD: map[string]float64{}})
		}
		for task, usd := range d.USD {
			out[len(out)-1].USD[task] += usd
		}
	}
	if len(out) > maxChartDays {
		out = out[len(out)-maxChartDays:]
	}
	return out
}

func tasksOf(days []Day) []string {
	seen := map[string]float64{}
	for _, d := range days {
		for task, usd := range d.USD {
			seen[task] += usd
		}
	}
	tasks := sortedKeys(seen)
	slices.SortStableFunc(tasks, func(a, b string) int {
		switch {
		case seen[a] > seen[b]:
			return -1
		case seen[a] < seen[b]:
			return 1
		}
		return 0
	})
	return tasks
}

func (rep Report) modelChart() string {
	if len(rep.Models) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n```mermaid\npie showData title Dollars by model\n")
	for _, m := range rep.Models {
		if m.USD > 0 {
			fmt.Fprintf(&b, "  \"%s\" : %.4f\n", strings.NewReplacer("\"", "'", "\n", " ").Replace(m.Name), m.USD)
		}
	}
	b.WriteString("```\n")
	return b.String()
}
