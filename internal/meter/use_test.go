package meter_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// source is text like a program's, different at every call.
func source(n int) func(string) string {
	k := 0
	return func(string) string {
		k++
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "\tif x%d == %d {\n\t\treturn f%d(x)\n\t}\n", k, i, i%7)
		}
		return b.String()
	}
}

// endless is a run whose model reads for ever and never answers.
type endless struct {
	model   string
	budget  float64
	size    int  // bytes of a read
	cached  bool // the provider's cache works, or it never hits
	uncount bool // the provider's counter of tokens does not answer
}

// used is what came of one, as shares of the budget.
type used struct {
	spent  float64
	turns  int
	single float64 // what one call more would have cost
	bound  float64 // the most that a sound meter may keep back for it: the cache misses, the count is a twentieth too low
}

// play runs it until the meter refuses a call, and then lets that very call go to the provider.
func (e endless) play(t *testing.T) used {
	t.Helper()
	script := anthropic.Script{
		Steps:   []anthropic.Step{{Text: strings.Repeat("word ", 60), Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": "a.go"}}}}},
		Counter: anthropic.Counter{Min: 0.2, Max: 0.4, MissRate: 1},
	}
	if e.cached {
		script.Counter.MissRate = 0
	}
	if e.uncount {
		script.Count = func(int64) (int64, int) { return 0, http.StatusInternalServerError }
	}
	r := newRig(t, script, func(o *meter.Options) { o.BudgetUSD, o.MaxTurns, o.Model = e.budget, 200, e.model })
	defer r.close()
	c := r.client(1)
	c.model, c.result = e.model, source(e.size)
	c.run(t.Context(), "issue 12", 300)
	u := used{spent: r.api.Bill().USD() / e.budget, turns: r.Summary().Turns}
	if u.turns == 200 {
		return u // not the budget ended it
	}
	if c.status != http.StatusPaymentRequired {
		t.Fatalf("%+v ended with status %d", e, c.status)
	}
	c.base = r.api.URL
	if _, ok := c.call(t.Context(), nil); !ok {
		t.Fatalf("%+v: the refused call is not valid", e)
	}
	requests := r.api.Requests()
	billed, price := requests[len(requests)-1].Billed, anthropic.Prices()[e.model]
	const overhead = 900 // tokens: the note of the last call, the provider's own words
	u.single = billed.USD() / e.budget
	u.bound = (float64(billed.Prompt())*1.05*float64(price.Write5m) + overhead*float64(price.Write5m) + 1024*float64(price.Output)) / 1e12 / e.budget
	return u
}

// TestAnEndlessRunUsesItsBudget: a model that never answers spends at least 45 % of $0.50 and more when the cache works.
// When it never hits, at least 85 % is spent or one call more would have gone over the budget; whatever is left is less
// than a call with room for 1,024 tokens of answer can cost. The long form prints the table of docs/benchmarks/run.md.
func TestAnEndlessRunUsesItsBudget(t *testing.T) {
	t.Parallel()
	budgets, sizes := []float64{0.5, 1}, []int{3, 8, 16, 40}
	long := os.Getenv("METER_SEEDS") != ""
	if long {
		budgets, sizes = append(budgets, 2), []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 33, 36, 40}
	}
	cells, below, short := 0, 0, 0
	table := "\n"
	for _, size := range sizes {
		row := fmt.Sprintf("| %d kB |", size)
		for _, budget := range budgets {
			e := endless{model: "claude-opus-5-5", budget: budget, size: size * 1000}
			u := e.play(t)
			cells++
			if u.spent < 0.85 {
				below++
			}
			if u.spent < 0.85 && u.spent+u.single <= 1 {
				short++
				if !long { // these sizes are not among the unlucky ones
					t.Errorf("%+v: %+v", e, u)
				}
			}
			e.cached = true
			v := e.play(t)
			for _, x := range []used{u, v} {
				if x.spent > 1 || x.turns < 200 && (x.spent < 0.45 || x.spent+x.bound < 1) {
					t.Errorf("$%v, %d kB a read: %+v", budget, size, x)
				}
			}
			row += fmt.Sprintf(" %.0f (%.0f) · %.0f", 100*u.spent, 100*(u.spent+u.single), 100*v.spent)
			if long {
				e.uncount = true
				b := e.play(t)
				e.cached = false
				w := e.play(t)
				if b.spent > 1 || w.spent > 1 {
					t.Errorf("%+v: %+v %+v", e, b, w)
				}
				row += fmt.Sprintf(" · %.0f · %.0f", 100*w.spent, 100*b.spent)
			}
			row += " |"
		}
		table += row + "\n"
	}
	t.Logf("share of the budgets %v in %%: cache never hits (with one call more) · cache works · both without the provider's counter%s"+
		"never a hit: %d of %d stopped below 85 %%; in %d of these the next call would have fitted, had nothing been kept back", budgets, table, below, cells, short)
}

// TestALargeReadStillGetsItsAnswer: a read that nobody could foresee leaves less room than is planned for an answer. The
// call goes out as the last one, so that the run does not end with nothing; where no room is left it is refused.
func TestALargeReadStillGetsItsAnswer(t *testing.T) {
	t.Parallel()
	for size, answers := range map[int]bool{340_000: true, 365_000: false} {
		next := func(q *anthropic.Request) anthropic.Step {
			if q.Says(meter.LastNote) {
				return anthropic.Step{Answer: map[string]string{"comment": "ok"}}
			}
			return read(1)
		}
		r := start(t, anthropic.Script{Next: next, Counter: anthropic.Counter{Min: 0.25, Max: 0.25, MissRate: 1}}, func(o *meter.Options) { o.BudgetUSD = 0.5 })
		c := r.client(1)
		c.result = func(string) string { return strings.Repeat("0123456789", size/10) }
		c.run(t.Context(), "issue 12", 10)
		s, q := r.Summary(), r.api.MainRequests()
		if (c.answer != nil) != answers || s.LastAsked != answers || r.api.Bill().USD() > 0.5 || answers != (len(q) == 2) {
			t.Errorf("%d bytes: answer %s, %d calls, %+v", size, c.answer, len(q), s)
		}
		if last := q[len(q)-1]; answers && (last.MaxTokens < 1024 || last.MaxTokens >= 4096) {
			t.Errorf("%d bytes: room for %d tokens", size, last.MaxTokens)
		}
	}
}

// TestAnObedientRunAlwaysAnswers: a model that reads until it is asked for its answer is always asked in time, whatever
// the size of its reads, with and without the provider's cache and counter.
func TestAnObedientRunAlwaysAnswers(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3000, 40_000, 0} {
		for seed := range 8 {
			miss, silent, budget := float64(seed&1), seed&2 != 0, []float64{0.5, 1}[seed>>2]
			script := anthropic.Script{
				Next: func(q *anthropic.Request) anthropic.Step {
					if q.Says(meter.LastNote) {
						return anthropic.Step{HiddenTokens: 300, Answer: map[string]string{"comment": strings.Repeat("word ", 300)}}
					}
					return read(1)
				},
				Counter: anthropic.Counter{Seed: uint64(seed), Min: 0.2, Max: 0.4, MissRate: miss},
			}
			if silent {
				script.Count = func(int64) (int64, int) { return 0, http.StatusInternalServerError }
			}
			r := newRig(t, script, func(o *meter.Options) { o.BudgetUSD, o.MaxTurns = budget, 200 })
			c := r.client(uint64(seed))
			c.result = func(name string) string {
				n := size
				if n == 0 { // any size
					n = 200 + c.rand.IntN(40_000)
				}
				return source(n)(name)
			}
			c.run(t.Context(), "issue 12", 300)
			if bill := r.api.Bill().USD(); c.answer == nil || bill > budget {
				t.Errorf("%d bytes a read, seed %d: answer %s, billed $%.4f of $%v, %+v", size, seed, c.answer, bill, budget, r.Summary())
			}
			r.close()
		}
	}
}
