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
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/registry"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// executionFileName is where `run` writes in RUNNER_TEMP unless it is told otherwise.
const executionFileName = "issue-assistant-execution.jsonl"

// runFlags are the inputs of `run` as they came in.
type runFlags struct {
	task, issue, engine, cli, model, effort string
	turns, budget, minutes                  string
	material, rulesFile, executionFile      string
}

func newRunCmd(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run one engine on the task, held in its turns, dollars and minutes",
		Long: "Starts the engine's command line behind a meter on this machine, which holds the key and refuses what would\n" +
			"not fit into the budget. Exit code 0: every end that an issue can cause; 2: not started; 3: what a maintainer\n" +
			"or the provider must mend, and interrupted.",
		GroupID: groupWorkflows,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runEngine(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.task, "task", "", "the task's `name`; default: as `engine` decided")
	flags.StringVar(&f.issue, "issue", "", "the issue's `number`, for the record")
	flags.StringVar(&f.engine, "engine", "", "claude, codex or gemini; default: as `engine` decided")
	flags.StringVar(&f.cli, "cli", "", "the engine's program, a `path`")
	flags.StringVar(&f.model, "model", "", "the model's full `id`")
	flags.StringVar(&f.effort, "effort", "", "low, medium, high, xhigh or max")
	flags.StringVar(&f.turns, "max-turns", "", "answers of the model at most, 1 to 200")
	flags.StringVar(&f.budget, "max-budget-usd", "", "dollars at most, above 0 and up to 100")
	flags.StringVar(&f.minutes, "timeout-minutes", "", "minutes at most, 1 to 60")
	flags.StringVar(&f.material, "material", filepath.Join(".issue-assistant", "material"), "`folder` with prompt.md, schema.json and what the engine reads")
	flags.StringVar(&f.rulesFile, "rules-file", "", "`file` with the rules, which become system prompt; default: .issue-assistant/rules.md, else the built-in ones")
	flags.StringVar(&f.executionFile, "execution-file", "", "`file` to write every event to; default: "+executionFileName+" in RUNNER_TEMP")
	return cmd
}

// newLauncherCmd is started by `run` itself through sudo; people never call it.
func newLauncherCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    run.Launcher,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			stdout, okOut := a.Stdout.(*os.File)
			stderr, okErr := a.Stderr.(*os.File)
			if !okOut || !okErr {
				return failure(errors.New("the launcher needs files for its output"))
			}
			code, err := run.Launch(a.Stdin, stdout, stderr)
			if err != nil {
				return failure(err)
			}
			if code != 0 {
				return silent(code)
			}
			return nil
		},
	}
}

// runEngine is the command `run`.
func (a *app) runEngine(ctx context.Context, f runFlags) error {
	gh := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	limits, issue, err := a.runLimits(f)
	if err != nil {
		return a.notStarted(gh, err)
	}
	driver, err := registry.Find(limits.Engine)
	if err != nil {
		return a.notStarted(gh, err)
	}
	if reason := driver.Refuses(a.Getenv); reason != "" {
		return a.notStarted(gh, errors.New(reason))
	}
	secrets, err := a.runSecrets(driver)
	if err != nil {
		return a.notStarted(gh, err)
	}
	o, err := a.runOptions(f, limits, issue, driver, secrets)
	if err != nil {
		return a.notStarted(gh, err)
	}
	kept := ""
	sessions, on := a.sessionOf(a.Getenv("RUNNER_TEMP"), limits)
	if on {
		sessions.into(&o)
	}
	result, runErr := run.Run(ctx, o)
	if on && result.Ended == engine.Finished {
		kept = sessions.record(result)
	}
	return a.reportRun(gh, result, limits, kept, runErr)
}

// notStarted reports what keeps a run from starting, also as an output.
func (a *app) notStarted(gh ghaction.Runner, err error) error {
	out := gh.SetOutputs(ghaction.Output{Name: "answer"}, ghaction.Output{Name: "ended", Value: string(engine.NotStarted)})
	return usage(errors.Join(err, out))
}

// reportRun writes the outputs and says how the run ended.
func (a *app) reportRun(gh ghaction.Runner, r run.Result, l task.Limits, kept string, runErr error) error {
	outputs := []ghaction.Output{
		{Name: "answer", Value: r.Answer},
		{Name: "ended", Value: string(r.Ended)},
		{Name: "session-id", Value: r.SessionID},
		{Name: "execution-file", Value: r.ExecutionFile},
	}
	if kept != "" {
		outputs = append(outputs, ghaction.Output{Name: "session", Value: kept})
	}
	outErr := gh.SetOutputs(outputs...)
	a.sayf("%s after %d turns and %d calls, $%.4f of $%s", r.Ended, r.Turns, r.Calls, r.CostUSD, config.FormatUSD(l.MaxBudgetUSD))
	if r.Reason != "" {
		a.sayf("%s", r.Reason)
	}
	if r.LogCut {
		gh.Warning("The disk was full: events of the engine are missing in the execution file. Its numbers are whole.")
	}
	if err := errors.Join(runErr, outErr); err != nil {
		return failure(err)
	}
	words := endingWords(r, l)
	switch {
	case r.Ended == engine.Finished:
		return nil
	case r.Ended.ByIssue():
		gh.Warning(words)
		return nil
	}
	gh.Error(words)
	if r.Ended == engine.NotStarted {
		return silent(ExitUsage)
	}
	return silent(ExitFailure)
}

// endingWords says what an ending means and what to do. It holds fixed words and numbers only.
func endingWords(r run.Result, l task.Limits) string {
	words := map[engine.Ended]string{
		engine.Turns:         fmt.Sprintf("The run stopped at its %d turns; nothing is posted. Raise `max_turns` if this happens often.", l.MaxTurns),
		engine.Budget:        fmt.Sprintf("The run stopped at its budget of $%s; nothing is posted. Raise `max_budget_usd` if this happens often.", config.FormatUSD(l.MaxBudgetUSD)),
		engine.Time:          fmt.Sprintf("The run stopped at its %d minutes; nothing is posted. Raise `timeout_minutes` if this happens often.", l.TimeoutMinutes),
		engine.NoAnswer:      "The engine ended without an answer; nothing is posted.",
		engine.BadAnswer:     "The engine's answer is not handed on: it does not fit its schema, is too long or holds a secret. Nothing is posted.",
		engine.ModelRefused:  "The model refused to answer; nothing is posted.",
		engine.AccountLimit:  "The provider's account is at its limit: wait until it resets, or raise the limit there.",
		engine.NotSignedIn:   "The provider does not accept the key: check the secret of the environment.",
		engine.UnknownModel:  "The provider does not know the model, or it has no price: check `model` in .issue-assistant/config.toml.",
		engine.RateLimited:   "The provider answered that there were too many requests, also after retries: run the job again later.",
		engine.ProviderError: "The provider failed" + statusWords(r.Status) + ": run the job again later.",
		engine.Interrupted:   "The run was interrupted by a signal; nothing is posted.",
		engine.Unfinished:    "The engine ended without saying why: it may have been killed, for example for want of memory.",
		engine.NotStarted:    "The run was not started: the log of this step says why.",
	}
	return strings.TrimSpace(words[r.Ended])
}

func statusWords(status int) string {
	if status == 0 {
		return ""
	}
	return " with HTTP status " + strconv.Itoa(status)
}
