package ghapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// The traps of go-github v66. Each test shows first what plain go-github does and then what this package does: should
// a newer go-github mend one, its first half fails and says so.

// recordingServer is a server that keeps what arrives.
type recordingServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // "METHOD escaped-path body"
	auth []string
}

func newServer(t *testing.T, tls bool, answer func(n int, w http.ResponseWriter, r *http.Request)) *recordingServer {
	t.Helper()
	s := &recordingServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a body that does not come is one of the traps
		s.mu.Lock()
		s.seen = append(s.seen, strings.TrimSpace(r.Method+" "+r.URL.EscapedPath()+" "+string(body)))
		s.auth = append(s.auth, r.Header.Get("Authorization"))
		n := len(s.seen)
		s.mu.Unlock()
		answer(n, w, r)
	}))
	if tls {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *recordingServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.seen...)
}

func (s *recordingServer) tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.auth...)
}

func (s *recordingServer) plain(t *testing.T) *github.Client {
	t.Helper()
	c, err := github.NewClient(s.Client()).WithAuthToken("secret").WithEnterpriseURLs(s.URL, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *recordingServer) ours(t *testing.T, change ...func(*ghapi.Options)) *ghapi.Client {
	t.Helper()
	o := ghapi.Options{
		APIURL: s.URL + "/api/v3", ServerURL: s.URL, Repo: "o/r", Token: "secret", HTTP: s.Client().Transport,
	}
	newClock().onClock(&o)
	for _, f := range change {
		f(&o)
	}
	return newClient(t, o)
}

// Trap 1: names in paths are not escaped.
func TestTrapLabelPath(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) })
	if _, err := s.plain(t).Issues.RemoveLabelForIssue(t.Context(), "o", "r", 7, "../../../pulls/1/merge"); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[0]; got != "DELETE /api/v3/repos/o/r/pulls/1/merge" {
		t.Fatalf("plain go-github escapes now: %s", got)
	}
	c := s.ours(t)
	for name, want := range map[string]string{
		"../../../pulls/1/merge": "..%2F..%2F..%2Fpulls%2F1%2Fmerge", "c#": "c%23", "kind/bug": "kind%2Fbug", "100%": "100%25", "why?": "why%3F",
		"🐛 bug": "%F0%9F%90%9B%20bug", "a, b: c": "a%2C%20b:%20c",
	} {
		before := len(s.requests())
		w := ghapi.NewWriter(c)
		if err := w.RemoveLabel(t.Context(), 7, "x", name); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := s.requests()[before]; got != "DELETE /api/v3/repos/o/r/issues/7/labels/"+want {
			t.Errorf("%q: %s", name, got)
		}
	}
	before := len(s.requests())
	for _, name := range []string{"", ".", "..", "a\nb", "\x00"} {
		if err := ghapi.NewWriter(c).RemoveLabel(t.Context(), 7, "x", name); ghapi.KindOf(err) != ghapi.KindInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(s.requests()) != before {
		t.Errorf("sent: %s", s.requests()[before:])
	}
}

