package ghapi

import (
	"context"
	"iter"
	"strings"
	"time"
)

type gqlPull struct {
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	State     string    `json:"state"`
	URL       string    `json:"url"`
	Base      string    `json:"baseRefName"`
	MergedAt  time.Time `json:"mergedAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Author    *gqlActor `json:"author"`
	Head      struct {
		Name string `json:"nameWithOwner"`
	} `json:"headRepository"`
	Merge struct {
		OID string `json:"oid"`
	} `json:"mergeCommit"`
	Closes struct {
		Nodes []struct {
			Number int    `json:"number"`
			State  string `json:"state"`
			Repo   struct {
				Name string `json:"nameWithOwner"`
			} `json:"repository"`
		} `json:"nodes"`
	} `json:"closingIssuesReferences"`
}

func (g *gqlPull) pull() PullRequest {
	out := PullRequest{
		Number: g.Number, Title: g.Title, Body: g.Body, State: strings.ToLower(g.State), Author: g.Author.user(), Base: g.Base,
		HeadRepo: g.Head.Name, MergeCommit: g.Merge.OID, MergedAt: g.MergedAt, UpdatedAt: g.UpdatedAt, URL: g.URL,
	}
	for _, n := range g.Closes.Nodes {
		out.Closes = append(out.Closes, IssueRef{Repo: n.Repo.Name, Number: n.Number, State: strings.ToLower(n.State)})
	}
	return out
}

// PullRequests lists pull requests in the given states (open, closed, merged; none: all), last changed first.
func (c *Client) PullRequests(ctx context.Context, states ...string) iter.Seq2[PullRequest, error] {
	var upper []string
	for _, s := range states {
		upper = append(upper, strings.ToUpper(s))
	}
	return cursor(func(after any) ([]PullRequest, gqlPage, error) {
		var data struct {
			Repository struct {
				Pulls gqlNodes[gqlPull] `json:"pullRequests"`
			} `json:"repository"`
		}
		vars := map[string]any{"first": pullsPerPage, "after": after, "states": nil}
		if upper != nil {
			vars["states"] = upper
		}
		err := c.query(ctx, queryPulls, c.repoVars(vars), &data)
		page := data.Repository.Pulls
		return convert(page.Nodes, (*gqlPull).pull), page.Page, err
	})
}

// pullsPerPage keeps the nodes of a query (each pull request has up to 25 issues) far below GitHub's limits.
const pullsPerPage = 50

// ClosingPullRequests reads the pull requests that close an issue, merged or not, at most 25.
func (c *Client) ClosingPullRequests(ctx context.Context, issue int) ([]PullRequest, error) {
	var data struct {
		Repository struct {
			Issue *struct {
				Refs gqlNodes[gqlPull] `json:"closedByPullRequestsReferences"`
			} `json:"issue"`
		} `json:"repository"`
	}
	if err := c.query(ctx, queryClosers, c.repoVars(map[string]any{"number": issue}), &data); err != nil {
		return nil, err
	}
	if data.Repository.Issue == nil {
		return nil, &Error{Op: "query Closers " + itoa(issue), Kind: KindNotFound}
	}
	return convert(data.Repository.Issue.Refs.Nodes, (*gqlPull).pull), nil
}

type gqlThread struct {
	Resolved bool `json:"isResolved"`
}

// OpenReviewThreads counts the unresolved review threads of a pull request.
func (c *Client) OpenReviewThreads(ctx context.Context, number int) (int, error) {
	threads, err := Collect(cursor(func(after any) ([]*gqlThread, gqlPage, error) {
		var data struct {
			Repository struct {
				Pull *struct {
					Threads gqlNodes[gqlThread] `json:"reviewThreads"`
				} `json:"pullRequest"`
			} `json:"repository"`
		}
		if err := c.query(ctx, queryThreads, c.repoVars(map[string]any{"number": number, "after": after}), &data); err != nil {
			return nil, gqlPage{}, err
		}
		if data.Repository.Pull == nil {
			return nil, gqlPage{}, &Error{Op: "query Threads " + itoa(number), Kind: KindNotFound}
		}
		page := data.Repository.Pull.Threads
		return page.Nodes, page.Page, nil
	}), -1)
	return unresolved(threads), err
}

func unresolved(threads []*gqlThread) int {
	open := 0
	for _, t := range threads {
		if t == nil || !t.Resolved {
			open++
		}
	}
	return open
}
