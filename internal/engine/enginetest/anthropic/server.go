package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Server is a running stand-in. Its methods are safe for concurrent use.
type Server struct {
	URL string // http://127.0.0.1:PORT

	http   *httptest.Server
	script Script
	steps  []Step
	prices map[string]Price
	tally  *tally
	closed chan struct{}

	mu       sync.Mutex
	next     sync.Mutex // Script.Next is never called in parallel
	pos      int
	requests []*Request
	bill     Bill
}

// New starts a server on a free loopback port. Close it.
func New(script Script) *Server {
	s := newServer(script)
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// NewHandler is a server without a port: the caller serves it.
func NewHandler(script Script) *Server { return newServer(script) }

func newServer(script Script) *Server {
	s := &Server{script: script, steps: script.expand(), prices: script.Prices, tally: newTally(script.Counter), closed: make(chan struct{})}
	if s.prices == nil {
		s.prices = Prices()
	}
	return s
}

// Close ends what still runs and frees the port.
func (s *Server) Close() {
	select {
	case <-s.closed:
		return
	default:
		close(s.closed)
	}
	if s.http != nil {
		s.http.CloseClientConnections()
		s.http.Close()
	}
}

// Requests are all requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// MainRequests are those that a step of the script answered.
func (s *Server) MainRequests() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Main == 0 })
}

// Bill is what was charged so far.
func (s *Server) Bill() Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r := &Request{Time: time.Now(), Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery, Header: req.Header.Clone(), Body: body} //nolint:forbidigo // a log of a test's server
	parseErr := error(nil)
	if req.Method == http.MethodPost {
		parseErr = r.parse()
	}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	r.N = len(s.requests)
	s.mu.Unlock()
	switch {
	case req.Method != http.MethodPost || r.Path != "/v1/messages" && r.Path != "/v1/messages/count_tokens":
		s.fail(w, r, Step{Status: http.StatusNotFound, Message: "no such path"})
	case parseErr != nil:
		s.fail(w, r, Step{Status: http.StatusBadRequest, Message: parseErr.Error()})
	case r.Path == "/v1/messages/count_tokens":
		s.count(w, r)
	default:
		s.reply(w, req, r)
	}
}

func (s *Server) count(w http.ResponseWriter, r *Request) {
	n, status := s.tally.count(r.blocks), http.StatusOK
	if s.script.Count != nil {
		n, status = s.script.Count(n)
	}
	if status >= http.StatusBadRequest {
		s.fail(w, r, Step{Status: status})
		return
	}
	s.status(r, http.StatusOK)
	sendJSON(w, http.StatusOK, map[string]any{"input_tokens": n})
}

// step chooses the answer.
func (s *Server) step(r *Request) Step {
	if step, ok := s.script.Models[r.Model]; ok {
		return step
	}
	if s.script.Side != nil && len(r.Tools) == 0 {
		return *s.script.Side
	}
	s.next.Lock()
	defer s.next.Unlock()
	s.mu.Lock()
	step := s.steps[min(s.pos, len(s.steps)-1)]
	s.pos++
	r.Main = s.pos
	s.mu.Unlock()
	if s.script.Next != nil {
		step = s.script.Next(r)
	}
	return step
}

func (s *Server) reply(w http.ResponseWriter, req *http.Request, r *Request) {
	step := s.step(r)
	if step.Plain != nil && !r.Stream {
		step = *step.Plain
	}
	if !s.wait(req, step.Delay) || step.Hang && !s.wait(req, -1) {
		s.edit(func() { r.Canceled = true })
		panic(http.ErrAbortHandler)
	}
	if step.Status != 0 && step.Status != http.StatusOK {
		s.fail(w, r, step)
		return
	}
	price, known := s.prices[r.Model]
	if step.Model != "" {
		price, known = s.prices[step.Model]
	}
	if !known {
		s.fail(w, r, Step{Status: http.StatusNotFound, Message: "model: " + r.Model})
		return
	}
	a := s.answer(r, step, r.N)
	output := a.truth.Output
	a.truth = s.tally.prompt(r.blocks)
	a.truth.Output = output
	// The bill stands before the first byte: a client that goes away pays all the same.
	charged := price.charge(a.truth, r.fast, r.us)
	s.edit(func() { r.Status, r.Billed = http.StatusOK, charged; s.bill.add(charged) })
	s.send(w, req, r, step, a)
}

func (s *Server) send(w http.ResponseWriter, req *http.Request, r *Request, step Step, a answer) {
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("request-id", fmt.Sprintf("req_%020d", r.N))
	out := &cutter{w: w, left: -1}
	if step.Cut {
		out.left = step.CutAfter
	}
	start, final := a.truth, a.truth
	start.Output = 1
	pStart, pFinal := &start, &final
	if step.Usage != nil {
		pStart, pFinal = step.Usage(a.truth)
	}
	err := error(nil)
	switch {
	case step.Raw != "":
		w.Header().Set("Content-Type", step.RawType)
		w.Header().Set("Content-Length", strconv.Itoa(len(step.Raw)))
		_, err = io.WriteString(out, step.Raw)
	case !r.Stream:
		raw, _ := json.Marshal(a.message(pFinal))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
		_, err = out.Write(raw)
	default:
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		err = s.stream(out, req, step, a.events(pStart, pFinal, step.Chunk))
	}
	if err != nil {
		s.edit(func() { r.Cut, r.Canceled = errors.Is(err, errCut), !errors.Is(err, errCut) })
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) stream(out *cutter, req *http.Request, step Step, events []event) error {
	for i, e := range events {
		if err := out.event(e); err != nil {
			return err
		}
		if step.SSEError != nil && i == 0 {
			return out.event(event{"error", map[string]any{"type": "error", "error": step.SSEError}})
		}
		if step.StreamDelay > 0 && !s.wait(req, step.StreamDelay) {
			return req.Context().Err()
		}
	}
	if out.left >= 0 { // cut after the last byte
		return errCut
	}
	return nil
}

// wait sleeps; a negative time is for ever. It is false when the client went or the server closed.
func (s *Server) wait(req *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-after:
		return true
	case <-req.Context().Done():
	case <-s.closed:
	}
	return false
}

func (s *Server) fail(w http.ResponseWriter, r *Request, step Step) {
	s.status(r, step.Status)
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	e := Error{Type: step.Type, Message: step.Message}
	if e.Type == "" {
		e.Type = errorType(step.Status)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("scripted error %d", step.Status)
	}
	if step.Raw != "" {
		w.Header().Set("Content-Type", step.RawType)
		w.WriteHeader(step.Status)
		_, _ = io.WriteString(w, step.Raw)
		return
	}
	sendJSON(w, step.Status, map[string]any{"type": "error", "error": e, "request_id": fmt.Sprintf("req_%020d", r.N)})
}

func (s *Server) status(r *Request, status int) { s.edit(func() { r.Status = status }) }

func (s *Server) edit(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	raw, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func errorType(status int) string {
	switch status {
	case 400:
		return "invalid_request_error"
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

var errCut = errors.New("the script cut the connection")

// cutter writes a body and breaks off after left bytes; -1: never.
type cutter struct {
	w    http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	short := c.left >= 0 && len(p) > c.left
	if short {
		p = p[:c.left]
	}
	n, err := c.w.Write(p)
	if c.left >= 0 {
		c.left -= n
	}
	if f, ok := c.w.(http.Flusher); ok {
		f.Flush()
	}
	if err == nil && short {
		err = errCut
	}
	return n, err
}

func (c *cutter) event(e event) error {
	raw, err := json.Marshal(e.data)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c, "event: %s\ndata: %s\n\n", e.name, raw)
	return err
}
