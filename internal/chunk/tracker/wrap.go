package tracker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

// Wrapped is the outcome of a wrap-up and what was released on the way.
type Wrapped struct {
	Chunk int `json:"chunk"`
	chunk.WrapResult
	Released []int `json:"released,omitempty"`
}

// Live reports whether nothing but work under way keeps a chunk from its end.
func (w Wrapped) Live() bool {
	for _, u := range w.Unmet {
		if u != chunk.UnmetClaimOpen && u != chunk.UnmetPullOpen && u != chunk.UnmetFeedbackOpen {
			return false
		}
	}
	return true
}

// Status says how far a chunk is; nothing but what others have done is written.
func (t *Tracker) Status(ctx context.Context, c *Chunk) (chunk.State, chunk.WrapResult, error) {
	l, err := t.observe(ctx, c)
	if err != nil {
		return chunk.State{}, chunk.WrapResult{}, err
	}
	s := c.View(l.reading)
	return s, chunk.WrapUp(s.Chunk, s.Facts), nil
}

// Wrap releases what a limit ends, checks every condition, and finishes a chunk that has none left. The error is a
// principal write that failed, or an outage; the result says then what is known.
func (t *Tracker) Wrap(ctx context.Context, c *Chunk, o PollOptions) (Wrapped, error) {
	out := Wrapped{Chunk: c.ID, WrapResult: chunk.WrapResult{State: chunk.StateNotWrapped, Unmet: []chunk.Unmet{chunk.UnmetClaimUnknown}}}
	if c.State == chunk.Failed {
		return out, fmt.Errorf("chunk %d: %w", c.ID, errFailed)
	}
	t.ran(c, o)
	l, err := t.observe(ctx, c)
	if err != nil {
		return out, err
	}
	if l.reading.Followups, err = t.followups(ctx, c); err != nil {
		return out, err
	}
	if s := c.View(l.reading); o.DueOnly && c.State != chunk.Wrapping && c.State != chunk.Releasing {
		if v := chunk.Poll(s); v.Action != chunk.Wrap && v.Action != chunk.Release {
			out.WrapResult = chunk.WrapUp(s.Chunk, s.Facts)
			t.saveSoft(ctx, c)
			return out, nil
		}
	}
	t.releaseDue(ctx, c, l, &out)
	check := func() chunk.WrapResult {
		s := c.View(l.reading)
		out.WrapResult = chunk.WrapUp(s.Chunk, s.Facts)
		return out.WrapResult
	}
	alone, err := t.alone(ctx, c.ID)
	if err != nil {
		return out, err
	}
	if !alone {
		l.reading.Armed = false // the schedule is another chunk's
	}
	if c.State == chunk.Wrapped {
		l.reading.Armed = alone && t.disarm(ctx)
		check()
		return out, nil
	}
	if r := check(); r.State == chunk.StateNotWrapped {
		c.State = chunk.Waiting
		switch {
		case len(c.Gate.FailedWrites) > 0:
			c.State = chunk.Releasing
		case !slices.ContainsFunc(r.Unmet, func(u chunk.Unmet) bool {
			return (Wrapped{WrapResult: chunk.WrapResult{Unmet: []chunk.Unmet{u}}}).Live()
		}):
			c.State = chunk.Wrapping
		case !c.Fixed:
			c.State = chunk.Open
		}
		t.saveSoft(ctx, c)
		return out, nil
	}
	c.State = chunk.Wrapping
	if err := t.finish(ctx, c, l); err != nil {
		t.saveSoft(ctx, c)
		check()
		return out, err
	}
	if r := check(); r.State != chunk.StateWrapped {
		t.saveSoft(ctx, c)
		return out, nil
	}
	if err := t.add(ctx, c, chunk.Event{Do: chunk.DoWrapped}, "Wrapped, ready for reset. "+Figures(&c.Record)+"."); err != nil {
		out.WrapResult = chunk.WrapResult{State: chunk.StateNotWrapped, Unmet: []chunk.Unmet{chunk.UnmetWriteFailed}}
		t.saveSoft(ctx, c)
		return out, err
	}
	t.saveSoft(ctx, c)
	if err := t.Writer.Close(ctx, c.ID, "wrapped", "completed", 0); err != nil {
		t.Warn(err.Error())
	}
	return out, nil
}

