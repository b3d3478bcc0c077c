package task

import (
	"fmt"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Decision is the task to start and what to write before it.
type Decision struct {
	Task    Name
	Reason  string   // why this task, or why none
	Refused bool     // the run itself is wrong: nothing may go on
	Add     []string // labels to add, those that are missing only
	Remove  []string // labels to remove, those that are there only
	Reopen  bool     // reopen the issue and say so in a comment
	React   string   // reaction to the comment: the answer to a command
	Comment int64    // the comment that woke the task; 0 for none
}

// maxFollowUps is how often the assistant goes on with a reporter by itself.
const maxFollowUps = 2

// Route chooses the task of an event.
func Route(f Facts) Decision {
	if d, done := refuse(f); done {
		return d
	}
	if f.Event == "workflow_dispatch" {
		return f.dispatched()
	}
	if reason := f.skip(); reason != "" {
		return none(reason)
	}
	d := f.route()
	if d.Task != None && f.Issue.Has(config.LabelOff) {
		d.Task, d.Reason = None, "switched off on this issue by the label "+config.LabelOff
	}
	if f.Event == "issue_comment" && d.Comment == 0 && d.Task != None {
		d.Comment = f.Comment.ID
	}
	return d
}

func none(reason string) Decision { return Decision{Task: None, Reason: reason} }

// refuse stops a run of another branch: its workflow and settings are not the reviewed ones.
func refuse(f Facts) (Decision, bool) {
	if f.Ref == "" || f.DefaultBranch == "" || f.Ref == "refs/heads/"+f.DefaultBranch {
		return Decision{}, false
	}
	return Decision{
		Task: None, Refused: true,
		Reason: fmt.Sprintf("this run is of %s; the assistant runs on the default branch %s only", shorten.To(maxShown, f.Ref), shorten.To(maxShown, f.DefaultBranch)),
	}, true
}

// dispatched is a run by hand: the chosen task, no other conditions.
func (f Facts) dispatched() Decision {
	if f.Issue.Gone != "" {
		return none("the issue is gone: " + f.Issue.Gone)
	}
	if f.Issue.PullRequest {
		return Decision{Task: None, Refused: true, Reason: fmt.Sprintf("#%d is a pull request, not an issue", f.Issue.Number)}
	}
	asked := Name(f.Asked)
	if asked == "" {
		asked = Triage
	}
	if !slices.Contains(Names, asked) {
		_, err := Parse(f.Asked)
		reason := fmt.Sprintf("the task %q cannot be asked for", shorten.To(maxShown, f.Asked))
		if err != nil {
			reason = err.Error()
		}
		return Decision{Task: None, Refused: true, Reason: reason}
	}
	return Decision{Task: asked, Reason: "asked for by hand", Add: f.missing(f.FormLabels...)}
}

// skip names what makes an event none of the assistant's business.
func (f Facts) skip() string {
	switch {
	case f.Fork:
		return "fork: no secrets, skipped"
	case f.Event != "issues" && f.Event != "issue_comment":
		return fmt.Sprintf("the event %s starts no task", shorten.To(maxShown, f.Event))
	case f.Issue.PullRequest:
		return "a pull request, not an issue"
	case f.Sender.Bot:
		return "the event is a bot's"
	case f.Event == "issue_comment" && f.Comment.Author.Bot:
		return "the comment is a bot's"
	case f.Event == "issue_comment" && f.Comment.Ours:
		return "the comment is the assistant's own"
	case f.Action == "deleted" || f.Action == "transferred":
		return "nothing is left to do: " + f.Action
	case f.Issue.Gone != "":
		return "the issue is gone: " + f.Issue.Gone
	case f.Issue.Locked:
		return "the issue is locked"
	case f.Issue.Has(config.LabelChunk):
		return "the issue is the record of an agent's chunk"
	}
	return ""
}

func (f Facts) route() Decision {
	switch f.Event + "." + f.Action {
	case "issues.opened":
		return f.opened()
	case "issues.edited":
		return f.edited()
	case "issue_comment.created":
		if f.Issue.Closed {
			return f.commentOnClosed()
		}
		return f.comment()
	case "issue_comment.edited":
		return f.commentEdited()
	}
	return none(fmt.Sprintf("%s starts no task when it is %s", shorten.To(maxShown, f.Event), shorten.To(maxShown, f.Action)))
}

func (f Facts) opened() Decision {
	d := Decision{Task: Triage, Reason: "a new issue", Add: f.missing(append(slices.Clone(f.FormLabels), config.LabelNeedsTriage)...)}
	switch {
	case f.Issue.Closed:
		d = none("the issue is closed already")
	case f.Issue.Author.Maintainer:
		d.Task, d.Reason = None, "the author is a maintainer"
	case len(f.marks(MarkAnalysis)) > 0:
		d = none("the issue has its analysis already")
	}
	return d
}

// edited is the reporter's way to answer by changing the issue itself.
func (f Facts) edited() Decision {
	switch {
	case f.Issue.Closed:
		return none("an edit of a closed issue")
	case !same(f.Sender, f.Issue.Author):
		return none("the edit is not the reporter's")
	case !f.waits():
		return none("the issue does not wait for its reporter")
	case !f.Changed:
		return none("the edit changes nothing that the assistant reads")
	}
	return f.answered(true)
}

func (f Facts) comment() Decision {
	var d Decision
	switch {
	case f.handled():
		d = none("the comment is answered already")
	case f.Sender.Maintainer && len(Commands(f.Comment.Body)) > 0:
		d = f.commanded(Commands(f.Comment.Body))
	case same(f.Comment.Author, f.Issue.Author):
		d = f.byReporter()
	case f.Sender.Maintainer:
		d = f.byMaintainer()
	default:
		d = none("the comment is neither the reporter's nor a maintainer's")
	}
	// Any word of a person stops the closing of a possible duplicate.
	d.Remove = append(d.Remove, f.present(config.LabelPossible)...)
	return d
}

func (f Facts) byReporter() Decision {
	switch {
	case !f.waits() && !f.answersRun():
		return none("the issue does not wait for its reporter")
	case Thanks(f.Comment.Body):
		return none("thanks alone answer no question: the issue still waits")
	}
	return f.answered(false)
}

// answersRun reports whether an earlier comment of the reporter took the issue out of its waiting and no answer has read
// it yet: its run may be past reading, and what the reporter adds meanwhile must not be lost. When that run did read it,
// the one that starts now finds nothing new before it costs anything.
func (f Facts) answersRun() bool {
	return slices.ContainsFunc(Unread(f.Thread), func(e Entry) bool {
		return e.ID < f.Comment.ID && same(e.By, f.Issue.Author) && !Thanks(e.Body)
	})
}

// answered takes the issue out of its waiting and goes on when that is due.
func (f Facts) answered(edit bool) Decision {
	d := Decision{Task: FollowUp, Reason: "the reporter answered", Remove: f.present(config.LabelNeedsInfo, config.LabelStale)}
	if due, why := followUpDue(f.Thread, f.Issue.Author.Login, edit); !due {
		d.Task, d.Reason = None, why
	}
	return d
}

func (f Facts) byMaintainer() Decision {
	d := Decision{Task: MaintainerReply, Reason: "a maintainer commented", Remove: f.present(config.LabelStale)}
	switch {
	case f.Issue.Has(config.LabelNeedsInfo):
		d.Task, d.Reason = None, "the issue waits for its reporter already"
	case f.Issue.Author.Maintainer:
		d.Task, d.Reason = None, "the issue is a maintainer's"
	case Thanks(f.Comment.Body):
		d.Task, d.Reason = None, "thanks alone ask for nothing"
	}
	return d
}

func (f Facts) commentEdited() Decision {
	if f.Sender.Maintainer && same(f.Sender, f.Comment.Author) {
		if added := newCommands(f.Comment.Before, f.Comment.Body); len(added) > 0 {
			return f.commanded(added)
		}
	}
	switch {
	case f.Issue.Closed:
		return none("an edit on a closed issue")
	case !same(f.Sender, f.Issue.Author) || !same(f.Comment.Author, f.Issue.Author):
		return none("the edit is not the reporter's of a comment of theirs")
	case !f.waits():
		return none("the issue does not wait for its reporter")
	case !f.Changed || Thanks(f.Comment.Body):
		return none("the edit changes nothing that the assistant reads")
	}
	return f.answered(true)
}

// commanded obeys a maintainer. off wins over analyze.
func (f Facts) commanded(commands []Command) Decision {
	d := Decision{Task: None, Reason: "commands: " + words(commands), React: "+1", Comment: f.Comment.ID}
	for _, c := range commands {
		switch c.Word {
		case CommandAnalyze:
			if f.Issue.Closed {
				d.React, d.Reason = "confused", "a closed issue is not analyzed"
				continue
			}
			d.Task, d.Reason, d.React = Reanalyze, "a maintainer asked for an analysis", "eyes"
		case CommandWait:
			if !f.Issue.Closed {
				d.Add = append(d.Add, f.missing(config.LabelNeedsInfo)...)
			}
		case CommandOff:
			d.Add = append(d.Add, f.missing(config.LabelOff)...)
		case CommandFresh: // the session's decision reads the comment itself
		default:
			d.React, d.Reason = "confused", "an unknown command"
		}
	}
	if slices.ContainsFunc(commands, func(c Command) bool { return c.Word == CommandOff }) && d.Task != None {
		d.Task, d.Reason, d.React = None, "switched off by the same comment", "+1"
	}
	return d
}

// commentOnClosed hears the reporter where the assistant itself closed the issue.
func (f Facts) commentOnClosed() Decision {
	switch commands := Commands(f.Comment.Body); {
	case f.Sender.Maintainer && len(commands) > 0:
		return f.commanded(commands)
	case !same(f.Comment.Author, f.Issue.Author):
		return none("a comment on a closed issue by somebody else than its reporter")
	case !f.ClosedByUs:
		return none("the issue was closed by a person")
	case Thanks(f.Comment.Body):
		return none("thanks alone reopen nothing")
	}
	last, ok := f.lastClosing()
	if !ok {
		return none("the assistant did not say why it closed the issue")
	}
	switch {
	case last.Mark.Kind == MarkReleased && f.late(last.At):
		return none(fmt.Sprintf("the release is more than %d days ago", f.ReopenDays))
	case last.Mark.Kind == MarkReleased && f.read(last.Mark):
		return none("the comment is answered already")
	case last.Mark.Kind == MarkReleased:
		return Decision{Task: ReleaseReply, Reason: "the reporter commented after the release"}
	case !f.Issue.Has(config.LabelStale) || len(f.marks(MarkClosedUnanswered)) == 0:
		return none("a person decides about this closed issue")
	case Settled(f.Comment.Body):
		return none("the reporter says that it may stay closed")
	}
	d := f.answered(false)
	d.Reopen = true
	d.Add = f.missing(config.LabelNeedsTriage)
	return d
}
