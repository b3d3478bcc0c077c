package ghtest

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// The shapes follow GitHub's OpenAPI description; the package ghcheck holds every answer against it.
type object = map[string]any

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (c *call) user(u ghapi.User) any {
	if u.Login == "" {
		return nil
	}
	if u.ID == 0 {
		u = c.s.user(u.Login)
	}
	self := c.base() + "/users/" + url.PathEscape(u.Login)
	return object{
		"login": u.Login, "id": u.ID, "node_id": fmt.Sprintf("U_%d", u.ID), "type": u.Type, "site_admin": false,
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", u.ID), "gravatar_id": "",
		"url": self, "html_url": c.s.opts.ServerURL + "/" + url.PathEscape(u.Login),
		"followers_url": self + "/followers", "following_url": self + "/following{/other_user}", "gists_url": self + "/gists{/gist_id}",
		"starred_url": self + "/starred{/owner}{/repo}", "subscriptions_url": self + "/subscriptions",
		"organizations_url": self + "/orgs", "repos_url": self + "/repos", "events_url": self + "/events{/privacy}",
		"received_events_url": self + "/received_events",
	}
}

func (c *call) label(name string) object {
	l := labelState{Label: ghapi.Label{Name: name, Color: "ededed"}, id: 1}
	if i := c.s.findLabel(name); i >= 0 {
		l = c.s.state.labels[i]
	}
	return object{
		"id": l.id, "node_id": fmt.Sprintf("LA_%d", l.id), "url": c.repoURL() + "/labels/" + url.PathEscape(l.Name),
		"name": l.Name, "color": l.Color, "default": false, "description": orNull(l.Description),
	}
}

func (c *call) labels(names []string) []any {
	out := []any{}
	for _, n := range names {
		out = append(out, c.label(n))
	}
	return out
}

func (c *call) reactions(at string, list []ghapi.Reaction) object {
	out := object{"url": at + "/reactions", "total_count": len(list)}
	for _, k := range []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket"} {
		n := 0
		for _, r := range list {
			if r.Content == k {
				n++
			}
		}
		out[k] = n
	}
	return out
}

func (c *call) milestone(number int) any {
	for _, m := range c.s.state.milestones {
		if m.Number != number {
			continue
		}
		self := fmt.Sprintf("%s/milestones/%d", c.repoURL(), m.Number)
		open, closed := 0, 0
		for _, i := range c.s.state.issues {
			switch {
			case i.MilestoneNumber != number:
			case i.State == "open":
				open++
			default:
				closed++
			}
		}
		var closedAt any
		if m.State == "closed" {
			closedAt = stamp(c.s.now())
		}
		return object{
			"url": self, "html_url": fmt.Sprintf("%s/milestone/%d", c.s.htmlRepo(), m.Number), "labels_url": self + "/labels",
			"id": 9000 + m.Number, "node_id": fmt.Sprintf("MI_%d", m.Number), "number": m.Number, "title": m.Title,
			"description": orNull(m.Description), "creator": c.user(ghapi.User{Login: c.s.owner}), "open_issues": open, "closed_issues": closed,
			"state": m.State, "created_at": stamp(c.s.now()), "updated_at": stamp(c.s.now()), "due_on": stamp(m.DueOn), "closed_at": closedAt,
		}
	}
	return nil
}

