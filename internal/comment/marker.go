// Package comment renders the assistant's comments: markers, texts in seven languages, and the places where the AI's
// cleaned words stand.
package comment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Marker is what a comment of the assistant says about itself in a hidden line. Zero fields are left out.
type Marker struct {
	Kind      string // task.MarkAnalysis and so on
	To        int64  // the comment that is answered; 0: the issue itself
	Read      int64  // the last comment that the AI had read; 0 with HasRead: none was there
	HasRead   bool
	Language  string
	Engine    string
	Questions bool   // the reporter was asked something
	Duplicate int    // number of the issue that is announced as the original
	Pull      int    // fixed: the pull request
	Commit    string // fixed by a commit without a pull request: its hash
	Since     int64  // start of the period that a notice belongs to, in Unix seconds
	Tag       string
	Session   string // sessions on: the record, as base64
}

const (
	markerStart = "<!-- issue-assistant:"
	markerEnd   = " -->"
	maxMarker   = 8 << 10
)

var (
	markerLine  = lazy.Regexp(`^<!-- issue-assistant:([a-z][a-z-]{0,30})((?: [a-z]+=[A-Za-z0-9._/@+:=-]+)*) -->$`)
	markerValue = lazy.Regexp(`^[A-Za-z0-9._/@+:=-]+$`)
)

// String is the marker as it stands in a comment: one line that GitHub does not show. A value that does not fit its
// characters is left out.
func (m Marker) String() string {
	var b strings.Builder
	b.WriteString(markerStart + m.Kind)
	add := func(key, value string) {
		if len(value) <= maxMarker/2 && markerValue().MatchString(value) && !strings.Contains(value, "--") {
			b.WriteString(" " + key + "=" + value)
		}
	}
	number := func(key string, n int64) {
		if n > 0 {
			add(key, strconv.FormatInt(n, 10))
		}
	}
	number("to", m.To)
	if m.HasRead {
		add("read", strconv.FormatInt(m.Read, 10))
	}
	add("lang", m.Language)
	add("engine", m.Engine)
	if m.Questions {
		add("questions", "1")
	}
	number("duplicate", int64(m.Duplicate))
	number("pull", int64(m.Pull))
	add("commit", m.Commit)
	number("since", m.Since)
	add("tag", m.Tag)
	add("session", m.Session)
	b.WriteString(markerEnd)
	return b.String()
}

// Key is the part of the marker by which the same answer is found again on a re-run: its kind and what it answers.
func (m Marker) Key() string { return fmt.Sprintf("%s to=%d", m.Kind, m.To) }

// ParseMarker finds the marker of a comment: its first or its last line. Whether it counts depends on who wrote the
// comment ([Owner]).
func ParseMarker(body string) (Marker, bool) {
	body = strings.TrimSpace(body)
	first, _, _ := strings.Cut(body, "\n")
	for _, line := range [...]string{first, body[strings.LastIndexByte(body, '\n')+1:]} {
		if m, ok := parseLine(strings.TrimSpace(line)); ok {
			return m, true
		}
	}
	return Marker{}, false
}

// Carries reports whether a text carries a marker at the start of any line. Such a comment is the assistant's own even
// where a personal token posted it, and starts nothing.
func Carries(body string) bool {
	for line := range strings.Lines(body) {
		if _, ok := parseLine(strings.TrimRight(line, " \t\r\n")); ok {
			return true
		}
	}
	return false
}

func parseLine(line string) (Marker, bool) {
	if len(line) > maxMarker || !strings.HasPrefix(line, markerStart) {
		return Marker{}, false
	}
	parts := markerLine().FindStringSubmatch(line)
	if parts == nil {
		return Marker{}, false
	}
	m := Marker{Kind: parts[1]}
	for field := range strings.FieldsSeq(parts[2]) {
		key, value, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		isNumber := err == nil && n >= 0
		switch {
		case key == "to" && isNumber:
			m.To = n
		case key == "read" && isNumber:
			m.Read, m.HasRead = n, true
		case key == "lang":
			m.Language = value
		case key == "engine":
			m.Engine = value
		case key == "questions":
			m.Questions = value == "1"
		case key == "duplicate" && isNumber && n < 1<<31:
			m.Duplicate = int(n)
		case key == "pull" && isNumber && n < 1<<31:
			m.Pull = int(n)
		case key == "commit":
			m.Commit = value
		case key == "since" && isNumber:
			m.Since = n
		case key == "tag":
			m.Tag = value
		case key == "session":
			m.Session = value
		}
	}
	return m, true
}

