// Package ghtest is a GitHub in memory: one repository with issues, comments, labels, reactions, events, search,
// discussions, pull requests, releases, milestones, workflows, artifacts and alerts, as far as the product uses them.
//
// It is an [http.Handler], so that it can stand behind a loopback server, and a transport ([Server.Transport]) that
// needs no socket. Answers are paged by Link, carry ETags and rate headers, and fail on demand ([Fault], [Server.Chaos]).
// The package holds no test code: `try` runs on it.
package ghtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   any    // JSON, or nothing when nil
	raw    []byte // instead of body
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func fail(status int, message string) reply {
	return reply{status: status, body: map[string]any{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

func notFound() reply { return fail(http.StatusNotFound, "Not Found") }

func invalid(resource, field, code string) reply {
	r := fail(http.StatusUnprocessableEntity, "Validation Failed")
	r.body.(map[string]any)["errors"] = []any{map[string]any{"resource": resource, "field": field, "code": code}}
	return r
}

// ServeHTTP answers one request. A lost answer closes the connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	out, cut := s.serve(r, body)
	if out == nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), out.header)
	if cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(out.raw)))
		w.WriteHeader(out.status)
		_, _ = w.Write(out.raw[:len(out.raw)/2])
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(out.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(out.raw)
	}
}

// serve finds the answer; nil when it is lost. Cut asks for half of the body.
func (s *Server) serve(r *http.Request, body []byte) (out *reply, cut bool) {
	s.mu.Lock()
	if s.opts.Now == nil {
		s.clock = s.clock.Add(time.Second)
	}
	path := apiPath(r.URL)
	entry := Request{
		N: len(s.log) + 1, Method: r.Method, Path: path, Query: r.URL.Query(), Body: string(body),
		Authorization: r.Header.Get("Authorization"), Host: r.Host,
	}
	if path == "/graphql" {
		entry.Operation, entry.Mutation = operationOf(body)
	}
	f := s.strike(entry)
	if f != nil && f.Delay > 0 {
		// Others are served meanwhile.
		s.mu.Unlock()
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	defer func() { s.log = append(s.log, entry) }()
	entry.N = len(s.log) + 1
	if f != nil {
		entry.Fault = f.name()
	}
	if f != nil && !f.Lost && f.Status != 0 {
		rep := f.reply()
		entry.Status = rep.status
		s.finish(r, &rep)
		rep.header.Set(faultHeader, entry.Fault)
		return &rep, false
	}
	rep := s.answer(r, path, body)
	if f != nil && f.Lost {
		if f.Status == 0 {
			return nil, false
		}
		rep = f.reply()
	}
	if f != nil && f.Empty {
		rep = reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
	}
	s.finish(r, &rep)
	entry.Status = rep.status
	if f != nil && (f.Lost || f.Empty) {
		rep.header.Set(faultHeader, entry.Fault)
	}
	return &rep, f != nil && f.Cut && len(rep.raw) > 1
}

// faultHeader marks an answer that is wrong on purpose, for checkers around the server.
const faultHeader = "X-Ghtest-Fault"

// answer checks the token and the rate limit and runs the route.
func (s *Server) answer(r *http.Request, path string, body []byte) reply {
	if blob, ok := strings.CutPrefix(path, "/_blob/"); ok {
		return s.blob(r, blob)
	}
	now := s.now()
	if now.After(s.resetAt) {
		s.used, s.resetAt = 0, now.Add(time.Hour)
	}
	if s.used >= s.opts.RateLimit {
		return fail(http.StatusForbidden, "API rate limit exceeded for installation ID 1.")
	}
	s.used++
	given := token(r)
	s.acting = s.opts.Viewers[given]
	defer func() { s.acting = "" }()
	if s.opts.Token != "" && given != "" && given != s.opts.Token && s.acting == "" {
		s.used--
		return fail(http.StatusUnauthorized, "Bad credentials")
	}
	c := &call{s: s, r: r, q: r.URL.Query(), body: body}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, rt := range s.routes {
		args, match := rt.match(r.Method, segments)
		if !match {
			continue
		}
		if args["owner"] != "" && !strings.EqualFold(args["owner"]+"/"+args["repo"], s.opts.Repo) {
			return notFound()
		}
		if s.opts.Token != "" && given == "" && (r.Method != http.MethodGet || path == "/graphql") {
			return fail(http.StatusUnauthorized, "Requires authentication")
		}
		c.args = args
		return rt.run(c)
	}
	return notFound()
}

// finish encodes the answer and sets the headers of every answer of GitHub.
func (s *Server) finish(r *http.Request, rep *reply) {
	h := http.Header{}
	for k, v := range rep.header {
		h[http.CanonicalHeaderKey(k)] = v
	}
	if rep.raw == nil && rep.body != nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(rep.body); err != nil {
			rep.status, buf = http.StatusInternalServerError, *bytes.NewBufferString(`{"message":"encoding"}`)
		}
		rep.raw = bytes.TrimRight(buf.Bytes(), "\n")
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", "application/json; charset=utf-8")
		}
	}
	set := func(k, v string) {
		if h.Get(k) == "" {
			h.Set(k, v)
		}
	}
	set("Date", s.now().Format(http.TimeFormat))
	set("X-GitHub-Media-Type", "github.v3; format=json")
	set("X-RateLimit-Limit", strconv.Itoa(s.opts.RateLimit))
	set("X-RateLimit-Remaining", strconv.Itoa(max(s.opts.RateLimit-s.used, 0)))
	set("X-RateLimit-Used", strconv.Itoa(s.used))
	set("X-RateLimit-Reset", strconv.FormatInt(s.resetAt.Unix(), 10))
	set("X-RateLimit-Resource", "core")
	if r.Method == http.MethodGet && rep.status == http.StatusOK && len(rep.raw) > 0 {
		sum := sha256.Sum256(rep.raw)
		etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
		h.Set("Etag", etag)
		if r.Header.Get("If-None-Match") == etag {
			s.used = max(s.used-1, 0) // costs nothing
			rep.status, rep.raw = http.StatusNotModified, nil
		}
	}
	rep.header = h
}

// token is the token of a request, by either of the schemes that GitHub takes.
func token(r *http.Request) string {
	v := r.Header.Get("Authorization")
	for _, scheme := range []string{"Bearer ", "bearer ", "token "} {
		if t, ok := strings.CutPrefix(v, scheme); ok {
			return t
		}
	}
	return v
}

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
