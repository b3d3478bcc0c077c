package task

import (
	"fmt"
	"strings"
)

// Attempt is a run of the events' workflow today that has taken a place, or may still take one.
type Attempt struct {
	Run   int64
	Actor string
}

// StrangerLimits are those of people without write access, in runs a day.
type StrangerLimits struct {
	PerPerson int
	PerDay    int
}

// Place reports whether a run of actor may start, and if not, why. Only runs with a lower id count, and each of them
// that is on its way counts as started: of two runs at the same moment the later one sees the earlier one, so the last
// place is never given twice. Nobody takes more places of the day than a person may have, however many runs wait.
// exempt says whose runs do not count for the day; it is asked only when it matters.
func Place(self int64, actor string, before []Attempt, l StrangerLimits, exempt func(actor string) bool) (ok bool, why string) {
	mine := 0
	others := map[string]int{}
	seen := map[int64]bool{}
	for _, a := range before {
		if a.Run >= self || seen[a.Run] {
			continue
		}
		seen[a.Run] = true
		if strings.EqualFold(a.Actor, actor) {
			mine++
		} else {
			others[strings.ToLower(a.Actor)]++
		}
	}
	if mine >= l.PerPerson {
		return false, fmt.Sprintf("this person has started %d of %d runs today (`runs_per_person_per_day`)", l.PerPerson, l.PerPerson)
	}
	day := mine
	for _, n := range others {
		day += min(n, l.PerPerson)
	}
	if day >= l.PerDay && exempt != nil {
		for login, n := range others {
			if day < l.PerDay {
				break
			}
			if exempt(login) {
				day -= min(n, l.PerPerson)
			}
		}
	}
	if day >= l.PerDay {
		return false, fmt.Sprintf("people without write access have started %d of %d runs today (`runs_per_day`)", day, l.PerDay)
	}
	return true, ""
}