// Trap 2: the token goes to whatever host a redirect names.
func TestTrapTokenFollowsRedirect(t *testing.T) {
	t.Parallel()
	foreign := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"number":7}`)) })
	elsewhere := strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1)
	s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/x", http.StatusMovedPermanently)
	})
	if _, _, err := s.plain(t).Repositories.Get(t.Context(), "o", "r"); err != nil {
		t.Fatal(err)
	}
	if got := foreign.tokens(); len(got) != 1 || got[0] != "Bearer secret" {
		t.Fatalf("plain go-github keeps the token now: %q", got)
	}
	c := s.ours(t)
	for name, f := range map[string]func() error{
		"read":    func() error { _, err := c.Repository(t.Context()); return err },
		"issue":   func() error { _, err := c.Issue(t.Context(), 7); return err },
		"graphql": func() error { _, err := c.Viewer(t.Context()); return err },
		"write":   func() error { return ghapi.NewWriter(c).Reopen(t.Context(), 7, "x") },
	} {
		if e := wantKind(t, f(), ghapi.KindForeignHost); e.Status != 301 {
			t.Errorf("%s: %v", name, e)
		}
	}
	if got := foreign.tokens(); len(got) != 1 {
		t.Errorf("the foreign host got %d requests more", len(got)-1)
	}
}

// Trap 3: 429 is no rate limit.
func TestTrap429(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n != 3 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"message":"secondary rate limit"}`))
			return
		}
		_, _ = w.Write([]byte(`{"number":7,"state":"open"}`))
	})
	_, _, err := s.plain(t).Issues.Get(t.Context(), "o", "r", 7)
	var limit *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	if err == nil || errors.As(err, &limit) || errors.As(err, &abuse) {
		t.Fatalf("plain go-github knows 429 now: %v", err)
	}
	ck := newClock()
	i, err := s.ours(t, ck.onClock).Issue(t.Context(), 7)
	if err != nil || i.Number != 7 || ck.total() != 7*time.Second {
		t.Errorf("%v, waited %v", err, ck.slept)
	}
}

// Trap 4: over HTTP/2 a second try goes out without its body.
func TestTrapRetryBody(t *testing.T) {
	t.Parallel()
	const marker = "<!-- m -->"
	limitedOnce := func(n int, w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("protocol %s", r.Proto)
		}
		if n == 1 {
			w.Header().Set("X-Ratelimit-Remaining", "0")
			w.Header().Set("X-Ratelimit-Limit", "5000")
			w.Header().Set("X-Ratelimit-Reset", "1")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"message":"API rate limit exceeded"}`))
			return
		}
		if r.URL.Path == "/api/graphql" {
			_, _ = w.Write([]byte(`{"data":{"viewer":{"login":"x"}}}`))
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":1,"body":"b"}`))
	}
	plain := newServer(t, true, limitedOnce)
	ctx := context.WithValue(t.Context(), github.SleepUntilPrimaryRateLimitResetWhenRateLimited, true)
	_, _, err := plain.plain(t).Issues.CreateComment(ctx, "o", "r", 7, &github.IssueComment{Body: new("text")})
	if got := plain.requests(); err == nil && len(got) == 2 && strings.Contains(got[1], "text") {
		t.Fatalf("plain go-github sends the body again now: %q", got)
	}

	s := newServer(t, true, limitedOnce)
	if _, err := ghapi.NewWriter(s.ours(t)).CreateComment(t.Context(), 7, "x", "text"+marker, marker); err != nil {
		t.Fatal(err)
	}
	if got := s.requests(); len(got) != 3 || got[0] != got[2] || !strings.Contains(got[2], "text") || !strings.HasPrefix(got[1], "GET ") {
		t.Errorf("requests %q", got)
	}
	q := newServer(t, true, limitedOnce)
	if _, err := q.ours(t).Viewer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := q.requests(); len(got) != 2 || got[0] != got[1] || !strings.Contains(got[1], "viewer") {
		t.Errorf("requests %q", got)
	}
}