// Mark is the part of the marker that the routing reads.
func (m Marker) Mark() *task.Mark {
	return &task.Mark{Kind: m.Kind, Questions: m.Questions, To: m.To, Read: m.Read, HasRead: m.HasRead}
}

// Owner is the account whose markers count.
type Owner struct {
	Login string
	ID    int64 // 0: not known
}

// JobToken is the account of a job's own token. Its login cannot be registered by anybody.
func JobToken() Owner { return Owner{Login: "github-actions[bot]"} }

// Wrote reports whether the account is the owner.
func (o Owner) Wrote(u ghapi.User) bool {
	if !strings.EqualFold(o.Login, u.Login) || o.Login == "" {
		return false
	}
	if strings.HasSuffix(o.Login, "[bot]") && u.Type != "Bot" {
		return false
	}
	return o.ID == 0 || u.ID == 0 || o.ID == u.ID
}

// Own is a comment of the assistant with its marker.
type Own struct {
	ghapi.Comment
	Marker Marker
}

// Owned picks the assistant's comments, oldest first.
func Owned(comments []ghapi.Comment, owner Owner) []Own {
	var out []Own
	for _, c := range comments {
		if !owner.Wrote(c.Author) {
			continue
		}
		if m, ok := ParseMarker(c.Body); ok {
			out = append(out, Own{c, m})
		}
	}
	slices.SortStableFunc(out, func(a, b Own) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out
}

// needsOwner reports whether comments carry markers of accounts other than the job's own: then it must be asked whose
// token this is ([ghapi.Client.Viewer]).
func needsOwner(comments []ghapi.Comment) bool {
	return slices.ContainsFunc(comments, func(c ghapi.Comment) bool {
		if JobToken().Wrote(c.Author) {
			return false
		}
		_, ok := ParseMarker(c.Body)
		return ok
	})
}

// Viewer says whose token the requests carry; [ghapi.Client] is one.
type Viewer interface {
	Viewer(ctx context.Context) (ghapi.User, error)
}

// OwnerOf says whose markers count: the job's own account, unless comments carry markers of another one; then the token
// is asked whose it is.
func OwnerOf(ctx context.Context, r Viewer, comments []ghapi.Comment) (Owner, error) {
	if !needsOwner(comments) {
		return JobToken(), nil
	}
	u, err := r.Viewer(ctx)
	switch ghapi.KindOf(err) {
	case "":
		if err != nil {
			return Owner{}, fmt.Errorf("ask whose token this is: %w", err)
		}
	case ghapi.KindForbidden, ghapi.KindGraphQL, ghapi.KindNotFound:
		return JobToken(), nil // such a token cannot ask: it is a job's
	default:
		return Owner{}, fmt.Errorf("ask whose token this is: %w", err)
	}
	if u.Login == "" {
		return JobToken(), nil
	}
	return Owner{Login: u.Login, ID: u.ID}, nil
}

// Thread is the comments of an issue as the routing needs them. maintainer says who may write; it is asked once per
// account.
func Thread(comments []ghapi.Comment, owner Owner, maintainer func(login string) bool) []task.Entry {
	may := map[string]bool{}
	out := make([]task.Entry, 0, len(comments))
	for _, c := range comments {
		login := Login(c.Author)
		if _, asked := may[login]; !asked {
			may[login] = login != task.Ghost && !c.Author.IsBot() && maintainer(login)
		}
		e := task.Entry{
			ID: c.ID, At: c.CreatedAt, Body: c.Body,
			By: task.Person{Login: login, Bot: c.Author.IsBot(), Maintainer: may[login]},
		}
		if owner.Wrote(c.Author) {
			if m, ok := ParseMarker(c.Body); ok {
				e.Mark = m.Mark()
			}
		}
		out = append(out, e)
	}
	return out
}

// Login is the account's login, ghost for a deleted one.
func Login(u ghapi.User) string {
	if u.Login == "" {
		return task.Ghost
	}
	return u.Login
}
