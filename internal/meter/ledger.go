package meter

import (
	"context"
	"errors"
	"sync"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// ledger is the money of one run. Everything that decides whether a call goes out stands under its lock.
type ledger struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever a call ends
	closed   bool
	running  sync.WaitGroup // requests that begin has let in and that have not been recorded
	budget   pico
	maxTurns int

	spent, reserved pico
	expected        pico // what the calls in flight will probably cost
	inFlight        int
	turns, calls    int
	known           known
	seen            habits
	summaryOf       Summary
}

// habits are what calls of this run were like, to guess the next one. Guesses never decide whether a call fits, only
// whether it should be the last.
type habits struct {
	output      int64 // of the longest answer
	addition    int64 // tokens of the largest part that was new in a prompt
	addedTokens int64 // and bytes of all new parts, for tokens per byte
	addedBytes  int64
	cacheHit    bool // the last prompt came from the cache for the most part
	answered    int
	canCount    bool // the provider's counter has worked
}

const (
	firstOutput   = 1000 // guessed before any answer was seen
	firstAddition = 2000
	minFloor      = 1024 // tokens of answer below which a call is not worth sending
	minFloorThink = 2048
	maxFloor      = 4096
	defaultOutput = 16_000 // where the engine does not say
)

func newLedger(budget pico, maxTurns int) *ledger {
	return &ledger{budget: budget, maxTurns: maxTurns, changed: make(chan struct{})}
}

// grant is a call that may go out.
type grant struct {
	n         int
	price     Price
	size      size
	promptMax int64 // the bound of its prompt in tokens
	maxOutput int64
	reserved  pico
	expected  pico
	last      bool
}

// verdict is what the state of the run says about a call now.
type verdict struct {
	fits      bool
	last      bool
	maxOutput int64
	asked     int64
	promptMax int64
	size      size
	cost      pico // worst case with maxOutput
	expected  pico // what it will probably cost
	least     pico // worst case with the shortest answer worth having
	turnsOut  bool
}

var errClosed = errors.New("the run has ended")

// begin numbers a request; ok is false once the run has ended. The caller ends it with running.Done.
func (l *ledger) begin() (n int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, false
	}
	l.calls++
	l.running.Add(1)
	return l.calls, true
}

// admit reserves for a call or says why it does not go out. While calls in flight hold what it needs, it waits for them.
// count asks the provider how large the prompt is (0: no answer); it is called at most once, when bytes do not fit.
func (l *ledger) admit(ctx context.Context, n int, r *request, price Price, count func(context.Context) int64) (*grant, error) {
	counted, tokens := false, int64(0)
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil, errClosed
		}
		v := l.judge(r, price, tokens)
		tight := !v.fits || v.last || v.maxOutput < v.asked
		if tight && !v.turnsOut && !counted && (r.uncounted || v.size.added > perRequest) {
			counted = true
			l.mu.Unlock()
			tokens = count(ctx)
			l.mu.Lock()
			if tokens > 0 && !l.plausible(r, l.known.bound(r.blocks), tokens) {
				tokens = 0
			}
			l.mu.Unlock()
			continue
		}
		if v.fits {
			g := &grant{n: n, price: price, size: v.size, promptMax: v.promptMax, maxOutput: v.maxOutput, reserved: v.cost, expected: v.expected, last: v.last}
			l.reserved = l.reserved.plus(v.cost)
			l.expected = l.expected.plus(v.expected)
			l.inFlight++
			l.seen.canCount = l.seen.canCount || tokens > 0
			l.summaryOf.LastAsked = l.summaryOf.LastAsked || v.last
			l.mu.Unlock()
			return g, nil
		}
		if l.inFlight == 0 || l.turns >= l.maxTurns || !v.turnsOut && v.least > l.budget-l.spent {
			f := l.refuse(r, v, tokens)
			l.mu.Unlock()
			return nil, f
		}
		wait := l.changed
		l.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// judge must be called with the lock held. tokens is the provider's own count of the prompt, 0 if there is none.
func (l *ledger) judge(r *request, price Price, tokens int64) verdict {
	v := verdict{size: l.known.bound(r.blocks), asked: r.asked}
	if v.asked == 0 {
		v.asked = defaultOutput
	}
	// The note of the last call is text of ours: it is always kept back.
	note := int64(len(LastNote) + perBlock)
	v.promptMax = v.size.tokens + note
	if tokens > 0 {
		counted := tokens + tokens/countSlackDiv + 1 + note
		if counted < v.promptMax || r.uncounted {
			v.promptMax = counted
		}
	}
	in, out := worstRates(r, price, v.promptMax)
	promptCost := in.times(v.promptMax)
	left := l.budget - l.spent - l.reserved
	v.least = promptCost.plus(out.times(min(v.asked, shortest(r))))
	v.turnsOut = l.turns+l.inFlight >= l.maxTurns
	if v.turnsOut || r.uncounted && tokens == 0 || v.least > left {
		return v
	}
	v.fits = true
	v.maxOutput = v.asked
	if out > 0 {
		v.maxOutput = min(v.asked, int64((left-promptCost)/out))
	}
	v.cost = promptCost.plus(out.times(v.maxOutput))
	var another pico
	v.expected, another = l.lookAhead(r, price, v, tokens)
	v.last = l.turns+l.inFlight+1 >= l.maxTurns || v.maxOutput < min(v.asked, l.room(r, out)) ||
		l.spent.plus(l.expected).plus(v.expected).plus(another) > l.budget
	return v
}

