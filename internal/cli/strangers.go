package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// routerFile is the events' workflow, whose runs are counted.
const routerFile = "issue-assistant.yml"

// Bounds of what is read of a day. Above maxLostAsked, lost runs count as started without a look at their jobs.
const (
	fullList     = 1000 // what GitHub lists of filtered runs at most
	maxLostAsked = 20
)

// limitStranger takes the task from a decision when a person without write access has no run left today. The issue is
// labeled instead, and the sweep picks it up on a later day. A history that cannot be read starts nothing. Outside of a
// workflow there is no history.
func (e *eventRun) limitStranger(ctx context.Context, d task.Decision) task.Decision {
	f := e.facts
	if d.Task == task.None || d.Refused || f.Event == "workflow_dispatch" || f.Sender.Maintainer || e.Getenv("GITHUB_RUN_ID") == "" {
		return d
	}
	limits := e.settings.config.Limits
	l := task.StrangerLimits{PerPerson: limits.RunsPerPersonPerDay, PerDay: limits.RunsPerDay}
	before, err := e.attempts(ctx)
	ok, why := false, "today's runs cannot be read: that needs `actions: read`, or GitHub does not answer"
	if err == nil {
		ok, why = task.Place(e.self().RunID, f.Sender.Login, before, l, func(login string) bool {
			return e.maintainer(ctx, task.Person{Login: login, Bot: strings.HasSuffix(login, "[bot]")})
		})
	} else {
		e.sayf("today's runs cannot be read: %v", err)
	}
	if ok {
		return d
	}
	line := fmt.Sprintf("**%s** of #%d · not started: %s; it is labeled `%s` and waits for the sweep of a later day\n", d.Task, f.Issue.Number, why, config.LabelNeedsTriage)
	if err := ghaction.FromEnv(e.Getenv, e.Stderr, e.Stderr).AddSummary(line); err != nil {
		e.sayf("the summary cannot be written: %v", err)
	}
	d.Task, d.Reason = task.None, "limit: "+why
	if !f.Issue.Has(config.LabelNeedsTriage) && !slices.Contains(d.Add, config.LabelNeedsTriage) {
		d.Add = append(d.Add, config.LabelNeedsTriage)
	}
	return d
}

// attempts are the runs of today, before this one, that have started an engine or may still do so.
func (e *eventRun) attempts(ctx context.Context) ([]task.Attempt, error) {
	y, m, day := e.Now().UTC().Date()
	today := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	self := e.self().RunID
	if self == 0 {
		return nil, errors.New("this run has no number")
	}
	kept, err := e.recordsSince(ctx, today)
	if err != nil {
		return nil, err
	}
	runs, err := e.runsSince(ctx, today, "", "")
	if err != nil {
		return nil, err
	}
	var out []task.Attempt
	if len(runs) >= fullList {
		// The oldest are missing: this person's own, and whatever is still on its way.
		for _, f := range [][2]string{{e.facts.Sender.Login, ""}, {"", "in_progress"}, {"", "queued"}} {
			more, err := e.runsSince(ctx, today, f[0], f[1])
			if err != nil {
				return nil, err
			}
			runs = append(runs, more...)
			if f[0] != "" && len(more) >= fullList {
				// More events in a day than GitHub lists: which came first is not known, so none gets a place.
				for n := range e.settings.config.Limits.RunsPerPersonPerDay {
					out = append(out, task.Attempt{Run: int64(-1 - n), Actor: f[0]})
				}
			}
		}
	}
	seen := map[int64]bool{}
	asked := 0
	for _, r := range runs {
		if seen[r.ID] || r.ID >= self {
			continue
		}
		seen[r.ID] = true
		started := kept[r.ID] || r.Status != "completed"
		if !started && r.Conclusion != "success" && r.Conclusion != "skipped" {
			// Lost: its machine or its upload failed. Its jobs say whether an engine was started.
			asked++
			started = true
			if asked <= maxLostAsked {
				if started, err = e.startedEngine(ctx, e.client, r); err != nil {
					return nil, err
				}
			}
		}
		if started {
			out = append(out, task.Attempt{Run: r.ID, Actor: r.Actor.Login})
		}
	}
	if len(runs) >= fullList {
		for id := range kept { // records of runs that are not listed: whose they are is not known
			if !seen[id] && id < self {
				out = append(out, task.Attempt{Run: id, Actor: fmt.Sprintf("run %d", id)})
			}
		}
	}
	return out, nil
}

// runsSince lists the runs of the events' workflow.
func (e *eventRun) runsSince(ctx context.Context, since time.Time, actor, status string) ([]ghapi.Run, error) {
	filter := ghapi.RunFilter{Workflow: routerFile, Actor: actor, Status: status, Since: since}
	runs, err := e.client.Runs(ctx, filter)
	if ghapi.IsGone(err) { // it has another name here
		filter.Workflow = ""
		runs, err = e.client.Runs(ctx, filter)
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs of today: %w", err)
	}
	var out []ghapi.Run
	for _, r := range runs {
		if filter.Workflow != "" || r.Path == ".github/workflows/"+routerFile {
			out = append(out, r)
		}
	}
	return out, nil
}

// recordsSince are the runs that have left a usage artifact since a moment, whatever their attempt.
func (e *eventRun) recordsSince(ctx context.Context, since time.Time) (map[int64]bool, error) {
	const attempts = 10
	kept := map[int64]bool{}
	for attempt := 1; attempt <= attempts; attempt++ {
		for n := 100; ; n *= 4 {
			list, err := e.client.Artifacts(ctx, ledger.ArtifactName(attempt), n)
			if err != nil {
				return nil, fmt.Errorf("list the records of today: %w", err)
			}
			if len(list) == n && !list[n-1].CreatedAt.Before(since) {
				continue // there are more of today
			}
			for _, a := range list {
				if !a.CreatedAt.Before(since) {
					kept[a.RunID] = true
				}
			}
			if len(list) == 0 {
				return kept, nil
			}
			break
		}
	}
	return kept, nil
}
