package cli

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	spending "github.com/issue-assistant/issue-assistant/internal/usage"
)

// usageFlags are all strings: no value may make the command fail.
type usageFlags struct {
	file, task, issue, engine, model, maxTurns, maxBudget, ended, record string
	json                                                                 lenientBool
}

// lenientBool is a flag that refuses no value.
type lenientBool bool

// Set takes any text; only true and 1 are true.
func (b *lenientBool) Set(text string) error {
	*b = text == "true" || text == "1"
	return nil
}

func (b *lenientBool) String() string { return strconv.FormatBool(bool(*b)) }

// Type is the word for the help text.
func (b *lenientBool) Type() string { return "bool" }

func newUsageCmd(a *app) *cobra.Command {
	var f usageFlags
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Say in one line what a run was and what it cost",
		Long: `Reads the execution file of a run, ours or that of an AI vendor's action, and writes one line into the job summary,
the outputs cost-usd, turns and ended, and a record. It always exits with 0.`,
		GroupID:            groupWorkflows,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.ignoredArgs(cmd, args)
			a.usage(f)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "execution-file", "", "the execution `file`; empty: the newest in RUNNER_TEMP of ours or of Claude's action")
	flags.StringVar(&f.task, "task", "", "the task's `name`")
	flags.StringVar(&f.issue, "issue", "", "`number` of the issue")
	flags.StringVar(&f.engine, "engine", "", "claude, codex or gemini; empty: the file tells")
	flags.StringVar(&f.model, "model", "", "the model that was asked for")
	flags.StringVar(&f.maxTurns, "max-turns", "", "limit of turns")
	flags.StringVar(&f.maxBudget, "max-budget-usd", "", "limit of dollars")
	flags.StringVar(&f.ended, "ended", "", "how the run ended, as `run` said it")
	flags.StringVar(&f.record, "record", "", "`file` to write the record to")
	flags.Var(&f.json, "json", "print the record")
	flags.Lookup("json").NoOptDefVal = "true"
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.sayf("%s", err)
		if err := a.flagsFromInputs(flags); err != nil {
			a.sayf("%s", err)
		}
		a.usage(f)
		return silent(ExitOK)
	})
	return cmd
}

// ignoredArgs names what a person typed that the command does not know. It goes on without: the line must be there.
func (a *app) ignoredArgs(cmd *cobra.Command, args []string) {
	for _, arg := range a.Args {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "" && cmd.Flags().Lookup(name) == nil {
			a.sayf("unknown flag --%s: it is ignored", name)
		}
	}
	for _, arg := range args {
		a.sayf("%q is ignored: a file is named by --execution-file", arg)
	}
}

// usage does the work. Whatever goes wrong is said and stops nothing else: the line must be there.
func (a *app) usage(f usageFlags) {
	given := a.usageGiven(f)
	limits := a.usageLimits()
	run := a.readUsage(f.file, spending.Options{
		Engine: given.Engine, Model: given.Model, Price: a.priceLater(),
	}, limits)
	run.Fill(limits)
	run.Override(given)
	line := spending.Line(run)

	runner := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	if bool(f.json) {
		runner.Out = a.Stderr // stdout is the record's alone
	}
	if err := runner.AddSummary(line + "\n"); err != nil {
		a.sayf("the line is not in the job summary: %s", err)
	}
	if runner.SummaryFile != "" {
		a.sayf("%s", line)
	}
	if err := runner.SetOutputs(usageOutputs(run)...); err != nil {
		a.sayf("%s", err)
	}
	a.writeRecord(f, spending.NewRecord(run, a.usageJob()))
}

func usageOutputs(run spending.Run) []ghaction.Output {
	cost, turns := "", ""
	if run.CostUSD != nil {
		cost = strconv.FormatFloat(*run.CostUSD, 'f', -1, 64)
	}
	if run.Turns != nil {
		turns = strconv.FormatInt(*run.Turns, 10)
	}
	ended := run.Ended
	if !ended.Valid() {
		ended = engine.NoData
	}
	return []ghaction.Output{
		{Name: "cost-usd", Value: cost}, {Name: "turns", Value: turns}, {Name: "ended", Value: string(ended)},
	}
}

func (a *app) usageJob() spending.Job {
	job := spending.Job{Repository: a.Getenv("GITHUB_REPOSITORY")}
	if n, err := strconv.ParseInt(a.Getenv("GITHUB_RUN_ID"), 10, 64); err == nil {
		job.RunID = n
	}
	if n, err := strconv.Atoi(a.Getenv("GITHUB_RUN_ATTEMPT")); err == nil {
		job.Attempt = n
	}
	return job
}

// priceLater reads the prices when a log needs them: most name their dollars.
func (a *app) priceLater() spending.Pricer {
	pricer := sync.OnceValue(a.pricer)
	return func(model string, in, cached, write5m, write1h, out int64) (float64, bool) {
		price := pricer()
		if price == nil {
			return 0, false
		}
		return price(model, in, cached, write5m, write1h, out)
	}
}

// pricer prices logs that name no dollars: by the built-in table, with the prices of the settings when those are right.
func (a *app) pricer() spending.Pricer {
	prices, err := meter.Prices(a.Now())
	if err != nil {
		a.sayf("no prices: %s", err)
		return nil
	}
	cfg, diags, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil || diag.HasErrors(diags) {
		return prices.Cost
	}
	own := map[string]meter.Override{}
	for id, p := range cfg.Prices {
		own[id] = meter.Override{Input: p.Input, Output: p.Output, CachedInput: p.CachedInput}
	}
	with, err := prices.With(own)
	if err != nil {
		a.sayf("the prices of the settings are left out: %s", err)
		return prices.Cost
	}
	return with.Cost
}

// writeFile is os.WriteFile, but for a pipe that nobody reads.
func writeFile(name string, data []byte) (err error) {
	f, err := ghaction.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(data)
	return err
}

func (a *app) writeRecord(f usageFlags, rec spending.Record) {
	data, err := rec.Encode()
	if err != nil {
		a.sayf("%s", err)
		return
	}
	if f.record != "" {
		if err := writeFile(a.path(f.record), data); err != nil {
			a.sayf("the record is not written: %s", err)
		}
	}
	if bool(f.json) {
		if _, err := a.Stdout.Write(data); err != nil {
			a.sayf("the record is not printed: %s", err)
		}
	}
}