// worstRates are the dearest prices of a token of prompt and of answer that the request can meet.
func worstRates(r *request, price Price, promptMax int64) (in, out pico) {
	rate := price.at(promptMax)
	return rate.dearest(r.writes).share(r.num, r.den), rate.output.share(r.num, r.den)
}

// shortest is the least number of tokens of answer that a call is sent for.
func shortest(r *request) int64 {
	if r.thinking {
		return minFloorThink
	}
	return minFloor
}

// room is the number of tokens of answer that is planned for: a quarter of the budget, within bounds. A call that gets
// less is the last one, since a prompt that grew more than foreseen must not end the run without an answer. Once the run
// was asked for its answer and went on all the same, nothing is planned for.
func (l *ledger) room(r *request, out pico) int64 {
	if out <= 0 || l.summaryOf.LastAsked {
		return shortest(r)
	}
	return min(max(int64(l.budget/4/out), shortest(r)), maxFloor)
}

// lookAhead is what this call will probably cost, and what another one after it could cost at most.
func (l *ledger) lookAhead(r *request, price Price, v verdict, tokens int64) (cost, another pico) {
	h := l.seen
	expected := v.promptMax
	known := int64(0)
	if v.size.from >= 0 {
		known = l.known.sets[v.size.from].tokens
	}
	switch {
	case tokens > 0:
		expected = tokens
	case h.addedBytes > 0:
		expected = known + int64(float64(v.size.added)*float64(h.addedTokens)/float64(h.addedBytes))
	}
	expected = min(expected, v.promptMax)
	fresh := max(expected-known, 0)
	rate := price.at(expected)
	write := rate.dearest(r.writes)
	// A prompt that came from the cache will do so again; else all of it is paid in full.
	cost = write.times(expected)
	if h.cacheHit && known > 0 {
		cost = rate.cached.times(min(known, expected)).plus(write.times(fresh))
	}
	output := min(max(h.output, firstOutput), v.maxOutput)
	cost = cost.plus(rate.output.times(output)).share(r.num, r.den)

	addition := max(h.addition, firstAddition)
	if !h.canCount && tokens == 0 && h.addedTokens > 0 {
		// Without the provider's counter the next addition will be bounded by its bytes.
		addition = int64(float64(addition) * float64(h.addedBytes) / float64(h.addedTokens))
	}
	next := expected + output + addition + addition/countSlackDiv + perRequest + int64(len(LastNote)+perBlock)
	in, out := worstRates(r, price, next)
	return cost, in.times(next).plus(out.times(min(v.asked, l.room(r, out))))
}

// refuse must be called with the lock held.
func (l *ledger) refuse(r *request, v verdict, tokens int64) *refusal {
	f := &refusal{ended: engine.Budget, reason: reasonBudget}
	switch {
	case v.turnsOut:
		f.ended, f.reason = engine.Turns, reasonTurns
	case r.uncounted && tokens == 0:
		f.ended, f.reason = engine.ProviderError, "the request holds a document that the provider did not count: its cost has no bound, it is not sent"
	default:
		f.least, f.left = v.least, l.budget-l.spent
	}
	l.noteRefusal(f)
	return f
}

const (
	reasonBudget = "the run has reached its budget: another call might go beyond it, so it is not sent"
	reasonTurns  = "the run has used all its turns: the call is not sent"
)

func (l *ledger) noteRefusal(f *refusal) {
	if l.summaryOf.Refused != "" || f.ended == "" {
		return
	}
	l.summaryOf.Refused, l.summaryOf.Reason, l.summaryOf.WorstNextCallUSD = f.ended, f.reason, f.least.usd()
}

// refused notes a refusal that was decided elsewhere.
func (l *ledger) refused(f *refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteRefusal(f)
}

func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

func (l *ledger) summary() Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.summaryOf
	s.SpentUSD, s.ReservedUSD, s.BudgetUSD = l.spent.usd(), l.reserved.usd(), l.budget.usd()
	s.Turns, s.Calls = l.turns, l.calls
	return s
}
