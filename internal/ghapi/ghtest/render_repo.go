package ghtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

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
