package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	runusage "github.com/issue-assistant/issue-assistant/internal/usage"
)

// usageFlags are all strings: no value may make the command fail.
type usageFlags struct {
	file, task, issue, engine, model, maxTurns, maxBudget, ended, record string
	json                                                                 lenientBool
}

// lenientBool is a flag that never refuses a value.
type lenientBool bool

func (b *lenientBool) Set(text string) error { *b = text == "true" || text == "1"; return nil }
func (b *lenientBool) String() string        { return strconv.FormatBool(bool(*b)) }
func (b *lenientBool) Type() string          { return "bool" }

func newUsageCmd(a *app) *cobra.Command {
	var f usageFlags
	run := func() error {
		a.usage(f)
		return nil
	}
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Say in one line what a run was and what it cost",
		Long: "Reads the execution file of a run (ours, or that of an AI vendor's action) and writes one line into the job\n" +
			"summary, the outputs cost-usd, turns and ended, and a record. It always exits 0.",
		GroupID:            groupWorkflows,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(*cobra.Command, []string) error { return run() },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "execution-file", "", "the execution file; empty: the one that a vendor's action left in RUNNER_TEMP")
	flags.StringVar(&f.task, "task", "", "the task's name")
	flags.StringVar(&f.issue, "issue", "", "number of the issue")
	flags.StringVar(&f.engine, "engine", "", "claude, codex or gemini; empty: the file tells")
	flags.StringVar(&f.model, "model", "", "the model that was asked for")
	flags.StringVar(&f.maxTurns, "max-turns", "", "limit of turns")
	flags.StringVar(&f.maxBudget, "max-budget-usd", "", "limit of dollars")
	flags.StringVar(&f.ended, "ended", "", "how the run ended, as the step `run` said")
	flags.StringVar(&f.record, "record", "", "write the record to this file")
	flags.Var(&f.json, "json", "print the record")
	flags.Lookup("json").NoOptDefVal = "true"
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.sayf("%s", err)
		if err := a.flagsFromInputs(flags); err != nil {
			a.sayf("%s", err)
		}
		if err := run(); err != nil {
			return err
		}
		return silent(ExitOK)
	})
	return cmd
}

// usage does the work. What goes wrong is said and changes nothing else.
func (a *app) usage(f usageFlags) {
	given := a.usageGiven(f)
	run := a.readUsage(f, given)
	run.Override(given)
	line := runusage.Line(run)

	runner := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	if bool(f.json) {
		runner.Out = a.Stderr
	}
	if err := runner.AddSummary(line + "\n"); err != nil {
		a.sayf("the line is not in the summary: %s", err)
	}
	if runner.SummaryFile != "" {
		a.sayf("%s", line)
	}
	if err := runner.SetOutputs(usageOutputs(run)...); err != nil {
		a.sayf("%s", err)
	}
	a.writeRecord(f, runusage.NewRecord(run, a.usageJob()))
}

func usageOutputs(run runusage.Run) []ghaction.Output {
	cost, turns := "", ""
	if run.CostUSD != nil {
		cost = strconv.FormatFloat(*run.CostUSD, 'f', -1, 64)
	}
	if run.Turns != nil {
		turns = strconv.FormatInt(*run.Turns, 10)
	}
	return []ghaction.Output{{Name: "cost-usd", Value: cost}, {Name: "turns", Value: turns}, {Name: "ended", Value: string(run.Ended)}}
}

// usageGiven takes the flags that are what they should be.
func (a *app) usageGiven(f usageFlags) runusage.Given {
	var g runusage.Given
	ignored := func(flag string) { a.sayf("--%s is left out: its value is not one that it can have", flag) }
	if g.Task = runusage.Word(f.task); g.Task == "" && f.task != "" {
		ignored("task")
	}
	if n, err := strconv.Atoi(f.issue); err == nil && n > 0 && n <= runusage.MaxIssue {
		g.Issue = n
	} else if f.issue != "" {
		ignored("issue")
	}
	for _, name := range engine.Names {
		if string(name) == f.engine {
			g.Engine = name
		}
	}
	if g.Engine == "" && f.engine != "" {
		ignored("engine")
	}
	if f.model != "" {
		if g.Model = enginelog.ModelName(f.model); g.Model == enginelog.UnknownModel {
			g.Model = ""
			ignored("model")
		}
	}
	if n, err := strconv.Atoi(f.maxTurns); err == nil && n > 0 && n <= enginelog.MaxTurns {
		g.MaxTurns = n
	} else if f.maxTurns != "" {
		ignored("max-turns")
	}
	if x, err := strconv.ParseFloat(f.maxBudget, 64); err == nil && x > 0 && x <= enginelog.MaxDollars {
		g.MaxBudgetUSD = x
	} else if f.maxBudget != "" {
		ignored("max-budget-usd")
	}
	if g.Ended = engine.Ended(f.ended); !g.Ended.Valid() {
		if g.Ended = ""; f.ended != "" {
			ignored("ended")
		}
	}
	return g
}

func (a *app) readUsage(f usageFlags, g runusage.Given) runusage.Run {
	none := runusage.Run{Ended: engine.NoData, CostBasis: runusage.BasisUnknown}
	if f.file == "" {
		return none
	}
	file, err := os.Open(a.path(f.file))
	if err != nil {
		a.sayf("the execution file cannot be read: %s", err)
		return none
	}
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		a.sayf("the execution file cannot be read: %s", err)
		return none
	}
	run, err := runusage.Read(file, size, runusage.Options{Engine: g.Engine, Model: g.Model})
	if err != nil {
		a.sayf("the execution file cannot be read to its end: %s", err)
	}
	return run
}

func (a *app) usageJob() runusage.Job {
	job := runusage.Job{Repository: a.Getenv("GITHUB_REPOSITORY")}
	job.RunID, _ = strconv.ParseInt(a.Getenv("GITHUB_RUN_ID"), 10, 64)
	job.Attempt, _ = strconv.Atoi(a.Getenv("GITHUB_RUN_ATTEMPT"))
	return job
}

func (a *app) writeRecord(f usageFlags, rec runusage.Record) {
	data, err := rec.Encode()
	if err != nil {
		a.sayf("%s", err)
		return
	}
	if f.record != "" {
		err = os.WriteFile(a.path(f.record), data, 0o644) //nolint:gosec // numbers only; another user uploads it
	}
	if bool(f.json) {
		_, printErr := a.Stdout.Write(data)
		err = errors.Join(err, printErr)
	}
	if err != nil {
		a.sayf("%s", strings.TrimSpace(fmt.Sprintf("the record is not written: %s", err)))
	}
}
