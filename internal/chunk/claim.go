package chunk

import "time"

// MaxClaims is how many issues one chunk may hold open.
const MaxClaims = 6

// LeaseTime is how long a claim holds without being renewed; every successful tick of the gate renews it.
const LeaseTime = 24 * time.Hour

// Marker is a claim as it stands in a hidden comment. The lowest comment id among the live markers that count holds the
// issue: ids only grow, so two racers come to the same verdict.
type Marker struct {
	CommentID  int64
	Chunk      string
	LeaseUntil time.Time
	Withdrawn  bool   // withdrawn, released or taken over
	Trusted    bool   // written by our app or bot, or by somebody with write permission
	State      string // the word of its hidden line
	Nonce      string
}

// Live reports whether a marker holds anything.
func (m Marker) Live(now time.Time) bool {
	return m.Trusted && !m.Withdrawn && now.Before(m.LeaseUntil)
}

// Holder returns the marker that holds an issue. An expired lease holds nothing and may be taken over.
func Holder(markers []Marker, now time.Time) (Marker, bool) {
	var holder Marker
	found := false
	for _, m := range markers {
		if m.Live(now) && (!found || m.CommentID < holder.CommentID) {
			holder, found = m, true
		}
	}
	return holder, found
}

// Refusal says why an issue cannot be claimed.
type Refusal string

// The refusals, in the order in which they are checked. The empty Refusal is a yes.
const (
	RefusedClosed      Refusal = "closed"
	RefusedHeld        Refusal = "held"
	RefusedOwnFollowup Refusal = "own_followup"
	RefusedNotReady    Refusal = "not_ready"
	RefusedHasPull     Refusal = "has_pr"
	RefusedAssigned    Refusal = "assigned"
	RefusedNotLabelled Refusal = "not_labelled"
	RefusedSetFixed    Refusal = "set_fixed"
	RefusedChunkFull   Refusal = "chunk_full"
)

// Candidate is an issue that somebody wants to claim.
type Candidate struct {
	Closed        bool
	Ready         bool // carries the label ready, which only people set
	Backlog       bool
	HumanAssignee bool
	HasOpenPull   bool
	Labelled      bool   // carries the chunk's own label, or the chunk asks for none
	SpawnedBy     string // the chunk whose work filed this issue
	Markers       []Marker
}

// Claimer is the chunk that wants it.
type Claimer struct {
	Chunk string
	State Phase
	Held  int // claims it holds already
}

// ClaimVerdict is the answer to one claim.
type ClaimVerdict struct {
	Refused  Refusal // empty: it may be claimed
	Ours     bool    // it is held by this chunk already: nothing to write
	TakeOver string  // the chunk whose lease has expired
}

// MayClaim decides one claim. The set is fixed once the chunk works: nothing joins then, whoever argues for it.
func MayClaim(by Claimer, c Candidate, now time.Time) ClaimVerdict {
	holder, held := Holder(c.Markers, now)
	if held && holder.Chunk == by.Chunk && !c.Closed {
		return ClaimVerdict{Ours: true}
	}
	for _, check := range []struct {
		is     bool
		reason Refusal
	}{
		{c.Closed, RefusedClosed},
		{held, RefusedHeld},
		{c.SpawnedBy != "" && c.SpawnedBy == by.Chunk, RefusedOwnFollowup},
		{!c.Ready || c.Backlog, RefusedNotReady},
		{c.HasOpenPull, RefusedHasPull},
		{c.HumanAssignee, RefusedAssigned},
		{!c.Labelled, RefusedNotLabelled},
		{by.State != Open, RefusedSetFixed},
		{by.Held >= MaxClaims, RefusedChunkFull},
	} {
		if check.is {
			return ClaimVerdict{Refused: check.reason}
		}
	}
	return ClaimVerdict{TakeOver: expired(c.Markers, by.Chunk, now)}
}

// expired names the other chunk whose lease ran out, the newest if there are several.
func expired(markers []Marker, own string, now time.Time) string {
	chunk, newest := "", int64(0)
	for _, m := range markers {
		if m.Trusted && !m.Withdrawn && !now.Before(m.LeaseUntil) && m.Chunk != own && m.CommentID > newest {
			chunk, newest = m.Chunk, m.CommentID
		}
	}
	return chunk
}
