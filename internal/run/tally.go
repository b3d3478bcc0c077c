package run

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// tally adds up the meter's records and prints one line of progress per turn.
type tally struct {
	mu       sync.Mutex
	limits   Limits
	progress io.Writer
	sum      totals
	held     map[int]float64 // dollars that are kept back for calls which have not ended
	closed   bool
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
	return &tally{limits: limits, progress: progress, held: map[int]float64{}, refused: make(chan struct{})}
}

// hold notes what is kept back for a call.
func (t *tally) hold(h engine.HeldRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held[h.N] = h.ReservedUSD
}

// close books the calls that have not ended at what was kept back for them, and returns them. Later ones change nothing.
func (t *tally) close() []engine.CallRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	var calls []engine.CallRecord
	for _, n := range slices.Sorted(maps.Keys(t.held)) {
		t.sum.calls++
		t.sum.cost += t.held[n]
		calls = append(calls, engine.CallRecord{
			Type: engine.TypeCall, N: n, Model: t.limits.Model, CostUSD: t.held[n], ReservedUSD: t.held[n], Basis: engine.BasisReserved,
		})
	}
	return calls
}

// add takes one call.
func (t *tally) add(c engine.CallRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	delete(t.held, c.N)
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
