package tracker

import (
	"context"
	"fmt"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
)

// Polled is one tick of the gate for one chunk.
type Polled struct {
	Chunk int
	chunk.Verdict
	Changed []int // issues and pull requests that others have changed
	Off     bool  // the schedule is off now
}

// Use is what the agent's logs say it has used.
type Use struct {
	Logs    []chunk.Used
	Context *int64 // of the last call
}

// PollOptions say what is known about the run that the gate allowed last.
type PollOptions struct {
	Ran bool // it has ended well: what it was started for is seen
	Use *Use
	// DueOnly: Wrap does nothing to a chunk that the gate does not send to its end.
	DueOnly bool
	Errors  int // failed readings before this one, as the caller counts them
}

// ran stores the cursor of a run that ended well, and what it used.
func (t *Tracker) ran(c *Chunk, o PollOptions) {
	g := &c.Gate
	if o.Use != nil {
		for _, u := range o.Use.Logs {
			c.AddUse(u)
		}
		if o.Use.Context != nil {
			g.ContextTokens = o.Use.Context
		}
	}
	if o.Ran && g.Pending != nil {
		g.Cursor, g.Pending, g.RanUntil = *g.Pending, nil, t.Now()
	}
}

// Poll makes one tick for each chunk; with an id only for that one. An error is an outage: the verdict says so, too.
func (t *Tracker) Poll(ctx context.Context, id int, o PollOptions) ([]Polled, error) {
	var all []*Chunk
	var err error
	if id == 0 {
		all, err = t.All(ctx)
	} else {
		var c *Chunk
		c, err = t.Load(ctx, id)
		all = []*Chunk{c}
	}
	if err != nil {
		return []Polled{{Chunk: id, Verdict: outage(err, o.Errors)}}, err
	}
	if len(all) == 0 {
		v := chunk.Poll(chunk.State{Facts: chunk.Facts{GitHub: "ok"}})
		return []Polled{{Verdict: v, Off: !t.disarm(ctx)}}, nil
	}
	var out []Polled
	var first error
	disarm := true
	for _, c := range all {
		p, err := t.tick(ctx, c, o)
		if err != nil && first == nil {
			first = err
		}
		// After a release the finishing job disarms, not the gate.
		disarm = disarm && p.Disarm && p.Action != chunk.Release
		out = append(out, p)
	}
	if disarm && id != 0 {
		disarm, err = t.alone(ctx, id)
		if err != nil && first == nil {
			first = err
		}
	}
	if disarm {
		armed := t.disarm(ctx)
		for i := range out {
			out[i].Off = !armed
		}
		for _, c := range all {
			c.Gate.Armed = armed
		}
	}
	for _, c := range all {
		if c.State != chunk.Wrapped {
			t.saveSoft(ctx, c)
		}
	}
	return out, first
}

func outage(err error, before int) chunk.Verdict {
	return chunk.Poll(chunk.State{Facts: chunk.Facts{GitHub: Outage(err), ErrorsInARow: before}})
}

func (t *Tracker) tick(ctx context.Context, c *Chunk, o PollOptions) (Polled, error) {
	t.ran(c, o)
	l, err := t.observe(ctx, c)
	if err != nil {
		before := max(o.Errors, c.Gate.GateErrors)
		c.Gate.GateErrors++
		return Polled{Chunk: c.ID, Verdict: outage(err, before)}, err
	}
	c.Gate.GateErrors, c.Gate.Armed = 0, l.reading.Armed
	state := c.View(l.reading)
	v := chunk.Poll(state)
	if v.Action == chunk.Run && t.Budget != nil && !t.Budget(ctx) { // asked for only when it decides
		state.Facts.BudgetLeft = false
		v = chunk.Poll(state)
	}
	p := Polled{Chunk: c.ID, Verdict: v, Changed: l.reading.Digest.Items}
	switch v.Action {
	case chunk.Run:
		if err := t.run(ctx, c, l); err != nil {
			// Nothing starts that is not written down: the next tick would start it again.
			return Polled{Chunk: c.ID, Verdict: outage(err, o.Errors)}, err
		}
		return p, nil
	case chunk.Wrap:
		c.State = chunk.Wrapping
	case chunk.Release:
		c.State = chunk.Releasing
	case chunk.Quiet, chunk.Hold, chunk.Error:
		if c.Fixed && c.State != chunk.Wrapped && c.State != chunk.Failed {
			c.State = chunk.Waiting
		}
	}
	return p, nil
}

// skew is how far this machine's clock and GitHub's may be apart.
const skew = time.Minute

func fixedWords(c *Chunk) string {
	return fmt.Sprintf("The set is fixed: %d issues. Nothing joins it from now on.", c.OpenClaims())
}

// run notes a run before it starts; the first one fixes the set.
func (t *Tracker) run(ctx context.Context, c *Chunk, l *look) error {
	if !c.Fixed {
		if err := t.add(ctx, c, chunk.Event{Do: chunk.DoFixed}, fixedWords(c)); err != nil {
			return err
		}
		if err := t.again(ctx, c); err != nil {
			return err
		}
	}
	g := &c.Gate
	next := chunk.CursorOf(l.entries, g.Cursor, l.reading.Now.Add(-skew))
	if next.At.IsZero() {
		next.At = l.reading.Now.Add(-skew)
	}
	g.Pending, g.LastRun, g.SeqAtRun = &next, l.Now(), c.Seq
	g.NoProgress++
	c.State = chunk.Working
	return t.Save(ctx, c)
}
