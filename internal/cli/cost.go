package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	usagepkg "github.com/issue-assistant/issue-assistant/internal/usage"
	"github.com/issue-assistant/issue-assistant/internal/usage/report"
)

func newCostCmd(a *app) *cobra.Command {
	var since, by, records string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Report what the runs have cost",
		Example: "  issue-assistant cost --since 30d --by task\n" +
			"  issue-assistant cost --records ./records --by issue --json",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			span, err := parseSpan(since)
			if err != nil {
				return usage(err)
			}
			if !slices.Contains(report.Groupings, report.By(by)) {
				return usage(fmt.Errorf("--by %q: write task, model, week or issue", by))
			}
			now := a.Now().UTC()
			from := now.Add(-span)
			list, lost, err := a.costRecords(cmd.Context(), records, from)
			if err != nil {
				return err
			}
			rep := report.Make(list, report.By(by), from, now)
			rep.Lost = lost
			if err := a.addAdvice(&rep, list); err != nil {
				return err
			}
			return a.showCost(rep, asJSON)
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "how far back: a number with d, w or h, such as 30d")
	cmd.Flags().StringVar(&by, "by", "task", "rows per task, model, week or issue")
	cmd.Flags().StringVar(&records, "records", "", "a `folder` with records: read nothing from GitHub")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON (schema/cost.schema.json)")
	return cmd
}

// maxSpan is more than GitHub keeps artifacts.
const maxSpan = 400 * 24 * time.Hour

func parseSpan(text string) (time.Duration, error) {
	wrong := fmt.Errorf("--since %q: write a number with d, w or h, such as 30d", text)
	if len(text) < 2 {
		return 0, wrong
	}
	unit, ok := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[text[len(text)-1]]
	n, err := strconv.Atoi(text[:len(text)-1])
	if !ok || err != nil || n < 1 || n > int(maxSpan/unit) {
		return 0, wrong
	}
	return time.Duration(n) * unit, nil
}

// costRecords reads the records, and counts the runs that left none.
func (a *app) costRecords(ctx context.Context, dir string, from time.Time) (list []usagepkg.Record, lost int, err error) {
	if dir == "" {
		reader, err := a.ledgerReader(ctx)
		if err != nil {
			return nil, 0, costFailure(err)
		}
		a.sayf("reading the records of %s since %s", reader.Repo, from.Format(time.DateOnly))
		got, err := reader.ReadAll(ctx, from)
		if err != nil {
			return nil, 0, costFailure(err)
		}
		return got.Ledger.Records(), len(got.Lost), nil
	}
	info, err := os.Stat(a.path(dir))
	if err != nil {
		return nil, 0, usage(err)
	}
	if !info.IsDir() {
		return nil, 0, usage(fmt.Errorf("--records %s: that is a file, name its folder", dir))
	}
	list, unread, err := report.Load(os.DirFS(a.path(dir)))
	if err != nil {
		return nil, 0, failure(err)
	}
	for _, name := range unread {
		a.sayf("%s holds no record", name)
	}
	timeless := 0
	for _, r := range list {
		if r.Started == nil {
			timeless++
		}
	}
	if timeless > 0 {
		a.sayf("%d of %d records do not say when their run began and are left out: logs of other actions do not say it", timeless, len(list))
	}
	return list, 0, nil
}

func costFailure(err error) error {
	var e *exitError
	if errors.As(err, &e) {
		return err
	}
	return failure(tokenHint(err, "the token needs `actions: read`; --records DIR reads records from a folder"))
}

// lightModel is a model that answers yes or no well enough, the cheapest of the engine's provider; empty: none is known.
func lightModel(name engine.Name) string {
	return map[engine.Name]string{engine.Claude: "claude-haiku-5-5"}[name]
}

func (a *app) addAdvice(rep *report.Report, list []usagepkg.Record) error {
	c, ds, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil || diag.HasErrors(ds) {
		c = config.Default() // a report needs no settings
	}
	prices, err := a.prices(c)
	if err != nil {
		return usage(err)
	}
	light := report.Light{Model: lightModel(c.Engine.Name), Price: prices.Cost}
	rep.Advice = report.Advise(list, rep.Since, rep.Until, light, c.Engine.LightModel != "")
	return nil
}

func (a *app) showCost(rep report.Report, asJSON bool) error {
	r := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	if r.SummaryFile != "" {
		if err := r.AddSummary(rep.Markdown()); err != nil {
			return failure(err)
		}
	}
	if asJSON {
		return a.writeJSON(rep)
	}
	var b strings.Builder
	if err := rep.Text(&b); err != nil {
		return failure(err)
	}
	if _, err := fmt.Fprint(a.Stdout, b.String()); err != nil {
		return failure(err)
	}
	return nil
}
