package ghtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// route is one method and path. A part in braces matches one segment.
type route struct {
	method string
	parts  []string
	run    func(*call) reply
}

// match compares segment by segment, each unescaped by itself: a slash in a label's name stays in its segment.
func (rt route) match(method string, segments []string) (map[string]string, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if method != rt.method || (len(segments) != len(rt.parts) && rt.parts[len(rt.parts)-1] != "{rest...}") || len(segments) < len(rt.parts) {
		return nil, false
	}
	args := map[string]string{}
	for i, p := range rt.parts {
		if p == "{rest...}" {
			rest, err := url.PathUnescape(strings.Join(segments[i:], "/"))
			args["rest"] = rest
			return args, err == nil
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(p, "{") {
			if value == "" {
				return nil, false
			}
			args[strings.Trim(p, "{}")] = value
			continue
		}
		if p != value {
			return nil, false
		}
	}
	return args, true
}

// call is one request on its route.
type call struct {
	s    *Server
	r    *http.Request
	args map[string]string
	q    url.Values
	body []byte
}

func (c *call) number(name string) int {
	n, err := strconv.Atoi(c.args[name])
	if err != nil {
		return -1
	}
	return n
}

func (c *call) id() int64 {
	n, err := strconv.ParseInt(c.args["id"], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// decode reads the body into v; false with the answer of GitHub for a body that is no JSON object.
func (c *call) decode(v any) (reply, bool) {
	if err := json.Unmarshal(c.body, v); err != nil {
		return fail(http.StatusBadRequest, "Problems parsing JSON"), false
	}
	return reply{}, true
}

// base is the address that the client used.
func (c *call) base() string {
	scheme := "https"
	if c.r.URL.Scheme != "" {
		scheme = c.r.URL.Scheme
	} else if c.r.TLS == nil {
		scheme = "http"
	}
	prefix := ""
	if strings.HasPrefix(c.r.URL.Path, "/api/") {
		prefix = "/api/v3"
	}
	return scheme + "://" + c.r.Host + prefix
}

func (c *call) repoURL() string { return c.base() + "/repos/" + c.s.opts.Repo }

// list answers one page of a list, wrapped by the function (or as it is).
func list[T any](c *call, all []T, wrap func(page []T, total int) any) reply {
	per := clamp(c.q.Get("per_page"), 30, 1, 100)
	page := clamp(c.q.Get("page"), 1, 1, 1<<30)
	last := max((len(all)+per-1)/per, 1)
	from := min((page-1)*per, len(all))
	part := append([]T{}, all[from:min(from+per, len(all))]...)
	rep := reply{status: http.StatusOK}
	if wrap != nil {
		rep.body = wrap(part, len(all))
	} else {
		rep.body = part
	}
	var links []string
	add := func(n int, rel string) {
		q := c.r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.base(), apiPath(c.r.URL), q.Encode(), rel))
	}
	if page > 1 {
		add(page-1, "prev")
	}
	if page < last {
		add(page+1, "next")
		add(last, "last")
	}
	if page > 1 {
		add(1, "first")
	}
	if len(links) > 0 {
		rep.header = http.Header{"Link": {strings.Join(links, ", ")}}
	}
	return rep
}

func clamp(s string, def, low, high int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return def
	}
	return min(max(n, low), high)
}

