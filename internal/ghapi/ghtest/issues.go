package ghtest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// maxText is GitHub's limit for a body, in characters.
const maxText = 65536

// find looks up the issue of the path; the answer is GitHub's for one that is not there.
func (c *call) find() (*issueState, reply) {
	if c.s.state.noIssues {
		return nil, fail(http.StatusGone, "Issues has been disabled in this repository.")
	}
	i := c.s.state.issues[c.number("number")]
	switch {
	case i == nil:
		return nil, notFound()
	case i.movedTo != "":
		rep := fail(http.StatusMovedPermanently, "Moved Permanently")
		rep.body.(object)["url"] = i.movedTo
		rep.header = http.Header{"Location": {i.movedTo}}
		return nil, rep
	case i.deleted:
		return nil, fail(http.StatusGone, "This issue was deleted")
	}
	return i, reply{}
}

func (c *call) touch(i *issueState) { i.UpdatedAt = c.s.now() }

func (c *call) viewer() ghapi.User { return c.s.user(cmp.Or(c.s.acting, c.s.opts.Viewer)) }

func (c *call) getIssue() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return ok(c.issue(i))
}

func (c *call) listIssues() reply {
	if c.s.state.noIssues {
		return fail(http.StatusGone, "Issues has been disabled in this repository.")
	}
	state := cmp.Or(c.q.Get("state"), "open")
	var since time.Time
	if v := c.q.Get("since"); v != "" {
		at, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return invalid("Issue", "since", "invalid")
		}
		since = at
	}
	all := c.s.issueList(func(i *issueState) bool {
		if (state != "all" && i.State != state) || i.UpdatedAt.Before(since) {
			return false
		}
		for l := range strings.SplitSeq(c.q.Get("labels"), ",") {
			if l != "" && !i.HasLabel(l) {
				return false
			}
		}
		creator := c.q.Get("creator")
		return creator == "" || strings.EqualFold(creator, i.Author.Login)
	})
	sortIssues(all, c.q.Get("sort") == "updated", c.q.Get("direction") == "asc")
	return list(c, all, func(page []*issueState, _ int) any {
		out := []object{}
		for _, i := range page {
			out = append(out, c.issue(i))
		}
		return out
	})
}

func (s *Server) issueList(keep func(*issueState) bool) []*issueState {
	var all []*issueState
	for _, i := range s.state.issues {
		if !i.deleted && i.movedTo == "" && keep(i) {
			all = append(all, i)
		}
	}
	return all
}

func sortIssues(all []*issueState, updated, ascending bool) {
	slices.SortStableFunc(all, func(a, b *issueState) int {
		order := cmp.Compare(a.Number, b.Number)
		if updated {
			order = cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), order)
		}
		if ascending {
			return order
		}
		return -order
	})
}

func (c *call) createIssue() reply {
	var in struct {
		Title     string   `json:"title"`
		Body      string   `json:"body"`
		Labels    []string `json:"labels"`
		Assignees []string `json:"assignees"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if in.Title == "" {
		return invalid("Issue", "title", "missing_field")
	}
	if utf8.RuneCountInString(in.Body) > maxText {
		return invalid("Issue", "body", "too_long")
	}
	i := c.s.addIssue(ghapi.Issue{Title: in.Title, Body: in.Body, Labels: in.Labels, Assignees: in.Assignees, Author: c.viewer()})
	return reply{status: http.StatusCreated, body: c.issue(i)}
}

func (c *call) editIssue() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	var in struct {
		Title       *string   `json:"title"`
		Body        *string   `json:"body"`
		State       *string   `json:"state"`
		StateReason *string   `json:"state_reason"`
		Milestone   *int      `json:"milestone"`
		Labels      *[]string `json:"labels"`
		Duplicate   int64     `json:"duplicate_issue_id"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return invalid("Issue", "state", "invalid")
	}
	if in.Milestone != nil && c.milestone(*in.Milestone) == nil {
		return invalid("Issue", "milestone", "invalid")
	}
	if in.Duplicate != 0 && c.s.issueByID(in.Duplicate) == nil {
		return invalid("Issue", "duplicate_issue_id", "invalid")
	}
	if in.Title != nil {
		i.Title = *in.Title
	}
	if in.Body != nil {
		i.Body, i.nullBody = *in.Body, false
	}
	if in.Milestone != nil {
		i.MilestoneNumber = *in.Milestone
		for _, m := range c.s.state.milestones {
			if m.Number == *in.Milestone {
				i.Milestone = m.Title
				c.s.event(i, ghapi.Event{Kind: "milestoned", Label: m.Title})
			}
		}
	}
	if in.Labels != nil {
		i.Labels = append([]string{}, *in.Labels...)
	}
	if in.State != nil && *in.State != i.State {
		reason := ""
		if in.StateReason != nil {
			reason = *in.StateReason
		}
		c.setState(i, *in.State, reason)
	}
	c.touch(i)
	return ok(c.issue(i))
}

func (s *Server) issueByID(id int64) *issueState {
	for _, i := range s.state.issues {
		if i.ID == id && !i.deleted {
			return i
		}
	}
	return nil
}

func (c *call) setState(i *issueState, state, reason string) {
	i.State = state
	if state == "open" {
		i.StateReason, i.ClosedAt, i.ClosedBy = "reopened", time.Time{}, ghapi.User{}
		c.s.event(i, ghapi.Event{Kind: "reopened"})
		return
	}
	i.StateReason, i.ClosedAt, i.ClosedBy = cmp.Or(reason, "completed"), c.s.now(), c.viewer()
	c.s.event(i, ghapi.Event{Kind: "closed", Reason: i.StateReason})
}
