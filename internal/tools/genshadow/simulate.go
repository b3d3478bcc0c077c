package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/session"
)

// outcome is what came of all runs of all histories.
type outcome struct {
	runs, fresh, resume int
	headline, any       map[session.Reason]int
	notes               map[session.Note]int
	perTask             map[string]*sums
	retries             sums // a fault broke a run off: going on against starting again
}

// sums are runs and dollars.
type sums struct {
	runs, saved, resume             int
	freshUSD, decidedUSD, alwaysUSD float64
}

// measured are the profiles of the assistant's own runs: two measured ones, of 3 and 15 turns, are met with a prompt of
// 13,000 tokens that grows by 500 a turn, and 150 tokens of output a turn.
func measured(task string, _ *session.Kept) session.Profile {
	p := session.ProfileOf(task, nil)
	p.FreshTokens, p.GrowthTokens, p.OutputTokens = 13_000, 500, 150
	return p
}

// simulate decides on every run of every history. In one life every run is fresh, as in shadow mode; in another the
// decisions are followed; in the third every saved conversation is resumed.
func simulate(profileOf func(string, *session.Kept) session.Profile, price session.Price) outcome {
	rng := rand.New(rand.NewPCG(seed, issues))
	w := newWorld(rng)
	o := outcome{headline: map[session.Reason]int{}, any: map[session.Reason]int{}, notes: map[session.Note]int{}, perTask: map[string]*sums{}}
	for number := 1; number <= issues; number++ {
		decided, always := map[string]*session.Record{}, map[string]*session.Record{}
		for _, wake := range history(rng) {
			fault, broken := rng.Float64() < 0.02, rng.Float64() < 0.02
			in := input(w, wake, number, profileOf)
			o.step(in, w, decided, always, price)
			for _, saved := range []map[string]*session.Record{decided, always} {
				if broken {
					saved[*in.Key].Ended = "provider_error"
				}
			}
			if fault {
				o.retry(in, price)
			}
		}
	}
	return o
}

func input(w world, wake wakeUp, number int, profileOf func(string, *session.Kept) session.Profile) session.Input {
	key := session.KeyOf(wake.task, "o/r", number)
	return session.Input{
		Mode: session.Shadow, ForceFresh: wake.forced, Now: wake.at, CacheTTLSeconds: int64(session.CacheTTL / time.Second),
		Wake: wake.wake, Task: wake.task, Key: &key, Permission: session.PermissionRead, Current: w.current(wake.at),
		Material: session.Material{BodyHash: "body", IngestedCommentsChanged: wake.edited}, Store: session.StoreOK,
		Profile: profileOf(wake.task, nil), Limits: session.DefaultLimits(),
	}
}

// step takes one run through the three lives.
func (o *outcome) step(in session.Input, w world, decided, always map[string]*session.Record, price session.Price) {
	known := in
	known.Saved = decided[*in.Key]
	known.Current.SavedHeadIsAncestor = w.ancestor(known.Saved, in.Current.Head)
	d := session.Decide(known, &price)
	o.runs++
	sum := o.perTask[in.Task]
	if sum == nil {
		sum = &sums{}
		o.perTask[in.Task] = sum
	}
	sum.runs++
	fresh := session.FreshUSD(in.Profile, price)
	sum.freshUSD += fresh
	if known.Saved != nil {
		sum.saved++
	}
	usd := fresh
	if d.Fresh() {
		o.fresh++
		o.headline[d.Reasons[0]]++
		for _, r := range d.Reasons {
			o.any[r]++
		}
		decided[*in.Key] = begun(in, fresh)
	} else {
		o.resume++
		sum.resume++
		usd = d.Estimate.ResumeUSD
		goOn(decided[*in.Key], in, usd)
	}
	for _, n := range d.Notes {
		o.notes[n]++
	}
	sum.decidedUSD += usd

	if saved := always[*in.Key]; saved != nil {
		known.Saved = saved
		usd = session.Compare(known, &price).ResumeUSD
		goOn(saved, in, usd)
		sum.alwaysUSD += usd
		return
	}
	always[*in.Key] = begun(in, fresh)
	sum.alwaysUSD += fresh
}

