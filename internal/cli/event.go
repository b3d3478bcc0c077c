package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

func newEventCmd(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "event",
		Short: "Say which task an event starts",
		Long: "Reads the event that GitHub names (GITHUB_EVENT_NAME, GITHUB_EVENT_PATH), keeps the issue's labels right and says\n" +
			"which task starts. Outputs: issue, task (none when there is nothing to do), reason, comment.",
		GroupID: groupWorkflows,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.event(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing")
	return cmd
}

// eventRun collects the facts of one event.
type eventRun struct {
	*app
	payload  payload
	client   *ghapi.Client
	settings settings
	facts    task.Facts
	owner    comment.Owner
	own      []comment.Own
	issue    ghapi.Issue
}

func (a *app) event(ctx context.Context, dry bool) error {
	e := eventRun{app: a, owner: comment.JobToken()}
	var err error
	if e.payload, err = readPayload(a.Getenv("GITHUB_EVENT_PATH")); err != nil {
		return usage(withHint(err, "set GITHUB_EVENT_NAME and GITHUB_EVENT_PATH, as a runner does"))
	}
	if err := e.fromPayload(); err != nil {
		return usage(err)
	}
	d := task.Route(e.facts)
	// Most events are nobody's business: nothing is read for them.
	if !d.Refused && e.worthReading() {
		if d, err = e.read(ctx); err != nil {
			return err
		}
	}
	if d.Refused {
		return usage(withHint(errors.New(d.Reason), "start the workflow on the default branch, for an issue"))
	}
	if e.client != nil {
		d = e.limitStranger(ctx, d)
	}
	var failed error
	if e.client != nil {
		failed = e.write(ctx, d, dry)
	}
	e.wake(ctx, dry)
	a.sayf("#%d: %s (%s)", e.facts.Issue.Number, d.Task, d.Reason)
	woke := ""
	if d.Comment != 0 {
		woke = strconv.FormatInt(d.Comment, 10)
	}
	issue := ""
	if e.facts.Issue.Number > 0 {
		issue = strconv.Itoa(e.facts.Issue.Number)
	}
	if err := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).SetOutputs(
		ghaction.Output{Name: "issue", Value: issue},
		ghaction.Output{Name: "task", Value: string(d.Task)},
		ghaction.Output{Name: "reason", Value: d.Reason},
		ghaction.Output{Name: "comment", Value: woke},
	); err != nil {
		return failure(errors.Join(err, failed))
	}
	if failed != nil {
		return failure(failed)
	}
	return nil
}

// fromPayload fills what the event itself says.
func (e *eventRun) fromPayload() error {
	p := e.payload
	e.facts = task.Facts{
		Event: e.Getenv("GITHUB_EVENT_NAME"), Action: p.Action, Ref: e.Getenv("GITHUB_REF"), DefaultBranch: p.Repository.DefaultBranch,
		Fork: p.fork(), Now: e.Now(), Sender: personOf(p.Sender),
	}
	if e.facts.Event == "workflow_dispatch" {
		n, err := issueNumber(p.input("issue"))
		if err != nil || n == 0 {
			return fmt.Errorf("the input issue: %q is no issue's number", p.input("issue"))
		}
		e.facts.Issue.Number, e.facts.Fork = n, false
		for _, name := range []string{"task", "mode"} {
			if v := p.input(name); v != "" {
				e.facts.Asked = v
			}
		}
		return nil
	}
	if p.PullRequest != nil {
		e.facts.Issue.Number = p.PullRequest.Number
	}
	if i := p.Issue; i != nil {
		e.facts.Issue = task.Issue{
			Number: i.Number, Author: personOf(i.User), PullRequest: i.PullRequest != nil, Closed: i.State == "closed", Locked: i.Locked,
		}
		for _, l := range i.Labels {
			e.facts.Issue.Labels = append(e.facts.Issue.Labels, l.Name)
		}
	}
	if c := p.Comment; c != nil {
		e.facts.Comment = task.Comment{ID: c.ID, Author: personOf(c.User), Body: c.Body, Before: c.Body, Ours: comment.Carries(c.Body)}
		if p.Changes.Body != nil {
			e.facts.Comment.Before = p.Changes.Body.From
			e.facts.Changed = differs(p.Changes.Body.From, c.Body)
		}
	} else if p.Issue != nil {
		e.facts.Changed = (p.Changes.Body != nil && differs(p.Changes.Body.From, p.Issue.Body)) ||
			(p.Changes.Title != nil && differs(p.Changes.Title.From, p.Issue.Title))
	}
	return nil
}

// differs compares as the AI would read: hidden and invisible parts and white space do not count.
func differs(a, b string) bool {
	read := func(s string) string { return strings.Join(strings.Fields(sanitize.Material(s)), " ") }
	return read(a) != read(b)
}

func personOf(u *payloadUser) task.Person {
	if u == nil || u.Login == "" {
		return task.Person{Login: task.Ghost}
	}
	return task.Person{Login: u.Login, Bot: u.Type == "Bot" || strings.HasSuffix(u.Login, "[bot]")}
}

// worthReading reports whether the event, by itself, may start a task or change a label.
func (e *eventRun) worthReading() bool {
	f := e.facts
	if f.Event == "workflow_dispatch" {
		return true
	}
	if f.Fork || f.Issue.Number < 1 || f.Issue.PullRequest || f.Issue.Locked || f.Sender.Bot || f.Comment.Author.Bot || f.Comment.Ours {
		return false
	}
	switch f.Event + "." + f.Action {
	case "issues.opened", "issues.edited", "issue_comment.created", "issue_comment.edited":
		return true
	}
	return false
}

