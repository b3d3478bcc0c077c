package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/registry"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// engineRun is what the steps of `engine` decide about one run.
type engineRun struct {
	task         task.Name
	issue        string   // digits; empty when it was not given
	readyEngines []string // engines whose key exists, as the workflow says
	install      bool

	config config.Config
	limits task.Limits
	reason string // why nothing is started; empty: the run is ready
	cli    string // the engine's program, when it was installed
}

// engineStep decides one thing. It sets reason when nothing is to be started, which is no error.
type engineStep func(a *app, ctx context.Context, r *engineRun) error

// engineSteps run in this order until one fails or gives a reason. Installing comes last: nothing is downloaded for a
// run that does not start.
var engineSteps = []engineStep{
	(*app).stepSettings,
	(*app).stepPrice,
	(*app).stepKey,
	(*app).stepNothingNew,
	(*app).stepCap,
	(*app).stepInstall,
}

// The reasons of the steps in this file, as they stand in the output `reason`.
const reasonNoKey = "no key"

func newEngineCmd(a *app) *cobra.Command {
	var taskName, issue, ready string
	var install bool
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Decide the engine and the limits of a run",
		Long: "Reads the settings, decides what the run of a task may use and leaves it in RUNNER_TEMP for `run` and `usage`.\n" +
			"Outputs: engine, ready, model, effort, max-turns, max-budget-usd, timeout-minutes, reason, cli.",
		GroupID: groupWorkflows,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := engineRun{install: install, readyEngines: splitList(ready)}
			if err := r.read(taskName, issue); err != nil {
				return usage(err)
			}
			return a.engine(cmd.Context(), &r)
		},
	}
	cmd.Flags().StringVar(&taskName, "task", "", "the `task`: "+listOf(task.Names))
	cmd.Flags().StringVar(&issue, "issue", "", "the issue's `number`")
	cmd.Flags().StringVar(&ready, "ready-engines", "", "`engines` whose key exists, with commas between")
	cmd.Flags().BoolVar(&install, "install", false, "install the engine's command line when the run is ready")
	return cmd
}

// read checks the inputs.
func (r *engineRun) read(taskName, issue string) error {
	name, err := task.Parse(taskName)
	if err != nil {
		return err
	}
	if name == task.None {
		return withHint(errors.New("the task none starts no engine"), "skip this job when the output task of event is none")
	}
	r.task = name
	if issue != "" {
		if n, err := strconv.Atoi(issue); err != nil || n < 1 || strconv.Itoa(n) != issue {
			return fmt.Errorf("%q is no issue's number: write digits alone", issue)
		}
	}
	r.issue = issue
	return nil
}

func (a *app) engine(ctx context.Context, r *engineRun) error {
	if err := a.checkDefaultBranch(); err != nil {
		return err
	}
	for _, step := range engineSteps {
		if err := step(a, ctx, r); err != nil {
			return err
		}
		if r.reason != "" {
			break
		}
	}
	if err := a.leaveLimits(r.limits); err != nil {
		return failure(err)
	}
	l := r.limits
	if r.reason == "" {
		a.sayf("%s: %s, at most %d turns, $%s, %d minutes", l.Task, l.Model, l.MaxTurns, showUSD(l.MaxBudgetUSD), l.TimeoutMinutes)
	} else {
		a.sayf("%s: nothing is started: %s", l.Task, r.reason)
	}
	err := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).SetOutputs(
		ghaction.Output{Name: "engine", Value: string(l.Engine)},
		ghaction.Output{Name: "ready", Value: strconv.FormatBool(r.reason == "")},
		ghaction.Output{Name: "model", Value: l.Model},
		ghaction.Output{Name: "effort", Value: l.Effort},
		ghaction.Output{Name: "max-turns", Value: strconv.Itoa(l.MaxTurns)},
		ghaction.Output{Name: "max-budget-usd", Value: config.FormatUSD(l.MaxBudgetUSD)},
		ghaction.Output{Name: "timeout-minutes", Value: strconv.Itoa(l.TimeoutMinutes)},
		ghaction.Output{Name: "reason", Value: r.reason},
		ghaction.Output{Name: "cli", Value: r.cli},
	)
	if err != nil {
		return failure(err)
	}
	return nil
}

