package ghapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// fake returns a server and a client of it; every request and answer is held against GitHub's descriptions.
func fake(t *testing.T, change ...func(*ghapi.Options)) (*ghtest.Server, *ghapi.Client) {
	t.Helper()
	s := ghtest.New(ghtest.Options{Token: "ghs_test"})
	o := s.ClientOptions()
	o.HTTP = ghcheck.Transport(t, o.HTTP)
	for _, f := range change {
		f(&o)
	}
	return s, newClient(t, o)
}

func newClient(t *testing.T, o ghapi.Options) *ghapi.Client {
	t.Helper()
	c, err := ghapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clock is a time that only sleeping moves.
type clock struct {
	at    time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

func (c *clock) sleep(d time.Duration) {
	c.at = c.at.Add(d)
	c.slept = append(c.slept, d)
}

func (c *clock) total() (sum time.Duration) {
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// onClock runs a client on this clock.
func (c *clock) onClock(o *ghapi.Options) { o.Now, o.Sleep = c.now, c.sleep }

// bg is the context of a test.
func bg(t *testing.T) context.Context {
	t.Helper()
	return t.Context()
}

// must stops the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantKind(t *testing.T, err error, kind ghapi.Kind) *ghapi.Error {
	t.Helper()
	var e *ghapi.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error %v: want kind %q", err, kind)
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") || len(err.Error()) > 700 {
		t.Fatalf("error is not one short line: %q", err)
	}
	return e
}

// requests counts those of a method and path.
func requests(s *ghtest.Server, method, path string) int {
	n := 0
	for _, r := range s.Log() {
		if r.Method == method && (path == "" || r.Path == path) {
			n++
		}
	}
	return n
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
