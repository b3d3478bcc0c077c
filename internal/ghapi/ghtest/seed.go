package ghtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// Set runs f with the exclusive right to change what the setters below do not cover.
func (s *Server) set(f func(st *state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// SetRepository sets the repository's own settings; the zero value is public, with issues, on main.
func (s *Server) SetRepository(r ghapi.Repository) {
	s.set(func(st *state) {
		st.private, st.fork, st.archived = r.Private, r.Fork, r.Archived
		if r.DefaultBranch != "" {
			st.branch = r.DefaultBranch
		}
	})
}

// DisableIssues makes every issue answer 410.
func (s *Server) DisableIssues() { s.set(func(st *state) { st.noIssues = true }) }

// AddMilestone adds a milestone and returns its number.
func (s *Server) AddMilestone(m ghapi.Milestone) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addMilestone(m).Number
}

func (s *Server) addMilestone(m ghapi.Milestone) ghapi.Milestone {
	m.Number = len(s.state.milestones) + 1
	if m.State == "" {
		m.State = "open"
	}
	s.state.milestones = append(s.state.milestones, m)
	return m
}

// AddRelease adds a release; id, names and times are filled in.
func (s *Server) AddRelease(r ghapi.Release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ID == 0 {
		r.ID = s.id()
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = s.now()
	}
	if r.PublishedAt.IsZero() && !r.Draft {
		r.PublishedAt = r.CreatedAt
	}
	r.URL = s.htmlRepo() + "/releases/tag/" + r.Tag
	s.state.releases = append([]ghapi.Release{r}, s.state.releases...)
}

// AddDiscussion adds a discussion and returns its number.
func (s *Server) AddDiscussion(d ghapi.Discussion) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Number == 0 {
		d.Number = s.state.nextNumber
	}
	s.state.nextNumber = max(s.state.nextNumber, d.Number+1)
	if d.CreatedAt.IsZero() {
		d.CreatedAt = s.now()
	}
	if d.UpdatedAt.IsZero() {
		d.UpdatedAt = d.CreatedAt
	}
	if d.Category == "" {
		d.Category = "General"
	}
	d.Author = s.user(d.Author.Login)
	d.URL = fmt.Sprintf("%s/discussions/%d", s.htmlRepo(), d.Number)
	s.state.discussions = append(s.state.discussions, d)
	return d.Number
}

// AddPullRequest adds a pull request, also as an issue, and returns its number. The issues of this repository that it
// closes know it.
func (s *Server) AddPullRequest(p ghapi.PullRequest) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	issue := ghapi.Issue{Number: p.Number, Title: p.Title, Body: p.Body, State: "open", Author: p.Author, IsPullRequest: true, UpdatedAt: p.UpdatedAt}
	if p.State == "" {
		p.State = "open"
	}
	if p.State != "open" {
		issue.State = "closed"
	}
	i := s.addIssue(issue)
	p.Number, p.Author, p.URL = i.Number, i.Author, i.URL
	if p.Base == "" {
		p.Base = s.state.branch
	}
	if p.HeadRepo == "" {
		p.HeadRepo = s.opts.Repo
	}
	if p.UpdatedAt.IsZero() {
		p.UpdatedAt = i.UpdatedAt
	}
	if p.State == "merged" && p.MergedAt.IsZero() {
		p.MergedAt = p.UpdatedAt
	}
	for n, ref := range p.Closes {
		if ref.Repo == "" {
			p.Closes[n].Repo = s.opts.Repo
		}
		if to := s.state.issues[ref.Number]; to != nil && strings.EqualFold(p.Closes[n].Repo, s.opts.Repo) {
			to.closers = append(to.closers, p.Number)
		}
	}
	i.pull = &p
	return p.Number
}

// SetReviewThreads sets the review threads of a pull request: true is resolved.
func (s *Server) SetReviewThreads(pull int, resolved ...bool) {
	s.set(func(st *state) { st.threads[pull] = resolved })
}

// AddCommit adds a commit on top of the default branch.
func (s *Server) AddCommit(c ghapi.Commit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Date.IsZero() {
		c.Date = s.now()
	}
	if c.Author.Login != "" {
		c.Author = s.user(c.Author.Login)
	}
	c.URL = s.htmlRepo() + "/commit/" + c.SHA
	s.state.commits = append([]ghapi.Commit{c}, s.state.commits...)
	s.state.refs["heads/"+s.state.branch] = c.SHA
}

// SetRef lets a reference such as "tags/v1.2.0" point to a commit.
func (s *Server) SetRef(ref, sha string) { s.set(func(st *state) { st.refs[ref] = sha }) }

// SetTree sets the paths of a commit.
func (s *Server) SetTree(sha string, entries ...ghapi.TreeEntry) {
	s.set(func(st *state) { st.trees[sha] = entries })
}

// loaded is GitHub's issue object as far as a person would save it, with the comments beside it.
type loaded struct {
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	State       string     `json:"state"`
	StateReason string     `json:"state_reason"`
	Locked      bool       `json:"locked"`
	User        *loadedWho `json:"user"`
	Association string     `json:"author_association"`
	Labels      []struct {
		Name string `json:"name"`
	} `json:"labels"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	ClosedAt  time.Time       `json:"closed_at"`
	Pull      json.RawMessage `json:"pull_request"`
	Comments  []struct {
		User      *loadedWho `json:"user"`
		Body      string     `json:"body"`
		CreatedAt time.Time  `json:"created_at"`
	} `json:"comments_list"`
}

type loadedWho struct {
	Login string `json:"login"`
}

func (w *loadedWho) login() string {
	if w == nil {
		return "ghost"
	}
	return w.Login
}

// LoadIssue adds an issue from GitHub's JSON of one, with its comments in "comments_list", and returns its number.
func (s *Server) LoadIssue(data []byte) (int, error) {
	var in loaded
	if err := json.Unmarshal(data, &in); err != nil {
		return 0, fmt.Errorf("read the issue: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	issue := ghapi.Issue{
		Number: in.Number, Title: in.Title, Body: in.Body, State: in.State, StateReason: in.StateReason, Locked: in.Locked,
		Author: ghapi.User{Login: in.User.login()}, AuthorAssociation: in.Association, CreatedAt: in.CreatedAt,
		UpdatedAt: in.UpdatedAt, ClosedAt: in.ClosedAt, IsPullRequest: len(in.Pull) > 0 && string(in.Pull) != "null",
	}
	for _, l := range in.Labels {
		issue.Labels = append(issue.Labels, l.Name)
	}
	added := s.addIssue(issue)
	for _, c := range in.Comments {
		at := c.CreatedAt
		if at.IsZero() {
			at = s.now()
		}
		s.addComment(added.Number, c.User.login(), c.Body, at)
	}
	return added.Number, nil
}