// Trap 5a: no time-out.
func TestTrapNoTimeout(t *testing.T) {
	t.Parallel()
	if c := github.NewClient(nil); c.Client().Timeout != 0 {
		t.Fatalf("plain go-github has a time-out now: %v", c.Client().Timeout)
	}
	release := make(chan struct{})
	s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"id":`)) // begins, and never ends
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	c := s.ours(t, func(o *ghapi.Options) { o.AttemptTimeout = time.Second })
	_, err := c.Issue(t.Context(), 7)
	_ = wantKind(t, err, ghapi.KindTimeout)
	if got := len(s.requests()); got != 2 {
		t.Errorf("%d tries of a read, want 2", got)
	}
	_, err = ghapi.NewWriter(c).CreateComment(t.Context(), 7, "x", "m", "m")
	var e *ghapi.WriteError
	if !errors.As(err, &e) || e.Verdict != ghapi.VerdictUnconfirmed || e.Attempts != 1 {
		t.Errorf("%+v", err)
	}
}

// Trap 5b: bodies are read without limit.
func TestTrapUnlimitedBody(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	status := http.StatusTeapot
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
	})
	_, _, err := s.plain(t).Issues.Get(t.Context(), "o", "r", 7)
	var plain *github.ErrorResponse
	if !errors.As(err, &plain) {
		t.Fatal(err)
	}
	if kept, _ := io.ReadAll(plain.Response.Body); len(kept) != size {
		t.Fatalf("plain go-github limits bodies now: %d", len(kept))
	}
	c := s.ours(t, func(o *ghapi.Options) { o.MaxAnswer = 1 << 20 })
	_, err = c.Issue(t.Context(), 7)
	if e := wantKind(t, err, ghapi.KindInvalid); len(e.Message) > 250 {
		t.Errorf("message of %d bytes", len(e.Message))
	}
	status = http.StatusOK
	_, err = c.Issue(t.Context(), 7)
	_ = wantKind(t, err, ghapi.KindTooLarge)
	_, err = c.Viewer(t.Context())
	_ = wantKind(t, err, ghapi.KindTooLarge)
}

// Trap 5c: after "remaining: 0" the next request is refused without being sent, by the machine's own clock.
func TestTrapLocalRefusal(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ratelimit-Limit", "5000")
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		_, _ = w.Write([]byte(`{"number":7}`))
	})
	p := s.plain(t)
	_, _, first := p.Issues.Get(t.Context(), "o", "r", 7)
	_, _, second := p.Issues.Get(t.Context(), "o", "r", 7)
	if first != nil || second == nil || len(s.requests()) != 1 {
		t.Fatalf("plain go-github sends now: %v %v", first, second)
	}
	c := s.ours(t)
	for range 2 {
		if _, err := c.Issue(t.Context(), 7); err != nil {
			t.Error(err)
		}
	}
}

// Trap 6: 304 and 202 are errors.
func TestTrap304And202(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `W/"1"`)
		switch {
		case r.Method == http.MethodPut:
			w.WriteHeader(http.StatusAccepted)
		case r.Header.Get("If-None-Match") == `W/"1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			_, _ = w.Write([]byte(`{"number":7,"title":"t"}`))
		}
	})
	p := s.plain(t)
	req, err := p.NewRequest(http.MethodGet, "repos/o/r/issues/7", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", `W/"1"`)
	if _, err := p.Do(t.Context(), req, nil); err == nil {
		t.Fatal("plain go-github takes 304 now")
	}
	var accepted *github.AcceptedError
	if _, err := p.Actions.EnableWorkflowByFileName(t.Context(), "o", "r", "x.yml"); !errors.As(err, &accepted) {
		t.Fatalf("plain go-github takes 202 now: %v", err)
	}
	c := s.ours(t)
	for range 3 {
		if i, err := c.Issue(t.Context(), 7); err != nil || i.Title != "t" {
			t.Errorf("%+v %v", i, err)
		}
	}
	if err := ghapi.NewWriter(c).EnableWorkflow(t.Context(), "x", "x.yml"); err != nil {
		t.Error(err)
	}
}

