package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// The reasons of the steps in this file.
const (
	reasonMonthlyCap       = "monthly cap"
	reasonLedgerUnreadable = "ledger unreadable"
)

// Names in the generated task workflows by which a started engine is recognized: the job, behind the name of the calling
// job, and its step.
const (
	analyzeJob = "Analyze"
	runStep    = "Run"
)

// stepPrice refuses a model whose calls cannot be priced: the budget could not be held.
func (a *app) stepPrice(_ context.Context, r *engineRun) error {
	prices, err := a.prices(r.config)
	if err != nil {
		return usage(err)
	}
	if err := prices.Check(r.limits.Model); err != nil {
		return usage(err)
	}
	return nil
}

// prices are the built-in prices with those of the settings over them.
func (a *app) prices(c config.Config) (meter.Table, error) {
	table, err := meter.Prices(a.Now())
	if err != nil {
		return meter.Table{}, err
	}
	own := map[string]meter.Override{}
	for id, p := range c.Prices {
		own[id] = meter.Override{Input: p.Input, Output: p.Output, CachedInput: p.CachedInput}
	}
	table, err = table.With(own)
	if err != nil {
		return meter.Table{}, fmt.Errorf("prices of the settings: %w", err)
	}
	return table, nil
}

// stepCap reads what the month has cost and starts nothing that could exceed its cap. What was read is left for the
// artifact of this run. Outside of a workflow there is no history to read.
func (a *app) stepCap(ctx context.Context, r *engineRun) error {
	if a.Getenv("GITHUB_RUN_ID") == "" {
		return nil
	}
	month := ledger.MonthOf(a.Now())
	got, err := a.readLedger(ctx, month)
	if err != nil {
		a.sayf("the records of earlier runs cannot be read: %v", err)
		if r.config.Limits.MonthlyUSD > 0 {
			return a.notReady(r, reasonLedgerUnreadable, "the month's cost cannot be read, so no run is started: it needs `actions: read`, or GitHub does not answer")
		}
		return nil
	}
	if err := a.leaveLedger(got.Ledger.Carry(month)); err != nil {
		return failure(err)
	}
	sum := got.Ledger.Sum(month, r.limits.MaxBudgetUSD, got.Lost)
	if sum.Admits(r.limits.MaxBudgetUSD, r.config.Limits.MonthlyUSD) {
		return nil
	}
	return a.notReady(r, reasonMonthlyCap, fmt.Sprintf(
		"this month's runs cost $%.2f, and $%.2f is kept back for %d runs of unknown cost; another $%.2f would exceed `monthly_usd = %.2f`",
		sum.USD, sum.Reserved, sum.Unknown+sum.Lost, r.limits.MaxBudgetUSD, r.config.Limits.MonthlyUSD))
}

// notReady says once, in the summary, why nothing is started.
func (a *app) notReady(r *engineRun, reason, why string) error {
	r.reason = reason
	line := fmt.Sprintf("**%s**%s · not started: %s\n", r.task, ofIssue(r.issue), why)
	if err := ghaction.FromEnv(a.Getenv, a.Stderr, a.Stderr).AddSummary(line); err != nil {
		a.sayf("the summary cannot be written: %v", err)
	}
	return nil
}

func ofIssue(number string) string {
	if number == "" {
		return ""
	}
	return " of #" + number
}

func (a *app) readLedger(ctx context.Context, month ledger.Month) (ledger.Result, error) {
	reader, err := a.ledgerReader(ctx)
	if err != nil {
		return ledger.Result{}, err
	}
	return reader.Read(ctx, month)
}

func (a *app) ledgerReader(ctx context.Context) (ledger.Reader, error) {
	client, err := a.github()
	if err != nil {
		return ledger.Reader{}, err
	}
	repo, err := client.Repository(ctx)
	if err != nil {
		return ledger.Reader{}, err
	}
	return ledger.Reader{
		Source: client, Repo: client.Repo(), Branch: repo.DefaultBranch, Workflows: usageWorkflows(), Self: a.self(),
		Started: func(ctx context.Context, run ghapi.Run) (bool, error) { return a.startedEngine(ctx, client, run) },
		Warn:    func(text string) { a.sayf("%s", text) },
	}, nil
}

// usageWorkflows are the files whose runs may start an engine.
func usageWorkflows() []string {
	files := []string{".github/workflows/issue-assistant.yml"}
	for _, name := range task.Names {
		files = append(files, ".github/workflows/issue-assistant-"+string(name)+".yml")
	}
	return files
}

// self is this attempt of this run; zero outside of a workflow.
func (a *app) self() ledger.Key {
	id, err1 := strconv.ParseInt(a.Getenv("GITHUB_RUN_ID"), 10, 64)
	attempt, err2 := strconv.Atoi(a.Getenv("GITHUB_RUN_ATTEMPT"))
	if err1 != nil || err2 != nil {
		return ledger.Key{}
	}
	return ledger.Key{RunID: id, Attempt: attempt}
}

// startedEngine looks at the jobs of a run without a record. A job that is on its way to its engine counts when its run
// is older than this one: of two runs that start at once, the order of their ids decides.
func (a *app) startedEngine(ctx context.Context, client *ghapi.Client, run ghapi.Run) (bool, error) {
	jobs, err := client.Jobs(ctx, run.ID)
	if err != nil {
		return false, err
	}
	for _, j := range jobs {
		if j.Name != analyzeJob && !strings.HasSuffix(j.Name, "/ "+analyzeJob) {
			continue
		}
		if slices.ContainsFunc(j.Steps, startedRunStep) || (j.Status == "in_progress" && run.ID < a.self().RunID) {
			return true, nil
		}
	}
	return false, nil
}

func startedRunStep(s ghapi.Step) bool {
	return s.Name == runStep && s.Conclusion != "skipped" && (s.Status == "in_progress" || s.Status == "completed")
}

// leaveLedger writes what this run knew of others where the workflow uploads it.
func (a *app) leaveLedger(c ledger.Carried) error {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("pack the records of earlier runs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(temp, ledger.CarriedFile), data, 0o600); err != nil {
		return fmt.Errorf("leave the records of earlier runs: %w", err)
	}
	return nil
}
