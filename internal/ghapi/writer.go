package ghapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// Writer is every change the product makes on GitHub. Each write has a key of operation, target and purpose
// ("comment#7:triage"); purpose is a fixed word of the caller, never text of the issue.
//
// An error is a [*WriteError]. [BoundedWriter] writes, [Recorder] only notes down.
type Writer interface {
	// CreateComment posts a comment. Marker is the hidden part of body by which it is found again.
	CreateComment(ctx context.Context, issue int, purpose, body, marker string) (Comment, error)
	EditComment(ctx context.Context, issue int, comment int64, purpose, body string) (Comment, error)
	DeleteComment(ctx context.Context, issue int, comment int64, purpose string) error

	// AddLabels adds labels that the repository has, in the repository's spelling. For others the error is an
	// [*UnknownLabels]; the known ones were added.
	AddLabels(ctx context.Context, issue int, purpose string, names ...string) error
	// AddLabelsBecause is AddLabels with a reason of the AI, cleaned by the caller, that GitHub shows beside the labels.
	AddLabelsBecause(ctx context.Context, issue int, purpose, why string, names ...string) error
	// RemoveLabel is also a success when the issue does not carry the label.
	RemoveLabel(ctx context.Context, issue int, purpose, name string) error

	// Close closes with a reason (completed, not_planned, duplicate). DuplicateOf links the original, whatever the
	// reason; 0: none.
	Close(ctx context.Context, issue int, purpose, reason string, duplicateOf int) error
	Reopen(ctx context.Context, issue int, purpose string) error
	// AddReaction reacts to a comment, or to the issue when comment is 0.
	AddReaction(ctx context.Context, issue int, comment int64, purpose, content string) error

	CreateIssue(ctx context.Context, purpose string, draft IssueDraft) (Issue, error)
	EditIssueBody(ctx context.Context, issue int, purpose, body string) error
	SetMilestone(ctx context.Context, issue int, purpose string, milestone int) error
	// CreateMilestone creates a milestone, or returns the one of that title.
	CreateMilestone(ctx context.Context, purpose string, m Milestone) (Milestone, error)

	CreateLabel(ctx context.Context, purpose string, l Label) error
	// EditLabel changes the label called name into l, its name too.
	EditLabel(ctx context.Context, purpose, name string, l Label) error

	// Dispatch starts a workflow file on a branch.
	Dispatch(ctx context.Context, purpose, file, branch string, inputs map[string]string) error
	EnableWorkflow(ctx context.Context, purpose, file string) error
	DisableWorkflow(ctx context.Context, purpose, file string) error
	DismissAlert(ctx context.Context, purpose string, alert int, reason, comment string) error

	// Results lists the keys in the order of their first use.
	Results() []WriteResult
}

// IssueDraft is an issue to be created. Marker is the hidden part of Body by which it is found again.
type IssueDraft struct {
	Title, Body, Marker string
	Labels              []string
}

// Verdict is how the last write of a key ended.
type Verdict string

// The verdicts. They are fixed words and may stand anywhere.
const (
	VerdictDone        Verdict = "done"
	VerdictConfirmed   Verdict = "confirmed"   // no clear answer, but it was found on GitHub
	VerdictFailed      Verdict = "failed"      // refused, or failed twice in a row
	VerdictUnconfirmed Verdict = "unconfirmed" // no clear answer, and GitHub could not be read
	VerdictSkipped     Verdict = "skipped"     // this key failed before
	VerdictEnded       Verdict = "ended"       // three keys failed: nothing is written any more
	VerdictRecorded    Verdict = "recorded"    // dry run
)

// WriteResult is the account of one key: no text of anybody stands in it.
type WriteResult struct {
	Key      string
	Attempts int // requests that were sent for the key in this run
	Status   int // of the last answer; 0 when there was none
	Verdict  Verdict
}

// Failed reports whether the write did not happen, as far as is known.
func (r WriteResult) Failed() bool {
	return r.Verdict != VerdictDone && r.Verdict != VerdictConfirmed && r.Verdict != VerdictRecorded
}

// WriteError is a write that did not happen, as far as is known.
type WriteError struct {
	WriteResult
	cause error
}

// Error names key, verdict and cause.
func (e *WriteError) Error() string {
	s := e.Key + " " + string(e.Verdict)
	switch e.Verdict {
	case VerdictSkipped:
		return s + ": it failed before in this run"
	case VerdictEnded:
		return s + ": three other writes failed in this run"
	default:
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap gives the request's error, an [*Error].
func (e *WriteError) Unwrap() error { return e.cause }

// UnknownLabels are labels that the repository does not have.
type UnknownLabels struct{ Names []string }

// Error counts and names them.
func (e *UnknownLabels) Error() string {
	names := make([]string, len(e.Names))
	for i, n := range e.Names {
		names[i] = fmt.Sprintf("%q", oneLine(n, 60))
	}
	return "no such label in this repository: " + strings.Join(names, ", ")
}

// The rules of the bounded writer.
const (
	maxAttempts   = 2               // in a row, for one key
	maxOpen       = 3               // keys that failed, then nothing is written any more
	maxRetryAfter = time.Minute     // a longer wait is not worth a job's minutes
	settle        = 2 * time.Second // before a second look or a second try
)

// BoundedWriter writes through a client and follows the rules above: after two failures in a row of the same key
// (one for a refusal) the key is closed for the run, after three closed keys everything is.
type BoundedWriter struct {
	c *Client

	mu         sync.Mutex // GitHub asks for writes one after another
	keys       map[string]*keyState
	order      []string
	open       int
	dispatched map[string]int
	start      time.Time
}

type keyState struct {
	WriteResult
	open bool
}

// NewWriter returns a writer for the client's repository.
func NewWriter(c *Client) *BoundedWriter {
	return &BoundedWriter{c: c, keys: map[string]*keyState{}, dispatched: map[string]int{}, start: c.transport.wait.now()}
}

// Results lists the keys in the order of their first use.
func (w *BoundedWriter) Results() []WriteResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]WriteResult, 0, len(w.order))
	for _, k := range w.order {
		out = append(out, w.keys[k].WriteResult)
	}
	return out
}

