package ghapi

import (
	"context"
	"time"
)

// News is what changed in a repository and what goes on in it, read at once.
type News struct {
	Issues      []Issue // changed at or after the time asked for, oldest change first
	MoreIssues  bool    // there are more than a hundred
	Discussions []Discussion
	Pulls       []PullRequest // open, last changed first
	MorePulls   bool          // there are more than fifty
}

const queryNews = `query News($owner: String!, $name: String!, $since: DateTime!, $pulls: Int!) {
  repository(owner: $owner, name: $name) {
    issues(first: 100, filterBy: {since: $since}, orderBy: {field: UPDATED_AT, direction: ASC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
      ` + issueFields + `
      }
    }
    discussions(first: 100, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
      ` + discussionFields + `
      }
    }
    pullRequests(first: $pulls, states: [OPEN], orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        ` + pullFields + `
      }
    }
  }
}`

// News reads the first pages of three lists in one request. A token that may not read one of them gets none: then each
// list is read for itself.
func (c *Client) News(ctx context.Context, since time.Time) (News, error) {
	var data struct {
		Repository struct {
			Issues      gqlNodes[gqlIssue]      `json:"issues"`
			Discussions gqlNodes[gqlDiscussion] `json:"discussions"`
			Pulls       gqlNodes[gqlPull]       `json:"pullRequests"`
		} `json:"repository"`
	}
	vars := map[string]any{"since": since.UTC().Format(time.RFC3339), "pulls": pullsPerPage}
	if err := c.query(ctx, queryNews, c.repoVars(vars), &data); err != nil {
		return News{}, err
	}
	r := data.Repository
	return News{
		Issues: convert(r.Issues.Nodes, (*gqlIssue).issue), MoreIssues: r.Issues.Page.HasNext,
		Discussions: convert(r.Discussions.Nodes, (*gqlDiscussion).discussion),
		Pulls:       convert(r.Pulls.Nodes, (*gqlPull).pull), MorePulls: r.Pulls.Page.HasNext,
	}, nil
}
