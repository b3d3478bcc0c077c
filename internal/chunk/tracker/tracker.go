// Package tracker keeps a chunk on GitHub: its record on an issue of its own, with every change as a comment that is never
// edited; its locks as comments on the claimed issues; labels as an index that is repaired and never believed.
//
// The decisions are package chunk's. All writes go through one bounded writer; nothing here reads the clock by itself.
package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// PollFile is the workflow whose schedule the gate switches.
const PollFile = "issue-assistant-poll.yml"

// Tracker works with one token in one repository.
type Tracker struct {
	Client *ghapi.Client
	Writer ghapi.Writer
	Now    func() time.Time
	Sleep  func(time.Duration)
	Nonce  func() string
	Warn   func(string) // something optional that did not work
	// Budget reports whether the month's money allows another run; nil: there is no cap.
	Budget func(context.Context) bool

	viewer *ghapi.User
}

// Chunk is a chunk as it was read.
type Chunk struct {
	chunk.Record
	Paused   bool
	Closed   bool            // its issue is closed
	comments []ghapi.Comment // of its issue
	body     string
}

// ErrNoChunk is an issue that is no chunk, or whose record nobody with write access wrote.
var ErrNoChunk = errors.New("no chunk")

// errFailed is a chunk whose record and log cannot be read.
var errFailed = errors.New("its record cannot be read: close it and start a new chunk")

// Viewer is the account of the token.
func (t *Tracker) Viewer(ctx context.Context) (ghapi.User, error) {
	if t.viewer != nil {
		return *t.viewer, nil
	}
	u, err := t.Client.Viewer(ctx)
	switch ghapi.KindOf(err) {
	case "":
		if err != nil {
			return u, err
		}
	case ghapi.KindForbidden, ghapi.KindGraphQL, ghapi.KindNotFound: // such a token cannot ask: it is a job's
		u = ghapi.User{Login: comment.JobToken().Login, Type: "Bot"}
	default:
		return u, err
	}
	t.viewer = &u
	return u, nil
}

// trusts reports whether an account's marks count: ours, the job's, or one with write permission. An error is not a no:
// to overlook the lock of another would give an issue two holders.
func (t *Tracker) trusts(ctx context.Context, u ghapi.User) (bool, error) {
	if comment.JobToken().Wrote(u) {
		return true, nil
	}
	me, err := t.Viewer(ctx)
	if err != nil {
		return false, err
	}
	if (comment.Owner{Login: me.Login, ID: me.ID}).Wrote(u) {
		return true, nil
	}
	if u.IsBot() || u.Login == "" {
		return false, nil
	}
	return t.Client.CanWrite(ctx, u.Login)
}

// All reads the chunks whose issues are open.
func (t *Tracker) All(ctx context.Context) ([]*Chunk, error) {
	issues, err := t.Client.OpenIssuesWithLabel(ctx, config.LabelChunk)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(issues, func(a, b ghapi.Issue) int { return a.Number - b.Number })
	var all []*Chunk
	for _, i := range issues {
		c, err := t.read(ctx, i)
		switch {
		case errors.Is(err, ErrNoChunk):
			t.Warn(fmt.Sprintf("#%d carries the label %s and is left out: %v", i.Number, config.LabelChunk, err))
		case err != nil:
			return nil, err
		default:
			all = append(all, c)
		}
	}
	return all, nil
}

// Load reads one chunk, open or not.
func (t *Tracker) Load(ctx context.Context, id int) (*Chunk, error) {
	i, err := t.Client.Issue(ctx, id)
	if ghapi.IsGone(err) {
		return nil, fmt.Errorf("#%d: %w: there is no such issue", id, ErrNoChunk)
	}
	if err != nil {
		return nil, err
	}
	return t.read(ctx, i)
}

func (t *Tracker) read(ctx context.Context, i ghapi.Issue) (*Chunk, error) {
	if ok, err := t.trusts(ctx, i.Author); err != nil {
		return nil, err
	} else if !ok || i.IsPullRequest {
		return nil, fmt.Errorf("#%d: %w: its author has no write access", i.Number, ErrNoChunk)
	}
	// Who closes the issue stops the chunk.
	closed := i.State == "closed"
	c := &Chunk{Paused: i.HasLabel(config.LabelPaused) || closed, Closed: closed, body: i.Body}
	log, err := t.log(ctx, i.Number, c)
	if err != nil {
		return nil, err
	}
	c.Record = chunk.Fold(i.Number, log)
	body, readable := chunk.ParseRecord(i.Body)
	switch {
	case readable && body.Seq > c.Seq: // events were deleted, or the list lags behind
		c.Record = body
	case readable:
		// The log knows what happened, the body the rest: the gate's part, and how far the work is.
		gate, phase := body.Gate, body.State
		if gate.LastChange.IsZero() {
			gate.LastChange = c.Gate.LastChange
		}
		c.Gate = gate
		if c.State == chunk.Working && phase != chunk.Open && phase != chunk.Wrapped || c.State == chunk.Open && phase == chunk.Wrapping {
			c.State = phase
		}
	case c.Started.IsZero():
		// Never guess: a person has to look.
		t.Warn(fmt.Sprintf("#%d holds neither a readable record nor a log: it waits for a person", i.Number))
		c.ID, c.State = i.Number, chunk.Failed
		return c, nil
	default:
		t.Warn(fmt.Sprintf("the record in #%d cannot be read: rebuilt from its log", i.Number))
	}
	c.ID = i.Number
	if c.Started.IsZero() {
		c.Agent, c.Label, c.Started = body.Agent, body.Label, body.Started
	}
	return c, nil
}

