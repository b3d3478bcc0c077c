package ghtest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func (c *call) repository() reply { return ok(c.fullRepository()) }

func (c *call) listLabels() reply {
	out := []object{}
	for _, l := range c.s.state.labels {
		out = append(out, c.label(l.Name))
	}
	return list(c, out, nil)
}

func (c *call) getLabel() reply {
	if c.s.findLabel(c.args["label"]) < 0 {
		return notFound()
	}
	return ok(c.label(c.args["label"]))
}

type labelBody struct {
	Name        string  `json:"name"`
	NewName     string  `json:"new_name"`
	Color       string  `json:"color"`
	Description *string `json:"description"`
}

func (c *call) createLabel() reply {
	var in labelBody
	if rep, good := c.decode(&in); !good {
		return rep
	}
	switch {
	case in.Name == "":
		return invalid("Label", "name", "missing_field")
	case c.s.findLabel(in.Name) >= 0:
		return invalid("Label", "name", "already_exists")
	}
	l := ghapi.Label{Name: in.Name, Color: in.Color}
	if in.Description != nil {
		l.Description = *in.Description
	}
	c.s.addLabel(l)
	return reply{status: http.StatusCreated, body: c.label(in.Name)}
}

func (c *call) editLabel() reply {
	at := c.s.findLabel(c.args["label"])
	if at < 0 {
		return notFound()
	}
	var in labelBody
	if rep, good := c.decode(&in); !good {
		return rep
	}
	l := &c.s.state.labels[at]
	if in.NewName != "" {
		if other := c.s.findLabel(in.NewName); other >= 0 && other != at {
			return invalid("Label", "name", "already_exists")
		}
		for _, i := range c.s.state.issues {
			for n, have := range i.Labels {
				if strings.EqualFold(have, l.Name) {
					i.Labels[n] = in.NewName
				}
			}
		}
		l.Name = in.NewName
	}
	if in.Color != "" {
		l.Color = in.Color
	}
	if in.Description != nil {
		l.Description = *in.Description
	}
	return ok(c.label(l.Name))
}

func (c *call) listMilestones() reply {
	state := c.q.Get("state")
	if state == "" {
		state = "open"
	}
	out := []any{}
	for _, m := range c.s.state.milestones {
		if state == "all" || state == m.State {
			out = append(out, c.milestone(m.Number))
		}
	}
	return list(c, out, nil)
}

