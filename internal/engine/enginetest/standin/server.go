package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Kind is what a path asks for.
type Kind int

// The kinds of requests.
const (
	Unknown Kind = iota
	Call         // of the model
	Count        // of tokens
)

// Dialect is the form of one API.
type Dialect interface {
	// Kind tells what a POST to a path asks for.
	Kind(path string) Kind
	// Parse fills a request from its body. The error is the one the provider would give.
	Parse(r *Request) error
	// Plain is the body of an answer that is not streamed.
	Plain(r *Request, a Answer) any
	// Events are those of a stream, written as they stand.
	Events(r *Request, a Answer) []string
	// Counted is the answer of the counter.
	Counted(tokens int64) any
	// Failure is the body of an error.
	Failure(status int, message string) any
	// Own names the part of an answer as it comes back in a later prompt.
	Own(p Part) string
}

// Server is a running stand-in. Its methods are safe for concurrent use.
type Server struct {
	URL string // what the engine's own libraries take for a base URL

	Core[Request]
	dialect Dialect
	script  Script
	tally   *Tally
	next    sync.Mutex
	pos     int
	bill    Bill
}

// New starts a server on a free loopback port. suffix is added to its URL. Close it.
func New(d Dialect, script Script, suffix string) *Server {
	s := &Server{dialect: d, script: script, tally: NewTally(script.Counter)}
	if len(s.script.Steps) == 0 {
		s.script.Steps = []Step{{Text: "done"}}
	}
	s.URL = s.Open(s) + suffix
	return s
}

// Calls are the requests that called the model.
func (s *Server) Calls() []Request {
	var out []Request
	for _, r := range s.Requests() {
		if r.Main > 0 {
			out = append(out, r)
		}
	}
	return out
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
	r := &Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body}
	kind := Unknown
	var parseErr error
	if req.Method == http.MethodPost {
		if kind = s.dialect.Kind(r.Path); kind != Unknown {
			parseErr = s.dialect.Parse(r)
		}
	}
	s.Log(r, func(n int) { r.N = n })
	switch {
	case kind == Unknown:
		s.fail(w, r, Step{Status: http.StatusNotFound, Message: "no such path"})
	case parseErr != nil:
		s.fail(w, r, Step{Status: http.StatusBadRequest, Message: parseErr.Error()})
	case kind == Count:
		n, status := s.tally.Count(r.Blocks), http.StatusOK
		if s.script.Count != nil {
			n, status = s.script.Count(n)
		}
		if status >= http.StatusBadRequest {
			s.fail(w, r, Step{Status: status})
			return
		}
		s.Edit(func() { r.Status = status })
		SendJSON(w, status, s.dialect.Counted(n))
	default:
		s.reply(w, req, r)
	}
}

func (s *Server) step(r *Request) Step {
	s.next.Lock()
	defer s.next.Unlock()
	step := s.script.Steps[min(s.pos, len(s.script.Steps)-1)]
	s.pos++
	s.Edit(func() { r.Main = s.pos })
	if s.script.Next != nil {
		step = s.script.Next(r)
	}
	return step
}

func (s *Server) reply(w http.ResponseWriter, req *http.Request, r *Request) {
	step := s.step(r)
	if !s.Wait(req, step.Delay) || step.Hang && !s.Wait(req, -1) {
		s.Edit(func() { r.Canceled = true })
		panic(http.ErrAbortHandler)
	}
	if step.Status != 0 && step.Status != http.StatusOK {
		s.fail(w, r, step)
		return
	}
	price, known := s.script.Prices[r.Model]
	if !known {
		s.fail(w, r, Step{Status: http.StatusNotFound, Message: "no such model: " + r.Model})
		return
	}
	a, output, thinking := s.answer(r, step)
	truth := s.tally.prompt(r.Blocks, price.Write > 0)
	truth.Output, truth.Thinking = output, thinking
	// The bill stands before the first byte: a client that goes away pays all the same.
	s.Edit(func() {
		r.Status, r.Billed = http.StatusOK, price.charge(truth)
		s.bill.Pico += r.Billed
		s.bill.Calls++
		s.bill.Input += truth.Input
		s.bill.CachedInput += truth.CachedInput
		s.bill.CacheWrite += truth.CacheWrite
		s.bill.Output += truth.Output
	})
	a.Usage = &truth
	if step.Usage != nil {
		a.Usage = step.Usage(truth)
	}
	s.send(w, r, step, a)
}

