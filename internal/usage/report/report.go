// Package report adds up records of runs: what a repository's runs have cost, by task, model, week or issue, what the
// month will come to, and what to change.
//
// Dollars are added in whole millionths, and shown cents are spread so that a column adds up to its total.
package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// By is what the rows of a report stand for.
type By string

// The groupings.
const (
	ByTask  By = "task"
	ByModel By = "model"
	ByWeek  By = "week"
	ByIssue By = "issue"
)

// Groupings lists them in the order of the documentation.
var Groupings = []By{ByTask, ByModel, ByWeek, ByIssue}

// Micros are millionths of a dollar.
type Micros int64

// USD is the amount in dollars.
func (m Micros) USD() float64 { return float64(m) / 1e6 }

func microsOf(usd float64) Micros { return Micros(math.Round(usd * 1e6)) }

// Row adds up one group of runs. Costs that are not known are counted, never added as 0.
type Row struct {
	Name        string         `json:"name"`
	Runs        int            `json:"runs"`
	Finished    int            `json:"finished"`
	Stopped     map[string]int `json:"stopped"` // turns, budget, time
	Other       map[string]int `json:"other"`   // every other ending
	Unknown     int            `json:"unknown"` // runs whose cost is not known
	Turns       Spread         `json:"turns"`
	Seconds     Spread         `json:"seconds"`
	USD         Dollars        `json:"usd"`
	Issues      int            `json:"issues"`         // different issues
	PerIssueUSD *float64       `json:"per_issue_usd"`  // per issue with a known cost
	PerAnswer   *float64       `json:"per_answer_usd"` // per run that ended with an answer
	CachedShare *float64       `json:"cached_share"`   // of all input tokens, 0 to 1
	WastedUSD   float64        `json:"wasted_usd"`     // of runs that posted nothing
	Cents       int64          `json:"cents"`          // as shown: the rows add up to the total
	total       Micros
	wasted      Micros
}

// Spread is the middle, the 90th percentile and the largest of known values; all nil when none is known.
type Spread struct {
	Median *float64 `json:"median"`
	P90    *float64 `json:"p90"`
	Max    *float64 `json:"max"`
}

// Dollars adds the sum of what is known.
type Dollars struct {
	Sum float64 `json:"sum"`
	Spread
}

