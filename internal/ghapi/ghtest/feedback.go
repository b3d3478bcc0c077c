package ghtest

import (
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// review is a review of a pull request.
type review struct {
	id   int64
	by   ghapi.User
	body string
	at   time.Time
}

// AddReview adds a review of an account to a pull request.
func (s *Server) AddReview(pull int, login, body string) {
	s.change(pull, func(i *issueState) {
		i.reviews = append(i.reviews, review{s.id(), s.user(login), body, s.now()})
		s.touchPull(i)
	})
}

// SetPullState opens, closes or merges a pull request; a merge closes the issues that it closes.
func (s *Server) SetPullState(pull int, login, state string) {
	s.change(pull, func(i *issueState) {
		if i.pull == nil {
			return
		}
		i.pull.State, i.State = state, "closed"
		switch state {
		case "open":
			i.State = "open"
		case "merged":
			i.pull.MergedAt = s.now()
			for _, ref := range i.pull.Closes {
				to := s.state.issues[ref.Number]
				if to == nil || to.State == "closed" || !strings.EqualFold(ref.Repo, s.opts.Repo) {
					continue
				}
				to.State, to.StateReason, to.ClosedAt, to.UpdatedAt = "closed", "completed", s.now(), s.now()
				s.event(to, ghapi.Event{Kind: "closed", Actor: ghapi.User{Login: login}})
			}
		}
		s.touchPull(i)
	})
}

func (s *Server) touchPull(i *issueState) {
	i.UpdatedAt = s.now()
	if i.pull != nil {
		i.pull.UpdatedAt = i.UpdatedAt
	}
}

// remarks are the parts of a pull request that its readers wrote.
func (c *call) remarks(p *ghapi.PullRequest) (reviews, comments resolver) {
	var said, talk []node
	if i := c.s.state.issues[p.Number]; i != nil {
		for _, r := range i.reviews {
			said = append(said, node{"__typename": "PullRequestReview", "databaseId": r.id, "author": c.gqlActor(r.by), "body": r.body, "submittedAt": stamp(r.at)})
		}
		for _, x := range i.comments {
			talk = append(talk, node{"__typename": "IssueComment", "databaseId": x.ID, "author": c.gqlActor(x.Author), "body": x.Body, "createdAt": stamp(x.CreatedAt)})
		}
	}
	return fixed("PullRequestReviewConnection", said), fixed("IssueCommentConnection", talk)
}

// CommentAs is [Server.AddComment] that also moves a pull request's time of change.
func (s *Server) CommentAs(issue int, login, body string) int64 {
	id := s.AddComment(issue, login, body)
	s.change(issue, s.touchPull)
	return id
}

// Push moves a pull request to a new commit.
func (s *Server) Push(pull int, sha string) {
	s.change(pull, func(i *issueState) {
		i.head = sha
		s.touchPull(i)
	})
}

func (c *call) head(pull int) string {
	if i := c.s.state.issues[pull]; i != nil && i.head != "" {
		return i.head
	}
	return strings.Repeat("0", 40)
}
