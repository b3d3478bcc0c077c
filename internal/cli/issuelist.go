package cli

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// newsReader reads what changed since the kept list together with the discussions and pull requests that the material
// holds anyway: one request for the three.
type newsReader struct {
	*ghapi.Client
	news *ghapi.News // nil: each list is read for itself
}

// IssuesSince lists what changed. More than one page, or a token that may not read all of it, takes requests of its own.
func (r *newsReader) IssuesSince(ctx context.Context, since time.Time) iter.Seq2[ghapi.Issue, error] {
	news, err := r.News(ctx, since)
	if err != nil {
		return r.Client.IssuesSince(ctx, since)
	}
	r.news = &news
	return func(yield func(ghapi.Issue, error) bool) {
		for _, i := range news.Issues {
			if !yield(i, nil) {
				return
			}
			since = i.UpdatedAt
		}
		if !news.MoreIssues {
			return
		}
		for i, err := range r.Client.IssuesSince(ctx, since) {
			if !yield(i, err) {
				return
			}
		}
	}
}

// Discussions lists the newest ones, at most n.
func (r *newsReader) Discussions(ctx context.Context, n int) ([]ghapi.Discussion, error) {
	if r.news == nil {
		return r.Client.Discussions(ctx, n)
	}
	return r.news.Discussions[:min(n, len(r.news.Discussions))], nil
}

// PullRequests lists pull requests, last changed first.
func (r *newsReader) PullRequests(ctx context.Context, states ...string) iter.Seq2[ghapi.PullRequest, error] {
	if r.news == nil || r.news.MorePulls || !slices.Equal(states, []string{"open"}) {
		return r.Client.PullRequests(ctx, states...)
	}
	return func(yield func(ghapi.PullRequest, error) bool) {
		for _, p := range r.news.Pulls {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// keptIssues are all issues by the list that the daily sweep keeps, brought up to date: three requests (the artifact, its
// run, where its file is) instead of one for every hundred issues. Without a list they are read once. nil: the material
// reads them itself. Title and body of each are cleaned.
func (a *app) keptIssues(ctx context.Context, reader *newsReader, name task.Name) iter.Seq2[ghapi.Issue, error] {
	if name.IsReply() {
		return nil
	}
	branch, err := a.branchOf(ctx, reader.Client)
	if err != nil {
		a.sayf("the kept list of issues cannot be used: %v", err)
		return nil
	}
	lines, err := lifecycle.IssueList(ctx, reader, branch, a.Now())
	if err != nil {
		a.sayf("the kept list of issues cannot be used: %v", err)
		return nil
	}
	return func(yield func(ghapi.Issue, error) bool) {
		for l, err := range lines {
			i := ghapi.Issue{
				Number: l.Number, Title: l.Title, Body: l.Body, State: l.State, StateReason: l.StateReason, Labels: l.Labels, Comments: l.Comments,
				CreatedAt: l.Created, ClosedAt: l.Closed, UpdatedAt: l.Updated,
			}
			if !yield(i, err) {
				return
			}
		}
	}
}

// branchOf is the default branch, by the event of the workflow or by a request.
func (a *app) branchOf(ctx context.Context, client *ghapi.Client) (string, error) {
	if branch, err := defaultBranch(a.Getenv("GITHUB_EVENT_PATH")); err == nil {
		return branch, nil
	}
	repo, err := client.Repository(ctx)
	return repo.DefaultBranch, err
}