// retry breaks the run that has just been made off in its middle: what the second start costs in either way.
func (o *outcome) retry(in session.Input, price session.Price) {
	saved := begun(in, 0)
	saved.ContextTokens = in.Profile.FreshTokens + in.Profile.GrowthTokens*(in.Profile.FreshTurns/2)
	saved.Ended = "unfinished"
	p := in.Profile
	p.NewTokens, p.ResumedTurns = 100, max(in.Profile.FreshTurns-in.Profile.FreshTurns/2, 1)
	in.Mode, in.Wake, in.ForceFresh, in.Saved, in.Profile = session.Auto, "retry_transient", false, saved, p
	in.Now, in.Current.SavedHeadIsAncestor, in.Material.IngestedCommentsChanged = in.Now.Add(15*time.Second), true, false
	d := session.Decide(in, &price)
	o.retries.runs++
	o.retries.freshUSD += session.FreshUSD(p, price)
	if !d.Fresh() {
		o.retries.resume++
		o.retries.decidedUSD += d.Estimate.ResumeUSD
	} else {
		o.retries.decidedUSD += session.FreshUSD(p, price)
	}
}

// ancestor: a force push drops what was there before.
func (w world) ancestor(saved *session.Record, head string) bool {
	if saved == nil {
		return true
	}
	var was, is int
	if _, err := fmt.Sscan(saved.Head+" "+head, &was, &is); err != nil {
		return false
	}
	return was > w.forced || is <= w.forced
}

// begun is the record of a fresh run.
func begun(in session.Input, usd float64) *session.Record {
	c, p, effort := in.Current, in.Profile, in.Current.Effort
	return &session.Record{
		Schema: session.RecordVersion, AuthorIsTrusted: true, Key: *in.Key, Engine: c.Engine, EngineVersion: c.EngineVersion, Model: c.Model,
		Effort: &effort, RulesHash: c.RulesHash, ConfigHash: c.ConfigHash, ToolsHash: c.ToolsHash, Permission: in.Permission,
		Workspace: c.Workspace, RepositoryID: c.RepositoryID, Head: c.Head, BodyHash: in.Material.BodyHash, Ended: "finished",
		Runs: 1, ContextTokens: p.FreshTokens + p.GrowthTokens*(p.FreshTurns-1), CostUSD: usd, Created: in.Now, LastUsed: in.Now,
	}
}

// goOn adds a resumed run to a record.
func goOn(r *session.Record, in session.Input, usd float64) {
	r.Runs++
	r.ContextTokens += in.Profile.NewTokens + in.Profile.GrowthTokens*(in.Profile.ResumedTurns-1)
	r.CostUSD += usd
	r.LastUsed, r.Head, r.EngineVersion, r.Ended = in.Now, in.Current.Head, in.Current.EngineVersion, "finished"
}

func reasonsTable(large, small outcome) string {
	var b strings.Builder
	b.WriteString("| decision | first reason | among all reasons |\n|---|---:|---:|\n")
	for _, r := range session.Reasons {
		if large.any[r] > 0 {
			fmt.Fprintf(&b, "| fresh: `%s` | %d | %d |\n", r, large.headline[r], large.any[r])
		}
	}
	fmt.Fprintf(&b, "| resume | %d | |\n| all runs | %d | |\n", large.resume, large.runs)
	fmt.Fprintf(&b, "\nNotes: `head_moved` in %d runs, `engine_patch_changed` in %d. With the measured profiles %d runs would resume and %d are fresh for their price alone.\n",
		large.notes[session.HeadMoved], large.notes[session.EnginePatchChanged], small.resume, small.headline[session.ResumeDearer])
	return b.String()
}

func dollarsTable(large, small outcome) string {
	var b strings.Builder
	b.WriteString("| task | runs | with a record | would resume | every run fresh | decisions followed | every record resumed |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, o := range []struct {
		name string
		outcome
	}{{"page's profiles", large}, {"measured profiles", small}} {
		var all sums
		names := make([]string, 0, len(o.perTask))
		for name := range o.perTask {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			s := o.perTask[name]
			b.WriteString(s.row(name))
			all.add(*s)
		}
		b.WriteString(all.row("**all, " + o.name + "**"))
	}
	for _, o := range []struct {
		name string
		outcome
	}{{"page's profiles", large}, {"measured profiles", small}} {
		r := o.retries
		fmt.Fprintf(&b, "\nAfter a fault in the middle of a run (%d of %d runs, %s): %d of the second starts go on; they cost $%.2f together, fresh ones $%.2f.\n",
			r.runs, o.runs, o.name, r.resume, r.decidedUSD, r.freshUSD)
	}
	return b.String()
}

func (s sums) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | $%.2f | $%.2f | $%.2f |\n", name, s.runs, s.saved, s.resume, s.freshUSD, s.decidedUSD, s.alwaysUSD)
}

func (s *sums) add(t sums) {
	s.runs, s.saved, s.resume = s.runs+t.runs, s.saved+t.saved, s.resume+t.resume
	s.freshUSD, s.decidedUSD, s.alwaysUSD = s.freshUSD+t.freshUSD, s.decidedUSD+t.decidedUSD, s.alwaysUSD+t.alwaysUSD
}
