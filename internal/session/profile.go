package session

import "time"

// CacheTTL is how long the provider keeps a prompt. An hour would not rescue slow answers and makes every write dearer.
const CacheTTL = 5 * time.Minute

// newTokens is what a resumed run reads beside the conversation: the new comments and the delta prompt.
const newTokens = 1_500

// The profiles of the page, used until a run of the same issue and task was measured.
func pageProfile(task string) Profile {
	switch task {
	case "maintainer-reply", "release-reply":
		return Profile{FreshTokens: 15_000, NewTokens: 500, ResumedTurns: 3, FreshTurns: 4, GrowthTokens: 1_000, OutputTokens: 300}
	case "follow-up":
		return Profile{FreshTokens: 20_000, NewTokens: newTokens, ResumedTurns: 4, FreshTurns: 8, GrowthTokens: 2_000, OutputTokens: 400}
	}
	return Profile{FreshTokens: 25_000, NewTokens: newTokens, ResumedTurns: 6, FreshTurns: 15, GrowthTokens: 2_500, OutputTokens: 500}
}

// ProfileOf is what runs of a task usually need. What the last run of the same key has measured replaces the page's
// numbers; how many turns a resumed run saves is not measured and stays in the page's proportion.
func ProfileOf(task string, last *Kept) Profile {
	p := pageProfile(task)
	if last == nil || last.First <= 0 || last.Turns <= 0 || last.Schema != RecordVersion {
		return p
	}
	p.ResumedTurns = max((p.ResumedTurns*last.Turns+p.FreshTurns/2)/p.FreshTurns, 1)
	p.FreshTokens, p.FreshTurns = last.First, last.Turns
	p.OutputTokens = last.Output / last.Turns
	if last.Turns > 1 {
		p.GrowthTokens = max((last.ContextTokens-last.First)/(last.Turns-1), 0)
	}
	return p
}

// Compare estimates what resuming and what starting fresh would cost, whatever else decides. Nil without a saved
// conversation or a price.
func Compare(in Input, price *Price) *Estimate {
	if in.Saved == nil || price == nil || in.Saved.Schema != RecordVersion || in.Saved.ContextTokens <= 0 {
		return nil
	}
	var d Decision
	d.compareSetUp(in)
	d.compareWorld(in)
	e := d.estimate(in, *price)
	return &e
}
