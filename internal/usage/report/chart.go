package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxBars keeps the chart readable.
const maxBars = 31

// chartColors are dark enough for both of GitHub's themes; its own differ too little from each other and from the page.
func chartColors() []string {
	return []string{"#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#9d755d"}
}

// colorWords name chartColors for readers who do not see them.
func colorWords() []string { return []string{"blue", "orange", "green", "purple", "red", "brown"} }

// dayChart draws dollars per day, stacked by task: a chart of several bars draws them over each other, so each bar holds
// the sum of its task and of all below it, the highest first.
func (rep Report) dayChart() string {
	bars := rep.bars()
	if len(bars) == 0 {
		return ""
	}
	tasks := tasksOf(bars)
	colors, names := make([]string, len(tasks)), make([]string, len(tasks))
	for i, task := range tasks {
		palette := chartColors()
		colors[i], names[i] = palette[i%len(palette)], colorWords()[i%len(palette)]+" "+task
	}
	labels, highest := make([]string, len(bars)), 0.01
	for i, bar := range bars {
		labels[i] = bar.label
		highest = max(highest, bar.above(tasks))
	}
	var b strings.Builder
	// The chart keeps half a label's height free below 0 and draws bars from there, so a bar of 0 is seen and one a little
	// below is not.
	nothing := -0.03 * highest
	fmt.Fprintf(&b, "\n```mermaid\n---\nconfig:\n  themeVariables:\n    xyChart:\n      backgroundColor: \"transparent\"\n      plotColorPalette: \"%s\"\n---\n"+
		"xychart-beta\n  title \"Dollars per %s\"\n  x-axis [%s]\n  y-axis \"$\" 0 --> %.4f\n",
		strings.Join(colors, ", "), bars[0].span, strings.Join(labels, ", "), highest)
	for i := range tasks {
		values := make([]string, len(bars))
		for k, bar := range bars {
			values[k] = fmt.Sprintf("%.4f", cmp.Or(bar.above(tasks[i:]), nothing))
		}
		fmt.Fprintf(&b, "  bar [%s]\n", strings.Join(values, ", "))
	}
	return b.String() + "```\n\nFrom the top: " + escape(strings.Join(names, ", ")) + ".\n"
}

// bar is what some days in a row have cost.
type bar struct {
	label string // unlike all others of its chart
	span  string // what a bar stands for, in words
	usd   map[string]float64
}

func (b bar) above(tasks []string) (sum float64) {
	for _, task := range tasks {
		sum += b.usd[task]
	}
	return sum
}

// bars has one bar for every day from the first to the last with a cost, also for those without; so many days that they
// would not be readable are put together, seven or 28 at a time.
func (rep Report) bars() []bar {
	if len(rep.Days) == 0 {
		return nil
	}
	first, err1 := time.Parse(dayFormat, rep.Days[0].Date)
	last, err2 := time.Parse(dayFormat, rep.Days[len(rep.Days)-1].Date)
	if err1 != nil || err2 != nil { // dayList wrote them
		return nil
	}
	days := func(to time.Time) int { return int(to.Sub(first).Hours()) / 24 }
	step, span := 1, "day"
	switch n := days(last) + 1; {
	case n > maxBars*7/2: // a week's label is as wide as two days'
		step, span = 28, "four weeks, from"
	case n > maxBars:
		step, span = 7, "week, from"
	}
	var out []bar
	seen := map[string]bool{}
	for d := first; !d.After(last); d = d.AddDate(0, 0, step) {
		label := d.Format("2")
		if step > 1 || d.Equal(first) || d.Day() == 1 || seen[label] {
			label = d.Format("01-02")
		}
		if seen[label] { // of another year
			label = d.Format("06-01-02")
		}
		seen[label] = true
		out = append(out, bar{label: label, span: span, usd: map[string]float64{}})
	}
	for _, d := range rep.Days {
		if at, err := time.Parse(dayFormat, d.Date); err == nil {
			for task, usd := range d.USD {
				out[days(at)/step].usd[task] += usd
			}
		}
	}
	return out
}

// tasksOf are the tasks of a chart, the dearest first.
func tasksOf(bars []bar) []string {
	seen := map[string]float64{}
	for _, b := range bars {
		for task, usd := range b.usd {
			seen[task] += usd
		}
	}
	tasks := slices.Sorted(maps.Keys(seen))
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

// maxSlices keeps the pie readable; what is left is one more slice.
const maxSlices = 5

func (rep Report) modelChart() string {
	var slices []string
	rest := 0.0
	for _, m := range rep.Models {
		switch {
		case m.USD < 0.005: // shown as 0.00
		case len(slices) < maxSlices:
			slices = append(slices, fmt.Sprintf("  \"%s\" : %.2f\n", strings.NewReplacer("\"", "'", "\n", " ").Replace(m.Name), m.USD))
		default:
			rest += m.USD
		}
	}
	if len(slices) == 0 {
		return ""
	}
	if rest > 0 {
		slices = append(slices, fmt.Sprintf("  \"others\" : %.2f\n", rest))
	}
	var b strings.Builder
	b.WriteString("\n```mermaid\n---\nconfig:\n  themeVariables:\n    pieSectionTextColor: \"#ffffff\"\n    pieOuterStrokeWidth: \"0px\"\n")
	for i := range slices {
		fmt.Fprintf(&b, "    pie%d: \"%s\"\n", i+1, chartColors()[i])
	}
	return b.String() + "---\npie showData title Dollars by model\n" + strings.Join(slices, "") + "```\n"
}
