package ghapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// waiter spends the budget of waiting that all requests of a client share.
type waiter struct {
	now   func() time.Time
	sleep func(time.Duration)

	mu   sync.Mutex
	left time.Duration
}

// forLimit waits as long as GitHub asks, or a minute, two, four, when it does not say. It reports false at once when
// that is more than what is left, and fills in when to come back.
func (w *waiter) forLimit(ctx context.Context, e *Error, nth int) bool {
	d := e.RetryAfter
	if d == 0 {
		d = time.Minute << min(nth-1, 5)
	}
	d = max(d, time.Second<<min(nth-1, 6)) // a time that has passed is no leave to ask every second
	if w.pause(ctx, d) {
		return true
	}
	if e.RetryAt.IsZero() {
		e.RetryAt = w.now().Add(d)
	}
	return false
}

// pause sleeps when the budget and the context's deadline allow the whole of it.
func (w *waiter) pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && w.now().Add(d).After(deadline) {
		return false
	}
	w.mu.Lock()
	if d > w.left {
		w.mu.Unlock()
		return false
	}
	w.left -= d
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.sleep(d)
	}()
	select {
	case <-done:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// limited tells a rate limit from a missing permission: both are 403, and GitHub often names a secondary limit only
// in its words. docs.github.com: "Rate limits for the REST API".
func limited(resp *http.Response, msg apiMessage) bool {
	if resp.StatusCode == http.StatusTooManyRequests {
		return true
	}
	if resp.StatusCode != http.StatusForbidden {
		return false
	}
	words := strings.ToLower(msg.Message)
	return resp.Header.Get("Retry-After") != "" ||
		resp.Header.Get("X-Ratelimit-Remaining") == "0" ||
		strings.Contains(words, "rate limit") || strings.Contains(words, "abuse detection") ||
		strings.Contains(msg.DocsURL, "secondary-rate-limits") || strings.Contains(msg.DocsURL, "abuse-rate-limits")
}

// retryAfter is the wait that the headers ask for, at least a second, or 0 when they do not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 0 {
			return soon(time.Duration(min(n, 1<<30)) * time.Second)
		}
		if at, err := http.ParseTime(v); err == nil {
			return soon(at.Sub(now))
		}
	}
	// A reset without "remaining: 0" is that of the primary limit, which is not what was hit.
	if h.Get("X-Ratelimit-Remaining") == "0" {
		if n, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && n > 0 {
			return soon(time.Unix(n, 0).Sub(now))
		}
	}
	return 0
}

// soon keeps a wait between a second and a day: GitHub's longest is an hour.
func soon(d time.Duration) time.Duration { return min(max(d, time.Second), 24*time.Hour) }
