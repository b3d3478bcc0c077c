package chunk

import (
	"slices"
	"time"
)

// RecordSchema is the version of Record.
const RecordSchema = 1

// ReleaseReason says why a claim was given back.
type ReleaseReason string

// The reasons of a release.
const (
	ReleaseDoneElsewhere ReleaseReason = "done_elsewhere"
	ReleaseLimit         ReleaseReason = "limit"
	ReleaseWaited        ReleaseReason = "waited"
	ReleaseLease         ReleaseReason = "lease_expired"
	ReleaseBlocked       ReleaseReason = "blocked"
	ReleaseHuman         ReleaseReason = "human"
	ReleaseGone          ReleaseReason = "gone"
	ReleaseWriteFailed   ReleaseReason = "write_failed"
)

// ReleaseReasons lists them all.
func ReleaseReasons() []ReleaseReason {
	return []ReleaseReason{ReleaseDoneElsewhere, ReleaseLimit, ReleaseWaited, ReleaseLease, ReleaseBlocked, ReleaseHuman, ReleaseGone, ReleaseWriteFailed}
}

// Words of the log.
const (
	DoStarted  = "started"
	DoClaimed  = "claimed"
	DoFixed    = "fixed" // the set is fixed: no claim joins after it
	DoReleased = "released"
	DoDone     = "done"
	DoReopened = "reopened"
	DoTakenOut = "taken_over"
	DoTracked  = "tracked"
	DoNoticed  = "noticed" // a finding that could not be filed yet
	DoFiled    = "filed"
	DoEmptied  = "emptied" // the list of pull requests, when all is done
	DoWrapped  = "wrapped"
)

// Event is one entry of a chunk's log: a comment on its issue that is never changed. ID orders the log.
type Event struct {
	ID     int64
	At     time.Time
	Do     string
	Issue  int
	Pull   int
	Refs   []int  // tracked: the claims that the pull request references
	Reason string // released
	Lock   int64  // claimed: the comment on the issue that holds it
	Key    string // noticed, filed: which finding
	Agent  string // started: whose account works
	Label  string // started: the chunk takes only issues with this label
}

// Held is a claim in the record. Its state is open, done, released or taken_over.
type Held struct {
	Issue  int        `json:"issue"`
	State  ClaimState `json:"state"`
	Reason string     `json:"reason,omitempty"`
	Lock   int64      `json:"comment_id"`
}

// Tracked is a pull request that this chunk opened.
type Tracked struct {
	Number int       `json:"number"`
	State  PullState `json:"state"`
	Refs   []int     `json:"references"`
}

// Finding is something that the agent noticed: filed as an issue of its own, never claimed by the same chunk.
type Finding struct {
	Key   string `json:"key"`
	Issue int    `json:"issue,omitempty"`
	By    string `json:"spawned_by,omitempty"`
	Filed bool   `json:"filed"`
}

// Used is what one session or run of the agent has used, by the hash of its log: reading a log again adds nothing.
type Used struct {
	Key     string   `json:"key"`
	Calls   int64    `json:"calls"`
	CostUSD *float64 `json:"cost_usd"` // nil: no price is known
}

// Cursor is how far the tracker was read: a time, and what was seen of that second and later.
type Cursor struct {
	At   time.Time `json:"at"`
	Seen []int64   `json:"seen,omitempty"`
}

// Gate is the part of the record that changes without an event: losing it costs one tick too many.
type Gate struct {
	Cursor        Cursor         `json:"cursor"`            // stored after a successful run only
	Pending       *Cursor        `json:"pending,omitempty"` // of the run that the gate allowed last
	LastRun       time.Time      `json:"last_run"`
	RanUntil      time.Time      `json:"ran_until"` // until then what the agent's account wrote was the agent's
	SeqAtRun      int            `json:"seq_at_run"`
	LastChange    time.Time      `json:"last_change"`
	NoProgress    int            `json:"no_progress"`
	GateErrors    int            `json:"gate_errors"`
	Armed         bool           `json:"armed"`
	Use           []Used         `json:"use,omitempty"`
	ContextTokens *int64         `json:"context_tokens"`
	Heads         map[int]string `json:"heads,omitempty"`         // newest commit of a pull request, to see the agent's own
	FailedWrites  []int          `json:"failed_writes,omitempty"` // claims whose release could not be written
}

// Record is the truth about one chunk: folded from its log, with the gate's own part from the issue's body.
type Record struct {
	Schema   int       `json:"schema"`
	ID       int       `json:"id"` // number of the chunk issue
	State    Phase     `json:"state"`
	Seq      int       `json:"seq"` // events so far
	Agent    string    `json:"agent"`
	Label    string    `json:"label,omitempty"`
	Started  time.Time `json:"started"`
	Fixed    bool      `json:"fixed"`
	Claims   []Held    `json:"claims"`
	Pulls    []Tracked `json:"pull_requests"`
	Made     int       `json:"pull_requests_made"`
	Findings []Finding `json:"findings"`
	Gate     Gate      `json:"gate"`
}

