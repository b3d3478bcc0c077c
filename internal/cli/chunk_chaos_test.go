package cli

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
)

// TestAChunkInChaos lives through a whole chunk while every tenth request fails in some way, then lets GitHub work again:
// the chunk comes to its end, nothing is done twice, and nothing is held any more.
func TestAChunkInChaos(t *testing.T) {
	t.Parallel()
	seeds := 12
	if n, err := strconv.Atoi(os.Getenv("CHUNK_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		r := newChunkRig(t)
		issues := r.ready(3)
		id := r.start("tok_a")
		r.s.Chaos(uint64(seed), 0.1)
		do := func(token string, args ...string) {
			r.pass(time.Minute)
			if code, _, errs := r.as(token, append([]string{"chunk"}, args...)...); code == ExitUsage {
				t.Fatalf("seed %d: %v: %s", seed, args, errs)
			}
		}
		for range 3 { // until all are claimed, or chaos wins
			do("tok_a", append([]string{"claim", "--chunk", id}, issues...)...)
		}
		do("ghs_job", "poll", "--chunk", id)
		p := r.pull(id, issues[0])
		do("tok_a", "note", "--chunk", id, "--title", "A leak")
		do("ghs_job", "poll", "--chunk", id)
		do("tok_a", "poll", "--chunk", id, "--ran")
		r.s.SetReviewThreads(p, false)
		do("ghs_job", "poll", "--chunk", id)
		do("tok_a", "release", "--chunk", id, issues[1])
		do("ghs_job", "wrap", "--chunk", id)
		r.s.SetPullState(p, "maintainer", "merged")
		r.s.SetReviewThreads(p, true)
		r.s.SetStateAs(number(t, issues[2]), "maintainer", "closed", "completed")
		do("ghs_job", "poll", "--chunk", id)
		do("ghs_job", "wrap", "--chunk", id)

		r.s.Calm()
		before, _ := r.s.Issue(number(t, id))
		ended := before.State == "closed" // in chaos: a label whose write failed stays on a closed issue
		do("ghs_job", "poll", "--chunk", id)
		for _, i := range issues { // what chaos kept from being claimed or released, a person ends
			if x, _ := r.s.Issue(number(t, i)); x.State == "open" {
				r.s.SetStateAs(x.Number, "maintainer", "closed", "completed")
			}
		}
		do("tok_a", "note", "--chunk", id, "--title", "A leak")
		do("ghs_job", "poll", "--chunk", id)
		r.pass(time.Minute)
		code, out, errs := r.as("tok_a", "chunk", "wrap", "--chunk", id)
		if code != 0 || !strings.Contains(out, "wrapped, ready for reset") {
			t.Fatalf("seed %d: exit %d, %q\n%s\n%s", seed, code, out, errs, r.s.Dump())
		}
		if r.armed() {
			t.Errorf("seed %d: the schedule is on", seed)
		}
		leaks := 0
		for n := 1; n < 20; n++ {
			i, there := r.s.Issue(n)
			if there && i.Title == "A leak" {
				leaks++
			}
			if there && i.HasLabel(config.LabelClaimed) && hasRecord(r, id, n) && (!ended || i.State == "open") {
				t.Errorf("seed %d: issue %d still carries the label", seed, n)
			}
		}
		if leaks != 1 {
			t.Errorf("seed %d: the finding is filed %d times", seed, leaks)
		}
		var log []chunk.Event
		for _, c := range r.s.Comments(number(t, id)) {
			if e, ok := chunk.ParseEvent(c.ID, c.CreatedAt, c.Body); ok {
				log = append(log, e)
			}
		}
		if got := chunk.Fold(number(t, id), log); got.State != chunk.Wrapped || len(got.Pulls) != 0 || got.OpenClaims() != 0 {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

func hasRecord(r *chunkRig, id string, issue int) bool {
	i, _ := r.s.Issue(number(r.t, id))
	rec, ok := chunk.ParseRecord(i.Body)
	return ok && rec.Find(issue) != nil
}
