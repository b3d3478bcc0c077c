package ghtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// AddWorkflow adds a workflow file.
func (s *Server) AddWorkflow(w ghapi.Workflow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.ID == 0 {
		w.ID = s.id()
	}
	if w.State == "" {
		w.State = "active"
	}
	s.state.workflows = append(s.state.workflows, w)
}

// AddRun adds a run on top of the list and returns its id.
func (s *Server) AddRun(r ghapi.Run) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addRun(r).ID
}

func (s *Server) addRun(r ghapi.Run) ghapi.Run {
	if r.ID == 0 {
		r.ID = s.id()
	}
	r.Attempt = max(r.Attempt, 1)
	if r.CreatedAt.IsZero() {
		r.CreatedAt = s.now()
	}
	if r.UpdatedAt.IsZero() {
		r.UpdatedAt = r.CreatedAt
	}
	if r.Status == "" {
		r.Status, r.Conclusion = "completed", "success"
	}
	if r.HeadBranch == "" {
		r.HeadBranch = s.state.branch
	}
	if r.HeadRepo == "" {
		r.HeadRepo = s.opts.Repo
	}
	if r.HeadSHA == "" {
		r.HeadSHA = strings.Repeat("0", 40)
	}
	if r.WorkflowID == 0 {
		for _, w := range s.state.workflows {
			if w.Path == r.Path {
				r.WorkflowID = w.ID
			}
		}
	}
	if r.Actor.Login == "" {
		r.Actor.Login = s.opts.Viewer
	}
	r.Actor = s.user(r.Actor.Login)
	r.URL = fmt.Sprintf("%s/actions/runs/%d", s.htmlRepo(), r.ID)
	s.state.runs = append([]ghapi.Run{r}, s.state.runs...)
	return r
}

// SetJobs sets the jobs of a run.
func (s *Server) SetJobs(run int64, jobs ...ghapi.Job) {
	s.set(func(st *state) { st.jobs[run] = jobs })
}

// AddArtifact adds an artifact with its zip file on top of the list and returns its id. Repository and head
// repository are this one unless given.
func (s *Server) AddArtifact(a ghapi.Artifact, zip []byte) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.ID == 0 {
		a.ID = s.id()
	}
	a.Size = int64(len(zip))
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.now()
	}
	if a.ExpiresAt.IsZero() {
		a.ExpiresAt = a.CreatedAt.Add(90 * 24 * time.Hour)
	}
	if a.RepoID == 0 {
		a.RepoID = s.repoID()
	}
	if a.HeadRepoID == 0 {
		a.HeadRepoID = s.repoID()
	}
	if a.HeadBranch == "" {
		a.HeadBranch = s.state.branch
	}
	s.state.artifacts = append([]artifactState{{a, zip}}, s.state.artifacts...)
	return a.ID
}

// RepoID is the id of the repository.
func (s *Server) RepoID() int64 { return s.repoID() }

func (s *Server) repoID() int64 { return 42 }

// SetVariable sets a variable of the repository.
func (s *Server) SetVariable(name, value string) {
	s.set(func(st *state) { st.variables[name] = value })
}

// SetSecret makes a secret exist.
func (s *Server) SetSecret(name string) { s.set(func(st *state) { st.secrets[name] = true }) }

// SetEnvironment makes an environment exist, with secrets of these names.
func (s *Server) SetEnvironment(e ghapi.Environment, secrets ...string) {
	s.set(func(st *state) {
		st.envs[e.Name] = e
		for _, n := range secrets {
			st.envSecrets[e.Name+"/"+n] = true
		}
	})
}

// AddAlert adds a code-scanning alert and returns its number.
func (s *Server) AddAlert(a ghapi.Alert) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Number == 0 {
		a.Number = len(s.state.alerts) + 1
	}
	if a.State == "" {
		a.State = "open"
	}
	a.URL = fmt.Sprintf("%s/security/code-scanning/%d", s.htmlRepo(), a.Number)
	s.state.alerts = append(s.state.alerts, a)
	return a.Number
}

// Alert is the present state of an alert.
func (s *Server) Alert(number int) (ghapi.Alert, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.state.alerts {
		if a.Number == number {
			return a, true
		}
	}
	return ghapi.Alert{}, false
}

// Workflows are the workflow files with their state.
func (s *Server) Workflows() []ghapi.Workflow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ghapi.Workflow{}, s.state.workflows...)
}

// Runs are the runs, newest first.
func (s *Server) Runs() []ghapi.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ghapi.Run{}, s.state.runs...)
}

// Labels are the labels of the repository.
func (s *Server) Labels() []ghapi.Label {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []ghapi.Label
	for _, l := range s.state.labels {
		out = append(out, l.Label)
	}
	return out
}

// Milestones are the milestones of the repository.
func (s *Server) Milestones() []ghapi.Milestone {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ghapi.Milestone{}, s.state.milestones...)
}

// DisableCodeScanning makes the alerts answer as in a repository without an analysis.
func (s *Server) DisableCodeScanning() { s.set(func(st *state) { st.noScanning = true }) }