// Report is the whole: rows, their total, dollars per day and per model, forecast and advice.
type Report struct {
	Schema   int       `json:"schema"`
	By       By        `json:"by"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Rows     []Row     `json:"rows"`
	Total    Row       `json:"total"`
	Lost     int       `json:"lost"` // runs that started an engine and left no record: in no sum
	Days     []Day     `json:"days"`
	Models   []Share   `json:"models"`
	Forecast *Forecast `json:"forecast"`
	Advice   []Advice  `json:"advice"`
}

// Day is what one day (UTC) has cost, by task.
type Day struct {
	Date string             `json:"date"` // YYYY-MM-DD
	USD  map[string]float64 `json:"usd"`
}

// Share is what one model has cost.
type Share struct {
	Name string  `json:"name"`
	USD  float64 `json:"usd"`
}

// Schema is the version of the JSON form.
const Schema = 1

// Make adds up the records that started between since and until.
func Make(records []usage.Record, by By, since, until time.Time) Report {
	rep := Report{Schema: Schema, By: by, Since: since.UTC(), Until: until.UTC(), Rows: []Row{}, Days: []Day{}, Models: []Share{}, Advice: []Advice{}}
	groups, all := map[string]*group{}, newGroup("total")
	days := map[string]map[string]Micros{}
	models := map[string]Micros{}
	for i := range records {
		r := &records[i]
		if r.Started == nil || r.Started.Before(since) || !r.Started.Before(until) {
			continue
		}
		name := nameOf(r, by)
		if groups[name] == nil {
			groups[name] = newGroup(name)
		}
		groups[name].add(r)
		all.add(r)
		addDay(days, r)
		addModels(models, r)
	}
	for _, g := range groups {
		rep.Rows = append(rep.Rows, g.row())
	}
	slices.SortStableFunc(rep.Rows, func(a, b Row) int { return compareRows(by, a, b) })
	rep.Total = all.row()
	spreadCents(rep.Rows, &rep.Total)
	rep.Days, rep.Models = dayList(days), shareList(models)
	rep.Forecast = forecast(records, until)
	return rep
}

func compareRows(by By, a, b Row) int {
	if by == ByWeek {
		return cmp.Compare(a.Name, b.Name)
	}
	return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Name, b.Name))
}

const unknownName = "?"

func nameOf(r *usage.Record, by By) string {
	switch by {
	case ByTask:
		return cmp.Or(usage.Word(r.Task), unknownName)
	case ByModel:
		return modelOf(r)
	case ByWeek:
		year, week := r.Started.UTC().ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case ByIssue:
	}
	if r.Issue <= 0 {
		return unknownName
	}
	return "#" + strconv.Itoa(r.Issue)
}

// modelOf is the model that cost most; records list it first.
func modelOf(r *usage.Record) string {
	if len(r.Models) > 0 && r.Models[0].ID != "" {
		return r.Models[0].ID
	}
	return cmp.Or(r.ModelAsked, unknownName)
}

type group struct {
	Row
	turns, seconds, usd []float64
	issues              map[int]bool // whether a cost is known
	answers             int          // finished, at a known cost
	cached, input       int64
}

func newGroup(name string) *group {
	return &group{Row: Row{Name: name, Stopped: map[string]int{}, Other: map[string]int{}}, issues: map[int]bool{}}
}

func (g *group) add(r *usage.Record) {
	g.Runs++
	ended := engine.Ended(r.Ended)
	switch {
	case ended == engine.Finished:
		g.Finished++
	case ended.Stopped():
		g.Stopped[r.Ended]++
	default:
		g.Other[r.Ended]++
	}
	if r.Turns != nil {
		g.turns = append(g.turns, float64(*r.Turns))
	}
	if r.DurationMS != nil {
		g.seconds = append(g.seconds, float64(*r.DurationMS)/1000)
	}
	if r.Issue > 0 {
		g.issues[r.Issue] = g.issues[r.Issue] || r.CostUSD != nil
	}
	for _, m := range r.Models {
		cached := deref(m.CachedInput)
		g.cached += cached
		g.input += cached + deref(m.Input) + deref(m.CacheWrite)
	}
	if r.CostUSD == nil {
		g.Unknown++
		return
	}
	g.usd = append(g.usd, *r.CostUSD)
	g.total += microsOf(*r.CostUSD)
	if ended == engine.Finished {
		g.answers++
	} else {
		g.wasted += microsOf(*r.CostUSD)
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (g *group) row() Row {
	r := g.Row
	r.Turns, r.Seconds = spread(g.turns), spread(g.seconds)
	r.USD = Dollars{Sum: g.total.USD(), Spread: spread(g.usd)}
	r.WastedUSD = g.wasted.USD()
	r.Issues = len(g.issues)
	priced := 0
	for _, known := range g.issues {
		if known {
			priced++
		}
	}
	r.PerIssueUSD = ratio(g.total.USD(), float64(priced))
	r.PerAnswer = ratio(g.total.USD(), float64(g.answers))
	r.CachedShare = ratio(float64(g.cached), float64(g.input))
	return r
}

func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	x := a / b
	return &x
}

// spread uses the nearest rank: a value that was really seen.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	at := func(share float64) *float64 {
		i := int(math.Ceil(share*float64(len(values)))) - 1
		x := values[max(i, 0)]
		return &x
	}
	return Spread{Median: at(0.5), P90: at(0.9), Max: at(1)}
}

// spreadCents rounds so that the rows add up to the rounded total: each row is cut to whole cents, and the cents that are
// then missing go to the rows with the largest rest.
func spreadCents(rows []Row, total *Row) {
	const centMicros = 10_000
	total.Cents = int64(math.Round(float64(total.total) / centMicros))
	missing := total.Cents
	order := make([]int, len(rows))
	for i := range rows {
		rows[i].Cents = int64(rows[i].total / centMicros)
		missing -= rows[i].Cents
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(rows[b].total%centMicros, rows[a].total%centMicros)
	})
	for _, i := range order {
		if missing <= 0 {
			return
		}
		rows[i].Cents++
		missing--
	}
}
