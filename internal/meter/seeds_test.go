package meter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// storm is one seeded run: what the provider and the engine do to get beyond the budget.
type storm struct {
	seed     uint64
	rand     *rand.Rand
	budget   float64
	model    string
	turns    int
	faults   float64 // the share of answers that go wrong
	lies     float64 // the share whose usage is missing or lies
	thinking float64
	huge     float64 // the share of answers and of results that are huge
	parallel int
}

func newStorm(seed uint64) *storm {
	r := rand.New(rand.NewPCG(seed, 42))
	pick := func(list ...float64) float64 { return list[r.IntN(len(list))] }
	return &storm{
		seed: seed, rand: r,
		budget:   pick(0.05, 0.1, 0.2, 0.5, 1, 2, 0.05+1.95*r.Float64()),
		model:    []string{"claude-opus-5-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-4-5", "claude-haiku-5-5", "claude-haiku-4-5"}[r.IntN(6)],
		turns:    4 + r.IntN(60),
		faults:   pick(0, 0, 0.1, 0.3),
		lies:     pick(0, 0, 0.2, 1),
		thinking: pick(0, 0.5),
		huge:     pick(0, 0.05, 0.3),
		parallel: []int{1, 1, 1, 3}[r.IntN(4)],
	}
}

func (s *storm) script() anthropic.Script {
	low := 0.15 + 0.85*s.rand.Float64()
	miss := []float64{0, 0, 0.3, 1}[s.rand.IntN(4)]
	countMode := s.rand.IntN(4)
	return anthropic.Script{
		Next: func(r *anthropic.Request) anthropic.Step { return s.step(r) },
		Counter: anthropic.Counter{
			Seed: s.seed, Min: low, Max: min(1, low+s.rand.Float64()), MissRate: miss, CountError: 0.04,
		},
		Count: func(truth int64) (int64, int) {
			switch countMode {
			case 0:
				return 0, 500
			case 1:
				return truth / 200, 200 // a lie
			}
			return truth, 200
		},
	}
}

// step is called one at a time.
func (s *storm) step(r *anthropic.Request) anthropic.Step {
	step := anthropic.Step{Text: s.text(40 + s.rand.IntN(600)), Chunk: 200}
	if s.rand.Float64() < s.huge {
		step.Text = s.text(20_000 + s.rand.IntN(100_000))
		step.Chunk = 4000
	}
	for range 1 + s.rand.IntN(3) {
		step.Tools = append(step.Tools, anthropic.Tool{Name: "Read", Input: map[string]any{"file_path": s.text(10)}})
	}
	if s.rand.Float64() < s.thinking {
		step.Thinking, step.HiddenTokens = s.text(s.rand.IntN(800)), s.rand.Int64N(6000)
	}
	if s.rand.Float64() < s.lies {
		step.Usage = s.lie(r)
	}
	if s.rand.Float64() < s.faults {
		switch s.rand.IntN(6) {
		case 0:
			step = anthropic.Step{Status: 429}
		case 1:
			step = anthropic.Step{Status: 529}
		case 2:
			step = anthropic.Step{Status: 500}
		case 3:
			step.Cut, step.CutAfter = true, s.rand.IntN(4000)
		case 4:
			step.SSEError = &anthropic.Error{Type: "overloaded_error", Message: "Overloaded"}
		case 5:
			step = anthropic.Step{Raw: "<html>gateway</html>", RawType: "text/html"}
		}
	}
	return step
}

// lie is usage that is missing, or that disagrees with itself or with what was sent.
func (s *storm) lie(r *anthropic.Request) func(anthropic.Usage) (*anthropic.Usage, *anthropic.Usage) {
	kind := s.rand.IntN(8)
	return func(u anthropic.Usage) (*anthropic.Usage, *anthropic.Usage) {
		start, final := u, u
		start.Output = 1
		switch kind {
		case 0:
			return &start, nil
		case 1:
			return nil, nil
		case 2:
			final = anthropic.Usage{}
		case 3:
			final.Output = 1
			if u.Output < 40 {
				final.Output = -1
			}
		case 4:
			final = anthropic.Usage{Input: u.Prompt() / 100, Output: u.Output}
			start = final
		case 5: // falls
			final.Input, final.CachedInput, final.CacheWrite5m = u.Input/2, u.CachedInput/2, u.CacheWrite5m/2
			if !r.Stream {
				final.Input = -1
			}
		case 6:
			final.CacheWrite5m = -u.CacheWrite5m - 1
		case 7:
			final.Output = 0
		}
		return &start, &final
	}
}

func (s *storm) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghij klmnop\n\"\\<é"[s.rand.IntN(20)]
	}
	return string(b)
}

