package cli

import (
	"context"
	"iter"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// keptIssues are all issues by the list that the daily sweep keeps, brought up to date: four requests and a file instead
// of one for every hundred issues. Without a list they are read once. nil: the material reads them itself.
func (a *app) keptIssues(ctx context.Context, client *ghapi.Client, name task.Name) iter.Seq2[ghapi.Issue, error] {
	if name.IsReply() {
		return nil
	}
	lines, err := lifecycle.IssueList(ctx, client, a.Now())
	if err != nil {
		a.sayf("the kept list of issues cannot be used: %v", err)
		return nil
	}
	return func(yield func(ghapi.Issue, error) bool) {
		for _, l := range lines {
			i := ghapi.Issue{
				Number: l.Number, Title: l.Title, Body: l.Body, State: l.State, StateReason: l.StateReason, Labels: l.Labels, Comments: l.Comments,
				CreatedAt: l.Created, ClosedAt: l.Closed, UpdatedAt: l.Updated,
			}
			if !yield(i, nil) {
				return
			}
		}
	}
}
