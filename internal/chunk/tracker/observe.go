package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// look reads everything that a chunk depends on and brings its log up to date with what others have done. An error means
// that GitHub could not be read: nothing may be decided then.
type look struct {
	*Tracker
	c       *Chunk
	reading chunk.Reading
	entries []chunk.Entry
}

func (t *Tracker) observe(ctx context.Context, c *Chunk) (*look, error) {
	l := &look{Tracker: t, c: c, reading: chunk.Reading{Paused: c.Paused, BudgetLeft: true, Now: t.Now()}}
	if c.State == chunk.Wrapped || c.State == chunk.Failed {
		return l, nil
	}
	for i := range c.Claims {
		if err := l.claim(ctx, c.Claims[i]); err != nil {
			return nil, err
		}
	}
	if err := l.strayLabels(ctx); err != nil {
		return nil, err
	}
	if err := l.pulls(ctx); err != nil {
		return nil, err
	}
	for _, x := range c.comments { // what people write on the chunk issue is for the agent
		l.comment(c.ID, x)
	}
	if active, known := t.active(ctx); known {
		l.reading.Armed = active
	} else {
		l.reading.Armed = c.Gate.Armed
	}
	c.Gate.FailedWrites = slices.DeleteFunc(c.Gate.FailedWrites, func(n int) bool {
		h := c.Find(n)
		return h == nil || h.State != chunk.ClaimOpen
	})
	l.reading.Digest = c.DigestOf(l.entries)
	if d := l.reading.Digest; d.Last.After(c.Gate.LastChange) {
		c.Gate.LastChange = d.Last
	}
	if l.reading.Digest.Progress {
		c.Gate.NoProgress = 0
	}
	return l, nil
}

// note adds an event of the log for something that others did. When it cannot be written, the next tick sees it again;
// this one goes on with what it knows.
func (l *look) note(ctx context.Context, e chunk.Event, words string) {
	if err := l.add(ctx, l.c, e, words); err != nil {
		l.Warn(err.Error())
		l.c.Apply(e)
		l.c.Seq-- // not in the log
	}
}

// claim looks at one claimed issue.
func (l *look) claim(ctx context.Context, h chunk.Held) error {
	if h.State != chunk.ClaimOpen && h.State != chunk.ClaimDone {
		return nil
	}
	issue, err := l.Client.Issue(ctx, h.Issue)
	switch {
	case ghapi.IsGone(err):
		if h.State == chunk.ClaimOpen {
			l.note(ctx, chunk.Event{Do: chunk.DoReleased, Issue: h.Issue, Reason: string(chunk.ReleaseGone)}, fmt.Sprintf("Released issue %d: it is gone.", h.Issue))
		}
		return nil
	case ghapi.KindOf(err) == ghapi.KindForbidden:
		l.reading.Unknown = append(l.reading.Unknown, h.Issue)
		return nil
	case err != nil:
		return err
	case issue.State == "closed":
		if h.State == chunk.ClaimOpen {
			l.note(ctx, chunk.Event{Do: chunk.DoDone, Issue: h.Issue}, fmt.Sprintf("Issue %d is closed: done.", h.Issue))
			l.entries = append(l.entries, chunk.Entry{Item: h.Issue, ID: -int64(h.Issue), At: issue.ClosedAt})
		}
		return nil
	case h.State == chunk.ClaimDone:
		l.note(ctx, chunk.Event{Do: chunk.DoReopened, Issue: h.Issue}, fmt.Sprintf("Issue %d is open again.", h.Issue))
	}
	list, err := l.Client.Comments(ctx, h.Issue)
	if err != nil {
		return err
	}
	held, err := l.keep(ctx, h, issue, list)
	if err != nil || !held {
		return err
	}
	return l.changes(ctx, issue, list)
}

