package ghtest

import (
	"hash/fnv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// state is the repository. Everything is guarded by the server's mutex.
type state struct {
	nextID      int64
	users       map[string]ghapi.User // by login, lower case
	levels      map[string]string     // permission by login, lower case
	labels      []labelState
	issues      map[int]*issueState
	nextNumber  int
	milestones  []ghapi.Milestone
	releases    []ghapi.Release
	discussions []ghapi.Discussion
	threads     map[int][]bool // resolved, by pull request
	commits     []ghapi.Commit // newest first
	refs        map[string]string
	trees       map[string][]ghapi.TreeEntry
	workflows   []ghapi.Workflow
	runs        []ghapi.Run // newest first
	jobs        map[int64][]ghapi.Job
	artifacts   []artifactState
	variables   map[string]string
	secrets     map[string]bool
	envs        map[string]ghapi.Environment
	envSecrets  map[string]bool // env + "/" + name
	alerts      []ghapi.Alert
	noScanning  bool
	noIssues    bool
	actions     ActionsState
	archived    bool
	private     bool
	fork        bool
	branch      string
}

type labelState struct {
	ghapi.Label
	id int64
}

type issueState struct {
	ghapi.Issue
	nullBody  bool
	comments  []*commentState
	events    []ghapi.Event
	reactions []ghapi.Reaction
	pull      *ghapi.PullRequest
	closers   []int // pull requests that close it
	reviews   []review
	head      string // newest commit of a pull request
	movedTo   string
	deleted   bool
	editedAt  time.Time // of the body, by a person
	editor    ghapi.User
}

type commentState struct {
	ghapi.Comment
	issue     int
	reactions []ghapi.Reaction
}

type artifactState struct {
	ghapi.Artifact
	zip []byte
}

func newState() state {
	return state{
		nextID: 1000, users: map[string]ghapi.User{}, levels: map[string]string{}, issues: map[int]*issueState{}, nextNumber: 1,
		threads: map[int][]bool{}, jobs: map[int64][]ghapi.Job{}, refs: map[string]string{}, trees: map[string][]ghapi.TreeEntry{}, variables: map[string]string{},
		secrets: map[string]bool{}, envs: map[string]ghapi.Environment{}, envSecrets: map[string]bool{}, branch: "main", actions: defaultActions(),
	}
}

// id gives ids that only grow, as GitHub's do.
func (s *Server) id() int64 {
	s.state.nextID++
	return s.state.nextID
}

// user makes an account known.
func (s *Server) user(login string) ghapi.User {
	if login == "" {
		return ghapi.User{}
	}
	key := strings.ToLower(login)
	if u, ok := s.state.users[key]; ok {
		return u
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	u := ghapi.User{Login: login, ID: int64(h.Sum32()%1_000_000) + 1, Type: "User"}
	if strings.HasSuffix(key, "[bot]") {
		u.Type = "Bot"
	}
	s.state.users[key] = u
	return u
}

// level is what an account may do. Everybody may read a public repository.
func (s *Server) level(login string) string {
	if l, ok := s.state.levels[strings.ToLower(login)]; ok {
		return l
	}
	if s.state.private {
		return "none"
	}
	return "read"
}

func (s *Server) association(login string) string {
	switch {
	case strings.EqualFold(login, s.owner):
		return "OWNER"
	case s.level(login) == "admin" || s.level(login) == "write":
		return "COLLABORATOR"
	default:
		return "NONE"
	}
}

func (s *Server) htmlRepo() string { return s.opts.ServerURL + "/" + s.opts.Repo }

// SetPermission sets what an account may do: admin, write, read or none.
func (s *Server) SetPermission(login, level string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user(login)
	s.state.levels[strings.ToLower(login)] = level
}

// AddLabel adds a label to the repository.
func (s *Server) AddLabel(labels ...ghapi.Label) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range labels {
		s.addLabel(l)
	}
}

func (s *Server) addLabel(l ghapi.Label) {
	if l.Color == "" {
		l.Color = "ededed"
	}
	s.state.labels = append(s.state.labels, labelState{Label: l, id: s.id()})
}

func (s *Server) findLabel(name string) int {
	for i, l := range s.state.labels {
		if strings.EqualFold(l.Name, name) {
			return i
		}
	}
	return -1
}
