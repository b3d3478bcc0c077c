package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

// Server is a running stand-in. Its methods are safe for concurrent use.
type Server struct {
	URL string // http://127.0.0.1:PORT

	standin.Core[Request]
	script Script
	steps  []Step
	prices map[string]Price
	tally  *standin.Tally
	next   sync.Mutex // Script.Next is never called in parallel
	pos    int
	bill   Bill
}

// New starts a server on a free loopback port. Close it.
func New(script Script) *Server {
	s := newServer(script)
	s.URL = s.Open(s)
	return s
}

// NewHandler is a server without a port: the caller serves it.
func NewHandler(script Script) *Server {
	s := newServer(script)
	s.Open(nil)
	return s
}

func newServer(script Script) *Server {
	s := &Server{script: script, steps: script.expand(), prices: script.Prices, tally: standin.NewTally(script.Counter)}
	if s.prices == nil {
		s.prices = Prices()
	}
	return s
}

// MainRequests are those that a step of the script answered.
func (s *Server) MainRequests() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Main == 0 })
}

// Bill is what was charged so far.
func (s *Server) Bill() (b Bill) {
	s.Edit(func() { b = s.bill })
	return b
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
	s.Log(r, func(n int) { r.N = n })
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
	n, status := s.tally.Count(r.blocks), http.StatusOK
	if s.script.Count != nil {
		n, status = s.script.Count(n)
	}
	if status >= http.StatusBadRequest {
		s.fail(w, r, Step{Status: status})
		return
	}
	s.status(r, http.StatusOK)
	standin.SendJSON(w, http.StatusOK, map[string]any{"input_tokens": n})
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
	step := s.steps[min(s.pos, len(s.steps)-1)]
	s.pos++
	s.Edit(func() { r.Main = s.pos })
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
	if !s.Wait(req, step.Delay) || step.Hang && !s.Wait(req, -1) {
		s.Edit(func() { r.Canceled = true })
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
	a.truth = prompt(s.tally, r.blocks)
	a.truth.Output = output
	// The bill stands before the first byte: a client that goes away pays all the same.
	charged := price.charge(a.truth, r.fast, r.us)
	s.Edit(func() { r.Status, r.Billed = http.StatusOK, charged; s.bill.add(charged) })
	s.send(w, req, r, step, a)
}

func (s *Server) send(w http.ResponseWriter, req *http.Request, r *Request, step Step, a answer) {
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("request-id", fmt.Sprintf("req_%020d", r.N))
	out := standin.NewCutter(w, step.Cut, step.CutAfter)
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
		s.Edit(func() { r.Cut, r.Canceled = errors.Is(err, standin.ErrCut), !errors.Is(err, standin.ErrCut) })
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) stream(out *standin.Cutter, req *http.Request, step Step, events []event) error {
	for i, e := range events {
		if err := writeEvent(out, e); err != nil {
			return err
		}
		if step.SSEError != nil && i == 0 {
			return writeEvent(out, event{"error", map[string]any{"type": "error", "error": step.SSEError}})
		}
		if step.StreamDelay > 0 && !s.Wait(req, step.StreamDelay) {
			return req.Context().Err()
		}
	}
	if out.Left >= 0 { // cut after the last byte
		return standin.ErrCut
	}
	return nil
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
	standin.SendJSON(w, step.Status, map[string]any{"type": "error", "error": e, "request_id": fmt.Sprintf("req_%020d", r.N)})
}

func (s *Server) status(r *Request, status int) { s.Edit(func() { r.Status = status }) }

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

func writeEvent(w io.Writer, e event) error {
	raw, err := json.Marshal(e.data)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, raw)
	return err
}
