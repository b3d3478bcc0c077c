package ghapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v66/github"
)

// Workflows lists the workflow files of the repository.
func (c *Client) Workflows(ctx context.Context) ([]Workflow, error) {
	return pages(c.op(http.MethodGet, "/actions/workflows"), func(o github.ListOptions) ([]Workflow, *github.Response, error) {
		got, resp, err := c.rest.Actions.ListWorkflows(ctx, c.owner, c.name, &o)
		if err != nil {
			return nil, resp, err
		}
		if got.Workflows == nil {
			return nil, resp, noList(c.op(http.MethodGet, "/actions/workflows"))
		}
		return convert(got.Workflows, workflowOf), resp, nil
	})
}

// Workflow reads one workflow by its file's name, such as "issue-assistant.yml".
func (c *Client) Workflow(ctx context.Context, file string) (Workflow, error) {
	name, err := segment("a workflow file", file)
	if err != nil {
		return Workflow{}, err
	}
	got, _, err := c.rest.Actions.GetWorkflowByFileName(ctx, c.owner, c.name, name)
	if err != nil {
		return Workflow{}, fromTransport(c.op(http.MethodGet, "/actions/workflows/"+name), err)
	}
	return workflowOf(got), nil
}

// RunFilter chooses runs of a workflow. Empty fields do not restrict.
type RunFilter struct {
	Workflow string // file name; empty: all workflows
	Actor    string
	Branch   string
	Event    string
	Status   string    // queued, in_progress, completed, success, failure, …
	Since    time.Time // created at or after
	Max      int       // 0: 1,000, which is also what GitHub gives at most for a filtered list
}

// Runs lists runs, newest first.
func (c *Client) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	rest := "/actions/runs"
	if f.Workflow != "" {
		name, err := segment("a workflow file", f.Workflow)
		if err != nil {
			return nil, err
		}
		rest = "/actions/workflows/" + name + "/runs"
	}
	atMost := f.Max
	if atMost <= 0 {
		atMost = 1000
	}
	var all []Run
	opts := github.ListOptions{PerPage: min(perPage, atMost), Page: 1}
	for {
		query := pageQuery(opts)
		for k, v := range map[string]string{"actor": f.Actor, "branch": f.Branch, "event": f.Event, "status": f.Status} {
			if v != "" {
				query.Set(k, v)
			}
		}
		if !f.Since.IsZero() {
			query.Set("created", ">="+f.Since.UTC().Format(time.RFC3339))
		}
		var got github.WorkflowRuns
		resp, err := c.get(ctx, c.path(rest), query, &got)
		if err != nil {
			return all, err
		}
		if got.WorkflowRuns == nil {
			return all, noList(c.op(http.MethodGet, rest))
		}
		all = append(all, convert(got.WorkflowRuns, runOf)...)
		if len(all) >= atMost || resp.NextPage <= opts.Page {
			return all[:min(len(all), atMost)], nil
		}
		opts.Page = resp.NextPage
	}
}

// Run reads one run.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	got, _, err := c.rest.Actions.GetWorkflowRunByID(ctx, c.owner, c.name, id)
	if err != nil {
		return Run{}, fromTransport(c.op(http.MethodGet, "/actions/runs/"+itoa64(id)), err)
	}
	return runOf(got), nil
}

// Artifacts lists the artifacts of one name (empty: all), newest first, at most n; n below 0 means all.
func (c *Client) Artifacts(ctx context.Context, name string, n int) ([]Artifact, error) {
	var all []Artifact
	opts := github.ListOptions{PerPage: perPage, Page: 1}
	if n > 0 {
		opts.PerPage = min(perPage, n)
	}
	for {
		query := pageQuery(opts)
		if name != "" {
			query.Set("name", name) // go-github v66 cannot send it
		}
		var got github.ArtifactList
		resp, err := c.get(ctx, c.path("/actions/artifacts"), query, &got)
		if err != nil {
			return all, err
		}
		if got.Artifacts == nil {
			return all, noList(c.op(http.MethodGet, "/actions/artifacts"))
		}
		all = append(all, convert(got.Artifacts, artifactOf)...)
		if (n >= 0 && len(all) >= n) || resp.NextPage <= opts.Page {
			break
		}
		opts.Page = resp.NextPage
	}
	if n >= 0 && len(all) > n {
		all = all[:n]
	}
	return all, nil
}