func (c *call) issue(i *issueState) object {
	self := fmt.Sprintf("%s/issues/%d", c.repoURL(), i.Number)
	assignees := []any{}
	for _, a := range i.Assignees {
		assignees = append(assignees, c.user(c.s.user(a)))
	}
	var first any
	if len(assignees) > 0 {
		first = assignees[0]
	}
	var body any = i.Body
	if i.nullBody {
		body = nil
	}
	out := object{
		"url": self, "repository_url": c.repoURL(), "labels_url": self + "/labels{/name}", "comments_url": self + "/comments",
		"events_url": self + "/events", "html_url": i.URL, "id": i.ID, "node_id": i.NodeID, "number": i.Number,
		"title": i.Title, "body": body, "user": c.user(i.Author), "labels": c.labels(i.Labels), "state": i.State,
		"state_reason": orNull(i.StateReason), "locked": i.Locked, "active_lock_reason": orNull(i.LockReason),
		"assignee": first, "assignees": assignees, "milestone": c.milestone(i.MilestoneNumber), "comments": len(i.comments),
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt), "closed_at": stamp(i.ClosedAt),
		"author_association": i.AuthorAssociation, "closed_by": c.user(i.ClosedBy), "reactions": c.reactions(self, i.reactions),
		"timeline_url": self + "/timeline", "performed_via_github_app": nil,
	}
	if i.IsPullRequest {
		pull := fmt.Sprintf("%s/pulls/%d", c.repoURL(), i.Number)
		out["pull_request"] = object{"url": pull, "html_url": i.URL, "diff_url": i.URL + ".diff", "patch_url": i.URL + ".patch", "merged_at": nil}
		out["draft"] = false
	}
	return out
}

func (c *call) comment(x *commentState) object {
	self := fmt.Sprintf("%s/issues/comments/%d", c.repoURL(), x.ID)
	return object{
		"url": self, "html_url": x.URL, "issue_url": fmt.Sprintf("%s/issues/%d", c.repoURL(), x.issue), "id": x.ID,
		"node_id": x.NodeID, "user": c.user(x.Author), "created_at": stamp(x.CreatedAt), "updated_at": stamp(x.UpdatedAt),
		"author_association": x.AuthorAssociation, "body": x.Body, "reactions": c.reactions(self, x.reactions), "performed_via_github_app": nil,
	}
}

func (c *call) reaction(r ghapi.Reaction) object {
	return object{"id": r.ID, "node_id": fmt.Sprintf("REA_%d", r.ID), "user": c.user(r.User), "content": r.Content, "created_at": stamp(r.CreatedAt)}
}

// event renders an event of the events list; kinds with more than the common fields get them.
func (c *call) event(e ghapi.Event) object {
	out := object{
		"id": e.ID, "node_id": fmt.Sprintf("EV_%d", e.ID), "url": fmt.Sprintf("%s/issues/events/%d", c.repoURL(), e.ID),
		"actor": c.user(e.Actor), "event": e.Kind, "commit_id": orNull(e.Commit), "commit_url": nil,
		"created_at": stamp(e.CreatedAt), "performed_via_github_app": nil,
	}
	if e.Commit != "" {
		out["commit_url"] = c.repoURL() + "/commits/" + e.Commit
	}
	switch e.Kind {
	case "labeled", "unlabeled":
		l := c.label(e.Label)
		out["label"] = object{"name": l["name"], "color": l["color"]}
	case "closed", "reopened":
		out["state_reason"] = orNull(e.Reason)
	case "renamed":
		out["rename"] = object{"from": "old", "to": "new"}
	case "milestoned", "demilestoned":
		out["milestone"] = object{"title": e.Label}
	case "assigned", "unassigned":
		out["assignee"], out["assigner"] = c.user(e.Actor), c.user(e.Actor)
	case "locked":
		out["lock_reason"] = orNull(e.Reason)
	}
	return out
}

func (c *call) crossReference(e ghapi.Event) object {
	source := &issueState{Issue: ghapi.Issue{
		Number: e.Source, URL: e.SourceURL, State: "open", Author: e.Actor, IsPullRequest: e.SourcePR,
		AuthorAssociation: "NONE", NodeID: "I_0", CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt,
	}}
	if have := c.s.state.issues[e.Source]; have != nil && (e.SourceURL == "" || strings.HasPrefix(e.SourceURL, c.s.htmlRepo()+"/")) {
		source = have
	}
	return object{
		"event": "cross-referenced", "actor": c.user(e.Actor), "created_at": stamp(e.CreatedAt), "updated_at": stamp(e.CreatedAt),
		"source": object{"type": "issue", "issue": c.issue(source)},
	}
}
