package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Advice is one thing to change, with the numbers that say so.
type Advice struct {
	Setting string `json:"setting"` // the key of config.toml, empty when there is none
	Text    string `json:"text"`
}

// Light prices a run as if a cheaper model had done it.
type Light struct {
	Model string // full id, empty when none is known for the engine
	Price usage.Pricer
}

// From how many runs on something is said about them.
const (
	leastRunsForStops = 5
	leastRunsForSlack = 20
	leastRunsForLight = 10
)

// Advise looks at the records of a report's time for limits that are often or never reached, replies on a dear model, and
// runs that posted nothing. lightIsSet says that the settings have a model of their own for the replies.
func Advise(records []usage.Record, since, until time.Time, light Light, lightIsSet bool) []Advice {
	var in []usage.Record
	for _, r := range records {
		if r.Started != nil && !r.Started.Before(since) && r.Started.Before(until) {
			in = append(in, r)
		}
	}
	advice := slices.Concat(stops(in), slack(in), wasted(in))
	if !lightIsSet {
		advice = append(advice, lighter(in, light)...)
	}
	if advice == nil {
		return []Advice{}
	}
	return advice
}

func settingOf(ended engine.Ended) string {
	return map[engine.Ended]string{engine.Turns: "max_turns", engine.Budget: "max_budget_usd", engine.Time: "timeout_minutes"}[ended]
}

// stops names tasks of which a fifth or more ended at the same limit.
func stops(in []usage.Record) []Advice {
	runs := map[string]int{}
	at := map[string]map[engine.Ended]int{}
	for _, r := range in {
		runs[r.Task]++
		if at[r.Task] == nil {
			at[r.Task] = map[engine.Ended]int{}
		}
		at[r.Task][engine.Ended(r.Ended)]++
	}
	var out []Advice
	for _, task := range slices.Sorted(maps.Keys(runs)) {
		for _, ended := range []engine.Ended{engine.Turns, engine.Budget, engine.Time} {
			n := at[task][ended]
			if runs[task] < leastRunsForStops || n*5 < runs[task] {
				continue
			}
			out = append(out, Advice{settingOf(ended), fmt.Sprintf("raise `%s`: %d of %d %s runs stopped at it and posted nothing",
				settingOf(ended), n, runs[task], shown(task))})
		}
	}
	return out
}

// slack names limits of which no run used half.
func slack(in []usage.Record) []Advice {
	var turns, budget, n int
	most, mostUSD, least := 0.0, 0.0, 0.0
	for _, r := range in {
		n++
		if r.Turns != nil && r.MaxTurns != nil && *r.MaxTurns > 0 {
			turns++
			most = max(most, float64(*r.Turns)/float64(*r.MaxTurns))
		}
		if r.CostUSD != nil && r.MaxBudgetUSD != nil && *r.MaxBudgetUSD > 0 {
			budget++
			mostUSD, least = max(mostUSD, *r.CostUSD), max(least, *r.MaxBudgetUSD)
		}
	}
	var out []Advice
	if turns >= leastRunsForSlack && most < 0.5 {
		out = append(out, Advice{"max_turns", fmt.Sprintf("`max_turns` could be lower: of %d runs none used more than %.0f%% of its turns", turns, 100*most)})
	}
	if budget >= leastRunsForSlack && mostUSD < least/2 {
		out = append(out, Advice{"max_budget_usd", fmt.Sprintf("`max_budget_usd` could be lower: of %d runs the dearest cost $%.2f of $%.2f", budget, mostUSD, least)})
	}
	return out
}

// wasted says what was paid for nothing.
func wasted(in []usage.Record) []Advice {
	var paid Micros
	n := 0
	for _, r := range in {
		if r.CostUSD != nil && *r.CostUSD > 0 && engine.Ended(r.Ended) != engine.Finished {
			paid += microsOf(*r.CostUSD)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []Advice{{"", fmt.Sprintf("%s that posted nothing cost $%.2f", runsText(n), paid.USD())}}
}

// lighter prices the replies, which only say yes or no, on the light model.
func lighter(in []usage.Record, light Light) []Advice {
	if light.Model == "" || light.Price == nil {
		return nil
	}
	var now, then float64
	n := 0
	for _, r := range in {
		reply := r.Task == "maintainer-reply" || r.Task == "release-reply"
		if !reply || r.CostUSD == nil || len(r.Models) == 0 || r.Models[0].ID == light.Model {
			continue
		}
		sum := 0.0
		for _, m := range r.Models {
			usd, ok := light.Price(light.Model, deref(m.Input), deref(m.CachedInput), deref(m.CacheWrite), 0, deref(m.Output))
			if !ok {
				return nil
			}
			sum += usd
		}
		now, then, n = now+*r.CostUSD, then+sum, n+1
	}
	if n < leastRunsForLight || then >= now/2 {
		return nil
	}
	return []Advice{{"light_model", fmt.Sprintf("set `light_model = %q`: %d replies cost $%.2f, the same tokens on it $%.2f", light.Model, n, now, then)}}
}

func shown(task string) string {
	if task == "" {
		return unknownName
	}
	return task
}
