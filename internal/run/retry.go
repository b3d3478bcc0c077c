package run

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// Attempt is how far a run came before a fault that passes broke it off.
type Attempt struct {
	Lost          bool  // the engine is gone without a word; else the provider failed
	Kept          bool  // the conversation can go on: its transcript lies in the engine's home
	Turns         int   // whole ones
	ContextTokens int64 // of the last of them
	CostUSD       float64
	Rules         []byte // as the engine was told them
}

// Conversation is what the last conversation of a run was, for its record.
type Conversation struct {
	Runs          int   // 1, or more when it went on after a fault
	ContextTokens int64 // of its last turn
	FirstTokens   int64 // of the first turn of the run
	OutputTokens  int64 // of all turns of the run
	ResumedFirst  int64 // of the first turn after it went on; 0: it did not
	ResumedCached int64 // of these, read from the provider's cache
}

// attempt is one start of the engine within a run.
type attempt struct {
	prompt []byte
	resume string            // the conversation that goes on; empty: a fresh one
	after  *session.Decision // why, for a second start; nil: the first one
}

// conversation is the part of a run that knows about its starts.
type conversation struct {
	clock   *time.Timer   // the run's minutes
	asked   string        // the conversation that must go on
	foreign chan struct{} // closed when the engine talks in another one
	before  totals        // what there was when the engine was started last
	denied  int           // tool calls of earlier starts
	state   Conversation
}

// attempts starts the engine and, after a fault that passes, once more: with the conversation where it broke off, or
// from the beginning. A conversation that the engine does not know leads to one fresh start with the whole prompt. The
// meter and the minutes are the same for all of them.
func (r *running) attempts(ctx context.Context, work workplace, baseURL string) verdict {
	defer func() {
		if r.clock != nil {
			r.clock.Stop()
		}
	}()
	v := r.supervise(ctx, work, baseURL, attempt{prompt: r.Prompt})
	lost, passes := r.passing(v)
	if !passes {
		return v
	}
	if over, why := r.rest(ctx); over {
		return verdict{cause: why, exit: v.exit}
	}
	id := sessionID(r.stream.Outcome().SessionID)
	at := r.attempt(lost, work, id)
	d := r.Retry(at)
	if !d.Fresh() && !at.Kept { // whatever was decided: there is nothing to go on with
		d.Reasons = append(d.Reasons, session.TranscriptMissing)
	}
	next := attempt{prompt: r.Prompt, after: &d}
	if !d.Fresh() {
		next.resume, next.prompt = id, r.Delta
	}
	v = r.supervise(ctx, work, baseURL, next)
	if next.resume == "" || !r.unknown(v) {
		return v
	}
	failed := session.AfterFailedResume(d)
	return r.supervise(ctx, work, baseURL, attempt{prompt: r.Prompt, after: &failed})
}

// passing reports whether a fault that passes ended the run without an answer, and whether there is anything left to go
// on with. A limit, a signal, a refusal and a wrong key do not pass.
func (r *running) passing(v verdict) (lost, passes bool) {
	if r.Retry == nil || v.refuse != "" || v.cause != causeNone {
		return false, false
	}
	out := r.stream.Outcome()
	if _, ok := r.rescue(out); ok || out.Answer != nil {
		return false, false
	}
	if turns, usd := r.left(); turns < 1 || usd <= 0 {
		return false, false
	}
	switch end, status := ended(v, out, r.tally.totals()); end {
	case engine.ProviderError:
		return false, status == 0 || status >= http.StatusInternalServerError || status == http.StatusRequestTimeout
	case engine.Unfinished:
		return true, true
	default:
		return false, false
	}
}

// rest waits a little, so that the fault may pass. It reports what ended the run meanwhile.
func (r *running) rest(ctx context.Context) (over bool, why cause) {
	pause := time.NewTimer(r.timing.pause)
	defer pause.Stop()
	select {
	case <-pause.C:
		return false, causeNone
	case <-ctx.Done():
		return true, causeSignal
	case <-r.clock.C:
		return true, causeTime
	}
}

// attempt says how far the run came.
func (r *running) attempt(lost bool, work workplace, id string) Attempt {
	sum := r.tally.totals()
	rules, err := os.ReadFile(work.rules)
	if err != nil {
		rules = nil // then they differ from what was decided on
	}
	return Attempt{
		Lost: lost, Kept: r.kept(work, id), Turns: sum.turns, ContextTokens: sum.context, CostUSD: sum.cost, Rules: rules,
	}
}

// kept reports whether the engine can go on with the conversation: exactly one plain file holds it.
func (r *running) kept(work workplace, id string) bool {
	d, ok := r.Driver.(engine.Resumer)
	if !ok || id == "" || len(r.Delta) == 0 {
		return false
	}
	found, err := filepath.Glob(filepath.Join(work.home, filepath.FromSlash(d.Transcript(id))))
	if err != nil || len(found) != 1 {
		return false
	}
	info, err := os.Lstat(found[0])
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// unknown reports whether the engine did not go on with the conversation: it made no call at all, or talked in another
// one.
func (r *running) unknown(v verdict) bool {
	return v.refuse == "" && (v.cause == causeForeign || v.cause == causeNone && r.tally.totals().calls == r.before.calls)
}

// left is what the run may still use.
func (r *running) left() (turns int, usd float64) {
	sum := r.tally.totals()
	return r.Limits.MaxTurns - sum.turns, r.Limits.MaxBudgetUSD - sum.cost
}

// begin notes a start of the engine, also in the execution file.
func (r *running) begin(a attempt) {
	r.asked, r.foreign = a.resume, make(chan struct{})
	if a.after == nil {
		r.state.Runs = 1
		if r.Session != nil {
			s := *r.Session
			s.Type = engine.TypeSession
			r.log.record(s)
		}
		return
	}
	r.denied += r.stream.Outcome().ToolsDenied
	r.stream, r.noise = r.Driver.NewStream(), nil
	r.before = r.tally.restart()
	if r.state.FirstTokens == 0 {
		r.state.FirstTokens = r.before.first
	}
	s := engine.SessionRecord{Type: engine.TypeSession, Decision: "fresh", Reasons: spaced(a.after.Reasons)}
	if a.resume != "" {
		s.Decision, s.ContextTokens = "resumed", r.before.context
		r.state.Runs++
	} else {
		r.state.Runs = 1
	}
	r.log.record(s)
	r.Say("the run was broken off by a fault that passes: the next start is %s", strings.TrimSpace(s.Decision+" "+s.Reasons))
}

func spaced(reasons []session.Reason) string {
	list := make([]string, len(reasons))
	for i, r := range reasons {
		list[i] = string(r)
	}
	return strings.Join(list, " ")
}

// checkConversation ends an engine that was asked to go on with one conversation and talks in another: that one knows
// nothing of the task.
func (r *running) checkConversation() {
	if r.asked == "" {
		return
	}
	switch id := r.stream.Outcome().SessionID; id {
	case "":
	case r.asked:
		r.asked = "" // it stays so
	default:
		r.asked = ""
		close(r.foreign)
	}
}

// measured is the conversation for the record of the run.
func (r *running) measured(sum totals) Conversation {
	c := r.state
	c.ContextTokens, c.OutputTokens = sum.context, sum.output
	if c.FirstTokens == 0 {
		c.FirstTokens = sum.first
	}
	if c.Runs > 1 {
		c.ResumedFirst, c.ResumedCached = sum.first, sum.cached
	}
	return c
}
