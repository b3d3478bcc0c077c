package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// runLimits takes the limits that `engine` left, lets flags win and checks every value again.
func (a *app) runLimits(f runFlags) (limits task.Limits, issue int, err error) {
	limits, err = a.limitsOfJob(f.task)
	if err != nil {
		return task.Limits{}, 0, err
	}
	set := func(text, flag string, parse func(string) error) {
		if text == "" {
			return
		}
		if perr := parse(text); perr != nil {
			err = errors.Join(err, fmt.Errorf("--%s: %w", flag, perr))
		}
	}
	set(f.engine, "engine", func(s string) error { limits.Engine = engine.Name(s); return config.CheckEngine(s) })
	set(f.model, "model", func(s string) error { limits.Model = s; return config.CheckModel(s) })
	set(f.effort, "effort", func(s string) error { limits.Effort = s; return config.CheckEffort(s) })
	set(f.turns, "max-turns", func(s string) (perr error) { limits.MaxTurns, perr = config.ParseTurns(s); return perr })
	set(f.budget, "max-budget-usd", func(s string) (perr error) { limits.MaxBudgetUSD, perr = config.ParseBudget(s); return perr })
	set(f.minutes, "timeout-minutes", func(s string) (perr error) { limits.TimeoutMinutes, perr = config.ParseMinutes(s); return perr })
	set(f.issue, "issue", func(s string) error {
		n, perr := strconv.ParseUint(s, 10, 31)
		if perr != nil || n == 0 {
			return fmt.Errorf("%.40q is no issue number: write digits alone, without #", s)
		}
		issue = int(n)
		return nil
	})
	if err == nil {
		err = limits.Check()
	}
	return limits, issue, err
}

// limitsOfJob reads what `engine` of the same job decided; without it the defaults of the task hold.
func (a *app) limitsOfJob(taskFlag string) (task.Limits, error) {
	var wanted task.Name
	if taskFlag != "" {
		var err error
		if wanted, err = task.Parse(taskFlag); err != nil {
			return task.Limits{}, fmt.Errorf("--task: %w", err)
		}
	}
	if temp := a.Getenv("RUNNER_TEMP"); temp != "" {
		path := filepath.Join(temp, task.LimitsFile)
		data, err := os.ReadFile(path)
		switch {
		case err == nil:
			limits, err := task.DecodeLimits(data)
			if err == nil && wanted != "" && wanted != limits.Task {
				err = fmt.Errorf("%s holds the limits of the task %s, not of %s: run `engine --task %s` first", path, limits.Task, wanted, wanted)
			}
			return limits, err
		case !errors.Is(err, fs.ErrNotExist):
			return task.Limits{}, fmt.Errorf("read the limits of the job: %w", err)
		}
	}
	if wanted == "" {
		return task.Limits{}, errors.New("no task was named: give --task, or run `engine --task NAME` first in the same job")
	}
	return task.LimitsFor(config.Default(), wanted), nil
}

// runSecrets returns the key and the secrets of the environment. The first life of the process hands them to a second one
// whose environment holds none of them.
func (a *app) runSecrets(driver engine.Driver) (run.Secrets, error) {
	if fd := a.Getenv(run.SealVar); fd != "" {
		return run.Unseal(fd)
	}
	environ := a.Environ()
	secrets := run.Collect(environ, driver.Credentials())
	if !run.HeldByKernel(secrets.Key) {
		return secrets, nil
	}
	self, err := os.Executable()
	if err != nil {
		return run.Secrets{}, fmt.Errorf("find this program: %w", err)
	}
	return run.Secrets{}, run.Reexec(self, a.Args, run.OpenEnvironment(environ, driver.UpstreamVar()), secrets)
}

func (a *app) runOptions(f runFlags, l task.Limits, issue int, driver engine.Driver, s run.Secrets) (run.Options, error) {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		temp = os.TempDir()
	}
	o := run.Options{
		Task: string(l.Task), Issue: issue, Driver: driver, CLI: a.path(f.cli),
		Limits: run.Limits{
			Model: l.Model, Effort: l.Effort, MaxTurns: l.MaxTurns, MaxBudgetUSD: l.MaxBudgetUSD, TimeoutMinutes: l.TimeoutMinutes,
		},
		Checkout: a.path("."), Material: a.path(f.material), RulesFile: a.path(f.rulesFile),
		ExecutionFile: a.path(f.executionFile), Temp: temp,
		KeyValue: s.Key, Upstream: a.Getenv(driver.UpstreamVar()), Secrets: s.Others,
		Path: a.Getenv("PATH"), Lang: a.Getenv("LANG"), TrackingID: a.Getenv("RUNNER_TRACKING_ID"),
		Isolation: a.isolation(), Progress: a.Stderr, Say: a.sayf, Now: a.Now,
	}
	for _, c := range driver.Credentials() {
		if c.Name == s.Var {
			o.Key = c
		}
	}
	if o.ExecutionFile == "" {
		o.ExecutionFile = filepath.Join(temp, executionFileName)
	}
	var err error
	if o.Prompt, err = os.ReadFile(filepath.Join(o.Material, "prompt.md")); err != nil {
		return o, fmt.Errorf("read the task: %w; `context` writes it", err)
	}
	if o.Schema, err = os.ReadFile(filepath.Join(o.Material, "schema.json")); err != nil {
		return o, fmt.Errorf("read the schema of the answer: %w; `context` writes it", err)
	}
	if o.RulesFile, err = a.rulesFor(o.RulesFile, temp); err != nil {
		return o, err
	}
	o.StartMeter, err = a.meter()
	return o, err
}

// meter starts the real meter with the built-in prices and those of the repository's settings.
func (a *app) meter() (run.StartMeter, error) {
	prices, err := meter.Prices(a.Now())
	if err != nil {
		return nil, err
	}
	cfg, diags, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil {
		return nil, err
	}
	if diag.HasErrors(diags) {
		return nil, errors.New("the settings are wrong: `issue-assistant check` shows where")
	}
	own := map[string]meter.Override{}
	for id, p := range cfg.Prices {
		own[id] = meter.Override{Input: p.Input, Output: p.Output, CachedInput: p.CachedInput}
	}
	if prices, err = prices.With(own); err != nil {
		return nil, fmt.Errorf("prices of the settings: %w", err)
	}
	return run.WithMeter(prices, a.Now, a.HTTP, http.ProxyFromEnvironment), nil
}

// isolation asks for another user for the engine wherever this process is root or may become it.
func (a *app) isolation() run.Isolation {
	self, err := os.Executable()
	if err != nil {
		self = "" // then sudo is not used
	}
	return run.Isolation{
		Other: true, Sudo: []string{"sudo", "-n", "--"}, Self: self, EUID: os.Geteuid(), EGID: os.Getegid(),
	}
}

// rulesFor is the file of the rules: the one that was named, the repository's own, or the built-in ones.
func (a *app) rulesFor(named, temp string) (string, error) {
	if named != "" {
		return named, nil
	}
	text, file, err := a.rules()
	if err != nil || file != "" {
		return file, err
	}
	file = filepath.Join(temp, "issue-assistant-rules.md")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("write the built-in rules: %w", err)
	}
	return file, nil
}
