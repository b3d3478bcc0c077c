package task

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// simulated is a run of the events' workflow in a simulated day.
type simulated struct {
	id       int64
	actor    string
	decided  bool
	started  bool
	finished bool
}

// visible are the runs that GitHub shows as started or on their way.
func visible(runs []*simulated) []Attempt {
	var out []Attempt
	for _, r := range runs {
		if !r.finished || r.started {
			out = append(out, Attempt{Run: r.id, Actor: r.actor})
		}
	}
	return out
}

// TestTheLastPlaceIsGivenOnce lets runs of several people arrive, decide and end in a random order, a thousand times: a
// decision may rest on a list that was read some time before.
func TestTheLastPlaceIsGivenOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		l := StrangerLimits{PerPerson: 1 + rng.IntN(4), PerDay: 2 + rng.IntN(6)}
		var runs []*simulated
		lists := map[int64][]Attempt{}
		per := map[string]int{}
		all := 0
		for len(runs) < 30 || len(lists) > 0 {
			switch k := rng.IntN(4); {
			case k == 0 && len(runs) < 30: // an event
				r := &simulated{id: int64(len(runs) + 1), actor: fmt.Sprint("person", rng.IntN(4))}
				runs = append(runs, r)
				lists[r.id] = nil
			case k == 1 && len(runs) > 0: // reads the list
				if r := runs[rng.IntN(len(runs))]; !r.decided {
					lists[r.id] = visible(runs)
				}
			case k == 2 && len(runs) > 0: // decides by what it read
				r := runs[rng.IntN(len(runs))]
				if r.decided || lists[r.id] == nil {
					continue
				}
				r.decided = true
				r.started, _ = Place(r.id, r.actor, lists[r.id], l, nil)
				delete(lists, r.id)
				if r.started {
					per[r.actor]++
					all++
				}
			case k == 3 && len(runs) > 0: // ends
				if r := runs[rng.IntN(len(runs))]; r.decided {
					r.finished = true
				}
			}
		}
		if all > l.PerDay || all == 0 {
			t.Fatalf("seed %d: %d runs of %d a day", seed, all, l.PerDay)
		}
		for who, n := range per {
			if n > l.PerPerson {
				t.Fatalf("seed %d: %s started %d of %d", seed, who, n, l.PerPerson)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	l := StrangerLimits{PerPerson: 5, PerDay: 50}
	var runs []Attempt
	started := 0
	for id := int64(1); id <= 20; id++ {
		if ok, why := Place(id, "Alice", runs, l, nil); ok {
			started++
			runs = append(runs, Attempt{id, "alice"})
		} else if !strings.Contains(why, "runs_per_person_per_day") {
			t.Error(why)
		}
	}
	if started != 5 {
		t.Errorf("%d of 20 were started, want 5", started)
	}
	// A thousand of one person that wait leave the others their places.
	runs = nil
	for id := range int64(1000) {
		runs = append(runs, Attempt{id + 1, "mallory"})
	}
	if ok, why := Place(2000, "bob", runs, l, nil); !ok {
		t.Error(why)
	}
	if ok, _ := Place(2000, "mallory", runs, l, nil); ok {
		t.Error("the thousand and first is started")
	}
	// Ten people fill the day; maintainers among them do not count.
	runs = nil
	for id := range int64(50) {
		runs = append(runs, Attempt{id + 1, fmt.Sprint("p", id%10)}, Attempt{id + 1, "twice"})
	}
	if ok, why := Place(100, "bob", runs, l, func(string) bool { return false }); ok || !strings.Contains(why, "runs_per_day") {
		t.Error(ok, why)
	}
	if ok, why := Place(100, "bob", runs, l, func(login string) bool { return login == "p3" }); !ok {
		t.Error(why)
	}
}
