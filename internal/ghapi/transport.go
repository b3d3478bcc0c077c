package ghapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// transport is the only way out of the package. It checks the host, sets the token, repeats reads, waits for rate
// limits, caps answers, and returns every refusal as an *Error. go-github therefore never sees a refusal and its own
// rate-limit memory (which reads the machine's clock) stays empty.
type transport struct {
	base        http.RoundTripper
	api         *url.URL
	graphqlPath string
	token       string
	userAgent   string
	attempt     time.Duration
	maxAnswer   int64
	maxRequests int
	wait        *waiter
	etags       *etagCache

	mu      sync.Mutex
	sent    int
	bytes   int64         // of all answers
	spent   time.Duration // in all requests
	earlier time.Duration // how far GitHub's clock is behind ours
}

func newTransport(o Options, a addresses) *transport {
	t := &transport{
		base: o.HTTP, api: a.api, graphqlPath: a.graphql.Path, token: o.Token, userAgent: o.UserAgent,
		attempt: o.AttemptTimeout, maxAnswer: o.MaxAnswer, maxRequests: o.MaxRequests,
		wait:  &waiter{now: o.Now, sleep: o.Sleep, left: o.WaitBudget},
		etags: &etagCache{},
	}
	if t.base == nil {
		t.base = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ResponseHeaderTimeout: 45 * time.Second,
			IdleConnTimeout:       90 * time.Second,
			ForceAttemptHTTP2:     true,
		}
	}
	if t.userAgent == "" {
		t.userAgent = "issue-assistant"
	}
	if t.attempt == 0 {
		t.attempt = defaultAttempt
	}
	if t.wait.left == 0 {
		t.wait.left = defaultWait
	}
	if t.maxAnswer == 0 {
		t.maxAnswer = defaultMaxAnswer
	}
	if t.maxRequests == 0 {
		t.maxRequests = defaultMaxRequests
	}
	return t
}

func (t *transport) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

// onceKey marks a context whose requests are sent once: the writer decides about second tries itself.
type onceKey struct{}

func once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// readTries is how often a read is sent when the server or the connection fails.
const readTries = 2

// RoundTrip sends a request. Reads (GET, and queries by POST, which carry no once mark) are repeated once after a
// failure of the server or the connection, and as long as the budget allows after a rate limit.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	op := req.Method + " " + oneLine(req.URL.EscapedPath(), maxMessage)
	single, _ := req.Context().Value(onceKey{}).(bool)
	redirected := false
	for try, limited := 1, 0; ; {
		r, err := t.prepare(req, op)
		if err != nil {
			return nil, err
		}
		resp, failure := t.send(r, op)
		if failure == nil {
			return resp, nil
		}
		if failure.Kind == KindMoved && !single && !redirected && req.Method == http.MethodGet {
			if next, ok := t.redirected(req, failure.target); ok {
				req, redirected = next, true
				continue
			}
		}
		if single || req.Context().Err() != nil {
			return nil, failure
		}
		switch failure.Kind {
		case KindRateLimited:
			limited++
			if !t.wait.forLimit(req.Context(), failure, limited) {
				return nil, failure
			}
		case KindServer, KindNetwork, KindTimeout, KindUnreadable:
			if try >= readTries || !t.wait.pause(req.Context(), time.Second) {
				return nil, failure
			}
			try++
		default:
			return nil, failure
		}
	}
}

// prepare clones the request for one attempt, with a body of its own: over HTTP/2 a second try of the same body would
// go out empty.
func (t *transport) prepare(req *http.Request, op string) (*http.Request, error) {
	if !sameHost(t.api, req.URL) {
		return nil, &Error{Op: op, Kind: KindForeignHost, Message: "not sent: " + oneLine(req.URL.Host, maxMessage) + " is not " + t.api.Host}
	}
	r := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil, &Error{Op: op, Kind: KindInvalid, Message: "the body cannot be sent again"}
		}
		body, err := req.GetBody()
		if err != nil {
			return nil, networkError(op, err)
		}
		r.Body = body
	}
	r.Header.Del("Authorization")
	if t.token != "" {
		r.Header.Set("Authorization", "Bearer "+t.token)
	}
	r.Header.Set("User-Agent", t.userAgent)
	t.etags.ask(r)
	return r, nil
}

