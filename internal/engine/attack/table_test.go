package attack

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

// tableVar names the file that the long form writes; empty: the short form.
const tableVar = "ENGINES_TABLE"

// table gathers rows from parallel tests.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (tb *table) add(r row) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.rows = append(tb.rows, r)
}

// two engines at a time: each takes up to 300 MB.
var seats = make(chan struct{}, 2)

func (tb *table) try(t *testing.T, s subject, a attack, l limit, during func(string)) {
	t.Helper()
	t.Run(fmt.Sprintf("%s/%s/$%g %d turns", s.driver.Name(), a.name, l.usd, l.turns), func(t *testing.T) {
		t.Parallel()
		seats <- struct{}{}
		defer func() { <-seats }()
		r := s.play(t, a, l, during)
		tb.add(r)
		t.Logf("billed $%.4f, %d calls, %d turns, %s, %s %s", r.billed, r.result.Calls, r.result.Turns, r.result.Ended, r.took.Round(time.Millisecond), r.result.Reason)
		for _, wrong := range r.holds() {
			t.Error(wrong)
		}
	})
}

func TestAttackTable(t *testing.T) { //nolint:tparallel // it waits for its own subtests, which are parallel
	t.Parallel()
	file := os.Getenv(tableVar)
	var tb table
	t.Run("runs", func(t *testing.T) {
		for i, s := range subjects() {
			if file == "" {
				list := attacks()
				for j := range 3 { // most attacks once, spread over the engines
					if a := list[(3*i+j)%len(list)]; a.minutes == 0 {
						tb.try(t, s, a, limit{0.5, 40, 5}, nil)
					}
				}
				tb.try(t, s, list[len(list)-1], limit{0.5, 4, 5}, nil)
				continue
			}
			for _, a := range attacks() {
				minutes := cmp.Or(a.minutes, 5)
				for _, usd := range []float64{0.05, 0.10, 0.50, 1, 2} {
					tb.try(t, s, a, limit{usd, 40, minutes}, nil)
				}
				tb.try(t, s, a, limit{2, 4, minutes}, nil)
			}
			tb.try(t, s, silent(), limit{1, 40, 1}, nil)
		}
	})
	if file != "" {
		if err := os.WriteFile(file, tb.markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func silent() attack {
	return attack{name: "never answers", step: func(int, func(string, int) standin.Tool) standin.Step { return standin.Step{Hang: true} }}
}

// TestSignalToTheParentAlone ends only the engine's first process: the rest of its group must go with it.
func TestSignalToTheParentAlone(t *testing.T) {
	t.Parallel()
	for _, s := range subjects() {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(string(s.driver.Name())+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				seats <- struct{}{}
				defer func() { <-seats }()
				r := s.play(t, silent(), limit{1, 40, 1}, func(temp string) {
					for range 500 {
						// The smallest number is the first process of the group; it has had the time to start others.
						if found := pids(temp); len(found) > 0 {
							time.Sleep(3 * time.Second)
							_ = syscall.Kill(slices.Min(found), sig)
							return
						}
						time.Sleep(20 * time.Millisecond)
					}
				})
				t.Logf("%s after %s", r.result.Ended, r.took)
				if r.took > 40*time.Second || len(r.left) > 0 || r.result.Ended == engine.Finished || r.result.Ended == engine.Time {
					t.Errorf("%s after %s, left %v", r.result.Ended, r.took, r.left)
				}
			})
		}
	}
}

// markdown is the table of all rows.
func (tb *table) markdown() []byte {
	slices.SortFunc(tb.rows, func(a, b row) int {
		return strings.Compare(fmt.Sprintf("%s %s %9.2f %3d", a.engine, a.attack, a.limit.usd, a.limit.turns), fmt.Sprintf("%s %s %9.2f %3d", b.engine, b.attack, b.limit.usd, b.limit.turns))
	})
	var over, turns, late, left int
	var worst time.Duration
	for _, r := range tb.rows {
		if r.billed > r.limit.usd {
			over++
		}
		if r.result.Turns > r.limit.turns {
			turns++
		}
		if r.took > time.Duration(r.limit.minutes)*time.Minute+20*time.Second {
			late++
		}
		worst = max(worst, r.took-time.Duration(r.limit.minutes)*time.Minute)
		left += len(r.left)
	}
	var b strings.Builder
	b.WriteString("# Engines under attack\n\nThe real command lines against stand-ins of their providers, which bill by a counter of their own. `make bench-engines` writes this page.\n\n")
	fmt.Fprintf(&b, "Machine: %s/%s, %d processors. %d runs: **%d above their budget, %d above their turns, %d later than their minutes and 20 s, %d processes left**.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), len(tb.rows), over, turns, late, left)
	b.WriteString("Billed is what the stand-in charged, booked what the meter counted: more where the usage could not be trusted.\n\n")
	b.WriteString("| engine | attack | limit | billed | booked | calls | turns | ended | seconds |\n|---|---|---|---:|---:|---:|---:|---|---:|\n")
	for _, r := range tb.rows {
		fmt.Fprintf(&b, "| %s | %s | $%.2f, %d turns, %d min | $%.4f | $%.4f | %d | %d | %s | %.1f |\n", r.engine, r.attack, r.limit.usd, r.limit.turns, r.limit.minutes,
			r.billed, r.result.CostUSD, r.result.Calls, r.result.Turns, r.result.Ended, r.took.Seconds())
	}
	return []byte(b.String())
}
