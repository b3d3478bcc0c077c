package ghtest

import (
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func (c *call) listWorkflows() reply {
	out := []object{}
	for _, w := range c.s.state.workflows {
		out = append(out, c.workflow(w))
	}
	return list(c, out, func(page []object, total int) any { return object{"total_count": total, "workflows": page} })
}

// findWorkflow takes the file's name or the id.
func (c *call) findWorkflow() *ghapi.Workflow {
	for n, w := range c.s.state.workflows {
		if path.Base(w.Path) == c.args["file"] || strconv.FormatInt(w.ID, 10) == c.args["file"] {
			return &c.s.state.workflows[n]
		}
	}
	return nil
}

func (c *call) getWorkflow() reply {
	w := c.findWorkflow()
	if w == nil {
		return notFound()
	}
	return ok(c.workflow(*w))
}

func (c *call) enableWorkflow() reply  { return c.switchWorkflow("active") }
func (c *call) disableWorkflow() reply { return c.switchWorkflow("disabled_manually") }

func (c *call) switchWorkflow(state string) reply {
	w := c.findWorkflow()
	if w == nil {
		return notFound()
	}
	w.State = state
	return reply{status: http.StatusNoContent}
}

func (c *call) dispatch() reply {
	w := c.findWorkflow()
	if w == nil {
		return notFound()
	}
	var in struct {
		Ref    string            `json:"ref"`
		Inputs map[string]string `json:"inputs"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	switch {
	case w.State != "active":
		return fail(http.StatusUnprocessableEntity, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
	case strings.TrimPrefix(in.Ref, "refs/heads/") != c.s.state.branch:
		return fail(http.StatusUnprocessableEntity, "No ref found for: "+in.Ref)
	}
	c.s.addRun(ghapi.Run{
		WorkflowID: w.ID, Name: w.Name, Path: w.Path, Event: "workflow_dispatch", Status: "queued", HeadBranch: c.s.state.branch,
	})
	return reply{status: http.StatusNoContent}
}

func (c *call) listRuns() reply {
	var workflow *ghapi.Workflow
	if c.args["file"] != "" {
		if workflow = c.findWorkflow(); workflow == nil {
			return notFound()
		}
	}
	since, _ := time.Parse(time.RFC3339, strings.TrimPrefix(c.q.Get("created"), ">=")) // what cannot be read does not restrict
	out := []object{}
	for _, r := range c.s.state.runs {
		is := func(param, value string) bool {
			return c.q.Get(param) == "" || strings.EqualFold(c.q.Get(param), value)
		}
		status := c.q.Get("status")
		if (workflow != nil && r.WorkflowID != workflow.ID) || !is("actor", r.Actor.Login) || !is("branch", r.HeadBranch) ||
			!is("event", r.Event) || r.CreatedAt.Before(since) || (status != "" && status != r.Status && status != r.Conclusion) {
			continue
		}
		out = append(out, c.run(r))
	}
	return list(c, out, func(page []object, total int) any { return object{"total_count": total, "workflow_runs": page} })
}

func (c *call) getRun() reply {
	for _, r := range c.s.state.runs {
		if r.ID == c.id() {
			return ok(c.run(r))
		}
	}
	return notFound()
}

func (c *call) listJobs() reply {
	out := []object{}
	for n, j := range c.s.state.jobs[c.id()] {
		out = append(out, c.job(c.id(), n, j))
	}
	return list(c, out, func(page []object, total int) any { return object{"total_count": total, "jobs": page} })
}

func (c *call) listArtifacts() reply {
	return c.artifacts(func(a ghapi.Artifact) bool { return c.q.Get("name") == "" || a.Name == c.q.Get("name") })
}

func (c *call) listRunArtifacts() reply {
	return c.artifacts(func(a ghapi.Artifact) bool {
		return a.RunID == c.id() && (c.q.Get("name") == "" || a.Name == c.q.Get("name"))
	})
}

func (c *call) artifacts(keep func(ghapi.Artifact) bool) reply {
	out := []object{}
	for _, a := range c.s.state.artifacts {
		if keep(a.Artifact) {
			out = append(out, c.artifact(a.Artifact))
		}
	}
	return list(c, out, func(page []object, total int) any { return object{"total_count": total, "artifacts": page} })
}

// downloadArtifact redirects to another host, as GitHub does.
func (c *call) downloadArtifact() reply {
	for _, a := range c.s.state.artifacts {
		if a.ID != c.id() {
			continue
		}
		if a.Expired {
			return fail(http.StatusGone, "Artifact has expired")
		}
		return reply{status: http.StatusFound, header: http.Header{
			"Location": {fmt.Sprintf("%s/_blob/%d?sig=secret", c.s.blobHost(c.r), a.ID)},
		}}
	}
	return notFound()
}

// blobHost is another host name than the client's; on this machine it leads to the same server.
func (s *Server) blobHost(r *http.Request) string {
	if host, port, found := strings.Cut(r.Host, ":"); found && host == "127.0.0.1" {
		return "http://localhost:" + port
	}
	return "https://blob.example.com"
}

// blob answers as the blob host does: a token that was meant for GitHub is refused.
func (s *Server) blob(r *http.Request, id string) reply {
	if r.Header.Get("Authorization") != "" {
		return reply{status: http.StatusBadRequest, raw: []byte("<Error><Code>InvalidAuthenticationInfo</Code></Error>")}
	}
	for _, a := range s.state.artifacts {
		if strconv.FormatInt(a.ID, 10) == id && r.URL.Query().Get("sig") == "secret" {
			return reply{status: http.StatusOK, raw: a.zip, header: http.Header{"Content-Type": {"application/zip"}}}
		}
	}
	return reply{status: http.StatusNotFound, raw: []byte("<Error><Code>BlobNotFound</Code></Error>")}
}

func (c *call) getVariable() reply {
	v, found := c.s.state.variables[c.args["name"]]
	if !found {
		return notFound()
	}
	return ok(object{"name": c.args["name"], "value": v, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"})
}

func secret(name string) reply {
	return ok(object{"name": name, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"})
}

func (c *call) getSecret() reply {
	if !c.s.state.secrets[c.args["name"]] {
		return notFound()
	}
	return secret(c.args["name"])
}

func (c *call) getEnvSecret() reply {
	if !c.s.state.envSecrets[c.args["env"]+"/"+c.args["name"]] {
		return notFound()
	}
	return secret(c.args["name"])
}

func (c *call) getEnvironment() reply {
	e, found := c.s.state.envs[c.args["env"]]
	if !found {
		return notFound()
	}
	rules := []any{}
	if e.Reviewers {
		rules = append(rules, object{"id": 1, "node_id": "R1", "type": "required_reviewers", "reviewers": []any{}})
	}
	var policy any
	if e.ProtectedBranches || e.CustomBranches {
		policy = object{"protected_branches": e.ProtectedBranches, "custom_branch_policies": e.CustomBranches}
		rules = append(rules, object{"id": 2, "node_id": "R2", "type": "branch_policy"})
	}
	return ok(object{
		"id": 1, "node_id": "EN_1", "name": e.Name, "url": c.repoURL() + "/environments/x", "html_url": c.s.htmlRepo() + "/deployments",
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "protection_rules": rules, "deployment_branch_policy": policy,
	})
}

func (c *call) listBranchPolicies() reply {
	e, found := c.s.state.envs[c.args["env"]]
	if !found {
		return notFound()
	}
	out := []object{}
	for n, b := range e.Branches {
		out = append(out, object{"id": n + 1, "node_id": "P", "name": b, "type": "branch"})
	}
	return list(c, out, func(page []object, total int) any { return object{"total_count": total, "branch_policies": page} })
}

func (c *call) listAlerts() reply {
	if c.s.state.noScanning {
		return fail(http.StatusNotFound, "no analysis found")
	}
	out := []object{}
	for _, a := range c.s.state.alerts {
		if state := c.q.Get("state"); state == "" || state == a.State {
			out = append(out, c.alert(a))
		}
	}
	return list(c, out, nil)
}

func (c *call) findAlert() *ghapi.Alert {
	for n, a := range c.s.state.alerts {
		if a.Number == c.number("number") {
			return &c.s.state.alerts[n]
		}
	}
	return nil
}

func (c *call) getAlert() reply {
	a := c.findAlert()
	if a == nil {
		return notFound()
	}
	return ok(c.alert(*a))
}

func (c *call) editAlert() reply {
	a := c.findAlert()
	if a == nil {
		return notFound()
	}
	var in struct {
		State   string `json:"state"`
		Reason  string `json:"dismissed_reason"`
		Comment string `json:"dismissed_comment"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if (in.State != "dismissed" && in.State != "open") || (in.State == "dismissed" && in.Reason == "") || len(in.Comment) > 280 {
		return invalid("Alert", "state", "invalid")
	}
	a.State = in.State
	return ok(c.alert(*a))
}
