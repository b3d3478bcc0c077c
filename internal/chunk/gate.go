package chunk

import "time"

// Action is what a tick of the poll leads to. Only run starts a model.
type Action string

// The actions.
const (
	Run     Action = "run"
	Quiet   Action = "quiet"
	Wrap    Action = "wrap"
	Release Action = "release"
	Hold    Action = "hold"
	Error   Action = "error"
)

// Reason says why the gate answered so.
type Reason string

// The reasons of the gate.
const (
	NoChunk          Reason = "no_chunk"
	ChunkWrapped     Reason = "chunk_wrapped"
	ChunkReleased    Reason = "chunk_released"
	Paused           Reason = "paused"
	NothingLive      Reason = "nothing_live"
	ChunkLimit       Reason = "chunk_limit"
	WaitedTooLong    Reason = "waited_too_long"
	BudgetSpent      Reason = "budget"
	NoChange         Reason = "no_change"
	OwnEventsOnly    Reason = "own_events_only"
	Throttled        Reason = "throttled"
	LiveAndChanged   Reason = "live_and_changed"
	GitHubTimeout    Reason = "github_timeout"
	GitHubUnreadable Reason = "github_unreadable"
	GitHubRateLimit  Reason = "github_rate_limit"
)

// Verdict is the gate's answer. Disarm: the poll's schedule is switched off. Unknown names the limits that could not be
// checked because nothing reported the use. Exit is the exit code of the command.
type Verdict struct {
	Action  Action   `json:"action"`
	Reason  Reason   `json:"reason"`
	Disarm  bool     `json:"disarm"`
	Exit    int      `json:"exit"`
	Unknown []string `json:"unknown_limits,omitempty"`
}

// visibleAfter is how many failed ticks in a row are shown as a failure of the job.
const visibleAfter = 3

const exitFailure = 3

// Poll applies the rules of the gate in their order; the first that fits decides. An outage neither spends nor ends a
// chunk, and nothing but something live that others have changed starts a model.
func Poll(s State) Verdict {
	if s.Facts.GitHub != "ok" {
		return outage(s.Facts)
	}
	if v, ends := ended(s.Chunk); ends {
		return v
	}
	c := s.Chunk
	unknown := c.unknownLimits()
	v := decideLive(s)
	if v.Action == Run {
		v.Unknown = unknown
	}
	return v
}

func outage(f Facts) Verdict {
	v := Verdict{Action: Error, Reason: GitHubUnreadable}
	switch f.GitHub {
	case "timeout":
		v.Reason = GitHubTimeout
	case "rate_limit":
		v.Reason = GitHubRateLimit
	}
	if f.ErrorsInARow+1 >= visibleAfter {
		v.Exit = exitFailure
	}
	return v
}

func ended(c *Chunk) (Verdict, bool) {
	switch {
	case c == nil:
		return Verdict{Action: Quiet, Reason: NoChunk, Disarm: true}, true
	case c.State == Wrapped:
		return Verdict{Action: Quiet, Reason: ChunkWrapped, Disarm: true}, true
	case c.State == Released:
		return Verdict{Action: Quiet, Reason: ChunkReleased, Disarm: true}, true
	case c.Paused || c.State == Failed:
		return Verdict{Action: Hold, Reason: Paused}, true
	}
	return Verdict{}, false
}

func decideLive(s State) Verdict {
	c, f := s.Chunk, s.Facts
	switch {
	case !c.live():
		return Verdict{Action: Wrap, Reason: NothingLive, Disarm: true}
	case c.limitReached(s.Limits):
		return Verdict{Action: Release, Reason: ChunkLimit, Disarm: true}
	case f.SecondsSinceChange >= int64(s.Limits.WaitDays)*24*60*60:
		return Verdict{Action: Release, Reason: WaitedTooLong, Disarm: true}
	case !f.BudgetLeft:
		return Verdict{Action: Hold, Reason: BudgetSpent}
	case !f.Changed:
		return Verdict{Action: Quiet, Reason: NoChange}
	case f.OwnEventsOnly:
		return Verdict{Action: Quiet, Reason: OwnEventsOnly}
	case f.SecondsSinceRun < int64(Cooldown(f.RunsWithoutProgress)/time.Second):
		return Verdict{Action: Quiet, Reason: Throttled}
	}
	return Verdict{Action: Run, Reason: LiveAndChanged}
}

func (c *Chunk) limitReached(l Limits) bool {
	return c.PullRequestsMade >= l.PullRequests ||
		c.Calls != nil && *c.Calls >= l.Calls ||
		c.ContextTokens != nil && *c.ContextTokens >= l.ContextTokens ||
		c.CostUSD != nil && *c.CostUSD >= l.CostUSD
}

func (c *Chunk) unknownLimits() []string {
	var unknown []string
	if c.Calls == nil {
		unknown = append(unknown, "calls")
	}
	if c.ContextTokens == nil {
		unknown = append(unknown, "context_tokens")
	}
	if c.CostUSD == nil {
		unknown = append(unknown, "cost_usd")
	}
	return unknown
}

const (
	firstCooldown = 2 * time.Minute
	maxCooldown   = 30 * time.Minute
)

// Cooldown is how long the gate waits after a number of runs in a row that changed nothing visible: nothing after one,
// two minutes after two, then doubled, at most thirty minutes.
func Cooldown(runsWithoutProgress int) time.Duration {
	if runsWithoutProgress < 2 {
		return 0
	}
	wait := firstCooldown
	for range runsWithoutProgress - 2 {
		if wait *= 2; wait >= maxCooldown {
			return maxCooldown
		}
	}
	return wait
}