// send makes one attempt and reads the whole answer, so that a connection cut half-way is a failure like any other.
func (t *transport) send(r *http.Request, op string) (*http.Response, *Error) {
	ctx, cancel := context.WithTimeout(r.Context(), t.attempt)
	defer cancel()
	if e := t.begin(op); e != nil {
		return nil, e
	}
	start := t.wait.now()
	defer func() { t.add(0, t.wait.now().Sub(start)) }()
	resp, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, networkError(op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	t.compare(resp.Header.Get("Date"))
	if resp.StatusCode == http.StatusNotModified {
		if kept := t.etags.answer(r); kept != nil {
			return kept, nil
		}
	}
	if resp.StatusCode >= 300 || (resp.StatusCode == http.StatusAccepted && r.Method == http.MethodGet) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a cut body still has its status
		return nil, t.refusal(op, resp, body)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.maxAnswer+1))
	if err != nil {
		return nil, networkError(op, err)
	}
	if int64(len(body)) > t.maxAnswer {
		return nil, &Error{Op: op, Kind: KindTooLarge, Status: resp.StatusCode, Message: fmt.Sprintf("more than %d bytes", t.maxAnswer)}
	}
	t.add(int64(len(body)), 0)
	if kind, why := look(body, r.Method == http.MethodGet); why != "" {
		return nil, &Error{Op: op, Kind: kind, Status: resp.StatusCode, Message: why}
	}
	if resp.StatusCode == http.StatusAccepted {
		resp.StatusCode = http.StatusOK // go-github takes 202 for an error
	}
	// Kept from go-github: with "remaining: 0" it would refuse the next request by the machine's clock.
	resp.Header.Del("X-Ratelimit-Remaining")
	resp.Header.Del("X-Ratelimit-Reset")
	t.etags.keep(r, resp, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// refusal makes an Error of an answer that is none.
func (t *transport) refusal(op string, resp *http.Response, body []byte) *Error {
	msg, line := parseMessage(body, resp.Header.Get("Content-Type"))
	e := &Error{Op: op, Kind: kindOfStatus(resp.StatusCode), Status: resp.StatusCode, Message: line}
	switch {
	case resp.StatusCode == http.StatusAccepted:
		e.Kind = KindNotReady
	case e.Kind == KindMoved:
		e.target = resp.Header.Get("Location")
		place, _, _ := strings.Cut(e.target, "?")
		e.Location = oneLine(place, maxMessage)
		// A proxy's page to sign in moves no issue.
		switch u, err := t.api.Parse(e.target); {
		case e.target == "" || err != nil:
			e.Kind, e.Message = KindForeignHost, "a redirect to no place"
		case !sameHost(t.api, u):
			e.Kind = KindForeignHost
		}
	case (e.Kind == KindNotFound || e.Kind == KindGone) && line == htmlPage:
		e.Kind = KindServer // of a proxy: it says nothing about the thing itself
	case limited(resp, msg):
		e.Kind = KindRateLimited
		e.RetryAfter = retryAfter(resp.Header, t.wait.now())
		if e.RetryAfter > 0 {
			e.RetryAt = t.wait.now().Add(e.RetryAfter)
		}
	}
	return e
}

// redirected follows a read to the same thing under another name of the repository (GitHub answers
// /repositories/ID/… after a rename), on the same host. An issue never follows: it was transferred, and what stands
// there belongs to another repository.
func (t *transport) redirected(req *http.Request, location string) (*http.Request, bool) {
	u, err := req.URL.Parse(location)
	if err != nil || location == "" || !sameHost(t.api, u) {
		return nil, false
	}
	base := t.api.Path
	from, ok1 := cutRepo(strings.TrimPrefix(req.URL.EscapedPath(), base), "/repos/", 2)
	to, ok2 := cutRepo(strings.TrimPrefix(u.EscapedPath(), base), "/repositories/", 1)
	if !ok1 || !ok2 || from != to || from == "issues" || strings.HasPrefix(from, "issues/") {
		return nil, false
	}
	next := req.Clone(req.Context())
	next.URL, next.Host = u, ""
	return next, true
}

// cutRepo takes the repository (parts segments after prefix) off a path.
func cutRepo(path, prefix string, parts int) (rest string, ok bool) {
	after, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return "", false
	}
	split := strings.SplitN(after, "/", parts+1)
	if len(split) < parts {
		return "", false
	}
	if len(split) > parts {
		rest = split[parts]
	}
	return rest, true
}
