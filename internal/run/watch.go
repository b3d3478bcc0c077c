package run

import (
	"context"
	"syscall"
	"time"
)

// watch waits for the engine's end and brings it about when the run is over: INT at once, then TERM, then KILL.
func (r *running) watch(ctx context.Context, p process) cause {
	if r.clock == nil { // of the whole run: a second start gets no new minutes
		r.clock = time.NewTimer(time.Duration(r.Limits.TimeoutMinutes) * r.timing.minute)
	}
	why := r.await(ctx, p, r.clock.C)
	if why == causeNone {
		return why
	}
	p.signal(syscall.SIGINT)
	if waitUntil(p.done(), r.timing.term) {
		return why
	}
	p.signal(syscall.SIGTERM)
	if waitUntil(p.done(), r.timing.kill-r.timing.term) {
		return why
	}
	p.signal(syscall.SIGKILL)
	waitUntil(p.done(), r.timing.drain)
	return why
}

// await returns when the engine has ended or must.
func (r *running) await(ctx context.Context, p process, clock <-chan time.Time) cause {
	refused := r.tally.refused
	var patience <-chan time.Time
	turns := 0
	for {
		select {
		case <-p.done():
			return causeNone
		case <-ctx.Done():
			return causeSignal
		case <-clock:
			return causeTime
		case <-r.foreign:
			return causeForeign
		case <-refused:
			refused = nil // once
			turns = r.tally.totals().turns
			patience = time.After(r.timing.refuse)
		case <-patience:
			// A small call beside the main one may still go out: the engine ends when nothing more comes of it.
			now := r.tally.totals().turns
			if now == turns {
				return causeRefused
			}
			turns, patience = now, time.After(r.timing.refuse)
		}
	}
}
