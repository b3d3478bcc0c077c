package ghtest

import (
	"cmp"
	"fmt"
	"maps"
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

func (c *call) release(r ghapi.Release) object {
	self := fmt.Sprintf("%s/releases/%d", c.repoURL(), r.ID)
	return object{
		"url": self, "html_url": r.URL, "assets_url": self + "/assets", "upload_url": self + "/assets{?name,label}",
		"tarball_url": c.repoURL() + "/tarball/" + url.PathEscape(r.Tag), "zipball_url": c.repoURL() + "/zipball/" + url.PathEscape(r.Tag),
		"id": r.ID, "node_id": fmt.Sprintf("RE_%d", r.ID), "tag_name": r.Tag, "target_commitish": c.s.state.branch, "name": orNull(r.Name),
		"body": r.Body, "draft": r.Draft, "prerelease": r.Prerelease, "immutable": false, "created_at": stamp(r.CreatedAt), "published_at": stamp(r.PublishedAt),
		"author": c.user(c.s.user(c.s.owner)), "assets": []any{},
	}
}

func (c *call) commit(x ghapi.Commit) object {
	self := c.repoURL() + "/commits/" + x.SHA
	who := object{"name": "A", "email": "a@example.com", "date": stamp(x.Date)}
	return object{
		"url": self, "sha": x.SHA, "node_id": "C_" + x.SHA, "html_url": x.URL, "comments_url": self + "/comments",
		"commit": object{
			"url": c.repoURL() + "/git/commits/" + x.SHA, "author": who, "committer": who, "message": x.Message, "comment_count": 0,
			"tree": object{"sha": x.SHA, "url": c.repoURL() + "/git/trees/" + x.SHA},
		},
		"author": c.user(x.Author), "committer": c.user(x.Author), "parents": []any{},
	}
}

func (c *call) run(r ghapi.Run) object {
	self := fmt.Sprintf("%s/actions/runs/%d", c.repoURL(), r.ID)
	return object{
		"id": r.ID, "name": orNull(r.Name), "node_id": fmt.Sprintf("WFR_%d", r.ID), "head_branch": r.HeadBranch, "head_sha": r.HeadSHA,
		"path": r.Path, "run_number": r.ID, "run_attempt": r.Attempt, "event": r.Event, "display_title": r.Name, "status": r.Status,
		"conclusion": orNull(r.Conclusion), "workflow_id": r.WorkflowID, "url": self, "html_url": r.URL, "pull_requests": []any{},
		"created_at": stamp(r.CreatedAt), "updated_at": stamp(r.UpdatedAt), "run_started_at": stamp(r.CreatedAt),
		"actor": c.user(r.Actor), "triggering_actor": c.user(r.Actor), "jobs_url": self + "/jobs", "logs_url": self + "/logs",
		"check_suite_url": c.repoURL() + "/check-suites/1", "artifacts_url": self + "/artifacts", "cancel_url": self + "/cancel",
		"rerun_url": self + "/rerun", "workflow_url": fmt.Sprintf("%s/actions/workflows/%d", c.repoURL(), r.WorkflowID),
		"head_commit": object{
			"id": r.HeadSHA, "tree_id": r.HeadSHA, "message": "m", "timestamp": stamp(r.CreatedAt),
			"author": object{"name": "A", "email": "a@example.com"}, "committer": object{"name": "A", "email": "a@example.com"},
		},
		"repository": c.minimalRepository(c.s.opts.Repo), "head_repository": c.minimalRepository(r.HeadRepo),
	}
}

func (c *call) job(run int64, n int, j ghapi.Job) object {
	id := cmp.Or(j.ID, run*100+int64(n))
	self := fmt.Sprintf("%s/actions/jobs/%d", c.repoURL(), id)
	steps := []any{}
	for i, s := range j.Steps {
		steps = append(steps, object{
			"name": s.Name, "status": cmp.Or(s.Status, "completed"), "conclusion": orNull(s.Conclusion), "number": i + 1,
			"started_at": stamp(j.StartedAt), "completed_at": nil,
		})
	}
	return object{
		"id": id, "run_id": run, "run_url": fmt.Sprintf("%s/actions/runs/%d", c.repoURL(), run), "node_id": fmt.Sprintf("JOB_%d", id),
		"head_sha": strings.Repeat("0", 40), "url": self, "html_url": fmt.Sprintf("%s/actions/runs/%d/job/%d", c.s.htmlRepo(), run, id),
		"status": cmp.Or(j.Status, "completed"), "conclusion": orNull(j.Conclusion), "created_at": stamp(c.s.now()),
		"started_at": stamp(cmp.Or(j.StartedAt, c.s.now())), "completed_at": nil, "name": j.Name, "check_run_url": self, "labels": []any{},
		"runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil, "workflow_name": nil, "head_branch": c.s.state.branch,
		"steps": steps,
	}
}

func (c *call) artifact(a ghapi.Artifact) object {
	self := fmt.Sprintf("%s/actions/artifacts/%d", c.repoURL(), a.ID)
	return object{
		"id": a.ID, "node_id": fmt.Sprintf("AR_%d", a.ID), "name": a.Name, "size_in_bytes": a.Size, "url": self,
		"archive_download_url": self + "/zip", "expired": a.Expired, "created_at": stamp(a.CreatedAt), "updated_at": stamp(a.CreatedAt),
		"expires_at": stamp(a.ExpiresAt),
		"workflow_run": object{
			"id": a.RunID, "repository_id": a.RepoID, "head_repository_id": a.HeadRepoID, "head_branch": a.HeadBranch, "head_sha": a.HeadSHA,
		},
	}
}

func (c *call) workflow(w ghapi.Workflow) object {
	self := fmt.Sprintf("%s/actions/workflows/%d", c.repoURL(), w.ID)
	return object{
		"id": w.ID, "node_id": fmt.Sprintf("W_%d", w.ID), "name": w.Name, "path": w.Path, "state": w.State, "url": self,
		"html_url": c.s.htmlRepo() + "/blob/main/" + w.Path, "badge_url": c.s.htmlRepo() + "/workflows/x/badge.svg",
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
	}
}

func (c *call) alert(a ghapi.Alert) object {
	self := fmt.Sprintf("%s/code-scanning/alerts/%d", c.repoURL(), a.Number)
	out := object{
		"number": a.Number, "created_at": "2026-01-01T00:00:00Z", "url": self, "html_url": a.URL, "instances_url": self + "/instances",
		"state": a.State, "dismissed_by": nil, "dismissed_at": nil, "dismissed_reason": nil, "fixed_at": nil,
		"rule": object{"id": a.Rule, "name": a.Rule, "severity": "warning", "description": "d"},
		"tool": object{"name": a.Tool, "guid": nil, "version": "1"},
		"most_recent_instance": object{
			"ref": "refs/heads/" + c.s.state.branch, "analysis_key": "k", "environment": "", "category": "", "state": a.State,
			"commit_sha": strings.Repeat("0", 40), "message": object{"text": "m"}, "classifications": []any{},
			"location": object{"path": a.Path, "start_line": a.Line, "end_line": a.Line, "start_column": 1, "end_column": 2},
		},
	}
	if a.Severity != "" {
		out["rule"].(object)["security_severity_level"] = a.Severity
	}
	if a.State == "dismissed" {
		out["dismissed_by"], out["dismissed_at"], out["dismissed_reason"] = c.user(c.s.user(c.s.opts.Viewer)), stamp(c.s.now()), "false positive"
	}
	return out
}

// repositoryURLs are the addresses that every form of a repository has.
var repositoryURLs = []string{
	"archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents", "contributors",
	"deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks", "issue_comment", "issue_events",
	"issues", "keys", "labels", "languages", "merges", "milestones", "notifications", "pulls", "releases", "stargazers", "statuses",
	"subscribers", "subscription", "tags", "teams", "trees",
}

func (c *call) minimalRepository(full string) object {
	owner, name, _ := strings.Cut(full, "/")
	self := c.base() + "/repos/" + full
	id := c.s.repoID()
	if !strings.EqualFold(full, c.s.opts.Repo) {
		id = c.s.user(owner).ID
	}
	out := object{
		"id": id, "node_id": fmt.Sprintf("R_%d", id), "name": name, "full_name": full, "owner": c.user(c.s.user(owner)),
		"private": c.s.state.private, "html_url": c.s.opts.ServerURL + "/" + full, "description": nil, "fork": c.s.state.fork, "url": self,
	}
	for _, k := range repositoryURLs {
		out[k+"_url"] = self + "/" + strings.ReplaceAll(k, "_", "/")
	}
	return out
}

func (c *call) fullRepository() object {
	out := c.minimalRepository(c.s.opts.Repo)
	visibility := "public"
	if c.s.state.private {
		visibility = "private"
	}
	open := 0
	for _, i := range c.s.state.issues {
		if i.State == "open" {
			open++
		}
	}
	html := c.s.htmlRepo()
	maps.Copy(out, object{
		"clone_url": html + ".git", "git_url": "git:" + strings.TrimPrefix(html, "https:") + ".git", "ssh_url": "git@github.com:" + c.s.opts.Repo + ".git",
		"svn_url": html, "mirror_url": nil, "homepage": nil, "language": nil, "license": nil, "default_branch": c.s.state.branch,
		"forks": 0, "forks_count": 0, "has_issues": !c.s.state.noIssues, "has_projects": true, "has_wiki": true, "has_pages": false,
		"has_discussions": true, "archived": c.s.state.archived, "disabled": false, "visibility": visibility, "open_issues": open,
		"open_issues_count": open, "pushed_at": "2026-01-01T00:00:00Z", "size": 1, "stargazers_count": 0, "watchers": 0, "watchers_count": 0,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "network_count": 0, "subscribers_count": 0,
	})
	return out
}
