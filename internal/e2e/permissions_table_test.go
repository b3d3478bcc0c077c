package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
)

// metadata is the scope that every token has; no workflow can name it.
const metadata = "metadata"

// endpoint is a request that the product may make, and the permission that GitHub asks of a job's token for it.
type endpoint struct {
	method, path string // {} stands for one part of the path, {...} for the rest
	scope, level string
}

// endpoints say what GitHub documents in "Permissions required for GitHub Apps" (docs.github.com/rest/authentication,
// version 2026-03-10; the data behind it is server-to-server-permissions.json in github/docs). A job's token is one of a
// GitHub App. Where that page offers "Pull requests" beside "Issues" (marked as additional permissions), the product asks
// about issues, so only "Issues" counts. Searching needs none of its own: what the token cannot read is not found.
var endpoints = []endpoint{
	{"GET", "/rate_limit", metadata, "read"},
	{"GET", "/search/issues", metadata, "read"},
	{"GET", "/repos/{}/{}", metadata, "read"},
	{"GET", "/repos/{}/{}/collaborators/{}/permission", metadata, "read"},

	{"GET", "/repos/{}/{}/issues", "issues", "read"},
	{"POST", "/repos/{}/{}/issues", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/comments/{}", "issues", "read"},
	{"PATCH", "/repos/{}/{}/issues/comments/{}", "issues", "write"},
	{"DELETE", "/repos/{}/{}/issues/comments/{}", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/comments/{}/reactions", "issues", "read"},
	{"POST", "/repos/{}/{}/issues/comments/{}/reactions", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/{}", "issues", "read"},
	{"PATCH", "/repos/{}/{}/issues/{}", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/{}/comments", "issues", "read"},
	{"POST", "/repos/{}/{}/issues/{}/comments", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/{}/labels", "issues", "read"},
	{"POST", "/repos/{}/{}/issues/{}/labels", "issues", "write"},
	{"DELETE", "/repos/{}/{}/issues/{}/labels/{}", "issues", "write"},
	{"GET", "/repos/{}/{}/issues/{}/events", "issues", "read"},
	{"GET", "/repos/{}/{}/issues/{}/timeline", "issues", "read"},
	{"GET", "/repos/{}/{}/issues/{}/reactions", "issues", "read"},
	{"POST", "/repos/{}/{}/issues/{}/reactions", "issues", "write"},
	{"GET", "/repos/{}/{}/labels", "issues", "read"},
	{"POST", "/repos/{}/{}/labels", "issues", "write"},
	{"GET", "/repos/{}/{}/labels/{}", "issues", "read"},
	{"PATCH", "/repos/{}/{}/labels/{}", "issues", "write"},
	{"GET", "/repos/{}/{}/milestones", "issues", "read"},
	{"POST", "/repos/{}/{}/milestones", "issues", "write"},

	{"GET", "/repos/{}/{}/releases", "contents", "read"},
	{"GET", "/repos/{}/{}/releases/latest", "contents", "read"},
	{"GET", "/repos/{}/{}/commits", "contents", "read"},
	{"GET", "/repos/{}/{}/commits/{}", "contents", "read"},
	{"GET", "/repos/{}/{}/compare/{}", "contents", "read"},
	{"GET", "/repos/{}/{}/git/ref/{...}", "contents", "read"},
	{"GET", "/repos/{}/{}/git/trees/{}", "contents", "read"},

	{"GET", "/repos/{}/{}/actions/workflows", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/workflows/{}", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/workflows/{}/runs", "actions", "read"},
	{"PUT", "/repos/{}/{}/actions/workflows/{}/enable", "actions", "write"},
	{"PUT", "/repos/{}/{}/actions/workflows/{}/disable", "actions", "write"},
	{"POST", "/repos/{}/{}/actions/workflows/{}/dispatches", "actions", "write"},
	{"GET", "/repos/{}/{}/actions/runs", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/runs/{}", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/runs/{}/artifacts", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/runs/{}/jobs", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/artifacts", "actions", "read"},
	{"GET", "/repos/{}/{}/actions/artifacts/{}/zip", "actions", "read"},

	{"GET", "/repos/{}/{}/code-scanning/alerts", "security-events", "read"},
	{"GET", "/repos/{}/{}/code-scanning/alerts/{}", "security-events", "read"},
	{"PATCH", "/repos/{}/{}/code-scanning/alerts/{}", "security-events", "write"},
}

// objectScopes are the permissions behind the objects of a GraphQL query. GitHub documents none; these follow what the
// REST pages say of the same things, and docs/unverified.md says so. Objects that are missing here need none.
var objectScopes = map[string]string{
	"Issue": "issues", "IssueConnection": "issues", "IssueComment": "issues", "IssueCommentConnection": "issues",
	"IssueTimelineItemsConnection": "issues", "LabeledEvent": "issues", "UnlabeledEvent": "issues", "ClosedEvent": "issues",
	"ReopenedEvent": "issues", "Label": "issues", "LabelConnection": "issues", "Milestone": "issues",
	"PullRequest": "pull-requests", "PullRequestConnection": "pull-requests", "PullRequestReviewThread": "pull-requests",
	"PullRequestReviewThreadConnection": "pull-requests",
	"Discussion":                        "discussions", "DiscussionConnection": "discussions", "DiscussionComment": "discussions",
	"DiscussionCategory": "discussions",
	"Commit":             "contents", "Ref": "contents",
}

// openObjects are the objects of a GraphQL query that need no permission beyond metadata.
var openObjects = strings.Fields("Query Repository RepositoryOwner Actor User Bot Mannequin Organization EnterpriseUserAccount PageInfo UserConnection")

// permission is a scope with its level.
type permission struct{ scope, level string }

// needed are the permissions that a request asks for.
func needed(r *http.Request, path string, body []byte) ([]permission, error) {
	if path == "/graphql" {
		return neededByQuery(body)
	}
	for _, e := range endpoints {
		if e.method == r.Method && fits(e.path, path) {
			return []permission{{e.scope, e.level}}, nil
		}
	}
	return nil, fmt.Errorf("%s %s stands in no row of the table", r.Method, path)
}

func fits(pattern, path string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case part == "{...}":
			return len(have) > i
		case i >= len(have) || (part != "{}" && part != have[i]):
			return false
		}
	}
	return len(want) == len(have)
}

func neededByQuery(body []byte) ([]permission, error) {
	c, err := ghcheck.Load()
	if err != nil {
		return nil, err
	}
	objects, err := c.Objects(body)
	if err != nil {
		return nil, err
	}
	var all []permission
	for _, o := range objects {
		scope := objectScopes[o]
		if scope == "" && !slices.Contains(openObjects, o) {
			return nil, fmt.Errorf("the permission for the GraphQL object %s is not known", o)
		}
		if p := (permission{scope, "read"}); scope != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, nil
}
