package lifecycle_test

import (
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// notices counts what the assistant said in a life, so that a simulation that reaches nothing is noticed.
func (w *world) notices() map[string]int {
	totals := map[string]int{"triage": w.started}
	for _, x := range w.issues {
		for _, c := range w.Comments(x.n) {
			if m, ok := comment.ParseMarker(c.Body); ok && m.Kind != task.MarkAnalysis {
				totals[m.Kind]++
			}
		}
	}
	return totals
}

func wantNotices(t *testing.T, totals map[string]int) {
	t.Helper()
	t.Logf("notices: %v", totals)
	for _, kind := range []string{"reminder", "closed-unanswered", "reopened", "fixed", "released"} {
		if totals[kind] == 0 {
			t.Errorf("the simulation never reached a notice %q: it shows nothing", kind)
		}
	}
}

// TestChaos lives through 400 days of 300 issues, with a sweep a day and faults of reads and writes. Short: three seeds of
// 60 issues and a sweep every four days; `make chaos-sweep` takes a thousand whole ones.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds, count, step, from := 3, 60, 4, 0
	if text := os.Getenv("CHAOS_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		count, step = 300, 1
	}
	if text := os.Getenv("CHAOS_FROM"); text != "" { // a seed that failed, with CHAOS_SEEDS=1
		var err error
		if from, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	totals := map[string]int{}
	var lock sync.Mutex
	var all sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := range next {
				w := newWorld(t, uint64(seed), count, true)
				w.live400(seed, step, true)
				lock.Lock()
				for kind, n := range w.notices() {
					totals[kind] += n
				}
				if w.bugs > 0 {
					t.Errorf("seed %d", seed)
				}
				if seed%50 == 49 {
					t.Logf("%d seeds", seed+1)
				}
				lock.Unlock()
			}
		})
	}
	for seed := range seeds {
		next <- from + seed
	}
	close(next)
	all.Wait()
	wantNotices(t, totals)
}

// TestChaosOfRequests lives through the same with the product's own client, so that faults strike single requests.
func TestChaosOfRequests(t *testing.T) {
	t.Parallel()
	totals := map[string]int{}
	for seed := range 3 {
		w := newWorld(t, uint64(seed), 12, false)
		w.live400(seed, 10, true)
		for kind, n := range w.notices() {
			totals[kind] += n
		}
		if w.bugs > 0 {
			t.Fatalf("seed %d", seed)
		}
	}
	wantNotices(t, totals)
}

// TestMemoryIsTheFake lives the same days in memory and behind the fake GitHub: both end the same, to the second.
func TestMemoryIsTheFake(t *testing.T) {
	t.Parallel()
	for seed := range 2 {
		plain := func(story string) []string { // ids of comments differ
			return strings.Split(regexp.MustCompile(`to=\d+`).ReplaceAllString(story, "to=x"), "\n")
		}
		a, b := newWorld(t, uint64(seed)+100, 15, true), newWorld(t, uint64(seed)+100, 15, false)
		a.live400(seed, 8, false)
		b.live400(seed, 8, false)
		for k := range a.issues {
			if diff := cmp.Diff(plain(b.story(b.issues[k])), plain(a.story(a.issues[k]))); diff != "" {
				t.Fatalf("seed %d: the fake (-) and the memory (+) differ:\n%s", seed, diff)
			}
		}
		if kinds := slices.Sorted(maps.Keys(a.notices())); len(kinds) < 4 {
			t.Errorf("seed %d compares little: %v", seed, kinds)
		}
	}
}