// Trap 7: a secondary limit without Retry-After waits for the primary reset, up to an hour.
func TestTrapSecondaryWithoutRetryAfter(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 2 {
			_, _ = w.Write([]byte(`{"number":7}`))
			return
		}
		w.Header().Set("X-Ratelimit-Remaining", "4000")
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`))
	})
	ck := newClock()
	if _, err := s.ours(t, ck.onClock).Issue(t.Context(), 7); err != nil || ck.total() != time.Minute {
		t.Errorf("%v, waited %v: want a minute", err, ck.slept)
	}
	_, _, err := s.plain(t).Issues.Get(t.Context(), "o", "r", 7)
	var abuse *github.AbuseRateLimitError
	if !errors.As(err, &abuse) || abuse.GetRetryAfter() < 50*time.Minute {
		t.Fatalf("plain go-github does not wait for the hour now: %v", err)
	}
}

// Trap 8: on Enterprise Server the relative "graphql" is the wrong address.
func TestTrapGraphQLAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":{"viewer":{"login":"x"}}}`))
	})
	p := s.plain(t)
	req, err := p.NewRequest(http.MethodPost, "graphql", map[string]string{"query": "{viewer{login}}"})
	if err != nil {
		t.Fatal(err)
	}
	if req.URL.Path != "/api/v3/graphql" {
		t.Fatalf("plain go-github finds it now: %s", req.URL)
	}
	if _, err := s.ours(t).Viewer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[0]; !strings.HasPrefix(got, "POST /api/graphql ") {
		t.Errorf("sent %s", got)
	}
}

// Trap 9: errors[] in an answer of 200 is taken for a success.
func TestTrapGraphQLErrors(t *testing.T) {
	t.Parallel()
	answer := ""
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
	c := s.ours(t)
	for body, kind := range map[string]ghapi.Kind{
		`{"data":{"viewer":{"login":"x"}},"errors":[{"message":"boom\nbang"}]}`:       ghapi.KindGraphQL,
		`{"errors":[{"type":"NOT_FOUND","message":"no"}]}`:                            ghapi.KindNotFound,
		`{"errors":[{"type":"FORBIDDEN","message":"no"}]}`:                            ghapi.KindForbidden,
		`{"errors":[{"message":"Something went wrong while executing your query."}]}`: ghapi.KindServer,
		`{"data":null}`: ghapi.KindUnreadable,
		`{}`:            ghapi.KindUnreadable,
		``:              ghapi.KindUnreadable,
		`{"data":{"viewer":{"databaseId":"no number"}}}`: ghapi.KindUnreadable,
	} {
		answer = body
		_, err := c.Viewer(t.Context())
		if ghapi.KindOf(err) != kind {
			t.Errorf("%s: %v, want %s", body, err, kind)
		}
	}
	p := s.plain(t)
	answer = `{"data":{"viewer":{"login":"x"}},"errors":[{"message":"boom"}]}`
	req, err := p.NewRequest(http.MethodPost, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Do(t.Context(), req, nil); err != nil {
		t.Fatalf("plain go-github sees errors[] now: %v", err)
	}
}

// Trap 10: a comparison escapes for a query, so that a space becomes a plus sign.
func TestTrapCompareEscape(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ahead"}`)) })
	if _, _, err := s.plain(t).Repositories.CompareCommits(t.Context(), "o", "r", "a b", "c", nil); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[0]; !strings.Contains(got, "a+b...c") {
		t.Fatalf("plain go-github escapes for a path now: %s", got)
	}
	if _, err := s.ours(t).Compare(t.Context(), "a b", "feature/c"); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[1]; got != "GET /api/v3/repos/o/r/compare/a%20b...feature%2Fc" {
		t.Errorf("sent %s", got)
	}
}

// The trap of a cache library: it keeps the token with the answer (STYLE 5.2). Ours asks each time, and another
// client has nothing of it.
func TestCacheAsksAndKeepsNoToken(t *testing.T) {
	t.Parallel()
	title := "old"
	s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=60")
		w.Header().Set("Vary", "Authorization")
		w.Header().Set("Etag", `"`+title+`"`)
		if r.Header.Get("If-None-Match") == `"`+title+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprintf(w, `{"number":7,"title":%q}`, title)
	})
	c := s.ours(t)
	for n, want := range []string{"old", "old", "new"} {
		title = want
		if i, err := c.Issue(t.Context(), 7); err != nil || i.Title != want || len(s.requests()) != n+1 {
			t.Errorf("%q after %d requests: %v", i.Title, len(s.requests()), err)
		}
	}
}
