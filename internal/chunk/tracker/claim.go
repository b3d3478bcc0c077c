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
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// ClaimResult is what became of one claim.
type ClaimResult struct {
	Issue  int    `json:"issue"`
	Result string `json:"result"`           // claimed, ours, refused, lost, gone, failed
	Reason string `json:"reason,omitempty"` // refused: why
	From   int    `json:"taken_from,omitempty"`
	Err    error  `json:"-"` // failed
}

// The results of a claim.
const (
	Claimed = "claimed"
	Ours    = "ours"
	Refused = "refused"
	Lost    = "lost" // another chunk was first
	Gone    = "gone"
	Failed  = "failed"
)

// Reads after a claim was posted. GitHub's lists may lag behind: a list counts when it shows the claim itself, since ids
// only grow and whatever stands before it is shown with it.
const (
	goodReads = 2
	maxReads  = 6
	readPause = time.Second
)

// Claim claims issues one after another; at the first success the poll is armed.
func (t *Tracker) Claim(ctx context.Context, c *Chunk, issues []int) ([]ClaimResult, error) {
	if c.State == chunk.Failed {
		return nil, fmt.Errorf("chunk %d: %w", c.ID, errFailed)
	}
	pulls, err := t.openReferences(ctx)
	if err != nil {
		return nil, err
	}
	var all []ClaimResult
	armed := false
	for _, n := range issues {
		r := t.claim(ctx, c, n, pulls)
		all = append(all, r)
		if r.Result == Claimed && !armed {
			armed = true
			t.arm(ctx, c)
		}
	}
	t.saveSoft(ctx, c)
	return all, nil
}

func (t *Tracker) claim(ctx context.Context, c *Chunk, number int, pulls map[int]bool) ClaimResult {
	failed := func(err error) ClaimResult { return ClaimResult{Issue: number, Result: Failed, Err: err} }
	issue, err := t.Client.Issue(ctx, number)
	switch {
	case ghapi.IsGone(err):
		return ClaimResult{Issue: number, Result: Gone}
	case err != nil:
		return failed(err)
	case issue.IsPullRequest:
		return failed(fmt.Errorf("#%d is a pull request, not an issue", number))
	}
	markers, err := t.markers(ctx, number)
	if err != nil {
		return failed(err)
	}
	spawned, err := t.spawnedBy(ctx, issue)
	if err != nil {
		return failed(err)
	}
	v := chunk.MayClaim(chunk.Claimer{Chunk: strconv.Itoa(c.ID), State: c.claimState(), Held: c.OpenClaims()}, chunk.Candidate{
		Closed: issue.State == "closed", Ready: issue.HasLabel(config.LabelReady), Backlog: issue.HasLabel(config.LabelBacklog),
		HumanAssignee: slices.ContainsFunc(issue.Assignees, func(who string) bool {
			return !strings.EqualFold(who, c.Agent) && !strings.HasSuffix(who, "[bot]")
		}),
		HasOpenPull: pulls[number], Labelled: c.Label == "" || issue.HasLabel(c.Label), SpawnedBy: spawned, Markers: markers,
	}, t.Now())
	held := c.Find(number)
	switch {
	case v.Refused != "":
		return ClaimResult{Issue: number, Result: Refused, Reason: string(v.Refused)}
	case v.Ours && held != nil && held.State == chunk.ClaimOpen:
		return ClaimResult{Issue: number, Result: Ours}
	}
	// A lock of ours that the log lacks may be another process's that is at it: a new one, behind it.
	lock, won, err := t.lock(ctx, c, number)
	if err != nil {
		var w *ghapi.WriteError
		if errors.As(err, &w) && w.Status == 409 {
			return ClaimResult{Issue: number, Result: Lost}
		}
		return failed(err)
	}
	if !won {
		return ClaimResult{Issue: number, Result: Lost}
	}
	r := t.join(ctx, c, number, lock)
	if r.Result == Claimed && v.TakeOver != "" {
		r.From, _ = strconv.Atoi(v.TakeOver) // a claim's chunk is a number
		t.takeOver(ctx, number, markers, c.ID)
	}
	return r
}

func (c *Chunk) claimState() chunk.Phase {
	if c.State == chunk.Open && (c.Fixed || c.Closed) {
		return chunk.Released
	}
	return c.State
}

// lock posts a claim on an issue and reads until it is clear who was first. A claim that lost, or of which nothing can be
// read, is withdrawn.
func (t *Tracker) lock(ctx context.Context, c *Chunk, number int) (chunk.Marker, bool, error) {
	m := chunk.Marker{Chunk: strconv.Itoa(c.ID), Nonce: t.Nonce(), LeaseUntil: t.Now().Add(chunk.LeaseTime), Trusted: true, State: chunk.MarkLive}
	mark := chunk.ClaimMark(c.ID, m.Nonce, m.State, m.LeaseUntil)
	made, err := t.Writer.CreateComment(ctx, number, "claim", mark+"\n\n"+claimWords(c.ID), mark)
	if err != nil {
		return m, false, err
	}
	m.CommentID = made.ID
	for good, n := 0, 0; n < maxReads; n++ {
		if n > 0 {
			t.Sleep(readPause)
		}
		markers, err := t.markers(ctx, number)
		if err != nil {
			t.withdraw(ctx, number, m)
			return m, false, err
		}
		if slices.ContainsFunc(markers, func(x chunk.Marker) bool {
			return x.Live(t.Now()) && x.CommentID < m.CommentID && x.Chunk != m.Chunk
		}) {
			t.withdraw(ctx, number, m)
			return m, false, nil
		}
		if slices.ContainsFunc(markers, func(x chunk.Marker) bool { return x.CommentID == m.CommentID }) {
			if good++; good == goodReads {
				return m, true, nil
			}
		}
	}
	t.withdraw(ctx, number, m)
	return m, false, fmt.Errorf("the claim on #%d does not show up in its list of comments: withdrawn", number)
}