// RunArtifacts lists the artifacts of one run.
func (c *Client) RunArtifacts(ctx context.Context, run int64) ([]Artifact, error) {
	rest := "/actions/runs/" + itoa64(run) + "/artifacts"
	return pages(c.op(http.MethodGet, rest), func(o github.ListOptions) ([]Artifact, *github.Response, error) {
		got, resp, err := c.rest.Actions.ListWorkflowRunArtifacts(ctx, c.owner, c.name, run, &o)
		if err != nil {
			return nil, resp, err
		}
		if got.Artifacts == nil {
			return nil, resp, noList(c.op(http.MethodGet, rest))
		}
		return convert(got.Artifacts, artifactOf), resp, nil
	})
}

func artifactOf(a *github.Artifact) Artifact {
	run := a.GetWorkflowRun()
	return Artifact{
		ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(), CreatedAt: a.GetCreatedAt().Time,
		ExpiresAt: a.GetExpiresAt().Time, RunID: run.GetID(), RepoID: run.GetRepositoryID(), HeadRepoID: run.GetHeadRepositoryID(),
		HeadBranch: run.GetHeadBranch(), HeadSHA: run.GetHeadSHA(),
	}
}

// DownloadArtifact reads an artifact's zip file of at most limit bytes. GitHub redirects to a blob host: the token
// does not go there.
func (c *Client) DownloadArtifact(ctx context.Context, id, limit int64) ([]byte, error) {
	op := c.op(http.MethodGet, "/actions/artifacts/"+itoa64(id)+"/zip")
	req, err := c.rest.NewRequest(http.MethodGet, c.path("/actions/artifacts/"+itoa64(id)+"/zip"), nil)
	if err != nil {
		return nil, fromTransport(op, err)
	}
	_, err = c.rest.Do(ctx, req, io.Discard)
	var moved *Error
	switch err = fromTransport(op, err); {
	case err == nil:
		return nil, &Error{Op: op, Kind: KindUnreadable, Message: "an answer instead of a redirect to the file"}
	case !errors.As(err, &moved) || moved.target == "":
		return nil, err
	}
	u, err := url.Parse(moved.target)
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, &Error{Op: op, Kind: KindForeignHost, Message: "the file is not at an https address"}
	}
	return c.transport.download(ctx, u, op, limit)
}

// download gets a file without the token, with a second try when the host fails.
func (t *transport) download(ctx context.Context, u *url.URL, op string, limit int64) ([]byte, error) {
	for try := 1; ; try++ {
		data, failure := t.downloadOnce(ctx, u, op, limit)
		if failure == nil {
			return data, nil
		}
		again := failure.Kind == KindServer || failure.Kind == KindNetwork || failure.Kind == KindTimeout
		if !again || try >= readTries || ctx.Err() != nil || !t.wait.pause(ctx, time.Second) {
			return nil, failure
		}
	}
}

func (t *transport) downloadOnce(ctx context.Context, u *url.URL, op string, limit int64) ([]byte, *Error) {
	ctx, cancel := context.WithTimeout(ctx, t.attempt)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &Error{Op: op, Kind: KindInvalid, Message: "the file's address is no address"}
	}
	req.Header.Set("User-Agent", t.userAgent)
	if e := t.begin(op); e != nil {
		return nil, e
	}
	start := t.wait.now()
	defer func() { t.add(0, t.wait.now().Sub(start)) }()
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, networkError(op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		// The page of a blob host says nothing that a reader of ours needs, and may repeat the signed address.
		kind := kindOfStatus(resp.StatusCode)
		if kind == KindMoved { // the file is not gone: somebody stands before it
			kind = KindForeignHost
		}
		return nil, &Error{Op: op, Kind: kind, Status: resp.StatusCode, Message: "from " + oneLine(u.Host, maxMessage)}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, networkError(op, err)
	}
	if int64(len(data)) > limit {
		return nil, &Error{Op: op, Kind: KindTooLarge, Message: fmt.Sprintf("more than %d bytes", limit)}
	}
	return data, nil
}

