package ghapi

import (
	"context"
	"net/http"
	"time"

	"github.com/google/go-github/v66/github"
)

// Job is a job of a workflow run.
type Job struct {
	ID         int64
	Name       string // with the calling job before it: "Triage / Analyze"
	Status     string // queued, in_progress, completed, waiting
	Conclusion string // success, failure, skipped, … ; empty while it goes on
	StartedAt  time.Time
	Steps      []Step
}

// Step is a step of a job.
type Step struct {
	Name       string
	Status     string
	Conclusion string
}

// Jobs lists the jobs of a run's latest attempt.
func (c *Client) Jobs(ctx context.Context, run int64) ([]Job, error) {
	rest := "/actions/runs/" + itoa64(run) + "/jobs"
	return pages(c.op(http.MethodGet, rest), func(o github.ListOptions) ([]Job, *github.Response, error) {
		got, resp, err := c.rest.Actions.ListWorkflowJobs(ctx, c.owner, c.name, run, &github.ListWorkflowJobsOptions{Filter: "latest", ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		if got.Jobs == nil {
			return nil, resp, noList(c.op(http.MethodGet, rest))
		}
		return convert(got.Jobs, jobOf), resp, nil
	})
}

func jobOf(j *github.WorkflowJob) Job {
	out := Job{ID: j.GetID(), Name: j.GetName(), Status: j.GetStatus(), Conclusion: j.GetConclusion(), StartedAt: j.GetStartedAt().Time}
	for _, s := range j.Steps {
		out.Steps = append(out.Steps, Step{Name: s.GetName(), Status: s.GetStatus(), Conclusion: s.GetConclusion()})
	}
	return out
}