// outcome is what a run of a storm cost.
type outcome struct {
	seed          uint64
	budget        float64
	billed, spent float64
	over          bool
	turns, calls  int
	refused       engine.Ended
	reserved      int // calls booked at their reservation
	problem       string
}

func (s *storm) run(t testing.TB) outcome {
	t.Helper()
	r := newRig(t, s.script(), func(o *meter.Options) { o.Model, o.BudgetUSD, o.MaxTurns = s.model, s.budget, s.turns })
	defer r.close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for k := range s.parallel {
		c := r.client(s.seed*10 + uint64(k))
		c.model, c.fallback, c.maxTokens = s.model, "claude-haiku-4-5", []int{1000, 8000, 16_000, 64_000}[c.rand.IntN(4)]
		c.retries = 1 + c.rand.IntN(8)
		if c.rand.IntN(4) == 0 {
			c.ttl = "1h"
		}
		if c.rand.IntN(4) == 0 {
			c.thinking = 4096
		}
		c.result = func(string) string {
			n := 200 + c.rand.IntN(15_000)
			if c.rand.Float64() < s.huge {
				n = 50_000 + c.rand.IntN(200_000)
			}
			return strings.Repeat(strconv.FormatUint(c.rand.Uint64(), 36)+" ", n/13+1)
		}
		c.rewrite = 0.1
		wg.Go(func() { c.run(ctx, fmt.Sprint("issue ", k, strings.Repeat(" text", c.rand.IntN(3000))), 90) })
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Errorf("seed %d: %v", s.seed, err)
	}
	sum, bill := r.Summary(), r.api.Bill()
	o := outcome{seed: s.seed, budget: s.budget, billed: bill.USD(), spent: sum.SpentUSD, turns: sum.Turns, calls: sum.Calls, refused: sum.Refused}
	o.over = float64(bill.Pico) > s.budget*1e12+0.5
	for _, rec := range r.records {
		if rec.Basis == engine.BasisReserved {
			o.reserved++
		}
	}
	switch {
	case sum.ReservedUSD != 0:
		o.problem = fmt.Sprintf("$%v still reserved", sum.ReservedUSD)
	case sum.Turns > s.turns:
		o.problem = fmt.Sprintf("%d turns of %d", sum.Turns, s.turns)
	case len(r.records) != sum.Calls:
		o.problem = fmt.Sprintf("%d records of %d calls", len(r.records), sum.Calls)
	case sum.SpentUSD < bill.USD()-1e-9:
		o.problem = fmt.Sprintf("booked $%v, billed $%v", sum.SpentUSD, bill.USD())
	case sum.SpentUSD > s.budget+1e-9:
		o.problem = fmt.Sprintf("booked $%v of $%v", sum.SpentUSD, s.budget)
	}
	return o
}

// TestNoSeedGoesOverItsBudget runs 150 seeds; METER_SEEDS=10000 runs more (make bench-run).
func TestNoSeedGoesOverItsBudget(t *testing.T) {
	t.Parallel()
	seeds, from := 150, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("METER_SEEDS")); err == nil && n > 0 {
		seeds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("METER_SEED_FROM"), 10, 64); err == nil {
		from = n
	}
	var (
		mu    sync.Mutex
		all   []outcome
		next  atomic.Uint64
		began = time.Now()
		wg    sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) * 2 {
		wg.Go(func() {
			for {
				n := next.Add(1)
				if n > uint64(seeds) || t.Failed() {
					return
				}
				o := newStorm(from + n - 1).run(t)
				mu.Lock()
				all = append(all, o)
				mu.Unlock()
				if o.over || o.problem != "" {
					t.Errorf("seed %d: over its budget: %v (billed $%.6f of $%.6f); %s", o.seed, o.over, o.billed, o.budget, o.problem)
				}
			}
		})
	}
	wg.Wait()
	report(t, all, time.Since(began))
}

func report(t *testing.T, all []outcome, took time.Duration) {
	t.Helper()
	var over, calls, reserved, turns int
	ended := map[engine.Ended]int{}
	var shares []float64
	for _, o := range all {
		if o.over {
			over++
		}
		calls, reserved, turns = calls+o.calls, reserved+o.reserved, turns+o.turns
		ended[o.refused]++
		shares = append(shares, o.billed/o.budget)
	}
	slices.Sort(shares)
	at := func(q float64) float64 { return 100 * shares[int(q*float64(len(shares)-1))] }
	t.Logf("%d runs in %s: %d over their budget; %d calls, %d turns, %d booked at the reservation; refused: %v; "+
		"billed share of the budget: min %.1f %%, median %.1f %%, max %.2f %%",
		len(all), took.Round(time.Second), over, calls, turns, reserved, ended, at(0), at(0.5), at(1))
}
