package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/tools/month"
	"github.com/issue-assistant/issue-assistant/internal/usage/report"
)

// measured is what both programs show of the month.
type measured struct {
	version string
	runs    []month.Run
	ours    report.Report
	plain   sums // ccusage as it is installed
	theirs  sums // with the prices of the records
	person  sums // of a developer's own session
}

// page is the page of the documentation. It fails when the two do not agree on what both can see.
func (m measured) page() (string, error) {
	ours := m.ours.Total
	usd := map[string]float64{}
	for _, d := range m.ours.Days {
		for _, x := range d.USD {
			usd[d.Date] += x
		}
	}
	var rows strings.Builder
	days := 0
	for _, d := range m.theirs.Daily {
		if math.Abs(usd[d.Date]-d.USD) > 0.0001 {
			return "", fmt.Errorf("%s: $%.6f here, $%.6f by ccusage", d.Date, usd[d.Date], d.USD)
		}
		days++
		fmt.Fprintf(&rows, "| %s | $%.4f | $%.4f |\n", d.Date, usd[d.Date], d.USD)
	}
	for date, x := range usd {
		if x > 0 && !strings.Contains(rows.String(), date) {
			return "", fmt.Errorf("ccusage does not show %s", date)
		}
	}
	calls := 0
	for _, r := range m.runs {
		calls += len(r.Calls)
	}
	free := ""
	if m.plain.Totals.USD == 0 {
		free = "; as installed it has no price for the model and shows $0.00, marked as missing in its JSON alone"
	}
	perAnswer, perIssue := "unknown", "unknown"
	if ours.PerAnswer != nil {
		perAnswer = fmt.Sprintf("$%.2f", *ours.PerAnswer)
	}
	if ours.PerIssueUSD != nil {
		perIssue = fmt.Sprintf("$%.2f", *ours.PerIssueUSD)
	}
	tokens := m.theirs.Totals
	return fmt.Sprintf(`# Cost report beside ccusage

Written by `+"`make bench-cost`"+`, %s, with %s. Both saw the same %d runs of %s to %s (%d calls, made up of recorded runs of Claude Code, see
`+"`internal/tools/month`"+`): ccusage as the transcripts that Claude Code leaves in a home folder, `+"`cost --records`"+` as the records that `+"`usage`"+` made of
the execution files. ccusage ran `+"`daily --json --offline --timezone UTC`"+` with this project's prices for the model%s.

| | ccusage | cost |
|---|---|---|
| dollars of the runs | $%.2f | $%.2f |
| tokens | %d in, %d written to and %d read from the cache, %d out | the same, in the records |
| days | %d | %d |
| runs, and how they ended | no: sessions, without an ending | %d runs: %d finished, %s |
| dollars per task, issue, posted answer | no: it knows no issues | per task; %s an issue, %s an answer |
| spent on runs that posted nothing | not seen | $%.2f |
| what to change, forecast | no | %d pieces of advice; $%.2f at the end of the month |
| a session of a developer on their own machine | $%.2f | not seen: it is no run of the assistant |
| other agents (Codex, Gemini and more on the same machine) | yes | only as engines of the assistant |
| a run whose machine was lost | not seen: its transcript is gone | counted at its budget when the artifacts are read from GitHub, not seen with `+"`--records`"+` |
| where the data must be | on the machine where the agent ran; on a hosted runner it is gone with the job | artifacts of the repository |
| a call cut before its usage arrived | not seen, or as far as it was written | at what the meter had set aside |

Day by day, where both see the same:

| day (UTC) | cost | ccusage |
|---|---:|---:|
%s
ccusage is the better choice for what people and agents spend on their own machines, over all tools; `+"`cost`"+` is for the runs of
the assistant, which leave nothing behind on a machine, and for what they were worth.
`,
		time.Now().UTC().Format(time.DateOnly), m.version, len(m.runs), month.Begin().Format(time.DateOnly), month.End().AddDate(0, 0, -1).Format(time.DateOnly), calls, free,
		tokens.USD, ours.USD.Sum, tokens.Input, tokens.Write, tokens.Read, tokens.Output, days, len(m.ours.Days),
		ours.Runs, ours.Finished, endings(ours), perIssue, perAnswer, ours.WastedUSD, len(m.ours.Advice), forecast(m.ours), m.person.Totals.USD, rows.String()), nil
}

func endings(r report.Row) string {
	stopped, other := 0, 0
	for _, n := range r.Stopped {
		stopped += n
	}
	for _, n := range r.Other {
		other += n
	}
	return fmt.Sprintf("%d stopped at a limit, %d for another reason", stopped, other)
}

func forecast(r report.Report) float64 {
	if r.Forecast == nil {
		return 0
	}
	return r.Forecast.USD
}