// write is one change.
type write struct {
	key string
	// send makes one request. It fails with unconfirmed when the answer does not show the change.
	send func(context.Context) error
	// found looks whether the change is there. Nil: sending twice does no harm.
	found func(context.Context) (bool, error)
	// mayBeDone are refusals (404: already removed, 422: already exists) after which found decides.
	mayBeDone []int
}

func (w *BoundedWriter) do(ctx context.Context, x write) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.keys[x.key]
	if k == nil {
		k = &keyState{WriteResult: WriteResult{Key: x.key}}
		w.keys[x.key] = k
		w.order = append(w.order, x.key)
	}
	if w.open >= maxOpen {
		if !k.open {
			k.Verdict = VerdictEnded
		}
		return &WriteError{WriteResult: WriteResult{x.key, k.Attempts, k.Status, VerdictEnded}}
	}
	if k.open {
		return &WriteError{WriteResult: WriteResult{x.key, k.Attempts, k.Status, VerdictSkipped}}
	}
	verdict, err := w.attempts(ctx, x, k)
	k.Verdict = verdict
	if !k.Failed() {
		return nil
	}
	if ctx.Err() == nil {
		k.open = true
		// What is gone says nothing about the rest.
		if kind := KindOf(err); kind != KindGone && kind != KindMoved {
			w.open++
		}
	}
	return &WriteError{WriteResult: k.WriteResult, cause: err}
}

// attempts sends at most twice, with a look at GitHub after every answer that leaves open what happened.
func (w *BoundedWriter) attempts(ctx context.Context, x write, k *keyState) (Verdict, error) {
	wait := w.c.transport.wait
	for n := 1; ; n++ {
		k.Attempts++
		err := x.send(once(ctx))
		if err == nil {
			k.Status = http.StatusOK
			return VerdictDone, nil
		}
		var e *Error
		if !errors.As(err, &e) {
			return VerdictFailed, err // nothing was sent
		}
		k.Status = e.Status
		if ctx.Err() != nil {
			return VerdictFailed, err
		}
		switch {
		case e.Kind == KindRateLimited:
			// Not executed, unless a proxy has sent it twice. A wait that is not worth it closes the key at once.
			if n == maxAttempts || !w.waitForLimit(ctx, e) {
				return VerdictFailed, err
			}
			if x.found != nil {
				if there, _ := x.found(ctx); there {
					return VerdictConfirmed, nil
				}
			}
			continue
		case ambiguous(e):
			wait.pause(ctx, settle) // without budget: no pause, the look decides
		case slices.Contains(x.mayBeDone, e.Status):
		case e.Kind == KindNetwork: // nothing left this machine
			if n == maxAttempts || !wait.pause(ctx, settle) {
				return VerdictFailed, err
			}
			continue
		default:
			return VerdictFailed, err
		}
		if x.found != nil {
			there, look := x.found(ctx)
			switch {
			case there:
				return VerdictConfirmed, nil
			case look != nil && ambiguous(e):
				return VerdictUnconfirmed, errors.Join(err, look)
			}
		}
		if !ambiguous(e) || n == maxAttempts {
			return VerdictFailed, err
		}
	}
}

// waitForLimit waits as GitHub asks, a minute when it does not say, and not at all when it asks for more.
func (w *BoundedWriter) waitForLimit(ctx context.Context, e *Error) bool {
	d := e.RetryAfter
	if d == 0 {
		d = maxRetryAfter
	}
	return d <= maxRetryAfter && w.c.transport.wait.pause(ctx, d)
}

// ambiguous reports whether the change may have happened in spite of the failure.
func ambiguous(e *Error) bool {
	switch e.Kind {
	case KindServer, KindTimeout, KindUnreadable, KindTooLarge, KindNotReady:
		return true
	case KindNetwork:
		return !e.notSent
	default:
		return false
	}
}

// unconfirmed is an answer of 200 that does not show the change, such as an empty body.
func unconfirmed(op string) error {
	return &Error{Op: op, Kind: KindUnreadable, Status: http.StatusOK, Message: "the answer does not show the change"}
}

var purposeWord = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// key joins operation, target (0: the repository) and purpose.
func key(operation string, target int, purpose string) (string, error) {
	if !purposeWord().MatchString(purpose) {
		return "", fmt.Errorf("write %s: purpose %q is no fixed word", operation, oneLine(purpose, 60))
	}
	if target == 0 {
		return operation + ":" + purpose, nil
	}
	return operation + "#" + itoa(target) + ":" + purpose, nil
}