// releaseDue gives back what a limit or the wait ends, and tries again what could not be written before.
func (t *Tracker) releaseDue(ctx context.Context, c *Chunk, l *look, out *Wrapped) {
	if c.State == chunk.Wrapped {
		return
	}
	s := c.View(l.reading)
	s.Chunk.Paused = false // a person's pause holds the agent, not the giving back
	var reason chunk.ReleaseReason
	if v := chunk.Poll(s); v.Action == chunk.Release {
		reason = chunk.ReleaseLimit
		if v.Reason == chunk.WaitedTooLong {
			reason = chunk.ReleaseWaited
		}
	}
	for _, h := range slices.Clone(c.Claims) {
		why := reason
		if slices.Contains(c.Gate.FailedWrites, h.Issue) && why == "" {
			why = chunk.ReleaseWriteFailed
		}
		if h.State != chunk.ClaimOpen || why == "" || slices.Contains(l.reading.Unknown, h.Issue) {
			continue
		}
		if err := t.Release(ctx, c, h.Issue, why, ""); err != nil {
			t.Warn(err.Error()) // it stays in the way of the wrap-up
			continue
		}
		out.Released = append(out.Released, h.Issue)
	}
}

// finish does the two finishing acts, and takes the labels and locks off what is done.
func (t *Tracker) finish(ctx context.Context, c *Chunk, l *look) error {
	for _, h := range c.Claims {
		t.tidy(ctx, h, c.ID)
	}
	if len(c.Pulls) > 0 {
		if err := t.add(ctx, c, chunk.Event{Do: chunk.DoEmptied}, "All of it is done: the list of pull requests is empty."); err != nil {
			return err
		}
	}
	if l.reading.Armed {
		l.reading.Armed = t.disarm(ctx)
	}
	c.Gate.Armed = l.reading.Armed
	return nil
}

// tidy ends the lock of an issue that is done, and takes the label off one that was given back when that write failed.
// Nothing waits for it.
func (t *Tracker) tidy(ctx context.Context, h chunk.Held, id int) {
	issue := h.Issue
	i, err := t.Client.Issue(ctx, issue)
	if ghapi.IsGone(err) || (err == nil && h.State != chunk.ClaimDone && !i.HasLabel(config.LabelClaimed)) {
		return
	}
	if err != nil {
		t.Warn(err.Error())
		return
	}
	if h.State != chunk.ClaimDone {
		if free, err := t.free(ctx, i); err != nil || !free {
			return
		}
	}
	markers, err := t.markers(ctx, issue)
	if err != nil {
		t.Warn(err.Error())
		return
	}
	if holder, held := chunk.Holder(markers, t.Now()); held && holder.Chunk != strconv.Itoa(id) {
		return
	}
	// The label first: once the lock is open, it may be another's.
	if err := t.Writer.RemoveLabel(ctx, issue, "claimed", config.LabelClaimed); err != nil && !ghapi.IsGone(err) {
		t.Warn(err.Error())
	}
	for _, m := range markers {
		if m.Trusted && !m.Withdrawn && m.Chunk == strconv.Itoa(id) {
			if err := t.end(ctx, issue, m, "done", chunk.MarkReleased, "An agent's claim: done."); err != nil {
				t.Warn(err.Error())
			}
		}
	}
}

// Release gives a claim back: its lock says so, the label goes, the log notes it. Text is the checkpoint for whoever
// comes next, cleaned by the caller. What the chunk does not hold is no error.
func (t *Tracker) Release(ctx context.Context, c *Chunk, issue int, reason chunk.ReleaseReason, text string) error {
	if h := c.Find(issue); h == nil || h.State != chunk.ClaimOpen {
		return nil
	}
	markers, err := t.markers(ctx, issue)
	if err != nil && !ghapi.IsGone(err) {
		return err
	}
	return t.release(ctx, c, issue, markers, reason, text)
}