// answer is a step's answer, cut at the tokens that the request allows.
func (s *Server) answer(r *Request, step Step) (a Answer, output, thinking int64) {
	a = Answer{N: r.N, Model: r.Model, Blocked: step.Blocked}
	id := func(i int) string { return fmt.Sprintf("%05d_%03d", r.N, i) }
	if step.Thinking != "" || step.HiddenTokens > 0 {
		a.Parts = append(a.Parts, Part{Kind: "thinking", Text: step.Thinking, ID: id(0), Tokens: s.tally.Tokens(step.Thinking) + step.HiddenTokens})
	}
	if step.Text != "" {
		text := strings.ToValidUTF8(step.Text, "?")
		a.Parts = append(a.Parts, Part{Kind: "text", Text: text, ID: id(1), Tokens: s.tally.Tokens(text) + 3})
	}
	for i, tool := range step.Tools {
		raw, err := json.Marshal(tool.Input)
		if err != nil || tool.Input == nil {
			raw = []byte("{}")
		}
		a.Parts = append(a.Parts, Part{Kind: "tool", Text: string(raw), Tool: tool, ID: id(2 + i), Tokens: s.tally.Tokens(tool.Name+string(raw)) + 12})
	}
	if len(a.Parts) == 0 && !step.Blocked {
		a.Parts = []Part{{Kind: "text", Text: "done", ID: id(1), Tokens: 4}}
	}
	left := r.MaxTokens
	for i := range a.Parts {
		p := &a.Parts[i]
		if r.MaxTokens > 0 && !step.IgnoreMax && p.Tokens > left {
			keep := int(float64(len(p.Text)) * float64(left) / float64(p.Tokens))
			p.Text, p.Tokens, p.Broken = strings.ToValidUTF8(p.Text[:keep], ""), left, p.Kind == "tool"
			a.Parts, a.Cut = a.Parts[:i+1], true
		}
		left -= p.Tokens
		output += p.Tokens
		if p.Kind == "thinking" {
			thinking += p.Tokens
		}
		s.tally.Remember(s.dialect.Own(*p), p.Tokens)
		if a.Cut {
			break
		}
	}
	return a, max(output, 1), thinking
}

func (s *Server) send(w http.ResponseWriter, r *Request, step Step, a Answer) {
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	out := NewCutter(w, step.Cut, step.CutAfter)
	var err error
	switch {
	case step.Raw != "":
		_, err = io.WriteString(out, step.Raw)
	case !r.Stream:
		raw, merr := json.Marshal(s.dialect.Plain(r, a))
		w.Header().Set("Content-Type", "application/json")
		_, err = out.Write(raw)
		err = errors.Join(merr, err)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range s.dialect.Events(r, a) {
			if _, err = io.WriteString(out, e); err != nil {
				break
			}
		}
		if err == nil && out.Left >= 0 {
			err = ErrCut
		}
	}
	if err != nil {
		s.Edit(func() { r.Cut, r.Canceled = errors.Is(err, ErrCut), !errors.Is(err, ErrCut) })
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) fail(w http.ResponseWriter, r *Request, step Step) {
	s.Edit(func() { r.Status = step.Status })
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	if step.Message == "" {
		step.Message = fmt.Sprintf("scripted error %d", step.Status)
	}
	SendJSON(w, step.Status, s.dialect.Failure(step.Status, step.Message))
}
