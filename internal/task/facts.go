package task

import (
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

// Facts is all that the choice of a task rests on. Package cli collects it; nothing here reads anything.
type Facts struct {
	Event         string // GITHUB_EVENT_NAME
	Action        string
	Ref           string // GITHUB_REF; empty when it is not known
	DefaultBranch string // empty when it is not known
	Fork          bool   // the repository, or the head of a pull request, is a fork
	Asked         string // workflow_dispatch: the task that was asked for
	Now           time.Time

	Issue   Issue
	Sender  Person
	Comment Comment // issue_comment; else zero
	Changed bool    // edited: the part that the assistant reads is another one than before

	Thread     []Entry  // the comments so far, oldest first, with the one of the event
	ClosedByUs bool     // the last closing was the assistant's
	FormLabels []string // labels that the issue form's answers choose
	ReopenDays int      // how long after a release a reporter is heard
}

// Person is an account. A deleted one has the login ghost.
type Person struct {
	Login      string
	Bot        bool
	Maintainer bool // may write to the repository, by the permission API
}

// Issue is the issue of the event as it is now.
type Issue struct {
	Number      int
	Author      Person
	PullRequest bool
	Closed      bool
	Locked      bool
	Gone        string // deleted, transferred, …; empty while it is there
	Labels      []string
}

// Has reports whether the issue carries a label.
func (i Issue) Has(label string) bool {
	return slices.ContainsFunc(i.Labels, func(l string) bool { return config.FoldLabel(l) == config.FoldLabel(label) })
}

// Comment is the comment of the event.
type Comment struct {
	ID     int64
	Author Person
	Body   string
	Before string // edited: the text before
	Ours   bool   // it carries a marker of the assistant
}

func (f Facts) lastClosing() (Entry, bool) {
	closings := f.marks(MarkClosedUnanswered, MarkClosedDuplicate, MarkReleased)
	if len(closings) == 0 {
		return Entry{}, false
	}
	return closings[len(closings)-1], true
}

func (f Facts) late(since time.Time) bool {
	return !since.IsZero() && f.Now.Sub(since) > time.Duration(f.ReopenDays)*24*time.Hour
}

// handled reports whether an answer of the assistant names the event's comment as what it answers, or as read.
func (f Facts) handled() bool {
	return slices.ContainsFunc(f.Thread, func(e Entry) bool { return e.Mark != nil && e.Mark.To == f.Comment.ID && f.Comment.ID != 0 })
}

func (f Facts) read(m *Mark) bool { return m.HasRead && f.Comment.ID != 0 && f.Comment.ID <= m.Read }

func (f Facts) waits() bool {
	return f.Issue.Has(config.LabelNeedsInfo) || f.Issue.Has(config.LabelStale)
}

// marks are the assistant's comments of the given kinds, oldest first.
func (f Facts) marks(kinds ...string) []Entry { return marked(f.Thread, kinds...) }

func (f Facts) missing(labels ...string) []string {
	var out []string
	for _, l := range labels {
		if !f.Issue.Has(l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

func (f Facts) present(labels ...string) []string {
	var out []string
	for _, l := range labels {
		if f.Issue.Has(l) {
			out = append(out, l)
		}
	}
	return out
}

// same compares accounts by login. Two deleted accounts are both called ghost and need not be the same.
func same(a, b Person) bool {
	return a.Login != "" && !strings.EqualFold(a.Login, Ghost) && strings.EqualFold(a.Login, b.Login)
}

// Ghost is the login that GitHub shows for a deleted account.
const Ghost = "ghost"