func (t *Tracker) release(ctx context.Context, c *Chunk, issue int, markers []chunk.Marker, reason chunk.ReleaseReason, text string) error {
	words := "An agent's claim, released: " + string(reason) + "."
	if text != "" {
		words += "\n\n" + text
	}
	fail := func(err error) error {
		if !slices.Contains(c.Gate.FailedWrites, issue) {
			c.Gate.FailedWrites = append(c.Gate.FailedWrites, issue)
		}
		c.State = chunk.Releasing
		return fmt.Errorf("issue %d could not be released: %w", issue, err)
	}
	// The label first: once the lock is open, it may be another's.
	if err := t.Writer.RemoveLabel(ctx, issue, "claimed", config.LabelClaimed); err != nil && !ghapi.IsGone(err) {
		t.Warn(err.Error())
	}
	for _, m := range markers {
		if m.Trusted && !m.Withdrawn && m.Chunk == strconv.Itoa(c.ID) {
			if err := t.end(ctx, issue, m, "release", chunk.MarkReleased, words); err != nil {
				return fail(err)
			}
		}
	}
	if err := t.add(ctx, c, chunk.Event{Do: chunk.DoReleased, Issue: issue, Reason: string(reason)}, fmt.Sprintf("Released issue %d: %s.", issue, reason)); err != nil {
		return fail(err)
	}
	c.Gate.FailedWrites = slices.DeleteFunc(c.Gate.FailedWrites, func(n int) bool { return n == issue })
	return nil
}

// followups counts the findings of a chunk that carry its claim although its record does not hold them.
func (t *Tracker) followups(ctx context.Context, c *Chunk) (int, error) {
	n := 0
	for _, f := range c.Findings {
		if !f.Filed || f.Issue == 0 || c.Find(f.Issue) != nil {
			continue
		}
		markers, err := t.markers(ctx, f.Issue)
		if ghapi.IsGone(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if holder, ok := chunk.Holder(markers, t.Now()); ok && holder.Chunk == strconv.Itoa(c.ID) {
			n++
		}
	}
	return n, nil
}

// Draft is a finding to be filed. Title and text are cleaned by the caller.
type Draft struct {
	Key         string // the same finding again has the same key
	Title, Text string
	Pull        int // the pull request whose review brought it up; 0: none
}

// Note files a finding as an issue of its own, with the label backlog and never claimed. What cannot be filed is noted in
// the log and stays in the way of the wrap-up until it is filed.
func (t *Tracker) Note(ctx context.Context, c *Chunk, d Draft) (int, error) {
	for _, f := range c.Findings {
		if f.Key == d.Key && f.Filed {
			return f.Issue, nil
		}
	}
	by := strconv.Itoa(c.ID)
	if d.Pull > 0 {
		by += "/" + strconv.Itoa(d.Pull)
	}
	if n, err := t.filed(ctx, c, d.Key); err != nil {
		return 0, err
	} else if n != 0 { // an earlier run filed it, and its answer was lost
		return n, t.add(ctx, c, chunk.Event{Do: chunk.DoFiled, Issue: n, Key: d.Key, Reason: by}, fmt.Sprintf("Filed a finding as issue %d.", n))
	}
	mark := chunk.FormatMark(chunk.MarkFinding, "by", by, "key", d.Key, "nonce", t.Nonce())
	body := sanitize.Truncate(mark+"\n\n"+d.Text, sanitize.MaxComment)
	made, err := t.Writer.CreateIssue(ctx, "finding", ghapi.IssueDraft{
		Title: d.Title, Body: strings.TrimSpace(body), Marker: mark, Labels: []string{config.LabelBacklog},
	})
	e := chunk.Event{Do: chunk.DoFiled, Issue: made.Number, Key: d.Key, Reason: by}
	words := fmt.Sprintf("Filed a finding as issue %d.", made.Number)
	if err != nil {
		e.Do, e.Issue, words = chunk.DoNoticed, 0, "A finding could not be filed."
	}
	if err2 := t.add(ctx, c, e, words); err2 != nil {
		c.Apply(e)
		c.Seq--
		if err == nil {
			t.Warn(err2.Error())
		}
	}
	return made.Number, err
}

// filed looks for the issue of a finding among those that nobody has triaged yet.
func (t *Tracker) filed(ctx context.Context, c *Chunk, key string) (int, error) {
	list, err := t.Client.OpenIssuesWithLabel(ctx, config.LabelBacklog)
	if err != nil {
		return 0, err
	}
	for _, i := range list {
		m, ok := chunk.ParseMark(i.Body)
		by, _, _ := strings.Cut(m.Values["by"], "/")
		if !ok || m.Kind != chunk.MarkFinding || m.Values["key"] != key || by != strconv.Itoa(c.ID) {
			continue
		}
		if ours, err := t.trusts(ctx, i.Author); err != nil || ours {
			return i.Number, err
		}
	}
	return 0, nil
}
