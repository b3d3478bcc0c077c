package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/task"
	spending "github.com/issue-assistant/issue-assistant/internal/usage"
)

// vendorFile is where Claude's action leaves its execution file: in RUNNER_TEMP, or in a folder claude-execution-*
// there.
const (
	vendorFile   = "claude-execution-output.json"
	vendorFolder = "claude-execution-"
)

// usageGiven takes the flags whose values are what they should be, and says which are not.
func (a *app) usageGiven(f usageFlags) spending.Given {
	var g spending.Given
	for _, flag := range []struct {
		name, value string
		take        func(string) bool
	}{
		{"task", f.task, func(s string) bool { g.Task = spending.Word(s); return g.Task != "" }},
		{"issue", f.issue, func(s string) bool { return wholeNumber(s, spending.MaxIssue, &g.Issue) }},
		{"engine", f.engine, func(s string) bool {
			if !slices.Contains(engine.Names, engine.Name(s)) {
				return false
			}
			g.Engine = engine.Name(s)
			return true
		}},
		{"model", f.model, func(s string) bool {
			if enginelog.ModelName(s) == enginelog.UnknownModel {
				return false
			}
			g.Model = s
			return true
		}},
		{"max-turns", f.maxTurns, func(s string) bool { return wholeNumber(s, enginelog.MaxTurns, &g.MaxTurns) }},
		{"max-budget-usd", f.maxBudget, func(s string) bool {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || !(x > 0 && x <= enginelog.MaxDollars) {
				return false
			}
			g.MaxBudgetUSD = x
			return true
		}},
		{"ended", f.ended, func(s string) bool {
			if !engine.Ended(s).Valid() {
				return false
			}
			g.Ended = engine.Ended(s)
			return true
		}},
	} {
		if value := strings.TrimSpace(flag.value); value != "" && !flag.take(value) {
			a.sayf("--%s is left out: it cannot have this value", flag.name)
		}
	}
	return g
}

// wholeNumber reads a number from 1 to limit.
func wholeNumber(s string, limit int, to *int) bool {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > limit {
		return false
	}
	*to = n
	return true
}

// usageLimits are the limits that `engine` left for the steps of this job.
func (a *app) usageLimits() spending.Given {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return spending.Given{}
	}
	l, err := readLimits(filepath.Join(temp, task.LimitsFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return spending.Given{}
	case err != nil:
		a.sayf("the limits of the task are unknown: %s", err)
		return spending.Given{}
	}
	return spending.Given{
		Task: string(l.Task), Engine: l.Engine, Model: l.Model, MaxTurns: l.MaxTurns, MaxBudgetUSD: l.MaxBudgetUSD,
	}
}

// maxLimits bounds what is read of a file that another step may have changed.
const maxLimits = 64 << 10

func readLimits(path string) (l task.Limits, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return l, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLimits {
		return l, fmt.Errorf("%s is not what the step `engine` wrote", task.LimitsFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	return task.DecodeLimits(data)
}

// readUsage reads the execution file, or finds one when none is named.
func (a *app) readUsage(name string, o spending.Options, limits spending.Given) spending.Run {
	none := spending.Run{Ended: engine.NoData, CostBasis: spending.BasisUnknown}
	if o.Model == "" {
		o.Model = limits.Model
	}
	path := a.path(strings.TrimSpace(name))
	if path == "" {
		if path = a.findExecution(); path == "" {
			a.sayf("no execution file: --execution-file is empty and RUNNER_TEMP holds none")
			return none
		}
		a.sayf("--execution-file is empty: using %s", path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		a.sayf("the execution file cannot be read: %s", err)
		return none
	case !info.Mode().IsRegular():
		a.sayf("the execution file %s is no file", path)
		return none
	case a.isStale(path, info.ModTime()):
		a.sayf("the execution file %s is older than this job: an earlier one left it", path)
		none.Detail = "the file is older than the job"
		return none
	}
	file, err := os.Open(path)
	if err != nil {
		a.sayf("the execution file cannot be read: %s", err)
		return none
	}
	defer func() { _ = file.Close() }() // it was only read
	run, err := spending.Read(file, info.Size(), o)
	if err != nil {
		a.sayf("the execution file cannot be read to its end: %s", err)
	}
	return run
}

// sameAge is how far the times of two files may differ that were written by one step.
const sameAge = 2 * time.Second

// findExecution returns the newest execution file in RUNNER_TEMP; of equally old ones our own, then the one in the
// place that Claude's action documents.
func (a *app) findExecution() string {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return ""
	}
	candidates := []string{filepath.Join(temp, executionFileName), filepath.Join(temp, vendorFile)}
	entries, err := os.ReadDir(temp)
	if err != nil {
		a.sayf("RUNNER_TEMP cannot be read: %s", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), vendorFolder) && e.IsDir() {
			candidates = append(candidates, filepath.Join(temp, e.Name(), vendorFile))
		}
	}
	best, newest := "", time.Time{}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if best == "" || info.ModTime().Sub(newest) > sameAge {
			best, newest = path, info.ModTime()
		}
	}
	return best
}

// A file in RUNNER_TEMP that is older than the job comes from an earlier one: an action that fails before its engine
// starts may still name it. The runner writes the event's file when the job starts, `engine` the limits before `run`.
const (
	eventSlack  = time.Minute
	limitsSlack = 5 * time.Second
)

func (a *app) isStale(path string, written time.Time) bool {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return false
	}
	rel, err := filepath.Rel(temp, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	older := func(than string, slack time.Duration) bool {
		info, err := os.Stat(than)
		return err == nil && written.Add(slack).Before(info.ModTime())
	}
	event := a.Getenv("GITHUB_EVENT_PATH")
	return (event != "" && older(event, eventSlack)) || older(filepath.Join(temp, task.LimitsFile), limitsSlack)
}
