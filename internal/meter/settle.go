package meter

import (
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// outcome is how a call that went out ended.
type outcome struct {
	status int
	free   bool // an HTTP error, or it never reached the provider: nothing is billed
	answer answer
	prices []Price // of the model asked, and of the one that answered when it is another
}

// booked is what a call was booked at.
type booked struct {
	cost  pico
	basis engine.Basis
}

// settle ends a call: its reservation is freed and what it cost is booked.
func (l *ledger) settle(g *grant, r *request, o outcome) booked {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := booked{cost: g.reserved, basis: engine.BasisReserved}
	best := l.known.bound(r.blocks)
	switch {
	case o.free:
		b = booked{basis: engine.BasisFree}
	case o.answer.final && g.plausible(o.answer) && l.plausible(r, best, o.answer.usage.Prompt()):
		b = booked{cost: priced(g, r, o), basis: engine.BasisUsage}
	}
	l.reserved -= g.reserved
	l.expected -= g.expected
	l.inFlight--
	l.spent = l.spent.plus(b.cost)
	if o.answer.turn && !o.free {
		l.turns++
		l.summaryOf.LastStopReason = o.answer.stop
	}
	l.summaryOf.LastStatus = o.status
	if b.basis == engine.BasisUsage {
		l.learn(r, best, o.answer)
		l.known.hide(o.answer.blocks, o.answer.usage.Output)
	} else {
		l.known.hide(o.answer.blocks, g.maxOutput)
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return b
}

// plausible is false when an answer's length does not agree with the tokens it was allowed.
func (g *grant) plausible(a answer) bool {
	const absurd = 4 // times what was allowed
	if a.usage.Output/absurd > g.maxOutput {
		return false
	}
	return !a.cut || a.usage.Output >= g.maxOutput-g.maxOutput/10
}

// plausible is false when a number of tokens is less than the prompt can have, or so large that it cannot be true. A
// provider that says too little in a way that agrees with everything it said before cannot be found out here.
func (l *ledger) plausible(r *request, best size, prompt int64) bool {
	const absurd = 50_000_000
	if prompt > absurd {
		return false
	}
	if r.uncounted {
		return prompt > 0
	}
	var bytes int64
	for _, b := range r.blocks {
		bytes += b.bound
	}
	if prompt < bytes/promptBytes {
		return false
	}
	if best.from < 0 {
		return true
	}
	// A prompt that holds everything an earlier one held cannot have shrunk to a half. Thinking may have been left out.
	set := l.known.sets[best.from]
	return prompt >= set.tokens/2 || !set.within(r.blocks)
}

// within reports whether the blocks hold the whole set.
func (s knownSet) within(blocks []block) bool {
	held := 0
	seen := map[key]int{}
	for _, b := range blocks {
		if n := s.blocks[b.key]; n > seen[b.key] {
			seen[b.key]++
			held++
		}
	}
	total := 0
	for _, n := range s.blocks {
		total += n
	}
	return held == total
}

// priced is the cost of trusted usage, at the dearer price when another model answered than the one asked.
func priced(g *grant, r *request, o outcome) pico {
	num, den := r.num, r.den
	if o.answer.fast && num/den < 2 {
		num *= 2
	}
	if o.answer.us && num%11 != 0 {
		num, den = num*11, den*10
	}
	cost := g.price.cost(o.answer.usage)
	for _, p := range o.prices {
		cost = max(cost, p.cost(o.answer.usage))
	}
	return cost.share(num, den)
}

// learn takes the sizes of a trusted answer. The lock is held.
func (l *ledger) learn(r *request, before size, a answer) {
	h := &l.seen
	h.output = max(h.output, a.usage.Output)
	h.answered++
	if before.from >= 0 {
		added := max(a.usage.Prompt()-l.known.sets[before.from].tokens, 0)
		h.addition = max(h.addition, added)
		h.addedTokens, h.addedBytes = h.addedTokens+added, h.addedBytes+before.added
		h.cacheHit = a.usage.CachedInput > a.usage.Prompt()/2
	} else {
		h.addedTokens, h.addedBytes = h.addedTokens+a.usage.Prompt(), h.addedBytes+before.added
	}
	if !a.cleared && !r.uncounted {
		l.known.learn(r.blocks, a.blocks, a.usage.Prompt()+a.usage.Output)
	}
}