// keep makes sure that the chunk still holds an issue, renews the lease, and repairs the label.
func (l *look) keep(ctx context.Context, h chunk.Held, issue ghapi.Issue, list []ghapi.Comment) (bool, error) {
	markers, err := l.markersOf(ctx, list)
	if err != nil {
		return false, err
	}
	released := func(reason chunk.ReleaseReason) (bool, error) {
		if issue.HasLabel(config.LabelClaimed) && len(list) >= issue.Comments {
			if err := l.Writer.RemoveLabel(ctx, h.Issue, "claimed", config.LabelClaimed); err != nil {
				l.Warn(err.Error())
			}
		}
		l.note(ctx, chunk.Event{Do: chunk.DoReleased, Issue: h.Issue, Reason: string(reason)}, fmt.Sprintf("Released issue %d: %s.", h.Issue, reason))
		return false, nil
	}
	id := strconv.Itoa(l.c.ID)
	holder, held := chunk.Holder(markers, l.Now())
	if held && holder.Chunk != id {
		l.note(ctx, chunk.Event{Do: chunk.DoTakenOut, Issue: h.Issue, Reason: string(chunk.ReleaseLease)}, fmt.Sprintf("Another chunk has taken issue %d over.", h.Issue))
		return false, nil
	}
	if !held {
		var mine *chunk.Marker
		for i, m := range markers {
			if m.Trusted && m.Chunk == id && m.CommentID >= h.Lock {
				mine = &markers[i]
			}
		}
		switch {
		case mine == nil:
			// Deleted by a person, or the list lags behind.
			if _, err := l.Client.Comment(ctx, h.Lock); ghapi.IsGone(err) {
				return released(chunk.ReleaseHuman)
			} else if err != nil {
				return false, err
			}
			return true, nil
		case mine.State == chunk.MarkWithdrawn: // the claim was given up, its entry in the log was not known
			return released(chunk.ReleaseWriteFailed)
		case mine.Withdrawn:
			return released(chunk.ReleaseHuman)
		}
		// The lease ran out and nobody has taken over: a new claim, behind all others.
		if _, won, err := l.lock(ctx, l.c, h.Issue); err != nil {
			l.Warn(err.Error())
			return true, nil
		} else if !won {
			l.note(ctx, chunk.Event{Do: chunk.DoTakenOut, Issue: h.Issue, Reason: string(chunk.ReleaseLease)}, fmt.Sprintf("Another chunk has taken issue %d over.", h.Issue))
			return false, nil
		}
	}
	since := l.c.Started // of the claim: an earlier one may have lost its label
	for _, x := range list {
		if held && x.ID == holder.CommentID {
			since = x.CreatedAt
		}
	}
	if gone, err := l.labelTaken(ctx, issue, since); err != nil {
		return false, err
	} else if gone {
		if err := l.release(ctx, l.c, h.Issue, markers, chunk.ReleaseHuman, ""); err != nil {
			l.Warn(err.Error()) // tried again at the next tick
		}
		return false, nil
	}
	if held && holder.LeaseUntil.Sub(l.Now()) < chunk.LeaseTime/2 {
		holder.LeaseUntil = l.Now().Add(chunk.LeaseTime)
		if err := l.end(ctx, h.Issue, holder, "renew", chunk.MarkLive, claimWords(l.c.ID)); err != nil {
			l.Warn(fmt.Sprintf("the lease of #%d could not be renewed: %v", h.Issue, err))
		}
	}
	return true, nil
}

// labelTaken reports whether somebody took the label off, which means: give it back. A label that was never there, because
// its write failed, is put on again.
func (l *look) labelTaken(ctx context.Context, issue ghapi.Issue, since time.Time) (bool, error) {
	if issue.HasLabel(config.LabelClaimed) {
		return false, nil
	}
	events, err := l.Client.Events(ctx, issue.Number)
	if err != nil {
		return false, err
	}
	last := ""
	for _, e := range events {
		if strings.EqualFold(e.Label, config.LabelClaimed) && (e.Kind == "labeled" || e.Kind == "unlabeled") && !e.CreatedAt.Before(since) {
			last = e.Kind
		}
	}
	if last == "unlabeled" {
		return true, nil
	}
	if err := l.Writer.AddLabels(ctx, issue.Number, "claimed", config.LabelClaimed); err != nil {
		l.Warn(err.Error())
	}
	return false, nil
}

