package ghapi

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// IssueFilter chooses issues of the repository. The zero value means all of them, newest first.
type IssueFilter struct {
	State         string    // open or closed; empty: both
	Labels        []string  // carries any of these
	Since         time.Time // changed at or after
	OldestFirst   bool
	UpdatedAtSort bool // in the order of the last change instead of creation
}

type gqlIssue struct {
	Number      int       `json:"number"`
	ID          int64     `json:"databaseId"`
	NodeID      string    `json:"id"`
	Title       string    `json:"title"`
	Body        string    `json:"body"`
	State       string    `json:"state"`
	Reason      string    `json:"stateReason"`
	Locked      bool      `json:"locked"`
	LockReason  string    `json:"activeLockReason"`
	URL         string    `json:"url"`
	Association string    `json:"authorAssociation"`
	Author      *gqlActor `json:"author"`
	Labels      struct {
		Nodes []struct {
			Name string `json:"name"`
		} `json:"nodes"`
	} `json:"labels"`
	Assignees struct {
		Nodes []struct {
			Login string `json:"login"`
		} `json:"nodes"`
	} `json:"assignees"`
	Milestone struct {
		Number int    `json:"number"`
		Title  string `json:"title"`
	} `json:"milestone"`
	Comments struct {
		Total int `json:"totalCount"`
	} `json:"comments"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	ClosedAt  time.Time `json:"closedAt"`
}

func (g *gqlIssue) issue() Issue {
	out := Issue{
		Number: g.Number, ID: g.ID, NodeID: g.NodeID, Title: g.Title, Body: g.Body, State: strings.ToLower(g.State),
		StateReason: strings.ToLower(g.Reason), Locked: g.Locked, LockReason: strings.ToLower(strings.ReplaceAll(g.LockReason, "_", " ")),
		Author: g.Author.user(), AuthorAssociation: g.Association, Milestone: g.Milestone.Title, MilestoneNumber: g.Milestone.Number,
		Comments: g.Comments.Total, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, ClosedAt: g.ClosedAt, URL: g.URL,
	}
	for _, l := range g.Labels.Nodes {
		out.Labels = append(out.Labels, l.Name)
	}
	for _, a := range g.Assignees.Nodes {
		out.Assignees = append(out.Assignees, a.Login)
	}
	return out
}

// Issues lists issues (no pull requests) by GraphQL, a hundred a request, one page in memory at a time. An error ends
// the sequence; what came before it stands.
func (c *Client) Issues(ctx context.Context, f IssueFilter) iter.Seq2[Issue, error] {
	filter := map[string]any{}
	if f.State != "" {
		filter["states"] = []string{strings.ToUpper(f.State)}
	}
	if len(f.Labels) > 0 {
		filter["labels"] = f.Labels
	}
	if !f.Since.IsZero() {
		filter["since"] = f.Since.UTC().Format(time.RFC3339)
	}
	order := map[string]any{"field": "CREATED_AT", "direction": "DESC"}
	if f.OldestFirst {
		order["direction"] = "ASC"
	}
	if f.UpdatedAtSort {
		order["field"] = "UPDATED_AT"
	}
	return cursor(func(after any) ([]Issue, gqlPage, error) {
		var data struct {
			Repository struct {
				Issues gqlNodes[gqlIssue] `json:"issues"`
			} `json:"repository"`
		}
		err := c.query(ctx, queryIssues, c.repoVars(map[string]any{"first": perPage, "after": after, "filter": filter, "order": order}), &data)
		page := data.Repository.Issues
		return convert(page.Nodes, (*gqlIssue).issue), page.Page, err
	})
}

// IssuesSince lists what changed at or after a time by REST, oldest change first, pull requests included
// ([Issue.IsPullRequest]).
func (c *Client) IssuesSince(ctx context.Context, since time.Time) iter.Seq2[Issue, error] {
	return func(yield func(Issue, error) bool) {
		opts := &github.IssueListByRepoOptions{
			State: "all", Sort: "updated", Direction: "asc", Since: since.UTC().Truncate(time.Second),
			ListOptions: github.ListOptions{PerPage: perPage, Page: 1},
		}
		for {
			got, resp, err := c.rest.Issues.ListByRepo(ctx, c.owner, c.name, opts)
			if err != nil {
				yield(Issue{}, fromTransport(c.op(http.MethodGet, "/issues"), err))
				return
			}
			for _, i := range convert(got, issueOf) {
				if !yield(i, nil) {
					return
				}
			}
			if resp.NextPage <= opts.Page {
				return
			}
			opts.Page = resp.NextPage
		}
	}
}

// cursor walks the pages of a GraphQL connection.
func cursor[T any](page func(after any) ([]T, gqlPage, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var after any
		for {
			list, info, err := page(after)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, v := range list {
				if !yield(v, nil) {
					return
				}
			}
			// A cursor that stands still would never end.
			if !info.HasNext || info.End == "" || after == info.End {
				return
			}
			after = info.End
		}
	}
}

// Collect takes at most n values of a sequence; n below 0 means all. On an error it returns what came before it, too.
func Collect[T any](seq iter.Seq2[T, error], n int) ([]T, error) {
	var all []T
	if n == 0 {
		return nil, nil
	}
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		if all = append(all, v); len(all) == n {
			break
		}
	}
	return all, nil
}

type gqlDiscussion struct {
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	Closed    bool      `json:"closed"`
	Answered  bool      `json:"isAnswered"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Author    *gqlActor `json:"author"`
	Category  struct {
		Name string `json:"name"`
	} `json:"category"`
	Answer struct {
		Body string `json:"body"`
	} `json:"answer"`
}

