package cli

import (
	"context"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/comment"
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
	thread, reporter, err := a.threadOf(ctx, r.issue)
	if err != nil {
		// The next step needs the issue, too, and says what is wrong with it.
		a.sayf("what the assistant has answered cannot be read: %v", err)
		return nil
	}
	if why := nothingNew(r.task, p, thread, reporter); why != "" {
		return a.notReady(r, reasonNothingNew, why)
	}
	return nil
}

// nothingNew says why a run has nothing to read; empty: it has.
func nothingNew(name task.Name, p payload, thread []task.Entry, reporter string) string {
	const answered = "the assistant has answered this already"
	if p.Comment != nil && p.Action == "created" && slices.ContainsFunc(thread, func(e task.Entry) bool { return e.Mark != nil && e.Mark.To == p.Comment.ID }) {
		return answered
	}
	switch {
	case p.Action == "edited":
	case name == task.FollowUp:
		if due, why := task.FollowUpLeft(thread, reporter, false); !due {
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

// threadOf reads the comments of an issue and who reported it.
func (a *app) threadOf(ctx context.Context, issue string) (thread []task.Entry, reporter string, err error) {
	number, err := issueNumber(issue)
	if err != nil {
		return nil, "", err
	}
	client, err := a.github()
	if err != nil {
		return nil, "", err
	}
	i, err := client.Issue(ctx, number)
	if err != nil {
		return nil, "", err
	}
	comments, err := client.Comments(ctx, number)
	if err != nil {
		return nil, "", err
	}
	owner, err := comment.OwnerOf(ctx, client, comments)
	if err != nil {
		return nil, "", err
	}
	may := func(login string) bool {
		ok, err := client.CanWrite(ctx, login)
		return err == nil && ok // an error there means no
	}
	return comment.Thread(comments, owner, may), comment.Login(i.Author), nil
}