// free reports whether no chunk holds an issue. A list that lags behind may lack the lock of another: its label, taken
// off, would end that claim.
func (t *Tracker) free(ctx context.Context, i ghapi.Issue) (bool, error) {
	list, err := t.Client.Comments(ctx, i.Number)
	if err != nil || len(list) < i.Comments {
		return false, err
	}
	markers, err := t.markersOf(ctx, list)
	_, held := chunk.Holder(markers, t.Now())
	return err == nil && !held, err
}

// strayLabels takes the label off issues that were given back, where that write failed before.
func (l *look) strayLabels(ctx context.Context) error {
	ended := func(h chunk.Held) bool { return h.State == chunk.ClaimReleased || h.State == chunk.ClaimTakenOver }
	if !slices.ContainsFunc(l.c.Claims, ended) {
		return nil
	}
	list, err := l.Client.OpenIssuesWithLabel(ctx, config.LabelClaimed)
	if err != nil {
		return err
	}
	for _, i := range list {
		if h := l.c.Find(i.Number); h == nil || !ended(*h) {
			continue
		}
		if free, err := l.free(ctx, i); err != nil {
			return err
		} else if !free {
			continue
		}
		if err := l.Writer.RemoveLabel(ctx, i.Number, "claimed", config.LabelClaimed); err != nil {
			l.Warn(err.Error())
		}
	}
	return nil
}

// changes collects what happened to an issue.
func (l *look) changes(ctx context.Context, issue ghapi.Issue, list []ghapi.Comment) error {
	from := len(l.entries)
	for _, x := range list {
		l.comment(issue.Number, x)
	}
	if issue.UpdatedAt.Before(l.c.Gate.Cursor.At) {
		return nil
	}
	events, err := l.Client.Timeline(ctx, issue.Number)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.CreatedAt.IsZero() || e.Kind == "commented" {
			continue
		}
		own := l.own(e.Actor, e.CreatedAt) || (e.Label == config.LabelClaimed && strings.EqualFold(e.Actor.Login, l.c.Agent))
		l.entries = append(l.entries, chunk.Entry{Item: issue.Number, ID: e.ID, At: e.CreatedAt, Own: own, Book: own && e.Label == config.LabelClaimed})
	}
	// An edit of the issue itself leaves no event: a time of change that nothing explains.
	if !slices.ContainsFunc(l.entries[from:], func(e chunk.Entry) bool { return e.At.After(issue.UpdatedAt.Add(-explained)) }) {
		l.entries = append(l.entries, chunk.Entry{Item: issue.Number, ID: -int64(issue.Number), At: issue.UpdatedAt})
	}
	return nil
}

// explained is how far apart GitHub notes an event and the change of its issue.
const explained = 3 * time.Second

func (l *look) comment(item int, x ghapi.Comment) {
	m, marked := chunk.ParseMark(x.Body)
	at := x.CreatedAt
	if x.UpdatedAt.After(at) {
		at = x.UpdatedAt
	}
	own := l.own(x.Author, x.CreatedAt)
	if marked && (own || strings.EqualFold(x.Author.Login, l.c.Agent)) {
		own = true
	}
	book := marked && m.Kind != chunk.MarkAgent && m.Kind != chunk.MarkFinding
	l.entries = append(l.entries, chunk.Entry{Item: item, ID: x.ID, At: at, Own: own, Book: book})
}

// own reports whether the chunk itself acted. An app's account is always its own. A person may share their account with
// the agent: theirs is what was written while a run was under way.
func (l *look) own(u ghapi.User, at time.Time) bool {
	if comment.JobToken().Wrote(u) {
		return true
	}
	if !strings.EqualFold(u.Login, l.c.Agent) || u.Login == "" {
		return false
	}
	g := l.c.Gate
	return u.IsBot() || (g.Pending != nil && !at.Before(g.LastRun)) || !at.After(g.RanUntil)
}

// Outage is the word for a failed reading: what package chunk calls the facts about GitHub.
func Outage(err error) string {
	switch kind := ghapi.KindOf(err); {
	case kind == ghapi.KindRateLimited:
		return "rate_limit"
	case kind == ghapi.KindTimeout, errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "unreadable"
}
