package ghtest

import (
	"fmt"
	"net/http"
	"time"
)

// Fault is what goes wrong with a request.
type Fault struct {
	// Method, Path (escaped) and Match choose the requests; what is empty takes all.
	Method, Path string
	Match        func(Request) bool

	Skip  int // leave out the first ones
	Times int // how often; 0: once; below 0: always

	Status int // instead of the answer; with Lost: after the change was made
	Header http.Header
	Body   string // of the answer with Status; empty: GitHub's usual JSON
	Delay  time.Duration
	Cut    bool // the connection ends in the middle of the body
	Lost   bool // the change is made, the answer is lost (without Status: the connection is closed)
	Empty  bool // the change is made, the answer is 200 without a body
}

// AddFault adds a fault. Of several that match, the one that was added first strikes.
func (s *Server) AddFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// Chaos lets requests fail at random, each with a probability of rate: statuses, secondary limits, cut bodies, lost
// answers, empty answers. The same seed and requests give the same faults.
func (s *Server) Chaos(seed uint64, rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chaos = &chaos{state: seed, rate: rate}
}

// Calm ends all faults.
func (s *Server) Calm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.chaos = nil, nil
}

// strike finds the fault for a request.
func (s *Server) strike(r Request) *Fault {
	for _, f := range s.faults {
		if f.Times == 0 || !f.strikes(r) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		return f
	}
	if s.chaos != nil {
		return s.chaos.pick(r)
	}
	return nil
}

func (f *Fault) strikes(r Request) bool {
	return (f.Method == "" || f.Method == r.Method) && (f.Path == "" || f.Path == r.Path) && (f.Match == nil || f.Match(r))
}

type chaos struct {
	state uint64
	rate  float64
}

// next is SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine and with every Go.
func (c *chaos) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func (c *chaos) pick(r Request) *Fault {
	// Always the same number of draws, so that the sequence does not depend on what a request is.
	hit, kind := float64(c.next()>>11)/(1<<53) < c.rate, int(c.next()%9)
	if !hit {
		return nil
	}
	faults := []Fault{
		{Status: http.StatusInternalServerError},
		{Status: http.StatusBadGateway, Body: "<html><body>Bad Gateway</body></html>", Header: http.Header{"Content-Type": {"text/html"}}},
		{Status: http.StatusServiceUnavailable},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}},
		{Status: http.StatusForbidden, Body: `{"message":"You have exceeded a secondary rate limit."}`, Header: http.Header{"Retry-After": {"2"}}},
		{Lost: true},
		{Lost: true, Status: http.StatusBadGateway},
		{Cut: true},
		{Empty: true},
	}
	f := faults[kind]
	if f.Empty && !r.Write() {
		f = faults[0]
	}
	return &f
}

func (f *Fault) name() string {
	switch {
	case f.Lost:
		return fmt.Sprintf("lost %d", f.Status)
	case f.Cut:
		return "cut"
	case f.Empty:
		return "empty"
	case f.Status != 0:
		return fmt.Sprintf("status %d", f.Status)
	default:
		return "delay"
	}
}

func (f *Fault) reply() reply {
	rep := fail(f.Status, http.StatusText(f.Status))
	if f.Body != "" {
		rep.raw = []byte(f.Body)
	}
	rep.header = f.Header
	if f.Status == http.StatusMovedPermanently && len(f.Header) == 0 { // as for an issue that was transferred
		rep.header = http.Header{"Location": {"/repositories/77/issues/1"}}
	}
	return rep
}
