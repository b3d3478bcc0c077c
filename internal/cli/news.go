package cli

import (
	"context"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

const reasonNothingNew = "nothing new"

// stepNothingNew starts nothing when the assistant has answered already what this run was started for: a re-run of all
// jobs, or an earlier run that had read this one's comment. A run by hand is asked for and always starts; an edit leaves
// no trace in the thread and is left to `event`.
func (a *app) stepNothingNew(ctx context.Context, r *engineRun) error {
	if a.Getenv("GITHUB_RUN_ID") == "" || a.Getenv("GITHUB_EVENT_PATH") == "" || r.issue == "" || a.Getenv("GITHUB_EVENT_NAME") == "workflow_dispatch" {
		return nil
	}
	p, err := readPayload(a.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return usage(err)
	}
	issue, thread, err := a.threadOf(ctx, r.issue)
	if err != nil {
		// The next step needs the issue, too, and says what is wrong with it.
		a.sayf("what the assistant has answered cannot be read: %v", err)
		return nil
	}
	if why := nothingNew(r.task, p, issue, thread); why != "" {
		return a.notReady(r, reasonNothingNew, why)
	}
	return nil
}

// nothingNew says why a run has nothing to read; empty: it has.
func nothingNew(name task.Name, p payload, issue ghapi.Issue, thread []task.Entry) string {
	const answered = "the assistant has answered this already"
	// A release-reply that broke off has commented and not reopened: running it again completes it.
	unfinished := name == task.ReleaseReply && issue.State == "closed"
	if p.Comment != nil && p.Action == "created" && !unfinished && slices.ContainsFunc(thread, func(e task.Entry) bool { return e.Mark != nil && e.Mark.To == p.Comment.ID }) {
		return answered
	}
	switch {
	case name == task.MaintainerReply && issue.HasLabel(config.LabelNeedsInfo):
		return "the issue waits for its reporter already"
	case name == task.ReleaseReply && !unfinished:
		return "the issue is open"
	case p.Action == "edited":
	case name == task.FollowUp:
		if due, why := task.FollowUpLeft(thread, comment.Login(issue.Author), false); !due {
			return why
		}
	case name == task.Triage && analyzed(thread) && len(task.Unread(thread)) == 0:
		return answered
	}
	return ""
}

func analyzed(thread []task.Entry) bool {
	return slices.ContainsFunc(thread, func(e task.Entry) bool { return e.Mark != nil && e.Mark.Kind == task.MarkAnalysis })
}

// threadOf reads an issue and its comments.
func (a *app) threadOf(ctx context.Context, issue string) (i ghapi.Issue, thread []task.Entry, err error) {
	number, err := issueNumber(issue)
	if err != nil {
		return i, nil, err
	}
	client, err := a.github()
	if err != nil {
		return i, nil, err
	}
	i, err = client.Issue(ctx, number)
	if err != nil {
		return i, nil, err
	}
	comments, err := client.Comments(ctx, number)
	if err != nil {
		return i, nil, err
	}
	owner, err := comment.OwnerOf(ctx, client, comments)
	if err != nil {
		return i, nil, err
	}
	may := func(login string) bool {
		ok, err := client.CanWrite(ctx, login)
		return err == nil && ok // an error there means no
	}
	return i, comment.Thread(comments, owner, may), nil
}