func (c *call) createMilestone() reply {
	var in struct {
		Title       string    `json:"title"`
		State       string    `json:"state"`
		Description string    `json:"description"`
		DueOn       time.Time `json:"due_on"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if in.Title == "" {
		return invalid("Milestone", "title", "missing_field")
	}
	for _, m := range c.s.state.milestones {
		if m.Title == in.Title {
			return invalid("Milestone", "title", "already_exists")
		}
	}
	m := c.s.addMilestone(ghapi.Milestone{Title: in.Title, State: in.State, Description: in.Description, DueOn: in.DueOn})
	return reply{status: http.StatusCreated, body: c.milestone(m.Number)}
}

func (c *call) permission() reply {
	login := c.args["user"]
	if _, known := c.s.state.users[strings.ToLower(login)]; !known {
		return fail(http.StatusNotFound, login+" is not a user")
	}
	level := c.s.level(login)
	user := c.user(c.s.user(login)).(object)
	user["role_name"] = level
	return ok(object{"permission": level, "role_name": level, "user": user})
}

func (c *call) listReleases() reply {
	out := []object{}
	for _, r := range c.s.state.releases {
		out = append(out, c.release(r))
	}
	return list(c, out, nil)
}

func (c *call) latestRelease() reply {
	var latest *ghapi.Release
	for n, r := range c.s.state.releases {
		if !r.Draft && !r.Prerelease && (latest == nil || r.CreatedAt.After(latest.CreatedAt)) {
			latest = &c.s.state.releases[n]
		}
	}
	if latest == nil {
		return notFound()
	}
	return ok(c.release(*latest))
}

func (c *call) listCommits() reply {
	since, _ := time.Parse(time.RFC3339, c.q.Get("since")) // what cannot be read does not restrict
	from := 0
	if sha := c.q.Get("sha"); sha != "" {
		if from = c.s.commitAt(sha); from < 0 {
			return notFound()
		}
	}
	out := []object{}
	for _, x := range c.s.state.commits[min(from, len(c.s.state.commits)):] {
		if !x.Date.Before(since) {
			out = append(out, c.commit(x))
		}
	}
	return list(c, out, nil)
}

// commitAt finds a commit by hash, abbreviated hash, branch or tag: its place from the top of the branch, or -1.
func (s *Server) commitAt(name string) int {
	for _, prefix := range []string{"", "heads/", "tags/"} {
		if sha, ok := s.state.refs[prefix+name]; ok {
			name = sha
			break
		}
	}
	return slices.IndexFunc(s.state.commits, func(c ghapi.Commit) bool {
		return c.SHA == name || (len(name) >= 7 && strings.HasPrefix(c.SHA, name))
	})
}

func (c *call) getCommit() reply {
	at := c.s.commitAt(c.args["ref"])
	if at < 0 {
		return fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.args["ref"])
	}
	return ok(c.commit(c.s.state.commits[at]))
}

// compare knows one line of commits: what stands above is ahead.
func (c *call) compare() reply {
	base, head, found := strings.Cut(c.args["basehead"], "...")
	from, to := c.s.commitAt(base), c.s.commitAt(head)
	if !found || from < 0 || to < 0 {
		return notFound()
	}
	status, ahead, behind := "identical", 0, 0
	commits := []object{}
	switch {
	case to < from:
		status, ahead = "ahead", from-to
		for n := from - 1; n >= to; n-- {
			commits = append(commits, c.commit(c.s.state.commits[n]))
		}
	case to > from:
		status, behind = "behind", to-from
	}
	self := c.repoURL() + "/compare/" + base + "..." + head
	b := c.commit(c.s.state.commits[from])
	return ok(object{
		"url": self, "html_url": c.s.htmlRepo() + "/compare/x", "permalink_url": c.s.htmlRepo() + "/compare/x", "diff_url": self + ".diff",
		"patch_url": self + ".patch", "base_commit": b, "merge_base_commit": b, "status": status, "ahead_by": ahead, "behind_by": behind,
		"total_commits": len(commits), "commits": commits, "files": []any{},
	})
}

func (c *call) getRef() reply {
	ref := c.args["rest"]
	sha, found := c.s.state.refs[ref]
	if !found {
		return notFound()
	}
	return ok(object{
		"ref": "refs/" + ref, "node_id": "REF_x", "url": c.repoURL() + "/git/refs/" + ref,
		"object": object{"type": "commit", "sha": sha, "url": c.repoURL() + "/git/commits/" + sha},
	})
}

func (c *call) getTree() reply {
	entries, found := c.s.state.trees[c.args["sha"]]
	if !found {
		return notFound()
	}
	out := []object{}
	for _, e := range entries {
		o := object{"path": e.Path, "mode": e.Mode, "type": e.Kind, "sha": e.SHA, "url": c.repoURL() + "/git/blobs/" + e.SHA}
		if e.Kind == "blob" {
			o["size"] = e.Size
		}
		out = append(out, o)
	}
	return ok(object{"sha": c.args["sha"], "url": c.repoURL() + "/git/trees/" + c.args["sha"], "tree": out, "truncated": false})
}

func (c *call) searchIssues() reply {
	words, filter := []string{}, map[string]string{}
	for w := range strings.FieldsSeq(c.q.Get("q")) {
		if k, v, found := strings.Cut(w, ":"); found && v != "" {
			filter[k+":"+v] = v
			continue
		}
		words = append(words, strings.ToLower(w))
	}
	all := c.s.issueList(func(i *issueState) bool {
		_, issues := filter["is:issue"]
		_, pulls := filter["is:pr"]
		_, open := filter["is:open"]
		_, closed := filter["is:closed"]
		if (issues && i.IsPullRequest) || (pulls && !i.IsPullRequest) || (open && i.State != "open") || (closed && i.State != "closed") {
			return false
		}
		text := strings.ToLower(i.Title + "\n" + i.Body)
		for _, w := range words {
			if !strings.Contains(text, strings.Trim(w, `"`)) {
				return false
			}
		}
		return true
	})
	sortIssues(all, false, false)
	out := make([]object, 0, len(all))
	for _, i := range all[:min(len(all), 1000)] {
		o := c.issue(i)
		o["score"] = 1.0
		out = append(out, o)
	}
	return list(c, out, func(page []object, total int) any {
		return object{"total_count": total, "incomplete_results": false, "search_type": "lexical", "items": page}
	})
}