// log reads the events of a chunk issue.
func (t *Tracker) log(ctx context.Context, id int, c *Chunk) ([]chunk.Event, error) {
	list, err := t.Client.Comments(ctx, id)
	if err != nil {
		return nil, err
	}
	c.comments = list
	var log []chunk.Event
	for _, x := range list {
		e, ok := chunk.ParseEvent(x.ID, x.CreatedAt, x.Body)
		if !ok {
			continue
		}
		if ok, err = t.trusts(ctx, x.Author); err != nil {
			return nil, err
		}
		if ok {
			log = append(log, e)
		}
	}
	return log, nil
}

// add posts an event and applies it.
func (t *Tracker) add(ctx context.Context, c *Chunk, e chunk.Event, words string) error {
	mark := e.Mark(t.Nonce())
	purpose := e.Do
	if n := e.Issue + e.Pull; n > 0 {
		purpose += "-" + strconv.Itoa(n)
	}
	made, err := t.Writer.CreateComment(ctx, c.ID, purpose, mark+"\n\n"+words, mark)
	if err != nil {
		return fmt.Errorf("the log of chunk %d: %w", c.ID, err)
	}
	e.ID, e.At = made.ID, made.CreatedAt
	c.Apply(e)
	return nil
}

// Save writes the record into the issue's body when it differs from what stands there. What is lost with it, the log and
// the next tick bring back.
func (t *Tracker) Save(ctx context.Context, c *Chunk) error {
	if c.State == chunk.Failed {
		return nil
	}
	mark, err := c.Mark(t.Nonce())
	if err != nil {
		return err
	}
	body := mark + "\n" + Page(&c.Record)
	if before, ok := chunk.ParseRecord(c.body); ok {
		old, err := before.Mark("")
		now, err2 := c.Mark("")
		if err == nil && err2 == nil && old == now {
			return nil
		}
	}
	if err := t.Writer.EditIssueBody(ctx, c.ID, "record", body); err != nil {
		return err
	}
	c.body = body
	return nil
}

// saveSoft is Save where a failure is only told.
func (t *Tracker) saveSoft(ctx context.Context, c *Chunk) {
	if err := t.Save(ctx, c); err != nil {
		t.Warn(err.Error())
	}
}

// Page is what people read on the chunk issue: numbers and fixed words. Numbers stand in code, so that no issue is told
// of each change.
func Page(r *chunk.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nA chunk of an agent's work: **%s**. Change nothing above; write to the agent in a comment below, stop it with the label `%s`.\n", r.State, config.LabelPaused)
	if len(r.Claims) > 0 {
		b.WriteString("\n| issue | state |\n| --- | --- |\n")
	}
	for _, h := range r.Claims {
		words := string(h.State)
		if h.Reason != "" {
			words += ": " + h.Reason
		}
		fmt.Fprintf(&b, "| `#%d` | %s |\n", h.Issue, words)
	}
	if len(r.Pulls) > 0 {
		b.WriteString("\n| pull request | state |\n| --- | --- |\n")
	}
	for _, p := range r.Pulls {
		fmt.Fprintf(&b, "| `#%d` | %s |\n", p.Number, p.State)
	}
	b.WriteString("\n" + Figures(r) + "\n")
	return b.String()
}

// Figures is one line of what the chunk has used so far.
func Figures(r *chunk.Record) string {
	calls, usd := r.Gate.Sum()
	words := fmt.Sprintf("%d pull requests", r.Made)
	if r.Made == 1 {
		words = "1 pull request"
	}
	add := func(text string) { words += " · " + text }
	if calls != nil {
		add(strconv.FormatInt(*calls, 10) + " calls")
	} else {
		add("calls unknown")
	}
	if r.Gate.ContextTokens != nil {
		add(fmt.Sprintf("last context %d tokens", *r.Gate.ContextTokens))
	}
	if usd != nil {
		add(fmt.Sprintf("$%.2f", *usd))
		if r.Made > 0 {
			add(fmt.Sprintf("$%.2f per pull request", *usd/float64(r.Made)))
		}
	} else {
		add("dollars unknown")
	}
	return words
}
