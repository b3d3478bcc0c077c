package run

import (
	"fmt"
	"io"
	"sync"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// tally adds up the meter's records and prints one line of progress per turn.
type tally struct {
	mu       sync.Mutex
	limits   Limits
	progress io.Writer
	sum      totals
	refused  chan struct{} // closed at the first refused call
}

// totals is what the meter saw.
type totals struct {
	turns     int
	calls     int
	cost      float64
	refused   engine.Ended // why the first call did not go out that a limit stopped, "" when none was
	stop      string       // stop reason of the last turn
	status    int          // of the last call that was answered with an error, 0 once one succeeds
	unmetered bool         // no meter watched: the numbers are the engine's own
	known     bool         // and it names dollars
	output    int64        // tokens of all turns
	context   int64        // tokens of the prompt of the last turn
	first     int64        // and of the first turn since the engine was started
	cached    int64        // of these, read from the provider's cache
}

func newTally(limits Limits, progress io.Writer) *tally {
	return &tally{limits: limits, progress: progress, refused: make(chan struct{})}
}

// add takes one call.
func (t *tally) add(c engine.CallRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.sum
	s.calls++
	s.cost += c.CostUSD
	switch {
	case c.Refused != "":
		if s.refused == "" {
			s.refused = c.Refused
			close(t.refused)
		}
	case c.Turn:
		s.turns++
		s.stop, s.status = c.StopReason, 0
		s.output += c.Output
		s.context = c.Input + c.CachedInput + c.CacheWrite5m + c.CacheWrite1h
		if s.first == 0 {
			s.first, s.cached = s.context, c.CachedInput
		}
		_, _ = fmt.Fprintf(t.progress, "turn %d of %d · $%.2f of $%.2f\n", s.turns, t.limits.MaxTurns, s.cost, t.limits.MaxBudgetUSD)
	case c.Status >= 400:
		s.status = c.Status
	}
}

// restart begins a new first turn and returns what there was before.
func (t *tally) restart() totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.sum
	t.sum.first, t.sum.cached = 0, 0
	return before
}

func (t *tally) totals() totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum
}

// engineSays takes the engine's own count for a log that no meter watched.
func (t *tally) engineSays(out engine.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.turns, t.sum.cost, t.sum.status = out.Turns, out.CostUSD, out.Status
	t.sum.unmetered = true
	t.sum.known = out.CostKnown
}