func (g *gqlDiscussion) discussion() Discussion {
	return Discussion{
		Number: g.Number, Title: g.Title, Body: g.Body, Category: g.Category.Name, Closed: g.Closed, Answered: g.Answered,
		Answer: g.Answer.Body, Author: g.Author.user(), CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, URL: g.URL,
	}
}

// Discussions lists the discussions, last changed first, at most n.
func (c *Client) Discussions(ctx context.Context, n int) ([]Discussion, error) {
	return Collect(cursor(func(after any) ([]Discussion, gqlPage, error) {
		var data struct {
			Repository struct {
				Discussions gqlNodes[gqlDiscussion] `json:"discussions"`
			} `json:"repository"`
		}
		first := min(perPage, max(n, 1))
		err := c.query(ctx, queryDiscussions, c.repoVars(map[string]any{"first": first, "after": after}), &data)
		page := data.Repository.Discussions
		return convert(page.Nodes, (*gqlDiscussion).discussion), page.Page, err
	}), n)
}

// Discussion reads one discussion.
func (c *Client) Discussion(ctx context.Context, number int) (Discussion, error) {
	var data struct {
		Repository struct {
			Discussion *gqlDiscussion `json:"discussion"`
		} `json:"repository"`
	}
	if err := c.query(ctx, queryDiscussion, c.repoVars(map[string]any{"number": number}), &data); err != nil {
		return Discussion{}, err
	}
	if data.Repository.Discussion == nil {
		return Discussion{}, &Error{Op: "query Discussion " + itoa(number), Kind: KindNotFound}
	}
	return data.Repository.Discussion.discussion(), nil
}

// OpenIssuesWithLabel lists open issues that carry a label, by REST, oldest change first.
func (c *Client) OpenIssuesWithLabel(ctx context.Context, label string) ([]Issue, error) {
	list, err := pages(c.op(http.MethodGet, "/issues"), func(o github.ListOptions) ([]Issue, *github.Response, error) {
		query := pageQuery(o)
		query.Set("state", "open")
		query.Set("labels", label)
		query.Set("sort", "updated")
		query.Set("direction", "asc")
		var got []*github.Issue
		resp, err := c.get(ctx, c.path("/issues"), url.Values(query), &got)
		return convert(got, issueOf), resp, err
	})
	kept := list[:0]
	for _, i := range list {
		if !i.IsPullRequest {
			kept = append(kept, i)
		}
	}
	return kept, err
}