// Variable reads a variable of the repository; false when there is none.
func (c *Client) Variable(ctx context.Context, name string) (string, bool, error) {
	escaped, err := segment("a variable", name)
	if err != nil {
		return "", false, err
	}
	got, _, err := c.rest.Actions.GetRepoVariable(ctx, c.owner, c.name, escaped)
	err = fromTransport(c.op(http.MethodGet, "/actions/variables/"+escaped), err)
	if err != nil {
		return "", false, ignoreNotFound(err)
	}
	return got.Value, true, nil
}

// HasSecret reports whether the repository has a secret of that name (its value cannot be read).
func (c *Client) HasSecret(ctx context.Context, name string) (bool, error) {
	escaped, err := segment("a secret", name)
	if err != nil {
		return false, err
	}
	return c.exists(ctx, c.path("/actions/secrets/"+escaped))
}

// HasEnvironmentSecret reports whether an environment has a secret of that name.
func (c *Client) HasEnvironmentSecret(ctx context.Context, environment, name string) (bool, error) {
	env, err := segment("an environment", environment)
	if err != nil {
		return false, err
	}
	secret, err := segment("a secret", name)
	if err != nil {
		return false, err
	}
	return c.exists(ctx, c.path("/environments/"+env+"/secrets/"+secret))
}

func (c *Client) exists(ctx context.Context, path string) (bool, error) {
	_, err := c.get(ctx, path, nil, nil)
	return err == nil, ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if KindOf(err) == KindNotFound {
		return nil
	}
	return err
}

// Environment reads an environment with the branches that it admits; false when there is none.
func (c *Client) Environment(ctx context.Context, name string) (Environment, bool, error) {
	escaped, err := segment("an environment", name)
	if err != nil {
		return Environment{}, false, err
	}
	var got github.Environment
	if _, err := c.get(ctx, c.path("/environments/"+escaped), nil, &got); err != nil {
		return Environment{}, false, ignoreNotFound(err)
	}
	policy := got.GetDeploymentBranchPolicy()
	env := Environment{
		Name: got.GetName(), ProtectedBranches: policy.GetProtectedBranches(), CustomBranches: policy.GetCustomBranchPolicies(),
	}
	for _, r := range got.ProtectionRules {
		env.Reviewers = env.Reviewers || r.GetType() == "required_reviewers"
	}
	if !env.CustomBranches {
		return env, true, nil
	}
	env.Branches, err = pages(c.op(http.MethodGet, "/environments/"+escaped), func(o github.ListOptions) ([]string, *github.Response, error) {
		var list github.DeploymentBranchPolicyResponse
		resp, err := c.get(ctx, c.path("/environments/"+escaped+"/deployment-branch-policies"), pageQuery(o), &list)
		return convert(list.BranchPolicies, (*github.DeploymentBranchPolicy).GetName), resp, err
	})
	return env, err == nil, err
}

// OpenAlerts lists the open code-scanning alerts. A repository without code scanning is KindNotFound or KindForbidden.
func (c *Client) OpenAlerts(ctx context.Context) ([]Alert, error) {
	return pages(c.op(http.MethodGet, "/code-scanning/alerts"), func(o github.ListOptions) ([]Alert, *github.Response, error) {
		query := pageQuery(o)
		query.Set("state", "open")
		var got []*github.Alert
		resp, err := c.get(ctx, c.path("/code-scanning/alerts"), query, &got)
		return convert(got, alertOf), resp, err
	})
}