// read asks GitHub for the issue as it is now, for permissions and for the comments so far, then decides.
func (e *eventRun) read(ctx context.Context) (d task.Decision, err error) {
	if e.settings, err = e.app.settings(); err != nil {
		return d, err
	}
	if e.client, err = e.github(); err != nil {
		return d, err
	}
	f := &e.facts
	f.ReopenDays = e.settings.config.Lifecycle.ReopenDays
	e.issue, err = e.client.Issue(ctx, f.Issue.Number)
	switch kind := ghapi.KindOf(err); {
	case kind == ghapi.KindGone, kind == ghapi.KindNotFound:
		f.Issue.Gone = "deleted, or converted to a discussion"
	case kind == ghapi.KindMoved:
		f.Issue.Gone = "transferred to another repository"
	case err != nil:
		return d, failure(fmt.Errorf("read the issue: %w", err))
	}
	if f.Issue.Gone != "" {
		e.client = nil
		return task.Route(*f), nil
	}
	i := e.issue
	f.Issue = task.Issue{
		Number: i.Number, Author: task.Person{Login: comment.Login(i.Author), Bot: i.Author.IsBot()}, PullRequest: i.IsPullRequest,
		Closed: i.State == "closed", Locked: i.Locked, Labels: i.Labels,
	}
	f.FormLabels = task.FormLabels(i.Body, e.settings.config.Forms.AreaField, e.settings.labels)
	if f.Event == "workflow_dispatch" {
		return task.Route(*f), nil
	}
	f.Issue.Author.Maintainer = e.maintainer(ctx, f.Issue.Author)
	f.Sender.Maintainer = e.maintainer(ctx, f.Sender)
	if err := e.readThread(ctx); err != nil {
		return d, failure(err)
	}
	return task.Route(*f), nil
}

// maintainer asks for the permission. An error there means no.
func (e *eventRun) maintainer(ctx context.Context, p task.Person) bool {
	if p.Bot || p.Login == "" || p.Login == task.Ghost {
		return false
	}
	ok, err := e.client.CanWrite(ctx, p.Login)
	if err != nil {
		e.sayf("the permission of an account could not be read, taken as none: %v", err)
	}
	return err == nil && ok
}

func (e *eventRun) readThread(ctx context.Context) error {
	f := &e.facts
	if e.issue.Comments == 0 && f.Event == "issues" {
		return nil
	}
	comments, err := e.client.Comments(ctx, f.Issue.Number)
	if err != nil {
		return fmt.Errorf("read the comments: %w", err)
	}
	if e.owner, err = comment.OwnerOf(ctx, e.client, comments); err != nil {
		return err
	}
	e.own = comment.Owned(comments, e.owner)
	f.Thread = comment.Thread(comments, e.owner, func(login string) bool { return e.maintainer(ctx, task.Person{Login: login}) })
	if !f.Issue.Closed || len(e.own) == 0 {
		return nil
	}
	events, err := e.client.Events(ctx, f.Issue.Number)
	if err != nil {
		return fmt.Errorf("read the events: %w", err)
	}
	for _, ev := range events {
		if ev.Kind == "closed" {
			f.ClosedByUs = e.owner.Wrote(ev.Actor)
		}
	}
	return nil
}

// write does what the decision says before the task starts. Only reopening, which the reporter waits for, is a
// principal write; a label that GitHub refuses is a warning.
func (e *eventRun) write(ctx context.Context, d task.Decision, dry bool) error {
	var w ghapi.Writer = ghapi.NewWriter(e.client)
	if dry {
		w = ghapi.NewRecorder(nil)
	}
	number := e.facts.Issue.Number
	var failed error
	if d.Reopen {
		failed = e.reopen(ctx, w)
	}
	optional := func(err error) {
		var unknown *ghapi.UnknownLabels
		switch {
		case err == nil:
		case errors.As(err, &unknown):
			e.sayf("%v: issue-assistant labels creates it", unknown)
		default:
			ghaction.FromEnv(e.Getenv, e.Stdout, e.Stderr).Warning("not written: " + err.Error())
		}
	}
	if len(d.Add) > 0 {
		optional(w.AddLabels(ctx, number, "event", d.Add...))
	}
	for _, label := range d.Remove {
		optional(w.RemoveLabel(ctx, number, "event-"+label, label))
	}
	if d.React != "" && d.Comment != 0 {
		optional(w.AddReaction(ctx, number, d.Comment, "command", d.React))
	}
	for _, r := range w.Results() {
		e.sayf("%s: %s", r.Key, r.Verdict)
	}
	return failed
}

// reopen says so first: while the issue is closed, the same event done again completes what broke off.
func (e *eventRun) reopen(ctx context.Context, w ghapi.Writer) error {
	number := e.facts.Issue.Number
	owner, repo, _ := strings.Cut(e.client.Repo(), "/")
	page := comment.Page{
		Marker: comment.Marker{Kind: task.MarkReopened, To: e.facts.Comment.ID, Language: comment.Language(e.own, e.issue.Body+"\n"+e.facts.Comment.Body)},
		Policy: sanitize.Policy{Owner: owner, Repo: repo, ServerURL: e.client.ServerURL(), Reporter: comment.Login(e.issue.Author)},
	}
	page.Mention = page.Policy.Reporter
	said := false
	for _, own := range e.own {
		said = said || (own.Marker.Kind == task.MarkReopened && own.Marker.To == e.facts.Comment.ID)
	}
	if !said {
		c := e.settings.texts.Reopened(page)
		if problems := sanitize.CheckComment(c.Body, c.Policy); len(problems) > 0 {
			return fmt.Errorf("the text for reopening holds a %s: see %s", problems[0].Kind, comment.TextsPath)
		}
		if _, err := w.CreateComment(ctx, number, "reopened", c.Body, c.Marker.String()); err != nil {
			return err
		}
	}
	return w.Reopen(ctx, number, "reopened")
}
