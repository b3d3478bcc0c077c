package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// maxColumns is how wide the table for the terminal may be.
const maxColumns = 100

// column is one of the table.
type column struct {
	name string
	cell func(Row) string
}

// columns are the table's on a terminal, with names that leave room for the numbers.
func columns() []column {
	return []column{
		{"runs", func(r Row) string { return fmt.Sprint(r.Runs) }},
		{"done", func(r Row) string { return fmt.Sprint(r.Finished) }},
		{"stop", stoppedText},
		{"turns", func(r Row) string { return pair(r.Turns, "%.0f") }},
		{"time", func(r Row) string { return timePair(r.Seconds) }},
		{"$", centsText},
		{"med", func(r Row) string { return money(r.USD.Median) }},
		{"p90", func(r Row) string { return money(r.USD.P90) }},
		{"max", func(r Row) string { return money(r.USD.Max) }},
		{"/iss", func(r Row) string { return money(r.PerIssueUSD) }},
		{"/ans", func(r Row) string { return money(r.PerAnswer) }},
		{"cache", func(r Row) string { return percent(r.CachedShare) }},
		{"unkn", func(r Row) string { return dash(r.Unknown) }},
	}
}

// pageColumns are the same for a page, with whole words; three are one there, or the table would not fit.
func pageColumns() []column {
	var out []column
	for _, c := range columns() {
		switch c.name {
		case "stop":
			c.name = "stopped"
		case "med":
			c = column{"med/p90/max", func(r Row) string {
				if r.USD.Median == nil {
					return "?"
				}
				return money(r.USD.Median) + "/" + money(r.USD.P90) + "/" + money(r.USD.Max)
			}}
		case "p90", "max":
			continue
		case "/iss":
			c.name = "per issue"
		case "/ans":
			c.name = "per answer"
		case "cache":
			c.name = "cached"
		case "unkn":
			c.name = "unknown"
		}
		out = append(out, c)
	}
	return out
}

// stoppedText counts the runs that a limit ended and, behind a plus sign, those that ended in another way.
func stoppedText(r Row) string {
	stopped, other := 0, 0
	for _, n := range r.Stopped {
		stopped += n
	}
	for _, n := range r.Other {
		other += n
	}
	if other > 0 {
		return fmt.Sprintf("%d+%d", stopped, other)
	}
	return dash(stopped)
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func pair(s Spread, format string) string {
	if s.Median == nil {
		return "?"
	}
	return fmt.Sprintf(format+"/"+format, *s.Median, *s.P90)
}

func timePair(s Spread) string {
	if s.Median == nil {
		return "?"
	}
	return seconds(*s.Median) + "/" + seconds(*s.P90)
}

func seconds(s float64) string {
	switch {
	case s < 60:
		return fmt.Sprintf("%.0fs", s)
	case s < 3600:
		return fmt.Sprintf("%.0fm", s/60)
	}
	return fmt.Sprintf("%.1fh", s/3600)
}

func money(x *float64) string {
	switch {
	case x == nil:
		return "?"
	case *x > 0 && *x < 0.01:
		return "<.01"
	}
	return fmt.Sprintf("%.2f", *x)
}

// centsText shows the sum of a row; a row of which nothing is known shows that.
func centsText(r Row) string {
	if r.Unknown == r.Runs {
		return "?"
	}
	return fmt.Sprintf("%d.%02d", r.Cents/100, r.Cents%100)
}

func percent(x *float64) string {
	if x == nil {
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100**x)
}

// Text writes the report for a terminal: an aligned table of at most 100 columns, forecast, advice.
func (rep Report) Text(w io.Writer) error {
	table := rep.table(columns())
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	gap, rest := "  ", 0
	for _, width := range widths[1:] {
		rest += width + len(gap)
	}
	if widths[0]+rest > maxColumns {
		gap = " "
		rest -= len(widths) - 1
	}
	widths[0] = min(widths[0], max(maxColumns-rest, 8))
	var b strings.Builder
	for i, line := range table {
		if i == len(table)-1 {
			b.WriteString(strings.Repeat("-", widths[0]+rest) + "\n")
		}
		b.WriteString(padRight(shorten.To(widths[0], line[0]), widths[0]))
		for k, cell := range line[1:] {
			b.WriteString(gap + strings.Repeat(" ", widths[k+1]-utf8.RuneCountInString(cell)) + cell)
		}
		b.WriteString("\n")
	}
	for _, line := range rep.sentences() {
		b.WriteString("\n" + strings.ReplaceAll(line, "`", ""))
	}
	if len(rep.sentences()) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (rep Report) table(columns []column) [][]string {
	head := []string{string(rep.By)}
	for _, c := range columns {
		head = append(head, c.name)
	}
	table := [][]string{head}
	for _, r := range append(slices.Clone(rep.Rows), rep.Total) {
		line := []string{r.Name}
		for _, c := range columns {
			line = append(line, c.cell(r))
		}
		table = append(table, line)
	}
	return table
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// sentences are the forecast, the endings and the advice in words.
func (rep Report) sentences() []string {
	var out []string
	if rep.Total.Runs == 0 {
		return []string{"No runs in this time."}
	}
	if f := rep.Forecast; f != nil {
		if f.Reason != "" {
			out = append(out, fmt.Sprintf("%s so far: $%.2f in %s; no forecast: %s.", f.Month, f.SoFar, runsText(f.Runs), f.Reason))
		} else {
			out = append(out, fmt.Sprintf("%s: about $%.2f at the end of the month, from $%.2f in %.1f days and %s.", f.Month, f.USD, f.SoFar, f.Days, runsText(f.Runs)))
		}
	}
	if n := rep.Total.Unknown; n > 0 {
		out = append(out, fmt.Sprintf("%s of unknown cost, in no sum.", runsText(n)))
	}
	if rep.Lost > 0 {
		out = append(out, fmt.Sprintf("%s left no record, in no sum.", runsText(rep.Lost)))
	}
	if words := endings(rep.Total); words != "" {
		out = append(out, "Not finished: "+words+".")
	}
	for _, a := range rep.Advice {
		out = append(out, strings.ToUpper(a.Text[:1])+a.Text[1:]+".")
	}
	return out
}

func endings(r Row) string {
	var words []string
	for _, m := range []map[string]int{r.Stopped, r.Other} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			words = append(words, fmt.Sprintf("%s %d", k, m[k]))
		}
	}
	return strings.Join(words, ", ")
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
