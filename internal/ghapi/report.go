package ghapi

import (
	"fmt"
	"strings"
)

// ReportHeading starts a report in the job summary. How is a word such as "dry run"; empty: everything was written.
func ReportHeading(title, how string) string {
	if how != "" {
		title += " (" + how + ")"
	}
	return "### " + title + "\n\n"
}

// ReportMarkdown is the table of the writes that did not go through at once, for the job summary: keys, numbers and
// fixed words only. Empty when all is well.
func ReportMarkdown(results []WriteResult) string {
	var b strings.Builder
	for _, r := range results {
		if !r.Failed() && r.Attempts <= 1 {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("| write | attempts | last status | result |\n| --- | --- | --- | --- |\n")
		}
		status := "none"
		if r.Status != 0 {
			status = itoa(r.Status)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", r.Key, r.Attempts, status, r.Verdict)
	}
	return b.String()
}
