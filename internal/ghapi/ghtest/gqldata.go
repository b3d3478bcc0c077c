package ghtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func upper(s string) any {
	if s == "" {
		return nil
	}
	return strings.ToUpper(strings.ReplaceAll(s, " ", "_"))
}

func (c *call) queryRoot() node {
	viewer := c.viewer()
	return node{
		"__typename": "Query",
		"viewer":     node{"__typename": "User", "login": viewer.Login, "databaseId": viewer.ID, "id": fmt.Sprintf("U_%d", viewer.ID)},
		"repository": resolver(func(args map[string]any) any {
			full := argString(args, "owner") + "/" + argString(args, "name")
			if !strings.EqualFold(full, c.s.opts.Repo) {
				return gqlFail{"NOT_FOUND", "Could not resolve to a Repository with the name '" + full + "'."}
			}
			return c.gqlRepository()
		}),
	}
}

func (c *call) gqlRepository() node {
	st := &c.s.state
	return node{
		"__typename": "Repository", "id": fmt.Sprintf("R_%d", c.s.repoID()), "databaseId": c.s.repoID(), "name": c.s.name,
		"nameWithOwner": c.s.opts.Repo, "url": c.s.htmlRepo(), "hasIssuesEnabled": !st.noIssues, "isPrivate": st.private,
		"owner":            c.gqlActor(c.s.user(c.s.owner)),
		"defaultBranchRef": node{"__typename": "Ref", "name": st.branch},
		"issues":           connection("IssueConnection", c.gqlIssues),
		"issue": resolver(func(args map[string]any) any {
			i := st.issues[argInt(args, "number")]
			if i == nil || i.IsPullRequest || i.deleted || i.movedTo != "" {
				return gqlFail{"NOT_FOUND", fmt.Sprintf("Could not resolve to an Issue with the number of %d.", argInt(args, "number"))}
			}
			return c.gqlIssue(i)
		}),
		"pullRequests": connection("PullRequestConnection", c.gqlPulls),
		"pullRequest": resolver(func(args map[string]any) any {
			i := st.issues[argInt(args, "number")]
			if i == nil || i.pull == nil {
				return gqlFail{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", argInt(args, "number"))}
			}
			return c.gqlPull(i.pull)
		}),
		"discussions": connection("DiscussionConnection", func(map[string]any) (int, func(int) node) {
			all := slices.Clone(st.discussions)
			slices.SortStableFunc(all, func(a, b ghapi.Discussion) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
			return len(all), func(i int) node { return c.gqlDiscussion(all[i]) }
		}),
		"discussion": resolver(func(args map[string]any) any {
			for _, d := range st.discussions {
				if d.Number == argInt(args, "number") {
					return c.gqlDiscussion(d)
				}
			}
			return gqlFail{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Discussion with the number of %d.", argInt(args, "number"))}
		}),
	}
}

// gqlActor has no "[bot]" in an app's login: GraphQL drops it.
func (c *call) gqlActor(u ghapi.User) any {
	if u.Login == "" {
		return nil
	}
	if u.Type == "" {
		u = c.s.user(u.Login)
	}
	return node{
		"__typename": u.Type, "__interfaces": []string{"Actor", "Node"}, "login": strings.TrimSuffix(u.Login, "[bot]"), "databaseId": u.ID,
		"id": fmt.Sprintf("U_%d", u.ID), "url": c.s.opts.ServerURL + "/" + u.Login, "name": u.Login,
	}
}

func (c *call) gqlLabels(names []string) []node {
	var out []node
	for _, n := range names {
		l := c.label(n)
		out = append(out, node{"__typename": "Label", "id": l["node_id"], "name": l["name"], "color": l["color"], "description": l["description"]})
	}
	return out
}

func (c *call) gqlIssues(args map[string]any) (int, func(int) node) {
	filter := argMap(args, "filterBy")
	states := append(argStrings(args, "states"), argStrings(filter, "states")...)
	labels := append(argStrings(args, "labels"), argStrings(filter, "labels")...)
	since, _ := time.Parse(time.RFC3339, argString(filter, "since")) // what cannot be read does not restrict
	all := c.s.issueList(func(i *issueState) bool {
		if i.IsPullRequest || i.UpdatedAt.Before(since) {
			return false
		}
		if len(states) > 0 && !slices.Contains(states, strings.ToUpper(i.State)) {
			return false
		}
		return len(labels) == 0 || slices.ContainsFunc(labels, i.HasLabel)
	})
	order := argMap(args, "orderBy")
	sortIssues(all, argString(order, "field") == "UPDATED_AT", argString(order, "direction") != "DESC")
	return len(all), func(n int) node { return c.gqlIssue(all[n]) }
}

func (c *call) gqlIssue(i *issueState) node {
	var assignees, comments, closers []node
	for _, a := range i.Assignees {
		if n, is := c.gqlActor(c.s.user(a)).(node); is {
			assignees = append(assignees, n)
		}
	}
	for _, x := range i.comments {
		comments = append(comments, node{
			"__typename": "IssueComment", "id": x.NodeID, "databaseId": x.ID, "body": x.Body, "author": c.gqlActor(x.Author), "url": x.URL,
			"authorAssociation": x.AuthorAssociation, "createdAt": stamp(x.CreatedAt), "updatedAt": stamp(x.UpdatedAt),
			"includesCreatedEdit": false, "isMinimized": false, "minimizedReason": nil, "viewerDidAuthor": x.Author.Login == c.viewer().Login,
			"reactionGroups": []node{},
		})
	}
	for _, n := range i.closers {
		if p := c.s.state.issues[n]; p != nil && p.pull != nil {
			closers = append(closers, c.gqlPull(p.pull))
		}
	}
	var milestone any
	if m, is := c.milestone(i.MilestoneNumber).(object); is {
		milestone = node{"__typename": "Milestone", "number": m["number"], "title": m["title"], "description": m["description"], "dueOn": m["due_on"]}
	}
	return node{
		"__typename": "Issue", "__interfaces": []string{"Node", "Closable", "Labelable", "Comment"},
		"number": i.Number, "databaseId": i.ID, "id": i.NodeID, "title": i.Title, "body": i.Body, "state": upper(i.State), "url": i.URL,
		"stateReason": resolver(func(args map[string]any) any {
			if i.StateReason == "duplicate" && args["enableDuplicate"] != true {
				return "NOT_PLANNED"
			}
			return upper(i.StateReason)
		}),
		"closed": i.State == "closed", "locked": i.Locked, "activeLockReason": upper(i.LockReason),
		"authorAssociation": i.AuthorAssociation, "author": c.gqlActor(i.Author),
		"labels": fixed("LabelConnection", c.gqlLabels(i.Labels)), "assignees": fixed("UserConnection", assignees),
		"milestone": milestone, "createdAt": stamp(i.CreatedAt), "updatedAt": stamp(i.UpdatedAt), "closedAt": stamp(i.ClosedAt),
		"comments": resolver(func(args map[string]any) any {
			if len(args) == 0 { // only the number is asked for
				return node{"__typename": "IssueCommentConnection", "totalCount": len(comments), "nodes": comments}
			}
			return fixed("IssueCommentConnection", comments)(args)
		}),
		"closedByPullRequestsReferences": fixed("PullRequestConnection", closers),
		"lastEditedAt":                   stamp(i.editedAt), "editor": c.gqlActor(i.editor),
		"timelineItems": fixed("IssueTimelineItemsConnection", c.timeline(i)),
		"projectCards":  fixed("ProjectCardConnection", nil), "reactionGroups": []node{},
	}
}

func (c *call) gqlDiscussion(d ghapi.Discussion) node {
	var answer any
	if d.Answer != "" {
		answer = node{"__typename": "DiscussionComment", "body": d.Answer}
	}
	return node{
		"__typename": "Discussion", "number": d.Number, "title": d.Title, "body": d.Body, "closed": d.Closed,
		"isAnswered": d.Answered || d.Answer != "", "url": d.URL, "createdAt": stamp(d.CreatedAt), "updatedAt": stamp(d.UpdatedAt),
		"category": node{"__typename": "DiscussionCategory", "name": d.Category}, "answer": answer, "author": c.gqlActor(d.Author),
	}
}

func (c *call) gqlPulls(args map[string]any) (int, func(int) node) {
	states := argStrings(args, "states")
	var all []*ghapi.PullRequest
	for _, i := range c.s.state.issues {
		if i.pull != nil && (len(states) == 0 || slices.Contains(states, strings.ToUpper(i.pull.State))) {
			all = append(all, i.pull)
		}
	}
	slices.SortStableFunc(all, func(a, b *ghapi.PullRequest) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.Number, a.Number))
	})
	return len(all), func(n int) node { return c.gqlPull(all[n]) }
}

