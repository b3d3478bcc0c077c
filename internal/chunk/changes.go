package chunk

import (
	"slices"
	"time"
)

// Entry is one thing that happened to a watched issue or pull request.
type Entry struct {
	Item int // number of the issue or pull request
	ID   int64
	At   time.Time
	Own  bool // by the chunk's agent or by our app
	Book bool // only the book-keeping of chunks: it counts neither as a change nor as progress
}

// key tells an entry from others, and a later edit of a comment from what was seen of it.
func (e Entry) key() int64 { return e.ID*1_000_003 + e.At.Unix() }

// News are the entries that the cursor has not seen.
func (c Cursor) News(all []Entry) []Entry {
	var out []Entry
	for _, e := range all {
		if !e.At.Before(c.At) && !slices.Contains(c.Seen, e.key()) {
			out = append(out, e)
		}
	}
	return out
}

// maxSeen bounds what a cursor remembers.
const maxSeen = 200

// CursorOf is a cursor behind all entries, but never later than what was surely read: of several items the last was read
// later than the first, and something may have come to the first meanwhile.
func CursorOf(all []Entry, from Cursor, read time.Time) Cursor {
	c := Cursor{At: from.At}
	for _, e := range all {
		if e.At.After(c.At) {
			c.At = e.At
		}
	}
	if c.At.After(read) {
		c.At = read
	}
	if c.At.Before(from.At) {
		c.At = from.At
	}
	for _, e := range all {
		if !e.At.Before(c.At) && len(c.Seen) < maxSeen && !slices.Contains(c.Seen, e.key()) {
			c.Seen = append(c.Seen, e.key())
		}
	}
	return c
}

// Digest is what the gate asks about the news.
type Digest struct {
	Changed, OwnOnly bool
	Items            []int // that others have changed
	Last             time.Time
	Progress         bool // the agent has done something visible since the last run
}

// DigestOf reads the entries as of one tick. A chunk that never ran has everything before it.
func (r *Record) DigestOf(all []Entry) Digest {
	d := Digest{OwnOnly: true, Progress: r.Seq > r.Gate.SeqAtRun}
	for _, e := range r.Gate.Cursor.News(all) {
		if e.Book {
			continue
		}
		d.Changed = true
		d.OwnOnly = d.OwnOnly && e.Own
		if !e.Own && !slices.Contains(d.Items, e.Item) {
			d.Items = append(d.Items, e.Item)
		}
	}
	for _, e := range all {
		if e.Book {
			continue
		}
		if e.At.After(d.Last) {
			d.Last = e.At
		}
		d.Progress = d.Progress || (e.Own && e.At.After(r.Gate.LastRun))
	}
	if r.Gate.Cursor.At.IsZero() {
		d.Changed, d.OwnOnly = true, false
		for _, c := range r.Claims {
			if c.State == ClaimOpen && !slices.Contains(d.Items, c.Issue) {
				d.Items = append(d.Items, c.Issue)
			}
		}
	}
	slices.Sort(d.Items)
	d.OwnOnly = d.OwnOnly && d.Changed
	return d
}
