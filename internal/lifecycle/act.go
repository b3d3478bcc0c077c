package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// actor does the steps of decisions.
type actor struct {
	*sweep
	milestones map[string]int // by title; nil: not read yet
}

// do writes the steps of an issue in order and returns what was done and what was only noted. The first write that
// fails ends it, unless the step is optional.
func (a *actor) do(ctx context.Context, w ghapi.Writer, f Facts, steps []Step) (done, notes []string, err error) {
	for _, s := range steps {
		err := a.step(ctx, w, f, s)
		var unknown *ghapi.UnknownLabels
		switch {
		case err == nil:
			done = append(done, s.String())
		case errors.As(err, &unknown):
			notes = append(notes, s.String()+": the repository has no such label, `issue-assistant labels` creates it")
		case s.Optional && !fatal(err):
			notes = append(notes, s.String()+": "+brief(err))
		default:
			return done, notes, fmt.Errorf("%s: %w", s, err)
		}
	}
	return done, notes, nil
}

func (a *actor) step(ctx context.Context, w ghapi.Writer, f Facts, s Step) error {
	n := f.Issue.Number
	switch s.Verb {
	case VerbComment:
		c := a.render(f, s)
		if problems := sanitize.CheckComment(c.Body, c.Policy); len(problems) > 0 {
			return fmt.Errorf("the text holds a %s: see %s", problems[0].Kind, comment.TextsPath)
		}
		_, err := w.CreateComment(ctx, n, s.Marker.Kind, c.Body, c.Marker.String())
		return err
	case VerbLabel:
		return w.AddLabels(ctx, n, "add-"+word(s.Label), s.Label)
	case VerbUnlabel:
		return w.RemoveLabel(ctx, n, "remove-"+word(s.Label), s.Label)
	case VerbClose:
		return w.Close(ctx, n, "sweep", s.Reason, s.Original)
	case VerbReopen:
		return w.Reopen(ctx, n, "sweep")
	case VerbMilestone:
		return a.milestone(ctx, w, n, s.Release)
	}
	return fmt.Errorf("unknown step %q", s.Verb)
}

// word makes a fixed word of a label of the lifecycle, whose names are fixed.
func word(label string) string { return strings.ReplaceAll(label, ":", "-") }

// render fills the text of a comment in the issue's language.
func (a *actor) render(f Facts, s Step) comment.Comment {
	owner, repo, _ := strings.Cut(a.client.Repo(), "/")
	var own []comment.Own
	var words strings.Builder
	words.WriteString(f.Issue.Title + "\n" + f.Issue.Body)
	for _, c := range f.Comments {
		switch c.Role {
		case RoleOwn:
			own = append(own, comment.Own{Comment: c.Comment, Marker: c.Marker})
		case RoleReporter:
			words.WriteString("\n" + c.Body)
		case RoleMaintainer, RoleOther, RoleBot:
		}
	}
	page := comment.Page{
		Marker: s.Marker,
		Policy: sanitize.Policy{Owner: owner, Repo: repo, ServerURL: a.client.ServerURL(), Reporter: comment.Login(f.Issue.Author)},
	}
	page.Marker.Language = comment.Language(own, words.String())
	if f.Issue.Author.Login != "" {
		page.Mention = page.Policy.Reporter
	}
	allow := func(n int) { page.Policy.Issues = map[int]bool{n: true} }
	switch s.Marker.Kind {
	case task.MarkReminder:
		return a.o.Texts.Reminder(page, s.Date)
	case task.MarkClosedUnanswered:
		return a.o.Texts.ClosedUnanswered(page)
	case task.MarkClosedDuplicate:
		allow(s.Marker.Duplicate)
		return a.o.Texts.ClosedDuplicate(page, s.Marker.Duplicate)
	case task.MarkFixed:
		if s.Marker.Pull == 0 {
			url := strings.TrimRight(a.client.ServerURL(), "/") + "/" + a.client.Repo() + "/commit/" + s.Marker.Commit
			page.Policy.SHAs = []string{s.Marker.Commit}
			return a.o.Texts.FixedByCommit(page, s.Marker.Commit, url, a.branch)
		}
		allow(s.Marker.Pull)
		return a.o.Texts.Fixed(page, s.Marker.Pull, a.branch)
	case task.MarkReleased:
		return a.o.Texts.Released(page, s.Release.Tag, s.Release.URL)
	}
	return a.o.Texts.Reopened(page)
}

// milestone puts an issue into the milestone called like the tag; it is made, closed, when there is none.
func (a *actor) milestone(ctx context.Context, w ghapi.Writer, issue int, r ghapi.Release) error {
	if a.milestones == nil {
		list, err := a.client.Milestones(ctx)
		if err != nil {
			return err
		}
		a.milestones = map[string]int{}
		for _, m := range list {
			a.milestones[m.Title] = m.Number
		}
	}
	number, ok := a.milestones[r.Tag]
	if !ok {
		m, err := w.CreateMilestone(ctx, "release", ghapi.Milestone{
			Title: r.Tag, Description: "Issues that this release settles", State: "closed", DueOn: r.PublishedAt,
		})
		if err != nil {
			return err
		}
		number = m.Number
		a.milestones[r.Tag] = number
	}
	return w.SetMilestone(ctx, issue, "release", number)
}

// fatal errors end an issue even at an optional step: nothing more would be written.
func fatal(err error) bool { return ghapi.IsGone(err) }

// brief is an error as the summary may show it: the request's error is one line without control characters.
func brief(err error) string {
	return shorten.To(200, strings.Join(strings.Fields(err.Error()), " "))
}
