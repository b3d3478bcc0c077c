package ghtest

import (
	"cmp"
	"encoding/json"
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

func (c *call) listComments() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	since, _ := time.Parse(time.RFC3339, c.q.Get("since")) // what cannot be read does not restrict
	out := []object{}
	for _, x := range i.comments {
		if !x.UpdatedAt.Before(since) {
			out = append(out, c.comment(x))
		}
	}
	return list(c, out, nil)
}

func (c *call) createComment() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	body, rep, good := c.text()
	if !good {
		return rep
	}
	if i.Locked {
		return fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	x := c.s.addComment(i.Number, c.viewer().Login, body, c.s.now())
	return reply{status: http.StatusCreated, body: c.comment(x)}
}

// text reads the body field of a comment.
func (c *call) text() (string, reply, bool) {
	var in struct {
		Body string `json:"body"`
	}
	if rep, good := c.decode(&in); !good {
		return "", rep, false
	}
	if strings.TrimSpace(in.Body) == "" {
		return "", invalid("IssueComment", "body", "missing_field"), false
	}
	if utf8.RuneCountInString(in.Body) > maxText {
		return "", invalid("IssueComment", "body", "too_long"), false
	}
	return in.Body, reply{}, true
}

func (c *call) findComment() (*issueState, int) {
	id := c.id()
	for _, i := range c.s.state.issues {
		for n, x := range i.comments {
			if x.ID == id && !i.deleted {
				return i, n
			}
		}
	}
	return nil, 0
}

func (c *call) getComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return ok(c.comment(i.comments[n]))
}

func (c *call) editComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	body, rep, good := c.text()
	if !good {
		return rep
	}
	i.comments[n].Body, i.comments[n].UpdatedAt = body, c.s.now()
	c.touch(i)
	return ok(c.comment(i.comments[n]))
}

func (c *call) deleteComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	i.comments = slices.Delete(i.comments, n, n+1)
	return reply{status: http.StatusNoContent}
}

func (c *call) listIssueLabels() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return list(c, c.labels(i.Labels), nil)
}

func (c *call) addLabels() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	names, rep, good := c.labelNames()
	if !good {
		return rep
	}
	for _, n := range names {
		if n == "" {
			return invalid("Label", "name", "missing_field")
		}
		at := c.s.findLabel(n)
		if at < 0 { // GitHub makes a new one without asking
			c.s.addLabel(ghapi.Label{Name: n})
			at = len(c.s.state.labels) - 1
		}
		name := c.s.state.labels[at].Name
		if !i.HasLabel(name) {
			i.Labels = append(i.Labels, name)
			c.s.event(i, ghapi.Event{Kind: "labeled", Label: name})
		}
	}
	c.touch(i)
	return ok(c.labels(i.Labels))
}

// labelNames reads the forms of the body: {"labels": [...]} or [...], of names or of objects with a name.
func (c *call) labelNames() ([]string, reply, bool) {
	var in struct {
		Labels []labelName `json:"labels"`
	}
	if _, good := c.decode(&in.Labels); !good {
		if rep, good := c.decode(&in); !good {
			return nil, rep, false
		}
	}
	var names []string
	for _, l := range in.Labels {
		names = append(names, string(l))
	}
	return names, reply{}, true
}

type labelName string

// UnmarshalJSON takes a string, or an object with a name.
func (l *labelName) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(l)) == nil {
		return nil
	}
	var in struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*l = labelName(in.Name)
	return nil
}

func (c *call) removeLabel() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	for n, l := range i.Labels {
		if strings.EqualFold(l, c.args["label"]) {
			i.Labels = slices.Delete(i.Labels, n, n+1)
			c.s.event(i, ghapi.Event{Kind: "unlabeled", Label: l})
			c.touch(i)
			return ok(c.labels(i.Labels))
		}
	}
	return fail(http.StatusNotFound, "Label does not exist")
}

func (c *call) listEvents() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	out := []object{}
	for _, e := range i.events {
		if e.Kind != "cross-referenced" && e.Kind != "commented" {
			out = append(out, c.event(e))
		}
	}
	return list(c, out, nil)
}

func (c *call) listTimeline() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	type entry struct {
		at time.Time
		o  object
	}
	var all []entry
	for _, e := range i.events {
		if e.Kind == "cross-referenced" {
			all = append(all, entry{e.CreatedAt, c.crossReference(e)})
			continue
		}
		all = append(all, entry{e.CreatedAt, c.event(e)})
	}
	for _, x := range i.comments {
		o := c.comment(x)
		o["event"], o["actor"] = "commented", o["user"]
		all = append(all, entry{x.CreatedAt, o})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	out := make([]object, 0, len(all))
	for _, e := range all {
		out = append(out, e.o)
	}
	return list(c, out, nil)
}

func (c *call) listIssueReactions() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return c.reactionList(i.reactions)
}

func (c *call) listCommentReactions() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return c.reactionList(i.comments[n].reactions)
}

func (c *call) reactionList(all []ghapi.Reaction) reply {
	out := []object{}
	for _, r := range all {
		if k := c.q.Get("content"); k == "" || k == r.Content {
			out = append(out, c.reaction(r))
		}
	}
	return list(c, out, nil)
}

func (c *call) createIssueReaction() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return c.react(&i.reactions)
}

func (c *call) createCommentReaction() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return c.react(&i.comments[n].reactions)
}

// react keeps one reaction of a kind per account: the second answers 200.
func (c *call) react(to *[]ghapi.Reaction) reply {
	var in struct {
		Content string `json:"content"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if !slices.Contains([]string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}, in.Content) {
		return invalid("Reaction", "content", "invalid")
	}
	for _, r := range *to {
		if r.Content == in.Content && r.User.Login == c.viewer().Login {
			return ok(c.reaction(r))
		}
	}
	r := ghapi.Reaction{ID: c.s.id(), Content: in.Content, User: c.viewer(), CreatedAt: c.s.now()}
	*to = append(*to, r)
	return reply{status: http.StatusCreated, body: c.reaction(r)}
}
