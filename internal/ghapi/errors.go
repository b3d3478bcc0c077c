package ghapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Kind says what a refusal means for the caller.
type Kind string

// The kinds of [Error].
const (
	KindUnauthorized Kind = "token refused"
	KindForbidden    Kind = "no permission"
	KindNotFound     Kind = "not found"
	KindGone         Kind = "gone"
	KindMoved        Kind = "moved"
	KindConflict     Kind = "conflict"
	KindInvalid      Kind = "refused as invalid"
	KindRateLimited  Kind = "rate limited"
	KindServer       Kind = "server error"
	KindNetwork      Kind = "no connection"
	KindTimeout      Kind = "time-out"
	KindTooLarge     Kind = "answer too large"
	KindUnreadable   Kind = "unreadable answer"
	KindGraphQL      Kind = "query refused"
	KindForeignHost  Kind = "foreign host"
	KindNotReady     Kind = "not ready yet"
)

// maxMessage is how much of GitHub's own words an error repeats, in characters.
const maxMessage = 200

// Error is a request that failed. Its text is one short line without control characters.
type Error struct {
	Op      string // method and path, for example "GET /repos/o/r/issues/7"
	Kind    Kind
	Status  int       // 0 when there was no answer
	Message string    // GitHub's words, one line, cut
	RetryAt time.Time // KindRateLimited: when to come back; zero when GitHub did not say
	// RetryAfter is the wait GitHub asked for; 0 when it named none.
	RetryAfter time.Duration
	Location   string // KindMoved: where to, without what follows a question mark (signatures stand there)

	target  string // the whole of it
	notSent bool   // KindNetwork: there was no connection to send it on
	cause   error
}

// Error gives the request, the status, what it means and GitHub's words.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteString(": ")
	if e.Status != 0 {
		fmt.Fprintf(&b, "%d ", e.Status)
	}
	b.WriteString(string(e.Kind))
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Location != "" {
		b.WriteString(" (to " + e.Location + ")")
	}
	if !e.RetryAt.IsZero() {
		b.WriteString("; try again after " + e.RetryAt.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return b.String()
}

// Unwrap gives the cause: a context's end or the network's own error.
func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the kind of an error of this package, or "" for any other error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// IsGone reports whether the thing asked for is no longer there: deleted, transferred, converted or never visible.
func IsGone(err error) bool {
	switch KindOf(err) {
	case KindNotFound, KindGone, KindMoved:
		return true
	default:
		return false
	}
}

// kindOfStatus sorts a status that is no success. Rate limits are told apart before.
func kindOfStatus(status int) Kind {
	switch {
	case status == http.StatusUnauthorized:
		return KindUnauthorized
	case status == http.StatusForbidden:
		return KindForbidden
	case status == http.StatusNotFound:
		return KindNotFound
	case status == http.StatusGone:
		return KindGone
	case status == http.StatusConflict:
		return KindConflict
	case status == http.StatusTooManyRequests:
		return KindRateLimited
	case status >= 300 && status < 400:
		return KindMoved
	case status == http.StatusRequestTimeout:
		return KindTimeout
	case status >= 500:
		return KindServer
	default:
		return KindInvalid
	}
}

// apiMessage is GitHub's body of an error.
type apiMessage struct {
	Message string `json:"message"`
	DocsURL string `json:"documentation_url"`
	Errors  []struct {
		Resource string `json:"resource"`
		Field    string `json:"field"`
		Code     string `json:"code"`
		Message  string `json:"message"`
	} `json:"errors"`
}

const htmlPage = "an HTML page instead of an answer"

// parseMessage reads an error's body. A page of a proxy says nothing useful; it is named, not quoted.
func parseMessage(body []byte, contentType string) (msg apiMessage, line string) {
	// Errors may also be a list of strings: then only the message is kept.
	if err := json.Unmarshal(body, &msg); err != nil && msg.Message == "" {
		trimmed := strings.TrimSpace(string(body))
		switch {
		case trimmed == "":
			return apiMessage{}, ""
		case strings.HasPrefix(trimmed, "<") || strings.Contains(contentType, "html"):
			return apiMessage{}, htmlPage
		default:
			return apiMessage{}, oneLine(trimmed, maxMessage)
		}
	}
	parts := []string{msg.Message}
	for _, e := range msg.Errors {
		if words := strings.TrimSpace(strings.Join([]string{e.Resource, e.Field, e.Code, e.Message}, " ")); words != "" {
			parts = append(parts, strings.Join(strings.Fields(words), " "))
		}
	}
	return msg, oneLine(strings.Join(parts, "; "), maxMessage)
}

// oneLine makes a line of at most n characters: white space collapsed, what cannot be seen replaced.
func oneLine(s string, n int) string {
	// Cut the bytes first: a message may be a megabyte long.
	if len(s) > 8*n {
		s = strings.ToValidUTF8(s[:8*n], "")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	return shorten.To(n, strings.Join(strings.Fields(s), " "))
}

// fromTransport gives an Error for what a round trip returned, op standing in where the failure has none.
func fromTransport(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Op: op, Kind: KindNetwork, Message: "canceled", cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return networkError(op, err)
	default: // the transport makes an Error of everything else: what is left is an answer that does not decode
		return undecodable(op, 0, err)
	}
}

// undecodable is an answer that is not of the shape that GitHub documents.
func undecodable(op string, status int, err error) *Error {
	message := rootMessage(err)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) { // Go's words name our types
		message = "this is no place for a value of this kind: " + mismatch.Value
		if mismatch.Field != "" {
			message += ", at " + mismatch.Field
		}
	}
	return &Error{Op: op, Kind: KindUnreadable, Status: status, Message: oneLine(message, maxMessage), cause: err}
}

// noList is an answer without the list that was asked for: it would pass for an empty one.
func noList(op string) error {
	return &Error{Op: op, Kind: KindUnreadable, Message: "an answer without its list"}
}

// networkError tells a time-out from a connection that failed.
func networkError(op string, err error) *Error {
	var t interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &t) && t.Timeout()) {
		return &Error{Op: op, Kind: KindTimeout, cause: err}
	}
	var dial *net.OpError
	return &Error{
		Op: op, Kind: KindNetwork, Message: oneLine(rootMessage(err), maxMessage),
		notSent: errors.As(err, &dial) && dial.Op == "dial", cause: err,
	}
}

// rootMessage leaves out the addresses that net/http repeats at each level.
func rootMessage(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