// Fold plays a log. Entries that may not happen change nothing, so that two writers at once come to the same record:
// after the set is fixed nothing joins it, and it never holds more than MaxClaims open claims.
func Fold(id int, log []Event) Record {
	r := Record{Schema: RecordSchema, ID: id, State: Open, Claims: []Held{}, Pulls: []Tracked{}, Findings: []Finding{}}
	log = slices.Clone(log)
	slices.SortStableFunc(log, func(a, b Event) int { return int(max(-1, min(1, a.ID-b.ID))) })
	for _, e := range log {
		r.Apply(e)
	}
	return r
}

// Apply adds one event and reports whether it changed anything.
func (r *Record) Apply(e Event) bool {
	r.Seq++
	if r.State == Wrapped {
		return false
	}
	c := r.Find(e.Issue)
	switch e.Do {
	case DoStarted:
		if r.Started.IsZero() {
			r.Agent, r.Label, r.Started, r.Gate.LastChange = e.Agent, e.Label, e.At, e.At
		}
		return true
	case DoClaimed:
		return r.join(e, c)
	case DoFixed:
		if r.Fixed {
			return false
		}
		r.Fixed, r.State = true, Working
		return true
	case DoReleased, DoTakenOut, DoDone, DoReopened:
		return c != nil && c.move(e)
	case DoTracked:
		if !r.Fixed || r.Pull(e.Pull) != nil || e.Pull == 0 {
			return false
		}
		r.Pulls = append(r.Pulls, Tracked{e.Pull, PullOpen, e.Refs})
		r.Made++
		return true
	case DoNoticed, DoFiled:
		return r.note(e)
	case DoEmptied:
		r.Pulls = []Tracked{}
		return true
	case DoWrapped:
		r.State = Wrapped
		return true
	}
	return false
}

func (r *Record) join(e Event, c *Held) bool {
	switch {
	case e.Issue == 0 || r.Fixed || r.OpenClaims() >= MaxClaims || (c != nil && c.State == ClaimOpen) || len(r.Claims) >= maxHistory:
		return false
	case c != nil:
		*c = Held{Issue: e.Issue, State: ClaimOpen, Lock: e.Lock}
	default:
		r.Claims = append(r.Claims, Held{Issue: e.Issue, State: ClaimOpen, Lock: e.Lock})
	}
	return true
}

func (c *Held) move(e Event) bool {
	to := map[string]ClaimState{DoReleased: ClaimReleased, DoTakenOut: ClaimTakenOver, DoDone: ClaimDone, DoReopened: ClaimOpen}[e.Do]
	from := ClaimOpen
	if e.Do == DoReopened {
		from = ClaimDone
	}
	if c.State != from {
		return false
	}
	c.State, c.Reason = to, e.Reason
	return true
}

func (r *Record) note(e Event) bool {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Key == e.Key {
			if f.Filed || e.Do != DoFiled {
				return false
			}
			f.Filed, f.Issue = true, e.Issue
			return true
		}
	}
	r.Findings = append(r.Findings, Finding{Key: e.Key, Issue: e.Issue, By: e.Reason, Filed: e.Do == DoFiled})
	return true
}

// maxHistory bounds the record: claims that were ever made.
const maxHistory = 50

// Find returns the claim of an issue, nil when there is none.
func (r *Record) Find(issue int) *Held {
	i := slices.IndexFunc(r.Claims, func(c Held) bool { return c.Issue == issue })
	if i < 0 {
		return nil
	}
	return &r.Claims[i]
}

// Pull finds a tracked pull request, nil when it is not one.
func (r *Record) Pull(number int) *Tracked {
	i := slices.IndexFunc(r.Pulls, func(p Tracked) bool { return p.Number == number })
	if i < 0 {
		return nil
	}
	return &r.Pulls[i]
}

// OpenClaims is how many claims are open.
func (r *Record) OpenClaims() int {
	n := 0
	for _, c := range r.Claims {
		if c.State == ClaimOpen {
			n++
		}
	}
	return n
}

// maxUses bounds the record: older sessions are summed up.
const maxUses = 24

// AddUse sets what one log has used.
func (r *Record) AddUse(u Used) {
	g := &r.Gate
	if i := slices.IndexFunc(g.Use, func(have Used) bool { return have.Key == u.Key }); i >= 0 {
		g.Use[i] = u
		return
	}
	g.Use = append(g.Use, u)
	if len(g.Use) > maxUses {
		g.Use[1] = Used{"earlier", g.Use[0].Calls + g.Use[1].Calls, addUSD(g.Use[0].CostUSD, g.Use[1].CostUSD)}
		g.Use = g.Use[1:]
	}
}

func addUSD(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// Sum is the use so far; nil is unknown.
func (g Gate) Sum() (calls *int64, usd *float64) {
	if len(g.Use) == 0 {
		return nil, nil
	}
	n, sum := int64(0), new(float64)
	for _, u := range g.Use {
		n += u.Calls
		sum = addUSD(sum, u.CostUSD)
	}
	return &n, sum
}
