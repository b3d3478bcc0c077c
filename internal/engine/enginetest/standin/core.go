package standin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Core is what every stand-in has: a port on loopback, a log of requests of the form R, an end.
type Core[R any] struct {
	mu       sync.Mutex
	http     *httptest.Server
	closed   chan struct{}
	requests []*R
}

// Open makes a core ready. With a handler it is served on a free port, whose URL it returns.
func (c *Core[R]) Open(h http.Handler) string {
	c.closed = make(chan struct{})
	if h == nil {
		return ""
	}
	c.http = httptest.NewServer(h)
	return c.http.URL
}

// Close ends what still runs and frees the port.
func (c *Core[R]) Close() {
	select {
	case <-c.closed:
		return
	default:
		close(c.closed)
	}
	if c.http != nil {
		c.http.CloseClientConnections()
		c.http.Close()
	}
}

// Requests are all requests so far, in order of arrival.
func (c *Core[R]) Requests() []R {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]R, len(c.requests))
	for i, r := range c.requests {
		out[i] = *r
	}
	return out
}

// Log adds a request; number gets its place, from 1.
func (c *Core[R]) Log(r *R, number func(n int)) {
	c.Edit(func() {
		c.requests = append(c.requests, r)
		number(len(c.requests))
	})
}

// Edit changes what the log or the bill says.
func (c *Core[R]) Edit(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Wait sleeps; a negative time is for ever. It is false when the client went or the server closed.
func (c *Core[R]) Wait(req *http.Request, d time.Duration) bool {
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
	case <-c.closed:
	}
	return false
}

// SendJSON answers with v.
func SendJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client may be gone
}

// ErrCut says that the script broke the connection.
var ErrCut = errors.New("the script cut the connection")

// Cutter writes a body and breaks off after Left bytes; -1: never.
type Cutter struct {
	W    http.ResponseWriter
	Left int
}

// NewCutter breaks off after the bytes when cut is set.
func NewCutter(w http.ResponseWriter, cut bool, after int) *Cutter {
	if !cut {
		after = -1
	}
	return &Cutter{w, after}
}

func (c *Cutter) Write(p []byte) (int, error) {
	short := c.Left >= 0 && len(p) > c.Left
	if short {
		p = p[:c.Left]
	}
	n, err := c.W.Write(p)
	if c.Left >= 0 {
		c.Left -= n
	}
	if f, ok := c.W.(http.Flusher); ok {
		f.Flush()
	}
	if err == nil && short {
		err = ErrCut
	}
	return n, err
}
