package chunk

import "time"

// Reading is what one look at GitHub adds to the record.
type Reading struct {
	Unknown    []int // claims that could not be read (403)
	Feedback   int
	Followups  int // findings of this chunk that it has claimed
	Paused     bool
	Armed      bool
	Digest     Digest
	BudgetLeft bool
	Now        time.Time
}

// View is the input of Poll and WrapUp for a record and a reading.
func (r *Record) View(x Reading) State {
	c := &Chunk{
		State: r.State, Claims: []Claim{}, PullRequests: []Pull{}, FeedbackOpen: x.Feedback, FollowupsClaimed: x.Followups,
		FailedWrites: len(r.Gate.FailedWrites), TrackedLeft: len(r.Pulls), Armed: x.Armed, Paused: x.Paused,
		PullRequestsMade: r.Made, ContextTokens: r.Gate.ContextTokens,
	}
	c.Calls, c.CostUSD = r.Gate.Sum()
	for _, h := range r.Claims {
		state := h.State
		for _, n := range x.Unknown {
			if n == h.Issue && state == ClaimOpen {
				state = ClaimUnknown
			}
		}
		c.Claims = append(c.Claims, Claim{h.Issue, state})
	}
	for _, p := range r.Pulls {
		c.PullRequests = append(c.PullRequests, Pull{p.Number, p.State})
	}
	for _, f := range r.Findings {
		if !f.Filed {
			c.FindingsUnfiled++
		}
		if h := r.Find(f.Issue); f.Filed && h != nil && h.State == ClaimOpen {
			c.FollowupsClaimed++
		}
	}
	f := Facts{
		GitHub: "ok", Changed: x.Digest.Changed, OwnEventsOnly: x.Digest.OwnOnly, RunsWithoutProgress: r.Gate.NoProgress,
		SecondsSinceRun: neverRan, BudgetLeft: x.BudgetLeft,
	}
	if !r.Gate.LastRun.IsZero() {
		f.SecondsSinceRun = max(0, int64(x.Now.Sub(r.Gate.LastRun)/time.Second))
	}
	if !r.Gate.LastChange.IsZero() {
		f.SecondsSinceChange = max(0, int64(x.Now.Sub(r.Gate.LastChange)/time.Second))
	}
	return State{Chunk: c, Facts: f, Limits: DefaultLimits()}
}

// neverRan is the time since the last run when there was none.
const neverRan = int64(1e9)