// stepSettings reads config.toml and decides the limits; wrong settings start nothing.
func (a *app) stepSettings(_ context.Context, r *engineRun) error {
	c, ds, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil {
		return failure(err)
	}
	if err := diag.Write(a.Stderr, a.human(a.Stderr), ds); err != nil {
		return failure(fmt.Errorf("write the findings: %w", err))
	}
	if a.Getenv("GITHUB_ACTIONS") == "true" {
		if err := diag.Write(a.Stdout, "annotations", ds); err != nil {
			return failure(fmt.Errorf("write the findings: %w", err))
		}
	}
	if diag.HasErrors(ds) {
		return usage(withHint(errors.New("the settings are wrong, so no engine is started"), "issue-assistant check shows this on your machine"))
	}
	r.config, r.limits = c, task.LimitsFor(c, r.task)
	if err := r.limits.Check(); err != nil {
		return usage(fmt.Errorf("the limits of the task %s: %w", r.task, err))
	}
	return nil
}

// stepKey starts nothing without the engine's key. That is no failure: a fork has none.
func (a *app) stepKey(_ context.Context, r *engineRun) error {
	for _, name := range r.readyEngines {
		if engine.Name(name) == r.limits.Engine {
			return nil
		}
		if err := config.CheckEngine(name); err != nil {
			a.sayf("input ready-engines: %v", err)
		}
	}
	r.reason = reasonNoKey
	return nil
}

// stepInstall installs the engine's command line by its lockfile into a fresh folder of the runner's temporary folder.
func (a *app) stepInstall(ctx context.Context, r *engineRun) error {
	if !r.install {
		return nil
	}
	driver, err := registry.Find(r.limits.Engine)
	if err != nil {
		return usage(withHint(err, "write another engine.name in "+config.Path))
	}
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return usage(withHint(errors.New("there is no folder to install into: RUNNER_TEMP is empty"), "set it, or leave --install out and give run --cli"))
	}
	dir, err := os.MkdirTemp(temp, "engine-"+string(r.limits.Engine)+"-")
	if err != nil {
		return failure(fmt.Errorf("make a folder for the engine: %w", err))
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return failure(fmt.Errorf("open the folder of the engine: %w", err))
	}
	said := &lineWriter{say: func(line string) { a.sayf("npm: %s", line) }}
	r.cli, err = run.Install(ctx, driver, dir, a.Environ(), said)
	said.flush()
	if err != nil {
		return failure(withHint(err, "run the job again; if it stays so, the runner cannot reach the npm registry"))
	}
	return nil
}

// leaveLimits writes the limits where the later steps of the job look for them. Without a runner there are none.
func (a *app) leaveLimits(l task.Limits) error {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		if a.Getenv("GITHUB_ACTIONS") == "true" {
			return errors.New("the runner names no temporary folder: RUNNER_TEMP is empty")
		}
		return nil
	}
	data, err := task.EncodeLimits(l)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(temp, task.LimitsFile+".*")
	if err != nil {
		return fmt.Errorf("leave the limits for the next steps: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(temp, task.LimitsFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("leave the limits for the next steps: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// showUSD writes dollars for people: two decimals, more where they count.
func showUSD(usd float64) string {
	short, exact := strconv.FormatFloat(usd, 'f', 2, 64), config.FormatUSD(usd)
	if len(exact) > len(short) {
		return exact
	}
	return short
}

// splitList reads a list with commas; empty entries come from secrets that are not there.
func splitList(text string) []string {
	var list []string
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			list = append(list, entry)
		}
	}
	return list
}

func listOf[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// lineWriter hands a program's output on line by line, a bounded part of it.
type lineWriter struct {
	say  func(string)
	line []byte
	n    int
}

// maxForeignLines and maxForeignLine bound what another program may write into the log.
const (
	maxForeignLines = 200
	maxForeignLine  = 1000
)

func (w *lineWriter) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			w.flush()
			continue
		}
		if len(w.line) < maxForeignLine {
			w.line = append(w.line, b)
		}
	}
	return len(p), nil
}

func (w *lineWriter) flush() {
	if len(w.line) == 0 {
		return
	}
	if w.n++; w.n <= maxForeignLines {
		w.say(string(w.line))
	}
	w.line = w.line[:0]
}
