// Package lifecycle decides and does what happens to an issue without AI: reminders, closing, reopening, duplicates, the
// way from a fix to its release, postponed triages, the labels of the repository and accepted findings.
//
// The decisions are functions of facts and of a time: they read nothing and write nothing. What was done already is read
// from the markers of the assistant's comments, so a sweep that broke off is completed by the next one.
package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Role is who wrote a comment, as far as the lifecycle is concerned.
type Role string

// The roles. A reporter with write access is a reporter on the own issue.
const (
	RoleReporter   Role = "reporter"
	RoleMaintainer Role = "maintainer"
	RoleOther      Role = "other"
	RoleBot        Role = "bot"
	RoleOwn        Role = "own" // the assistant, with a marker
)

// Comment is a comment with its author's role.
type Comment struct {
	ghapi.Comment
	Role   Role
	Marker comment.Marker // RoleOwn only
}

// at is when the comment said what it says now: an edit of an answer is an answer.
func (c Comment) at() time.Time {
	if c.UpdatedAt.After(c.CreatedAt) {
		return c.UpdatedAt
	}
	return c.CreatedAt
}

// Facts is everything that the decisions about one issue look at.
type Facts struct {
	Issue    ghapi.Issue
	Comments []Comment     // oldest first
	Events   []ghapi.Event // labeled, unlabeled, closed, reopened; oldest first
	EditedAt time.Time     // the reporter's last edit; zero: never
	Fixes    []Fix         // pull requests that were merged into the default branch and close the issue
	Owner    comment.Owner
}

// Fix is a change on the default branch that settles an issue.
type Fix struct {
	Pull   int    // 0: a commit without a pull request
	Commit string // the merge
	At     time.Time
	About  bool // At is only when the fix was noticed: it was made before
}

// factsOf sorts a history. May says who may write to the repository; it is asked only where the answer counts.
func factsOf(h ghapi.History, owner comment.Owner, branch string, may func(login string) (bool, error)) (Facts, error) {
	f := Facts{Issue: h.Issue, Events: h.Events, Owner: owner}
	reporter := comment.Login(h.Issue.Author)
	same := func(u ghapi.User) bool { return u.Login != "" && strings.EqualFold(u.Login, reporter) }
	if same(h.Editor) {
		f.EditedAt = h.EditedAt
	}
	for _, p := range h.Closers {
		if p.State == "merged" && p.Base == branch && p.MergeCommit != "" {
			f.Fixes = append(f.Fixes, Fix{Pull: p.Number, Commit: p.MergeCommit, At: p.MergedAt})
		}
	}
	for _, c := range h.Comments {
		x := Comment{Comment: c, Role: RoleOther}
		m, marked := comment.ParseMarker(c.Body)
		switch {
		case marked && owner.Wrote(c.Author):
			x.Role, x.Marker = RoleOwn, m
		case c.Author.IsBot():
			x.Role = RoleBot
		case same(c.Author):
			x.Role = RoleReporter
		case c.Author.Login != "" && !task.Thanks(c.Body):
			ok, err := may(c.Author.Login)
			if err != nil {
				return f, err
			}
			if ok {
				x.Role = RoleMaintainer
			}
		}
		f.Comments = append(f.Comments, x)
	}
	slices.SortStableFunc(f.Comments, func(a, b Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return f, nil
}

// own lists the assistant's comments of these kinds, oldest first.
func (f Facts) own(kinds ...string) []Comment {
	var out []Comment
	for _, c := range f.Comments {
		if c.Role == RoleOwn && slices.Contains(kinds, c.Marker.Kind) {
			out = append(out, c)
		}
	}
	return out
}

// Exempt reports whether the assistant leaves the issue alone altogether, and why.
func (f Facts) Exempt(c config.Lifecycle) (bool, string) {
	switch {
	case f.Issue.IsPullRequest:
		return true, "a pull request"
	case f.Issue.Locked:
		return true, "locked"
	case f.Issue.HasLabel(config.LabelOff):
		return true, "switched off"
	}
	if slices.ContainsFunc(c.ExemptLabels, f.Issue.HasLabel) {
		return true, "exempt by its label"
	}
	return false, ""
}

// kept reports whether somebody took the issue on: then it is neither reminded of nor closed for silence or as a duplicate.
func (f Facts) kept() bool { return len(f.Issue.Assignees) > 0 || f.Issue.MilestoneNumber != 0 }

// lastEvent is the newest event of a kind (and label) that passes, or false.
func (f Facts) lastEvent(kind, label string, pass func(ghapi.Event) bool) (ghapi.Event, bool) {
	for _, e := range slices.Backward(f.Events) {
		if e.Kind == kind && (label == "" || strings.EqualFold(e.Label, label)) && (pass == nil || pass(e)) {
			return e, true
		}
	}
	return ghapi.Event{}, false
}

// byPerson passes events that neither the assistant nor another app caused.
func (f Facts) byPerson(e ghapi.Event) bool { return !f.Owner.Wrote(e.Actor) && !e.Actor.IsBot() }

// closedByUs reports whether the last closing was the assistant's.
func (f Facts) closedByUs() bool {
	e, ok := f.lastEvent("closed", "", nil)
	return ok && f.Owner.Wrote(e.Actor)
}

// reopenedAfter reports whether a person opened the issue again after a time.
func (f Facts) reopenedAfter(t time.Time) bool {
	e, ok := f.lastEvent("reopened", "", f.byPerson)
	return ok && !e.CreatedAt.Before(t)
}

// answer is the reporter's newest answer after a time: a comment that is more than thanks, or an edit.
func (f Facts) answer(since time.Time) (at time.Time, id int64, ok bool) {
	for _, c := range f.Comments {
		if c.Role == RoleReporter && c.at().After(since) && !task.Thanks(c.Body) && !c.at().Before(at) {
			at, id, ok = c.at(), c.ID, true
		}
	}
	if f.EditedAt.After(since) && f.EditedAt.After(at) {
		return f.EditedAt, 0, true
	}
	return at, id, ok
}
