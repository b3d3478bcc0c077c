package ghapi

import (
	"context"
	"strings"
	"time"
)

const queryFeedback = `query Feedback($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      state headRefOid
      reviewThreads(first: 100) { pageInfo { hasNextPage endCursor } nodes { isResolved } }
      reviews(last: 100) { nodes { author ` + actorFields + ` databaseId body submittedAt } }
      comments(last: 100) { nodes { author ` + actorFields + ` databaseId body createdAt } }
    }
  }
}`

// Remark is a comment on a pull request, or the text of a review.
type Remark struct {
	ID     int64
	Author User
	Body   string
	At     time.Time
}

// Feedback is what others have said about a pull request.
type Feedback struct {
	State       string // open, closed, merged
	Head        string // hash of the newest commit
	OpenThreads int    // review threads that nobody resolved
	Remarks     []Remark
}

// Feedback reads state, threads and remarks of a pull request, of the latter the last hundred of each kind.
func (c *Client) Feedback(ctx context.Context, number int) (Feedback, error) {
	type said struct {
		ID        int64     `json:"databaseId"`
		Author    *gqlActor `json:"author"`
		Body      string    `json:"body"`
		Submitted time.Time `json:"submittedAt"`
		Created   time.Time `json:"createdAt"`
	}
	var data struct {
		Repository struct {
			Pull *struct {
				State    string                 `json:"state"`
				Head     string                 `json:"headRefOid"`
				Threads  gqlNodes[gqlThread]    `json:"reviewThreads"`
				Reviews  struct{ Nodes []said } `json:"reviews"`
				Comments struct{ Nodes []said } `json:"comments"`
			} `json:"pullRequest"`
		} `json:"repository"`
	}
	if err := c.query(ctx, queryFeedback, c.repoVars(map[string]any{"number": number}), &data); err != nil {
		return Feedback{}, err
	}
	p := data.Repository.Pull
	if p == nil {
		return Feedback{}, &Error{Op: "query Feedback " + itoa(number), Kind: KindNotFound}
	}
	out := Feedback{State: strings.ToLower(p.State), Head: p.Head, OpenThreads: unresolved(p.Threads.Nodes)}
	if p.Threads.Page.HasNext {
		var err error
		if out.OpenThreads, err = c.OpenReviewThreads(ctx, number); err != nil {
			return out, err
		}
	}
	for _, r := range p.Reviews.Nodes {
		if strings.TrimSpace(r.Body) != "" { // a review without words stands in its threads
			out.Remarks = append(out.Remarks, Remark{r.ID, r.Author.user(), r.Body, r.Submitted})
		}
	}
	for _, r := range p.Comments.Nodes {
		out.Remarks = append(out.Remarks, Remark{r.ID, r.Author.user(), r.Body, r.Created})
	}
	return out, nil
}
