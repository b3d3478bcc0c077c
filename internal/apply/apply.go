// Package apply does on GitHub what a checked answer says: one comment with its marker, labels on that issue, nothing
// else. It trusts nothing in the answer.
//
// The order of effects is such that a run that broke off anywhere is completed by running it again: the comment comes
// first and is found again by its marker, labels follow and are set by what is missing.
package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Reader is what apply reads of GitHub; [ghapi.Client] is one.
type Reader interface {
	Repo() string
	ServerURL() string
	Issue(ctx context.Context, number int) (ghapi.Issue, error)
	Comments(ctx context.Context, number int) ([]ghapi.Comment, error)
	Events(ctx context.Context, number int) ([]ghapi.Event, error)
	Discussion(ctx context.Context, number int) (ghapi.Discussion, error)
	Labels(ctx context.Context) ([]ghapi.Label, error)
	CanWrite(ctx context.Context, login string) (bool, error)
	HasCommit(ctx context.Context, sha string) (bool, error)
	Viewer(ctx context.Context) (ghapi.User, error)
}

// Options say which answer is applied and within which rules.
type Options struct {
	Task    task.Name
	Issue   int
	Comment int64 // the last comment that the AI had read, which context names; 0: there was none
	Edit    bool  // an edit woke the task: what is new has no comment of its own
	ByHand  bool  // workflow_dispatch: an answer is given again where one stands
	Engine  engine.Name
	Raw     string   // the answer as the engine gave it
	Session string   // the record of the run's conversation, as `run` gave it; empty: none
	Secrets []string // values of the environment's secrets, none of which may be posted
	Commit  string   // the analyzed commit; empty: references are left out

	Config   config.Config
	Labels   config.LabelFile
	Texts    comment.Catalog
	Checkout Checkout // nil: references are left out
	Now      time.Time
}

// Result is what came of it, in sentences for the job summary. Words of strangers stand in them as code only.
type Result struct {
	Written  []string
	Skipped  []string
	Repaired []string
	Refused  string           // one line: nothing was posted
	Comment  *comment.Comment // what was posted, or would have been
	Notes    []string         // for the maintainer, not for the issue
	Warnings []string         // what GitHub did not do, as plain text
	Writes   []ghapi.WriteResult
}

// ErrPrincipal says that the answer itself could not be written. A re-run of the job posts it without a new AI run.
var ErrPrincipal = errors.New("the answer could not be written")

// ErrEmpty is an answer that did not arrive: GitHub drops an output that holds a secret.
var ErrEmpty = errors.New("the answer is empty: GitHub drops an output that holds a secret; nothing was posted")

// run is one application.
type run struct {
	Options
	r       Reader
	w       ghapi.Writer
	answer  answer.Answer
	labels  answer.Labels
	issue   ghapi.Issue
	all     []ghapi.Comment
	owner   comment.Owner
	own     []comment.Own
	known   []ghapi.Label
	policy  sanitize.Policy
	result  Result
	failure error

	followed   map[int]int // candidate for a duplicate -> the open end of its chain
	events     []ghapi.Event
	eventsRead bool
}

// Apply checks the answer and writes what it says. A refused answer is no error: nothing that an issue can cause is.
// Errors are GitHub's, the machine's, or [ErrEmpty].
func Apply(ctx context.Context, r Reader, w ghapi.Writer, o Options) (Result, error) {
	a := &run{Options: o, r: r, w: w}
	err := a.apply(ctx)
	a.result.Writes = w.Results()
	return a.result, errors.Join(err, a.failure)
}

func (a *run) apply(ctx context.Context) error {
	if strings.TrimSpace(a.Raw) == "" {
		return ErrEmpty
	}
	if !a.parse() {
		return nil
	}
	if ok, err := a.read(ctx); !ok || err != nil {
		return err
	}
	switch a.Task {
	case task.Triage, task.Reanalyze:
		return a.analysis(ctx)
	case task.FollowUp:
		return a.followUp(ctx)
	case task.MaintainerReply:
		return a.maintainerReply(ctx)
	case task.ReleaseReply:
		return a.releaseReply(ctx)
	case task.None:
	}
	return fmt.Errorf("the task %q has no answer", a.Task)
}