// table lists what the fake answers.
func (s *Server) table() []route {
	var rs []route
	add := func(method, path string, run func(*call) reply) {
		rs = append(rs, route{method, strings.Split(strings.TrimPrefix(path, "/"), "/"), run})
	}
	const repo = "/repos/{owner}/{repo}"
	get, post, patch, put, del := http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete

	add(post, "/graphql", (*call).graphql)
	add(get, "/rate_limit", (*call).rateLimit)
	add(get, "/search/issues", (*call).searchIssues)
	add(get, repo, (*call).repository)

	add(get, repo+"/issues", (*call).listIssues)
	add(post, repo+"/issues", (*call).createIssue)
	add(get, repo+"/issues/comments/{id}", (*call).getComment)
	add(patch, repo+"/issues/comments/{id}", (*call).editComment)
	add(del, repo+"/issues/comments/{id}", (*call).deleteComment)
	add(get, repo+"/issues/comments/{id}/reactions", (*call).listCommentReactions)
	add(post, repo+"/issues/comments/{id}/reactions", (*call).createCommentReaction)
	add(get, repo+"/issues/{number}", (*call).getIssue)
	add(patch, repo+"/issues/{number}", (*call).editIssue)
	add(get, repo+"/issues/{number}/comments", (*call).listComments)
	add(post, repo+"/issues/{number}/comments", (*call).createComment)
	add(get, repo+"/issues/{number}/labels", (*call).listIssueLabels)
	add(post, repo+"/issues/{number}/labels", (*call).addLabels)
	add(del, repo+"/issues/{number}/labels/{label}", (*call).removeLabel)
	add(get, repo+"/issues/{number}/events", (*call).listEvents)
	add(get, repo+"/issues/{number}/timeline", (*call).listTimeline)
	add(get, repo+"/issues/{number}/reactions", (*call).listIssueReactions)
	add(post, repo+"/issues/{number}/reactions", (*call).createIssueReaction)

	add(get, repo+"/labels", (*call).listLabels)
	add(post, repo+"/labels", (*call).createLabel)
	add(get, repo+"/labels/{label}", (*call).getLabel)
	add(patch, repo+"/labels/{label}", (*call).editLabel)
	add(get, repo+"/milestones", (*call).listMilestones)
	add(post, repo+"/milestones", (*call).createMilestone)
	add(get, repo+"/collaborators/{user}/permission", (*call).permission)

	add(get, repo+"/releases", (*call).listReleases)
	add(get, repo+"/releases/latest", (*call).latestRelease)
	add(get, repo+"/commits", (*call).listCommits)
	add(get, repo+"/commits/{ref}", (*call).getCommit)
	add(get, repo+"/compare/{basehead}", (*call).compare)
	add(get, repo+"/git/ref/{rest...}", (*call).getRef)
	add(get, repo+"/git/trees/{sha}", (*call).getTree)

	add(get, repo+"/actions/workflows", (*call).listWorkflows)
	add(get, repo+"/actions/workflows/{file}", (*call).getWorkflow)
	add(get, repo+"/actions/workflows/{file}/runs", (*call).listRuns)
	add(put, repo+"/actions/workflows/{file}/enable", (*call).enableWorkflow)
	add(put, repo+"/actions/workflows/{file}/disable", (*call).disableWorkflow)
	add(post, repo+"/actions/workflows/{file}/dispatches", (*call).dispatch)
	add(get, repo+"/actions/runs", (*call).listRuns)
	add(get, repo+"/actions/runs/{id}", (*call).getRun)
	add(get, repo+"/actions/runs/{id}/artifacts", (*call).listRunArtifacts)
	add(get, repo+"/actions/runs/{id}/jobs", (*call).listJobs)
	add(get, repo+"/actions/artifacts", (*call).listArtifacts)
	add(get, repo+"/actions/artifacts/{id}/zip", (*call).downloadArtifact)
	add(get, repo+"/actions/permissions", (*call).getActionsSettings)
	add(get, repo+"/actions/permissions/selected-actions", (*call).getSelectedActions)
	add(get, repo+"/actions/permissions/workflow", (*call).getTokenSettings)
	add(get, repo+"/actions/permissions/artifact-and-log-retention", (*call).getRetention)
	add(get, repo+"/actions/variables/{name}", (*call).getVariable)
	add(get, repo+"/actions/secrets/{name}", (*call).getSecret)
	add(get, repo+"/environments/{env}", (*call).getEnvironment)
	add(get, repo+"/environments/{env}/secrets/{name}", (*call).getEnvSecret)
	add(get, repo+"/environments/{env}/deployment-branch-policies", (*call).listBranchPolicies)
	add(get, repo+"/code-scanning/alerts", (*call).listAlerts)
	add(get, repo+"/code-scanning/alerts/{number}", (*call).getAlert)
	add(patch, repo+"/code-scanning/alerts/{number}", (*call).editAlert)
	return rs
}

func (c *call) rateLimit() reply {
	left := max(c.s.opts.RateLimit-c.s.used, 0)
	core := map[string]any{"limit": c.s.opts.RateLimit, "used": c.s.used, "remaining": left, "reset": c.s.resetAt.Unix()}
	return ok(map[string]any{"resources": map[string]any{"core": core, "search": core}, "rate": core})
}
