package ghapi

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// History is an issue with what happened to it, as the lifecycle needs it.
type History struct {
	Issue    Issue
	Comments []Comment // all of them, oldest first
	// Events are labeled, unlabeled, closed and reopened, oldest first; of many, the newest hundred.
	Events   []Event
	EditedAt time.Time // last edit of the body; zero: never
	Editor   User
	Closers  []PullRequest // pull requests that close it, at most 10, without title, body and author
}

// historyBatch keeps a query far below GitHub's limits of nodes: an issue has up to 270.
const historyBatch = 25

type gqlHistory struct {
	gqlIssue
	EditedAt time.Time `json:"lastEditedAt"`
	Editor   *gqlActor `json:"editor"`
	Thread   struct {
		Total int `json:"totalCount"`
		Nodes []struct {
			ID          int64     `json:"databaseId"`
			NodeID      string    `json:"id"`
			Body        string    `json:"body"`
			Author      *gqlActor `json:"author"`
			Association string    `json:"authorAssociation"`
			CreatedAt   time.Time `json:"createdAt"`
			UpdatedAt   time.Time `json:"updatedAt"`
			URL         string    `json:"url"`
		} `json:"nodes"`
	} `json:"thread"`
	Timeline struct {
		Nodes []struct {
			Type      string    `json:"__typename"`
			Actor     *gqlActor `json:"actor"`
			CreatedAt time.Time `json:"createdAt"`
			Reason    string    `json:"stateReason"`
			Label     struct {
				Name string `json:"name"`
			} `json:"label"`
		} `json:"nodes"`
	} `json:"timelineItems"`
	Closers gqlNodes[gqlPull] `json:"closedByPullRequestsReferences"`
}

const historyFragment = `
fragment History on Issue {
  ` + issueFields + `
  lastEditedAt
  editor ` + actorFields + `
  thread: comments(last: 100) {
    totalCount
    nodes { databaseId id body author ` + actorFields + ` authorAssociation createdAt updatedAt url }
  }
  timelineItems(last: 100, itemTypes: [LABELED_EVENT, UNLABELED_EVENT, CLOSED_EVENT, REOPENED_EVENT]) {
    nodes {
      __typename
      ... on LabeledEvent { actor ` + actorFields + ` createdAt label { name } }
      ... on UnlabeledEvent { actor ` + actorFields + ` createdAt label { name } }
      ... on ClosedEvent { actor ` + actorFields + ` createdAt stateReason }
      ... on ReopenedEvent { actor ` + actorFields + ` createdAt }
    }
  }
  closedByPullRequestsReferences(first: 10, includeClosedPrs: true) {
    nodes { number state baseRefName mergedAt mergeCommit { oid } }
  }
}`

// Histories reads issues with their histories, 25 a request. What cannot be read has an error of its own; the rest
// stands. An issue that is gone, or is a pull request, is [KindNotFound].
func (c *Client) Histories(ctx context.Context, numbers []int) (map[int]History, map[int]error) {
	got, failed := map[int]History{}, map[int]error{}
	for start := 0; start < len(numbers); start += historyBatch {
		c.histories(ctx, numbers[start:min(start+historyBatch, len(numbers))], got, failed)
	}
	return got, failed
}

// histories reads a batch. A batch that fails is halved, so that one issue fails alone; when GitHub itself does not
// answer, halving would only multiply the requests.
func (c *Client) histories(ctx context.Context, numbers []int, got map[int]History, failed map[int]error) {
	if len(numbers) == 0 {
		return
	}
	var query, body strings.Builder
	query.WriteString("query Histories($owner: String!, $name: String!")
	vars := map[string]any{}
	for i, n := range numbers {
		fmt.Fprintf(&query, ", $n%d: Int!", i)
		fmt.Fprintf(&body, "    i%d: issue(number: $n%d) { ...History }\n", i, i)
		vars[fmt.Sprintf("n%d", i)] = n
	}
	query.WriteString(") {\n  repository(owner: $owner, name: $name) {\n" + body.String() + "  }\n}" + historyFragment)
	var data struct {
		Repository map[string]*gqlHistory `json:"repository"`
	}
	err := c.query(ctx, query.String(), c.repoVars(vars), &data)
	if err != nil {
		switch kind := KindOf(err); {
		case len(numbers) > 1 && ctx.Err() == nil && kind != KindUnauthorized && kind != KindForbidden && kind != KindRateLimited && kind != KindNetwork:
			half := len(numbers) / 2
			c.histories(ctx, numbers[:half], got, failed)
			c.histories(ctx, numbers[half:], got, failed)
		default:
			for _, n := range numbers {
				failed[n] = err
			}
		}
		return
	}
	for i, n := range numbers {
		g := data.Repository[fmt.Sprintf("i%d", i)]
		if g == nil || g.Number != n {
			failed[n] = &Error{Op: "query Histories " + itoa(n), Kind: KindNotFound}
			continue
		}
		h := g.history()
		if g.Thread.Total > len(h.Comments) {
			if h.Comments, err = c.Comments(ctx, n); err != nil {
				failed[n] = err
				continue
			}
		}
		got[n] = h
	}
}

func (g *gqlHistory) history() History {
	h := History{Issue: g.issue(), EditedAt: g.EditedAt, Editor: g.Editor.user()}
	for _, c := range g.Thread.Nodes {
		h.Comments = append(h.Comments, Comment{
			ID: c.ID, NodeID: c.NodeID, Body: c.Body, Author: c.Author.user(), AuthorAssociation: c.Association,
			CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, URL: c.URL,
		})
	}
	for _, e := range g.Timeline.Nodes {
		h.Events = append(h.Events, Event{
			Kind: strings.ToLower(strings.TrimSuffix(e.Type, "Event")), Actor: e.Actor.user(), CreatedAt: e.CreatedAt,
			Label: e.Label.Name, Reason: strings.ToLower(e.Reason),
		})
	}
	h.Closers = convert(g.Closers.Nodes, (*gqlPull).pull)
	return h
}