// parse turns the raw text into an answer, or refuses it.
func (a *run) parse() bool {
	a.labels = answer.LabelsOf(a.Labels, a.Config.Labels.Deny)
	parsed, repairs, err := answer.Parse(a.Task, a.Raw, a.labels)
	for _, r := range repairs {
		a.result.Repaired = append(a.result.Repaired, repairLine(r))
	}
	if err != nil {
		a.refuse(err.Error())
		return false
	}
	if found := sanitize.FindSecrets(a.Raw+"\n"+strings.Join(parsed.Texts(), "\n"), a.Secrets); len(found) > 0 {
		// Neither the answer nor what was repaired in it may be shown.
		a.result.Repaired = nil
		a.refuse("the answer holds a secret (" + found[0].Kind + ")")
		return false
	}
	a.answer = parsed
	return true
}

func (a *run) refuse(why string)  { a.result.Refused = why }
func (a *run) skip(why string)    { a.result.Skipped = append(a.result.Skipped, why) }
func (a *run) wrote(what string)  { a.result.Written = append(a.result.Written, what) }
func (a *run) note(text string)   { a.result.Notes = append(a.result.Notes, text) }
func (a *run) repair(text string) { a.result.Repaired = append(a.result.Repaired, text) }

// read looks at the issue as it is now. ok is false when nothing can be written to it, with the reason in the result.
func (a *run) read(ctx context.Context) (ok bool, err error) {
	a.issue, err = a.r.Issue(ctx, a.Issue)
	switch kind := ghapi.KindOf(err); {
	case kind == ghapi.KindGone || kind == ghapi.KindNotFound:
		a.skip("the issue is gone")
		return false, nil
	case kind == ghapi.KindMoved:
		a.skip("the issue was moved to another repository")
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the issue: %w", err)
	case a.issue.IsPullRequest:
		a.refuse(fmt.Sprintf("#%d is a pull request", a.Issue))
		return false, nil
	case a.issue.Locked:
		a.skip("the issue is locked")
		return false, nil
	case a.issue.State == "closed" && a.Task != task.ReleaseReply:
		a.skip("the issue is closed")
		return false, nil
	case a.issue.HasLabel(config.LabelOff) && !a.ByHand:
		a.skip("the assistant is switched off on this issue")
		return false, nil
	}
	if a.all, err = a.r.Comments(ctx, a.Issue); err != nil {
		return false, fmt.Errorf("read the comments: %w", err)
	}
	if a.owner, err = comment.OwnerOf(ctx, a.r, a.all); err != nil {
		return false, err
	}
	a.own = comment.Owned(a.all, a.owner)
	if a.known, err = a.r.Labels(ctx); err != nil {
		return false, fmt.Errorf("read the labels: %w", err)
	}
	owner, repo, _ := strings.Cut(a.r.Repo(), "/")
	a.policy = sanitize.Policy{
		Owner: owner, Repo: repo, ServerURL: a.r.ServerURL(), Hosts: a.Config.Links.Hosts,
		Issues: map[int]bool{}, Discussions: map[int]bool{},
	}
	if login := comment.Login(a.issue.Author); login != task.Ghost && !a.issue.Author.IsBot() {
		a.policy.Reporter = login
	}
	if a.Commit != "" {
		a.policy.SHAs = []string{a.Commit}
	}
	return true, nil
}

// maintainer reports whether an account may write. An error there means no.
func (a *run) maintainer(ctx context.Context) func(string) bool {
	return func(login string) bool {
		ok, err := a.r.CanWrite(ctx, login)
		return err == nil && ok
	}
}

// page is what the comments of this run have in common.
func (a *run) page(kind string) comment.Page {
	p := comment.Page{
		Marker: comment.Marker{
			Kind: kind, To: a.Comment, Read: a.Comment, HasRead: true, Engine: string(a.Engine), Session: a.record(),
		},
		Policy: a.policy, Mention: a.policy.Reporter, Engine: engineTitle(a.Engine),
		RemindDays: a.Config.Lifecycle.RemindDays, CloseDays: a.Config.Lifecycle.CloseDays,
	}
	return p
}

// labeled is the page of an answer that chooses labels, and the labels.
func (a *run) labeled(kind string, c answer.Choice) (comment.Page, []string) {
	labels := a.chosen(c)
	p := a.page(kind)
	p.Marker.Language = a.language(c.Language)
	p.Labels = labels
	return p, labels
}

// noteLabels gives the AI's reason for the labels.
func (a *run) noteLabels(c answer.Choice, labels []string) {
	if c.LabelRationale != "" && len(labels) > 0 {
		a.note("labels: " + a.rationale(c.LabelRationale))
	}
}

func engineTitle(n engine.Name) string {
	switch n {
	case engine.Codex:
		return "Codex"
	case engine.Gemini:
		return "Gemini"
	case engine.Claude:
	}
	return "Claude"
}
