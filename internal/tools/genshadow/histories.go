package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/session"
)

// issues is how many histories are simulated, over so many days.
const (
	issues = 200
	days   = 90
)

// seed makes the histories the same on every machine.
const seed = 20261130

// wakeUp is one event of a history that starts a run.
type wakeUp struct {
	at     time.Time
	task   string
	wake   session.Wake
	forced bool // a maintainer asked for a fresh start
	edited bool // a comment that was read has been edited or deleted since
}

// start is when the simulated days begin.
func start() time.Time { return time.Date(2026, 9, 1, 6, 0, 0, 0, time.UTC) }

// history is what happens on one issue, oldest first: a triage; answers of the reporter to questions, at most two of
// which start a follow-up; comments of maintainers; now and then an edit, a new analysis, a release.
func history(rng *rand.Rand) []wakeUp {
	opened := start().Add(time.Duration(rng.Float64() * float64(days-20) * 24 * float64(time.Hour)))
	list := []wakeUp{{at: opened, task: "triage", wake: "issue_opened"}}
	at := opened
	for n, chance := range []float64{0.45, 0.4} {
		if rng.Float64() > chance {
			break
		}
		at = at.Add(wait(rng, 5*time.Hour, 1.9))
		w := wakeUp{at: at, task: "follow-up", wake: "reporter_replied", edited: n > 0 && rng.Float64() < 0.06}
		if rng.Float64() < 0.08 {
			w.wake = "issue_edited"
		}
		list = append(list, w)
		if rng.Float64() < 0.12 { // a second thought at once
			list = append(list, wakeUp{at: at.Add(wait(rng, 3*time.Minute, 0.6)), task: "follow-up", wake: "reporter_replied"})
		}
	}
	if rng.Float64() < 0.55 {
		comments := opened
		for range 1 + rng.IntN(4) {
			comments = comments.Add(wait(rng, 20*time.Hour, 1.8))
			list = append(list, wakeUp{at: comments, task: "maintainer-reply", wake: "maintainer_commented", edited: rng.Float64() < 0.03})
		}
	}
	if rng.Float64() < 0.05 {
		list = append(list, wakeUp{at: opened.Add(wait(rng, 30*time.Hour, 1)), task: "reanalyze", wake: "manual", forced: true})
	}
	if rng.Float64() < 0.10 {
		released := opened.Add(wait(rng, 9*24*time.Hour, 0.5))
		for range 1 + rng.IntN(2) {
			released = released.Add(wait(rng, 8*time.Hour, 1.5))
			list = append(list, wakeUp{at: released, task: "release-reply", wake: "reporter_replied"})
		}
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].at.Before(list[b].at) })
	return list
}

// wait is a time between two events: half of them are shorter than the median, a few are very long.
func wait(rng *rand.Rand, median time.Duration, spread float64) time.Duration {
	return time.Duration(float64(median)*math.Exp(rng.NormFloat64()*spread)) + time.Second
}

// world is the repository and its set-up at a time.
type world struct {
	pushes []time.Time
	forced int // this push rewrote the branch
}

// newWorld has four pushes a day on weekdays' average, one of which is a force push.
func newWorld(rng *rand.Rand) world {
	var w world
	for at := start(); at.Before(start().Add(days * 24 * time.Hour)); at = at.Add(time.Duration(rng.ExpFloat64() * 6 * float64(time.Hour))) {
		w.pushes = append(w.pushes, at)
	}
	w.forced = len(w.pushes) / 2
	return w
}

func (w world) head(at time.Time) int {
	return sort.Search(len(w.pushes), func(i int) bool { return w.pushes[i].After(at) })
}

// current is the set-up: the rules change twice, the settings and the model once, the engine gets a patch every six days
// and a major version once.
func (w world) current(at time.Time) session.Current {
	day := int(at.Sub(start()).Hours() / 24)
	pick := func(changes ...int) string {
		n := 0
		for _, c := range changes {
			if day >= c {
				n++
			}
		}
		return fmt.Sprintf("%d", n)
	}
	major := 2
	if day >= 60 {
		major = 3
	}
	return session.Current{
		Engine: "claude", EngineVersion: fmt.Sprintf("%d.1.%d", major, day/6), Model: "claude-opus-5-5-" + pick(75), Effort: "medium",
		RulesHash: "rules-" + pick(25, 50), ConfigHash: "config-" + pick(40), ToolsHash: "tools", Workspace: "/w", RepositoryID: 1,
		Head: fmt.Sprint(w.head(at)),
	}
}
