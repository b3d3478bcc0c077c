package ghtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
