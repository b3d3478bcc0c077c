// Package ghtest is a GitHub in memory: one repository with issues, comments, labels, reactions, events, search,
// discussions, pull requests, releases, milestones, workflows, artifacts and alerts, as far as the product uses them.
//
// It is an [http.Handler], so that it can stand behind a loopback server, and a transport ([Server.Transport]) that
// needs no socket. Answers are paged by Link, carry ETags and rate headers, and fail on demand ([Fault], [Server.Chaos]).
// The package holds no test code: `try` runs on it.
package ghtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// Options describe the repository. The zero value is a public repository octo/demo.
type Options struct {
	Repo      string // owner/name; empty: octo/demo
	ServerURL string // what people see; empty: https://github.com
	Token     string // empty: any token or none will do. Else reads need it or none, writes need it
	Viewer    string // whose token it is; empty: github-actions[bot]
	// Viewers are the accounts of further tokens, for several actors at once.
	Viewers   map[string]string
	RateLimit int // requests in an hour; 0: 5,000
	// Now is the clock; nil: one of its own that starts in 2026 and moves a second with each request.
	Now func() time.Time
}

// Request is one entry of the log.
type Request struct {
	N             int // from 1
	Method        string
	Path          string // escaped, without /api/v3
	Query         url.Values
	Body          string
	Authorization string
	Host          string
	Operation     string // name of the GraphQL operation
	Mutation      bool   // the GraphQL operation changes something
	Status        int    // of the answer; 0: the connection was closed
	Fault         string // which fault struck
}

// Write reports whether the request changes something.
func (r Request) Write() bool {
	if r.Path == "/graphql" {
		return r.Mutation
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// Server is the fake. It is safe for concurrent use; requests are answered one after another.
type Server struct {
	opts    Options
	owner   string
	name    string
	routes  []route
	mu      sync.Mutex
	clock   time.Time
	log     []Request
	faults  []*Fault
	chaos   *chaos
	used    int
	resetAt time.Time
	acting  string // the account of the request that is being answered, when it is one of Viewers
	state   state
}

// New returns a repository without issues and labels.
func New(o Options) *Server {
	if o.Repo == "" {
		o.Repo = "octo/demo"
	}
	if o.ServerURL == "" {
		o.ServerURL = "https://github.com"
	}
	if o.Viewer == "" {
		o.Viewer = "github-actions[bot]"
	}
	if o.RateLimit == 0 {
		o.RateLimit = 5000
	}
	s := &Server{opts: o, clock: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), state: newState()}
	s.owner, s.name, _ = strings.Cut(o.Repo, "/")
	s.routes = s.table()
	s.user(s.owner)
	s.state.levels[strings.ToLower(s.owner)] = "admin"
	return s
}

// Now is the server's time.
func (s *Server) Now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// Advance moves the server's own clock; it can serve as a client's Sleep.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(d)
}

func (s *Server) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now().UTC().Truncate(time.Second)
	}
	return s.clock.UTC().Truncate(time.Second)
}

// ClientOptions are the options of a client that talks to this server without a socket, on the server's clock.
func (s *Server) ClientOptions() ghapi.Options {
	return ghapi.Options{
		APIURL: "https://api.github.com", ServerURL: s.opts.ServerURL, Repo: s.opts.Repo, Token: s.opts.Token,
		HTTP: s.Transport(), Now: s.Now, Sleep: s.Advance,
	}
}

// Log lists the requests so far.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ClearLog forgets the requests so far.
func (s *Server) ClearLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// maxBody is the largest request that is read.
const maxBody = 8 << 20

// apiPath takes off what Enterprise Server has before the paths of github.com.
func apiPath(u *url.URL) string {
	p := u.EscapedPath()
	if p == "/api/graphql" || p == "/graphql" || p == "/api/v3/graphql" {
		return "/graphql"
	}
	if rest, ok := strings.CutPrefix(p, "/api/v3"); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return p
}
