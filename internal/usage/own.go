package usage

import (
	"math"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// ownKeys are the parts of our own records. Their shape: package engine.
func ownKeys() enginelog.Want {
	return enginelog.Want{
		"type": 64, "task": 64, "issue": 64, "engine": 64, "engine_version": 64, "model": 400, "max_turns": 64,
		"max_budget_usd": 64, "started": 64, "list_price": 16, "reserved_usd": 64, "basis": 64,
		"n": 64, "model_used": 400, "turn": 16, "input": 64, "cached_input": 64, "cache_write_5m": 64, "cache_write_1h": 64,
		"output": 64, "cost_usd": 64, "refused": 64,
		"ended": 64, "status": 64, "turns": 64, "calls": 64, "cost_basis": 64, "worst_next_call_usd": 64, "tools_denied": 64,
		"duration_ms": 64,
		"decision":    64, "reasons": 2 << 10, "shadow": 16, "resume_usd": 64, "fresh_usd": 64, "context_tokens": 64,
	}
}

const (
	maxModels = 64
	maxHeld   = 1000 // calls in flight that are told apart
)

// ownLog gathers the records of one run of ours. They are the truth for turns, tokens and dollars.
type ownLog struct {
	run     Run
	calls   int64
	turns   int64
	seen    [2]numbers // of the calls that went out, and of those that have ended
	costUSD float64
	basis   Basis
	held    map[int64]float64 // dollars that are kept back for calls which have not ended
	unclear bool              // a call's dollars cannot be read
	lost    bool              // a call has no number: it may be one that is known, or none
	models  []enginelog.Model
	refused engine.Ended
	ended   bool
	billed  bool // the end record knows the dollars
	resumed bool // the next call is the first one of a resumed conversation
}

// numbers is a set of numbers from 0 to enginelog.MaxTurns.
type numbers []uint64

// add is false for a number that was there.
func (s *numbers) add(n int64) bool {
	for int64(len(*s)) <= n/64 {
		*s = append(*s, 0)
	}
	word, bit := &(*s)[n/64], uint64(1)<<(n%64)
	had := *word&bit != 0
	*word |= bit
	return !had
}

// record takes one of our own events.
func (l *ownLog) record(ev *enginelog.Event, kind string) {
	switch kind {
	case engine.TypeRun:
		*l = ownLog{run: ownRun(ev), basis: BasisMeter, held: map[int64]float64{}} // a file that was appended to is about its last run
		if subscription, ok := ev.Field("list_price").Bool(); ok && subscription {
			l.basis = BasisListPrice
		}
	case engine.TypeHeld:
		l.hold(ev)
	case engine.TypeCall:
		l.call(ev)
	case engine.TypeSession:
		l.session(ev)
	case engine.TypeEnd:
		l.end(ev)
	}
}

func ownRun(ev *enginelog.Event) Run {
	r := Run{Own: true, Task: Word(ev.Word("task")), EngineVersion: enginelog.Version(ev.Word("engine_version"))}
	if name := engine.Name(ev.Word("engine")); knownEngine(name) {
		r.Engine = name
	}
	if name, ok := ev.Str("model"); ok {
		r.ModelAsked = enginelog.ModelName(name)
	}
	if n := ev.Field("issue").Count(MaxIssue); n != nil {
		r.Issue = int(*n)
	}
	if n := ev.Field("max_turns").Count(enginelog.MaxTurns); n != nil {
		r.MaxTurns = int(*n)
	}
	if x := ev.Field("max_budget_usd").Dollars(); x != nil {
		r.MaxBudgetUSD = *x
	}
	if t, err := time.Parse(time.RFC3339Nano, ev.Word("started")); err == nil && t.Year() > 2000 && t.Year() < 10000 {
		r.Started = t.UTC()
	}
	return r
}

// hold notes a call that goes out. Until it has ended, what is kept back for it may be its cost.
func (l *ownLog) hold(ev *enginelog.Event) {
	n, usd := ev.Field("n").Count(enginelog.MaxTurns), ev.Field("reserved_usd").Dollars()
	if n == nil {
		l.lost = true
		return
	}
	if !l.seen[0].add(*n) {
		return
	}
	key := *n
	if len(l.held) >= maxHeld {
		key = -1 // never taken back
	}
	if usd == nil {
		unknown := math.NaN() // as is every sum that it is part of
		usd = &unknown
	}
	l.held[key] += *usd
}

func (l *ownLog) call(ev *enginelog.Event) {
	n := ev.Field("n").Count(enginelog.MaxTurns)
	if n == nil {
		l.lost = true
		return
	}
	if !l.seen[1].add(*n) { // each call once; those that ran at once end in any order
		return
	}
	delete(l.held, *n)
	if engine.Basis(ev.Word("basis")) == engine.BasisReserved {
		l.run.AtMost = true
	}
	l.calls++
	if turn, ok := ev.Field("turn").Bool(); ok && turn {
		l.turns++
	}
	if refused := engine.Ended(ev.Word("refused")); refused == engine.Budget || refused == engine.Turns {
		l.refused = refused
	}
	name, ok := ev.Str("model_used")
	if !ok || name == "" {
		name, _ = ev.Str("model")
	}
	tokens, cost := tokensOf(ev), ev.Field("cost_usd").Dollars()
	if cost == nil {
		l.unclear = true
	} else {
		l.costUSD += *cost
	}
	if tokens != nil {
		l.firstOf(*tokens)
		if !tokens.Used() && cost != nil && *cost == 0 {
			return
		}
	}
	name = enginelog.ModelName(name)
	for i := range l.models {
		if l.models[i].ID == name || i == maxModels-1 {
			l.models[i].Tokens = sumOf(l.models[i].Tokens, tokens, enginelog.Tokens.Add)
			l.models[i].CostUSD = sumOf(l.models[i].CostUSD, cost, func(a, b float64) float64 { return a + b })
			return
		}
	}
	l.models = append(l.models, enginelog.Model{ID: name, Tokens: tokens, CostUSD: cost})
}

// tokensOf is nil when a part is there and is no count: shown as 0 it would be wrong.
func tokensOf(ev *enginelog.Event) *enginelog.Tokens {
	countable := true
	count := func(key string) int64 {
		field := ev.Field(key)
		countable = countable && !field.Uncountable(enginelog.MaxTokens)
		if n := field.Count(enginelog.MaxTokens); n != nil {
			return *n
		}
		return 0
	}
	hour := count("cache_write_1h")
	t := enginelog.Tokens{
		Input: count("input"), Cached: count("cached_input"), Write1h: hour, CacheWrite: count("cache_write_5m") + hour, Output: count("output"),
	}
	if !countable {
		return nil
	}
	return &t
}

// sumOf is nil, which is unknown, when one part is.
func sumOf[T any](a, b *T, add func(T, T) T) *T {
	if a == nil || b == nil {
		return nil
	}
	sum := add(*a, *b)
	return &sum
}

func (l *ownLog) end(ev *enginelog.Event) {
	ended := engine.Ended(ev.Word("ended"))
	if !ended.Valid() {
		return
	}
	l.ended = true
	r := &l.run
	r.Ended = ended
	if n := ev.Field("status").Count(999); n != nil && ended == engine.ProviderError {
		r.Status = int(*n)
	}
	r.Turns = ev.Field("turns").Count(enginelog.MaxTurns)
	r.Calls = ev.Field("calls").Count(enginelog.MaxTurns)
	r.DurationMS = ev.Field("duration_ms").Millis()
	r.ToolsDenied = ev.Field("tools_denied").Count(enginelog.MaxTurns)
	if x := ev.Field("worst_next_call_usd").Dollars(); x != nil {
		r.WorstNextUSD = *x
	}
	basis := Basis(ev.Word("cost_basis"))
	if x := ev.Field("cost_usd").Dollars(); x != nil && knownBasis(basis) && basis != BasisUnknown {
		r.CostUSD, r.CostBasis, l.billed = x, basis, true
	}
}

// summary joins the records with what the engine's own lines say; those fill only what no record knows.
func (l *ownLog) summary(s enginelog.Summary) Run {
	r := l.run
	if !l.ended {
		r.Ended = engine.Unfinished
		if l.refused != "" {
			r.Ended = l.refused
		}
	}
	if !l.billed && len(l.held) > 0 { // it was killed: these calls were booked nowhere else
		r.AtMost = true
		for _, usd := range l.held {
			l.costUSD += usd
			l.calls++
		}
	}
	if l.lost { // sums without it would be too small
		r.Metered = true
		if !l.billed {
			r.CostBasis, r.AtMost = BasisUnknown, false
		}
	} else if l.calls > 0 {
		r.Models, r.Metered = l.models, true
		if r.Turns == nil {
			r.Turns = &l.turns
		}
		if r.Calls == nil {
			r.Calls = &l.calls
		}
		switch {
		case l.billed:
		case l.unclear || math.IsNaN(l.costUSD):
			r.CostBasis, r.AtMost = BasisUnknown, false
		default:
			r.CostUSD, r.CostBasis = &l.costUSD, l.basis
		}
		r.Tokens = &enginelog.Tokens{}
		for _, m := range l.models {
			r.Tokens = sumOf(r.Tokens, m.Tokens, enginelog.Tokens.Add)
		}
	} else {
		r.Models, r.Tokens = s.Models, s.Tokens
		if r.Turns == nil {
			r.Turns = s.Turns
		}
		if !l.billed {
			r.CostUSD, r.CostBasis, r.Unpriced = s.CostUSD, basisOf(s), s.Unpriced
		}
	}
	if r.DurationMS == nil {
		r.DurationMS = s.DurationMS
	}
	if r.ToolsDenied == nil {
		r.ToolsDenied = s.ToolsDenied
	}
	return r
}
