package ghapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// Issue reads one issue or pull request. A transferred issue is KindMoved and is not followed.
func (c *Client) Issue(ctx context.Context, number int) (Issue, error) {
	op := c.op(http.MethodGet, "/issues/"+itoa(number))
	got, _, err := c.rest.Issues.Get(ctx, c.owner, c.name, number)
	if err != nil {
		return Issue{}, fromTransport(op, err)
	}
	if got.GetNumber() != number {
		return Issue{}, &Error{Op: op, Kind: KindUnreadable, Message: "another issue than the one asked for"}
	}
	return issueOf(got), nil
}

// Comments reads the comments of an issue, oldest first.
func (c *Client) Comments(ctx context.Context, number int) ([]Comment, error) {
	return c.CommentsSince(ctx, number, time.Time{})
}

// CommentsSince reads the comments that changed at or after a time, oldest first; the zero time means all.
func (c *Client) CommentsSince(ctx context.Context, number int, since time.Time) ([]Comment, error) {
	return pages(c.op(http.MethodGet, "/issues/"+itoa(number)+"/comments"), func(o github.ListOptions) ([]Comment, *github.Response, error) {
		opts := &github.IssueListCommentsOptions{ListOptions: o}
		if !since.IsZero() {
			at := since.UTC().Truncate(time.Second)
			opts.Since = &at
		}
		got, resp, err := c.rest.Issues.ListComments(ctx, c.owner, c.name, number, opts)
		return convert(got, commentOf), resp, err
	})
}

// Comment reads one comment.
func (c *Client) Comment(ctx context.Context, id int64) (Comment, error) {
	op := c.op(http.MethodGet, "/issues/comments/"+itoa64(id))
	got, _, err := c.rest.Issues.GetComment(ctx, c.owner, c.name, id)
	if err != nil {
		return Comment{}, fromTransport(op, err)
	}
	if got.GetID() != id {
		return Comment{}, &Error{Op: op, Kind: KindUnreadable, Message: "another comment than the one asked for"}
	}
	return commentOf(got), nil
}

// Labels reads all labels of the repository.
func (c *Client) Labels(ctx context.Context) ([]Label, error) {
	return pages(c.op(http.MethodGet, "/labels"), func(o github.ListOptions) ([]Label, *github.Response, error) {
		got, resp, err := c.rest.Issues.ListLabels(ctx, c.owner, c.name, &o)
		return convert(got, labelOf), resp, err
	})
}

// IssueLabels reads the labels that an issue carries.
func (c *Client) IssueLabels(ctx context.Context, number int) ([]Label, error) {
	return pages(c.op(http.MethodGet, "/issues/"+itoa(number)+"/labels"), func(o github.ListOptions) ([]Label, *github.Response, error) {
		got, resp, err := c.rest.Issues.ListLabelsByIssue(ctx, c.owner, c.name, number, &o)
		return convert(got, labelOf), resp, err
	})
}

// Events reads what happened to an issue, oldest first.
func (c *Client) Events(ctx context.Context, number int) ([]Event, error) {
	return c.events(ctx, "/issues/"+itoa(number)+"/events")
}

// Timeline reads the events of an issue together with comments, commits and cross-references, oldest first.
func (c *Client) Timeline(ctx context.Context, number int) ([]Event, error) {
	return c.events(ctx, "/issues/"+itoa(number)+"/timeline")
}

func (c *Client) events(ctx context.Context, rest string) ([]Event, error) {
	return pages(c.op(http.MethodGet, rest), func(o github.ListOptions) ([]Event, *github.Response, error) {
		var got []*restEvent
		resp, err := c.get(ctx, c.path(rest), pageQuery(o), &got)
		return convert(got, eventOf), resp, err
	})
}

// IssueReactions reads the reactions to an issue.
func (c *Client) IssueReactions(ctx context.Context, number int) ([]Reaction, error) {
	return pages(c.op(http.MethodGet, "/issues/"+itoa(number)+"/reactions"), func(o github.ListOptions) ([]Reaction, *github.Response, error) {
		got, resp, err := c.rest.Reactions.ListIssueReactions(ctx, c.owner, c.name, number, &o)
		return convert(got, reactionOf), resp, err
	})
}

// CommentReactions reads the reactions to a comment.
func (c *Client) CommentReactions(ctx context.Context, comment int64) ([]Reaction, error) {
	rest := "/issues/comments/" + itoa64(comment) + "/reactions"
	return pages(c.op(http.MethodGet, rest), func(o github.ListOptions) ([]Reaction, *github.Response, error) {
		got, resp, err := c.rest.Reactions.ListIssueCommentReactions(ctx, c.owner, c.name, comment, &o)
		return convert(got, reactionOf), resp, err
	})
}

// Milestones reads all milestones, open and closed.
func (c *Client) Milestones(ctx context.Context) ([]Milestone, error) {
	return pages(c.op(http.MethodGet, "/milestones"), func(o github.ListOptions) ([]Milestone, *github.Response, error) {
		got, resp, err := c.rest.Issues.ListMilestones(ctx, c.owner, c.name, &github.MilestoneListOptions{State: "all", ListOptions: o})
		return convert(got, milestoneOf), resp, err
	})
}

// SearchIssues finds issues of this repository by GitHub's own search: at most 1,000 results and 30 requests a minute.
// The words are the caller's; qualifiers in them that name another repository find nothing here.
func (c *Client) SearchIssues(ctx context.Context, words string, atMost int) ([]Issue, error) {
	query := "repo:" + c.Repo() + " is:issue " + words
	op := http.MethodGet + " /search/issues"
	var all []Issue
	opts := &github.SearchOptions{ListOptions: github.ListOptions{PerPage: min(perPage, max(atMost, 1)), Page: 1}}
	for len(all) < atMost {
		got, resp, err := c.rest.Search.Issues(ctx, query, opts)
		if err != nil {
			return all, fromTransport(op, err)
		}
		if got.Issues == nil {
			return all, noList(op)
		}
		for _, i := range convert(got.Issues, issueOf) {
			if !i.IsPullRequest && c.ours(i.URL) {
				all = append(all, i)
			}
		}
		if resp.NextPage <= opts.Page {
			break
		}
		opts.Page = resp.NextPage
	}
	return all[:min(len(all), max(atMost, 0))], nil
}

// ours reports whether a page belongs to this repository: words of a search may name another one.
func (c *Client) ours(page string) bool {
	u, err := url.Parse(page)
	if err != nil {
		return false
	}
	parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
	return len(parts) == 3 && strings.EqualFold(parts[0]+"/"+parts[1], c.Repo())
}