// join enters a locked issue into the log. The log decides: after the set was fixed, or when it is full, the lock is given
// back.
func (t *Tracker) join(ctx context.Context, c *Chunk, number int, lock chunk.Marker) ClaimResult {
	e := chunk.Event{Do: chunk.DoClaimed, Issue: number, Lock: lock.CommentID}
	err := t.add(ctx, c, e, fmt.Sprintf("Claimed issue %d.", number))
	noted := err == nil
	if noted {
		err = t.again(ctx, c)
	} else if log, err2 := t.log(ctx, c.ID, c); err2 == nil && slices.ContainsFunc(log, func(x chunk.Event) bool { return x.Do == e.Do && x.Lock == e.Lock }) {
		err = t.again(ctx, c) // only its answer was lost
	}
	if err != nil {
		t.withdraw(ctx, number, lock)
		if noted && c.Find(number) != nil {
			back := chunk.Event{Do: chunk.DoReleased, Issue: number, Reason: string(chunk.ReleaseWriteFailed)}
			if err2 := t.add(ctx, c, back, fmt.Sprintf("Released issue %d: the claim could not be confirmed.", number)); err2 != nil {
				t.Warn(err2.Error())
			}
		}
		return ClaimResult{Issue: number, Result: Failed, Err: err}
	}
	if h := c.Find(number); h == nil || h.State != chunk.ClaimOpen {
		t.withdraw(ctx, number, lock)
		reason := chunk.RefusedChunkFull
		if c.Fixed {
			reason = chunk.RefusedSetFixed
		}
		return ClaimResult{Issue: number, Result: Refused, Reason: string(reason)}
	}
	if err := t.Writer.AddLabels(ctx, number, "claimed", config.LabelClaimed); err != nil {
		t.Warn(err.Error()) // only an index
	}
	return ClaimResult{Issue: number, Result: Claimed}
}

// again reads the log anew until it shows what this run knows; others may have written meanwhile.
func (t *Tracker) again(ctx context.Context, c *Chunk) error {
	for n := range maxReads {
		if n > 0 {
			t.Sleep(readPause)
		}
		log, err := t.log(ctx, c.ID, c)
		if err != nil {
			return err
		}
		if len(log) < c.Seq {
			continue
		}
		gate := c.Gate
		c.Record = chunk.Fold(c.ID, log)
		c.Gate = gate
		return nil
	}
	return fmt.Errorf("the log of chunk %d does not show what was written to it", c.ID)
}

func claimWords(id int) string {
	return fmt.Sprintf("Claimed by an agent, chunk `#%d`. To stop it, take the label `%s` off this issue.", id, config.LabelClaimed)
}

// end edits a lock into a state that holds nothing.
func (t *Tracker) end(ctx context.Context, number int, m chunk.Marker, purpose, state, words string) error {
	id, err := strconv.Atoi(m.Chunk)
	if err != nil {
		return err
	}
	body := chunk.ClaimMark(id, m.Nonce, state, m.LeaseUntil) + "\n\n" + words
	_, err = t.Writer.EditComment(ctx, number, m.CommentID, purpose, body)
	if ghapi.IsGone(err) {
		return nil // the comment or its issue is gone, and the lock with it
	}
	return err
}

func (t *Tracker) withdraw(ctx context.Context, number int, m chunk.Marker) {
	if err := t.end(ctx, number, m, "withdraw", chunk.MarkWithdrawn, "An agent's claim, withdrawn."); err != nil {
		t.Warn(fmt.Sprintf("the claim on #%d could not be withdrawn; it ends by itself after %v: %v", number, chunk.LeaseTime, err))
	}
}

func (t *Tracker) takeOver(ctx context.Context, number int, markers []chunk.Marker, id int) {
	for _, m := range markers {
		if !m.Trusted || m.Withdrawn || m.Chunk == strconv.Itoa(id) || t.Now().Before(m.LeaseUntil) {
			continue
		}
		if err := t.end(ctx, number, m, "take-over", chunk.MarkTakenOver, fmt.Sprintf("An agent's claim that ran out; chunk `#%d` has taken over.", id)); err != nil {
			t.Warn(err.Error())
		}
	}
}

// markers are the locks on an issue.
func (t *Tracker) markers(ctx context.Context, number int) ([]chunk.Marker, error) {
	list, err := t.Client.Comments(ctx, number)
	if err != nil {
		return nil, err
	}
	return t.markersOf(ctx, list)
}

func (t *Tracker) markersOf(ctx context.Context, list []ghapi.Comment) ([]chunk.Marker, error) {
	var out []chunk.Marker
	for _, x := range list {
		m, ok := chunk.ParseClaim(x.ID, x.Body, false)
		if !ok {
			continue
		}
		var err error
		if m.Trusted, err = t.trusts(ctx, x.Author); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// spawnedBy names the chunk that filed an issue.
func (t *Tracker) spawnedBy(ctx context.Context, i ghapi.Issue) (string, error) {
	m, ok := chunk.ParseMark(i.Body)
	if !ok || m.Kind != chunk.MarkFinding {
		return "", nil
	}
	trusted, err := t.trusts(ctx, i.Author)
	if err != nil || !trusted {
		return "", err
	}
	by, _, _ := strings.Cut(m.Values["by"], "/")
	return by, nil
}