func (c *call) gqlPull(p *ghapi.PullRequest) node {
	var closes, threads []node
	for _, ref := range p.Closes {
		state := ref.State
		if i := c.s.state.issues[ref.Number]; i != nil && strings.EqualFold(ref.Repo, c.s.opts.Repo) {
			state = i.State
		}
		closes = append(closes, node{
			"__typename": "Issue", "number": ref.Number, "state": upper(cmp.Or(state, "open")),
			"repository": node{"__typename": "Repository", "nameWithOwner": ref.Repo},
		})
	}
	for _, resolved := range c.s.state.threads[p.Number] {
		threads = append(threads, node{"__typename": "PullRequestReviewThread", "isResolved": resolved})
	}
	var merge any
	if p.MergeCommit != "" {
		merge = node{"__typename": "Commit", "oid": p.MergeCommit}
	}
	reviews, talk := c.remarks(p)
	return node{
		"reviews": reviews, "comments": talk, "headRefOid": c.head(p.Number),
		"__typename": "PullRequest", "number": p.Number, "title": p.Title, "body": p.Body, "state": upper(p.State), "url": p.URL,
		"baseRefName": p.Base, "mergedAt": stamp(p.MergedAt), "updatedAt": stamp(p.UpdatedAt), "author": c.gqlActor(p.Author),
		"headRepository": node{"__typename": "Repository", "nameWithOwner": p.HeadRepo}, "mergeCommit": merge,
		"closingIssuesReferences": fixed("IssueConnection", closes), "reviewThreads": fixed("PullRequestReviewThreadConnection", threads),
	}
}

// mutationRoot has no fields: the product changes things through REST only.
func (c *call) mutationRoot() node { return node{"__typename": "Mutation"} }
