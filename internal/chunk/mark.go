package chunk

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// Kinds of the hidden lines. All have the form of the assistant's own markers, so that a comment with one starts no task.
const (
	MarkRecord  = "chunk"         // first line of a chunk issue: the record
	MarkEvent   = "chunk-event"   // a comment on the chunk issue: one change
	MarkClaim   = "chunk-claim"   // a comment on a claimed issue: the lock
	MarkFinding = "chunk-finding" // first line of an issue that a chunk filed
	MarkAgent   = "chunk-agent"   // a comment or pull request that the agent wrote itself
)

var markLine = lazy.Regexp(`^<!-- issue-assistant:([a-z][a-z-]{0,30})((?: [a-z]+=[A-Za-z0-9._/@+:=-]+)*) -->$`)

// Mark is a hidden line: its kind and its values.
type Mark struct {
	Kind   string
	Values map[string]string
}

// FormatMark writes a hidden line; pairs are names and values, empty values are left out.
func FormatMark(kind string, pairs ...string) string {
	var b strings.Builder
	b.WriteString("<!-- issue-assistant:" + kind)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(" " + pairs[i] + "=" + pairs[i+1])
		}
	}
	return b.String() + " -->"
}

// ParseMark reads the first line of a text; the agent's own mark may be the last one, too. Whether it counts depends on
// who wrote it. (A bot may end in the words of a stranger; it begins with its own.)
func ParseMark(body string) (Mark, bool) {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	first, _, _ := strings.Cut(body, "\n")
	for i, line := range []string{first, body[strings.LastIndexByte(body, '\n')+1:]} {
		parts := markLine().FindStringSubmatch(strings.TrimSpace(line))
		if parts == nil || !strings.HasPrefix(parts[1], "chunk") || (i > 0 && parts[1] != MarkAgent) {
			continue
		}
		m := Mark{parts[1], map[string]string{}}
		for field := range strings.FieldsSeq(parts[2]) {
			key, value, _ := strings.Cut(field, "=")
			m.Values[key] = value
		}
		return m, true
	}
	return Mark{}, false
}

// Int is a value that is a whole number of at least 1, else 0.
func (m Mark) Int(key string) int {
	n, err := strconv.Atoi(m.Values[key])
	if err != nil || n < 1 || n > 1<<31-1 {
		return 0
	}
	return n
}

// ClaimMark is the hidden line of a claim.
func ClaimMark(chunk int, nonce, state string, lease time.Time) string {
	return FormatMark(MarkClaim, "chunk", strconv.Itoa(chunk), "state", state, "lease", lease.UTC().Format(time.RFC3339), "nonce", nonce)
}

// The states of a claim's hidden line.
const (
	MarkLive      = "live"
	MarkWithdrawn = "withdrawn"
	MarkReleased  = "released"
	MarkTakenOver = "taken_over"
)

// ParseClaim reads a claim of a comment. A lease that cannot be read has run out.
func ParseClaim(id int64, body string, trusted bool) (Marker, bool) {
	m, ok := ParseMark(body)
	if !ok || m.Kind != MarkClaim || m.Int("chunk") == 0 {
		return Marker{}, false
	}
	lease, err := time.Parse(time.RFC3339, m.Values["lease"])
	if err != nil {
		lease = time.Time{}
	}
	return Marker{
		CommentID: id, Chunk: strconv.Itoa(m.Int("chunk")), LeaseUntil: lease, Trusted: trusted,
		State: m.Values["state"], Withdrawn: m.Values["state"] != MarkLive, Nonce: m.Values["nonce"],
	}, true
}

// Mark is the hidden line of the record.
func (r *Record) Mark(nonce string) (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the record: %w", err)
	}
	return FormatMark(MarkRecord, "nonce", nonce, "data", base64.StdEncoding.EncodeToString(data)), nil
}

// ParseRecord reads the record of a chunk issue; false when it is missing, cut, no JSON or of another schema.
func ParseRecord(body string) (Record, bool) {
	var r Record
	m, ok := ParseMark(body)
	if !ok || m.Kind != MarkRecord {
		return r, false
	}
	data, err := base64.StdEncoding.DecodeString(m.Values["data"])
	if err != nil || json.Unmarshal(data, &r) != nil || r.Schema != RecordSchema {
		return Record{}, false
	}
	return r, true
}

// ParseEvent reads an event of the log.
func ParseEvent(id int64, at time.Time, body string) (Event, bool) {
	m, ok := ParseMark(body)
	if !ok || m.Kind != MarkEvent {
		return Event{}, false
	}
	e := Event{ID: id, At: at, Do: m.Values["do"], Issue: m.Int("issue"), Pull: m.Int("pull"), Reason: m.Values["reason"], Key: m.Values["key"], Agent: unpack(m.Values["agent"]), Label: unpack(m.Values["label"])}
	e.Lock, _ = strconv.ParseInt(m.Values["lock"], 10, 64) // absent: 0
	for part := range strings.SplitSeq(m.Values["refs"], "/") {
		if n, err := strconv.Atoi(part); err == nil && n > 0 {
			e.Refs = append(e.Refs, n)
		}
	}
	return e, e.Do != ""
}

// Mark is the hidden line of an event.
func (e Event) Mark(nonce string) string {
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	refs := make([]string, len(e.Refs))
	for i, n := range e.Refs {
		refs[i] = strconv.Itoa(n)
	}
	return FormatMark(MarkEvent, "do", e.Do, "issue", number(int64(e.Issue)), "lock", number(e.Lock), "pull", number(int64(e.Pull)), "refs", strings.Join(refs, "/"),
		"reason", e.Reason, "key", e.Key, "agent", pack(e.Agent), "label", pack(e.Label), "nonce", nonce)
}

// pack lets any name stand in a hidden line.
func pack(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }

func unpack(text string) string {
	name, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(name)
}
