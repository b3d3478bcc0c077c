package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// finish decides how the run ended, writes the last record and closes the execution file.
func (r *running) finish(v verdict) (Result, error) {
	for _, c := range r.tally.close() { // the meter did not close in time
		r.log.record(c)
	}
	out := r.stream.Outcome()
	sum := r.tally.totals()
	res := Result{
		ExecutionFile: r.ExecutionFile, Protection: r.protection, SessionID: sessionID(out.SessionID),
		Turns: sum.turns, Calls: sum.calls, CostUSD: math.Round(sum.cost*1e9) / 1e9, WorstNextUSD: r.worst,
		Conversation: r.measured(sum),
	}
	out.ToolsDenied += r.denied
	r.decide(&res, v, out, sum)
	if res.Ended == engine.Unfinished {
		res.Reason = "the engine's end: " + v.exit
	}
	err := r.log.close(engine.EndRecord{
		Type: engine.TypeEnd, Ended: res.Ended, Status: res.Status, Turns: res.Turns, Calls: res.Calls,
		CostUSD: res.CostUSD, CostBasis: r.basis(sum), WorstNextCallUSD: res.WorstNextUSD, ToolsDenied: out.ToolsDenied,
		DurationMS: max(r.Now().Sub(r.began).Milliseconds(), 0), SessionID: res.SessionID,
	})
	res.LogCut = r.log.cut
	return res, err
}

// basis says what the dollars of the last record rest on.
func (r *running) basis(sum totals) string {
	switch {
	case sum.unmetered && sum.known:
		return "engine"
	case sum.unmetered:
		return "unknown"
	case r.Key.ListPrice:
		return "list_price"
	}
	return "meter"
}

// decide weighs what the supervisor did, what the meter saw and what the stream says, in this order: an answer that may
// be handed on beats every stop, since it is paid for; then who ended the run; then the meter; then the stream.
func (r *running) decide(res *Result, v verdict, out engine.Outcome, sum totals) {
	if v.refuse != "" {
		res.Ended, res.Reason = v.ended, v.refuse
		return
	}
	if out.Answer != nil {
		answer, err := r.check.check(out.Answer)
		if err != nil {
			res.Ended, res.Reason = engine.BadAnswer, err.Error()
			return
		}
		res.Ended, res.Answer = engine.Finished, answer
		return
	}
	if answer, ok := r.rescue(out); ok {
		res.Ended, res.Answer = engine.Finished, answer
		return
	}
	res.Ended, res.Status = ended(v, out, sum)
	if res.Ended == engine.NotStarted {
		res.Reason = fmt.Sprintf("the engine ended before its first request (%s): %s", v.exit, r.noise)
	}
}

// rescue takes the last answer that was handed in and is valid, when the run ended in the very call that brought it: the
// engine then stops at its own limit, or is killed, before it prints the answer in its closing event.
func (r *running) rescue(out engine.Outcome) (string, bool) {
	if out.Ended == engine.ModelRefused {
		return "", false
	}
	for _, candidate := range slices.Backward(out.Candidates) {
		if answer, err := r.check.check(candidate); err == nil {
			return answer, true
		}
	}
	return "", false
}

// stopAtLength is the provider's word for an answer that was cut at max tokens.
const stopAtLength = "max_tokens"

// ended is how a run ended that has no answer, with the provider's status for provider_error.
func ended(v verdict, out engine.Outcome, sum totals) (engine.Ended, int) {
	switch {
	case v.cause == causeSignal:
		return engine.Interrupted, 0
	case v.cause == causeTime:
		return engine.Time, 0
	case sum.refused != "":
		return sum.refused, 0
	case sum.turns > 0 && sum.stop == stopAtLength && sum.status == 0:
		return engine.Budget, 0 // the meter holds max tokens down to what the budget allows
	case out.Closed && out.Ended == engine.Finished:
		return engine.NoAnswer, 0
	case out.Closed && out.Ended == engine.NotStarted && sum.calls > 0:
		return engine.Unfinished, 0 // a second start of the engine, after the first one had made calls
	case out.Closed && out.Ended != engine.Unfinished:
		if out.Ended != engine.ProviderError {
			return out.Ended, 0
		}
		status := cmp.Or(out.Status, sum.status)
		if by := enginelog.ByStatus(status); by != engine.ProviderError {
			return by, 0 // the log of Codex names no status: the meter saw it
		}
		return out.Ended, status
	case sum.calls == 0 && !out.Closed && out.SessionID == "":
		return engine.NotStarted, 0
	}
	return engine.Unfinished, 0
}

var sessionForm = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// sessionID keeps an id that looks like one: it becomes an output.
func sessionID(id string) string {
	if sessionForm().MatchString(id) {
		return id
	}
	return ""
}
