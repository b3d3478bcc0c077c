package tracker

import (
	"context"
	"fmt"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// arm switches the poll's schedule on, where the repository has one.
func (t *Tracker) arm(ctx context.Context, c *Chunk) {
	w, err := t.Client.Workflow(ctx, PollFile)
	if err == nil && w.State != "active" {
		err = t.Writer.EnableWorkflow(ctx, "poll", PollFile)
	}
	if err != nil && !ghapi.IsGone(err) {
		t.Warn("arm_failed: the poll's schedule could not be switched on: " + err.Error())
	}
	c.Gate.Armed = err == nil
}

// disarm switches it off and looks: a schedule that stays on costs a job every half hour.
func (t *Tracker) disarm(ctx context.Context) (armed bool) {
	active, known := t.active(ctx)
	if known && !active {
		return false
	}
	err := t.Writer.DisableWorkflow(ctx, "poll", PollFile)
	if active, known = t.active(ctx); known {
		if active {
			t.Warn(fmt.Sprintf("disarm_failed: the poll's schedule is still on: %v", err))
		}
		return active
	}
	if err != nil {
		t.Warn("disarm_failed: " + err.Error())
	}
	return err != nil
}

// active reports whether the poll's schedule is on; known is false when that could not be read.
func (t *Tracker) active(ctx context.Context) (active, known bool) {
	w, err := t.Client.Workflow(ctx, PollFile)
	if ghapi.IsGone(err) {
		return false, true
	}
	return w.State == "active", err == nil
}

// alone reports whether no other chunk needs the schedule.
func (t *Tracker) alone(ctx context.Context, id int) (bool, error) {
	issues, err := t.Client.OpenIssuesWithLabel(ctx, config.LabelChunk)
	for _, i := range issues {
		if r, ok := chunk.ParseRecord(i.Body); i.Number != id && (!ok || r.State != chunk.Wrapped) {
			return false, err
		}
	}
	return err == nil, err
}

// Wake switches the poll's schedule on again when a chunk waits: a disabled workflow sees no events itself.
func (t *Tracker) Wake(ctx context.Context) (bool, error) {
	w, err := t.Client.Workflow(ctx, PollFile)
	if ghapi.IsGone(err) || w.State == "active" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	issues, err := t.Client.OpenIssuesWithLabel(ctx, config.LabelChunk)
	if err != nil || len(issues) == 0 {
		return false, err
	}
	return true, t.Writer.EnableWorkflow(ctx, "poll", PollFile)
}
