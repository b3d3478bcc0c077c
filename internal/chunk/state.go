// Package chunk bounds the work of a long-lived agent on a tracker: a set of claimed issues that is fixed when it is
// claimed, a poll gate that starts a model only while something is live and has changed, and a wrap-up that is checked.
//
// The decisions are pure: they look at a State and answer in words of closed lists, never with an issue's text.
package chunk

// ClaimState is how far a claimed issue is.
type ClaimState string

// The claim states. Unknown: GitHub did not say (403, network); such a claim is kept.
const (
	ClaimOpen      ClaimState = "open"
	ClaimClosed    ClaimState = "closed"
	ClaimDone      ClaimState = "done"
	ClaimReleased  ClaimState = "released"
	ClaimTakenOver ClaimState = "taken_over"
	ClaimUnknown   ClaimState = "unknown"
)

// Claim is one issue of the fixed set.
type Claim struct {
	Issue int        `json:"issue"`
	State ClaimState `json:"state"`
}

// PullState is the state of a tracked pull request.
type PullState string

// The states of a pull request.
const (
	PullOpen    PullState = "open"
	PullMerged  PullState = "merged"
	PullClosed  PullState = "closed"
	PullUnknown PullState = "unknown"
)

// Pull is a pull request that this chunk opened and that references a fixed claim.
type Pull struct {
	Number int       `json:"number"`
	State  PullState `json:"state"`
}

// Phase is the state of a whole chunk.
type Phase string

// The phases. Released and wrapped are terminal; failed waits for a person.
const (
	Open      Phase = "open"
	Working   Phase = "working"
	Waiting   Phase = "waiting"
	Releasing Phase = "releasing"
	Wrapping  Phase = "wrapping"
	Wrapped   Phase = "wrapped"
	Released  Phase = "released"
	Failed    Phase = "failed"
)

// Chunk is the record of one agent's session over a tracker. The three counters of use are nil when nothing has
// reported them: their limits are unknown then, and the gate says so.
type Chunk struct {
	State            Phase    `json:"state"`
	Claims           []Claim  `json:"claims"`
	PullRequests     []Pull   `json:"pull_requests"`
	FeedbackOpen     int      `json:"feedback_open"`    // unresolved threads, unanswered reviews on tracked pull requests
	FindingsUnfiled  int      `json:"findings_unfiled"` // noticed, not yet an issue of its own
	FollowupsClaimed int      `json:"followups_claimed"`
	FailedWrites     int      `json:"failed_writes"`
	TrackedLeft      int      `json:"tracked_left"`
	Armed            bool     `json:"armed"` // the poll workflow is enabled
	Paused           bool     `json:"paused"`
	PullRequestsMade int      `json:"pull_requests_made"`
	Calls            *int64   `json:"calls"`
	ContextTokens    *int64   `json:"context_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
}

// Facts are what one tick of the poll has read.
type Facts struct {
	GitHub              string `json:"github"` // ok, timeout, unreadable, rate_limit
	ErrorsInARow        int    `json:"errors_in_a_row"`
	Changed             bool   `json:"changed"`
	OwnEventsOnly       bool   `json:"own_events_only"`
	SecondsSinceChange  int64  `json:"seconds_since_change"`
	RunsWithoutProgress int    `json:"runs_without_progress"`
	SecondsSinceRun     int64  `json:"seconds_since_run"`
	BudgetLeft          bool   `json:"budget_left"`
}

// Limits end a chunk: reaching one is enough.
type Limits struct {
	PullRequests  int     `json:"pull_requests"`
	Calls         int64   `json:"calls"`
	ContextTokens int64   `json:"context_tokens"`
	CostUSD       float64 `json:"cost_usd"`
	WaitDays      int     `json:"wait_days"`
}

// DefaultLimits are the limits of every chunk.
func DefaultLimits() Limits {
	return Limits{PullRequests: 6, Calls: 400, ContextTokens: 400_000, CostUSD: 20, WaitDays: 7}
}

// State is the input of Poll and WrapUp.
type State struct {
	Chunk  *Chunk `json:"chunk"` // nil: there is none
	Facts  Facts  `json:"facts"`
	Limits Limits `json:"limits"`
}

// live reports whether a model could still have something to do.
func (c *Chunk) live() bool {
	for _, claim := range c.Claims {
		if claim.open() || claim.unknown() {
			return true
		}
	}
	for _, pull := range c.PullRequests {
		if !pull.settled() {
			return true
		}
	}
	return c.FeedbackOpen > 0
}

func (c Claim) open() bool { return c.State == ClaimOpen }

// unknown includes every state that this release does not know.
func (c Claim) unknown() bool {
	switch c.State {
	case ClaimOpen, ClaimClosed, ClaimDone, ClaimReleased, ClaimTakenOver:
		return false
	case ClaimUnknown:
	}
	return true
}

func (p Pull) settled() bool { return p.State == PullMerged || p.State == PullClosed }
