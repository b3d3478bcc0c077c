package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// labelLag is how long after a question the assistant may set the label that belongs to it: an answer that came in
// between is an answer.
const labelLag = time.Hour

// asks reports whether a comment starts a period: the assistant's questions, or what a maintainer says. Thanks alone
// never do: they have no role.
func asks(c Comment) bool {
	return c.Role == RoleMaintainer || c.Role == RoleOwn && (c.Marker.Kind == task.MarkAnalysis || c.Marker.Kind == task.MarkFollowUp)
}

// since is when the period began in which the issue waits for its reporter. Its second is the period's identity.
func (f Facts) since() time.Time {
	start := f.Issue.CreatedAt
	later := func(t time.Time) {
		if t.After(start) {
			start = t
		}
	}
	for _, c := range f.Comments {
		if asks(c) {
			later(c.CreatedAt)
		}
	}
	if e, ok := f.lastEvent("labeled", config.LabelNeedsInfo, nil); ok {
		later(f.asked(e))
	}
	if e, ok := f.lastEvent("reopened", "", f.byPerson); ok {
		later(e.CreatedAt)
	}
	return start
}

// asked is the question behind a label of the assistant; a label of a person is the question itself.
func (f Facts) asked(e ghapi.Event) time.Time {
	at := e.CreatedAt
	if !f.Owner.Wrote(e.Actor) {
		return at
	}
	for _, c := range f.Comments {
		if asks(c) && !c.CreatedAt.After(e.CreatedAt) && e.CreatedAt.Sub(c.CreatedAt) <= labelLag {
			at = c.CreatedAt
		}
	}
	return at
}

// notice is the assistant's comment of a kind about the period that began at since.
func (f Facts) notice(kind string, since time.Time) (Comment, bool) {
	for _, c := range f.own(kind) {
		if c.Marker.Since == since.Unix() {
			return c, true
		}
	}
	return Comment{}, false
}

// Waiting decides about an open issue that carries needs-info: reminder, closing, or the end of the waiting.
func Waiting(f Facts, c config.Lifecycle, now time.Time) Decision {
	if f.Issue.State != "open" || !f.Issue.HasLabel(config.LabelNeedsInfo) {
		return Decision{}
	}
	if exempt, why := f.Exempt(c); exempt {
		return Decision{Topic: TopicExempt, Note: why}
	}
	since := f.since()
	if _, _, ok := f.answer(since); ok {
		return Decision{Topic: TopicAnswered, Steps: f.remove(config.LabelStale, config.LabelNeedsInfo)}
	}
	waits := fmt.Sprintf("since %s", since.UTC().Format(time.DateOnly))
	if f.kept() {
		return Decision{Topic: TopicExempt, Note: "assigned or in a milestone, waits " + waits}
	}
	grace := days(max(c.CloseDays-c.RemindDays, 0))
	reminder, reminded := f.notice(task.MarkReminder, since)
	if !reminded {
		if now.Sub(since) < days(c.RemindDays) {
			return Decision{Topic: TopicWaiting, Note: waits, Steps: f.leftover()}
		}
		// The label comes after the reminder: with it alone, a person deleted the reminder. It is not posted again, and
		// without it nothing is closed.
		if e, ok := f.lastEvent("labeled", config.LabelStale, nil); ok && f.Owner.Wrote(e.Actor) && !e.CreatedAt.Before(since) {
			return Decision{Topic: TopicExempt, Note: "its reminder was deleted, waits " + waits}
		}
		return Decision{Topic: TopicReminded, Note: waits, Steps: append([]Step{{
			Verb: VerbComment, Marker: comment.Marker{Kind: task.MarkReminder, Since: since.Unix()}, Date: now.Add(grace),
		}}, optional(f.add(config.LabelStale))...)}
	}
	_, said := f.notice(task.MarkClosedUnanswered, since)
	if !said && (now.Sub(since) < days(c.CloseDays) || now.Sub(reminder.CreatedAt) < grace) {
		return Decision{Topic: TopicWaiting, Note: waits + ", reminded", Steps: optional(f.add(config.LabelStale))}
	}
	d := Decision{Topic: TopicClosed, Note: waits}
	if !said {
		d.Steps = append(d.Steps, say(comment.Marker{Kind: task.MarkClosedUnanswered, Since: since.Unix()}))
	}
	// Both labels stay: with them an answer opens the issue again.
	d.Steps = append(d.Steps, f.add(config.LabelStale)...)
	d.Steps = append(d.Steps, Step{Verb: VerbClose, Reason: "not_planned"})
	return d
}

// leftover takes away the label of an earlier period, unless a person put it there.
func (f Facts) leftover() []Step {
	if e, ok := f.lastEvent("labeled", config.LabelStale, nil); ok && f.byPerson(e) {
		return nil
	}
	return f.remove(config.LabelStale)
}

func optional(steps []Step) []Step {
	for i := range steps {
		steps[i].Optional = true
	}
	return steps
}

// comeback decides about a closed issue: it is opened again when it was closed for silence and its reporter answered, an
// event that was lost. Labels that mean nothing on a closed issue are taken away.
func comeback(f Facts, c config.Lifecycle) Decision {
	if f.Issue.State != "closed" {
		return Decision{}
	}
	if exempt, _ := f.Exempt(c); exempt {
		return Decision{}
	}
	closings := f.own(task.MarkClosedUnanswered, task.MarkClosedDuplicate, task.MarkReleased)
	if len(closings) == 0 || !f.closedByUs() {
		return f.tidy()
	}
	last := closings[len(closings)-1]
	switch last.Marker.Kind {
	case task.MarkClosedUnanswered:
		at, id, ok := f.answer(time.Unix(last.Marker.Since, 0))
		if !ok || !f.Issue.HasLabel(config.LabelStale) || f.settled(id) {
			return Decision{}
		}
		d := Decision{Topic: TopicReopened}
		m := comment.Marker{Kind: task.MarkReopened, To: id}
		if id == 0 {
			m.Since = at.Unix()
		}
		said := false
		for _, r := range f.own(task.MarkReopened) {
			said = said || r.CreatedAt.After(last.CreatedAt) && r.Marker.To == m.To && r.Marker.Since == m.Since
		}
		if !said {
			d.Steps = append(d.Steps, say(m))
		}
		d.Steps = append(d.Steps, Step{Verb: VerbReopen})
		d.Steps = append(d.Steps, optional(f.add(config.LabelNeedsTriage))...)
		d.Steps = append(d.Steps, f.remove(config.LabelNeedsInfo, config.LabelStale)...)
		return d
	case task.MarkClosedDuplicate:
		d := f.tidy()
		for _, x := range f.Comments {
			if x.CreatedAt.After(last.CreatedAt) && (x.Role == RoleReporter || x.Role == RoleMaintainer) && !task.Thanks(x.Body) {
				d.Topic, d.Note = TopicObjection, "somebody wrote after it was closed: a person decides"
			}
		}
		return d
	}
	return f.tidy()
}

// settled reports whether a comment says that nothing more is needed.
func (f Facts) settled(comment int64) bool {
	return slices.ContainsFunc(f.Comments, func(c Comment) bool { return c.ID == comment && comment != 0 && task.Settled(c.Body) })
}

// tidy takes away what a closed issue needs no more. The mark of a fix stays: its release will be told.
func (f Facts) tidy() Decision {
	steps := f.remove(config.LabelNeedsTriage, config.LabelNeedsInfo, config.LabelStale, config.LabelPossible)
	if len(steps) == 0 {
		return Decision{}
	}
	return Decision{Topic: TopicTidied, Steps: optional(steps)}
}
