package ghapi

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

// begin counts a request, and refuses it where a server that always has one more page must end.
func (t *transport) begin(op string) *Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	why := ""
	switch {
	case t.sent >= t.maxRequests:
		why = fmt.Sprintf("more than %d requests", t.maxRequests)
	case t.bytes > maxAnswers:
		why = fmt.Sprintf("more than %d bytes in all answers", int64(maxAnswers))
	case t.spent > maxSpent:
		why = fmt.Sprintf("more than %v in all requests", maxSpent)
	default:
		t.sent++
		return nil
	}
	return &Error{Op: op, Kind: KindTooLarge, Message: "not sent: " + why}
}

func (t *transport) add(n int64, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes, t.spent = t.bytes+n, t.spent+d
}

// compare notes how far GitHub's clock is behind ours. One that is ahead does no harm: what is looked for was made later
// than our time, too.
func (t *transport) compare(date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earlier = max(t.wait.now().Sub(at), 0)
}

func (t *transport) behind() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.earlier
}

// now is the time on GitHub's clock when that is behind ours.
func (t *transport) now() time.Time { return t.wait.now().Add(-t.behind()) }

// Bounds of one answer. The densest are trees, of up to 100,000 entries with six members each. What is decoded takes
// hundreds of bytes for each entry of a list, however short it is.
const (
	maxEntries = 200_000
	maxMembers = 1_000_000
	maxDepth   = 1_000
)

// look finds what no decoder may see: an answer that is much larger in memory than on the wire, and, of a read, one
// that is empty, null or a page, which would pass for a list without entries.
func look(body []byte, read bool) (Kind, string) {
	trimmed := bytes.TrimSpace(body)
	if read {
		if len(trimmed) == 0 {
			return KindUnreadable, "an empty answer"
		}
		switch first, last := trimmed[0], trimmed[len(trimmed)-1]; {
		case first == '<':
			return KindUnreadable, htmlPage
		case first != '{' && first != '[':
			return KindUnreadable, "neither an object nor a list"
		case last != first+2: // ] and } stand two behind [ and {
			return KindUnreadable, "an answer that breaks off or goes on after its end"
		}
	}
	var inList []bool
	entries, members := 0, 0
	for i := 0; i < len(trimmed); i++ {
		switch trimmed[i] {
		case '"':
			for i++; i < len(trimmed) && trimmed[i] != '"'; i++ {
				if trimmed[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			inList = append(inList, trimmed[i] == '[')
			entries++
		case ']', '}':
			inList = inList[:max(len(inList)-1, 0)]
		case ',':
			if n := len(inList); n > 0 && inList[n-1] {
				entries++
			} else {
				members++
			}
		}
		if entries > maxEntries || members > maxMembers || len(inList) > maxDepth {
			return KindTooLarge, fmt.Sprintf("more than %d entries, %d members or %d levels", maxEntries, maxMembers, maxDepth)
		}
	}
	return "", ""
}
