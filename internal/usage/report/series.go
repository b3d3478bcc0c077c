package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/usage"
)

const dayFormat = "2006-01-02"

func addDay(days map[string]map[string]Micros, r *usage.Record) {
	if r.CostUSD == nil {
		return
	}
	date := r.Started.UTC().Format(dayFormat)
	if days[date] == nil {
		days[date] = map[string]Micros{}
	}
	days[date][cmp.Or(usage.Word(r.Task), unknownName)] += microsOf(*r.CostUSD)
}

// addModels books each model's own dollars where the record has them, else the run's on its first model.
func addModels(models map[string]Micros, r *usage.Record) {
	if r.CostUSD == nil {
		return
	}
	rest := microsOf(*r.CostUSD)
	for _, m := range r.Models {
		if m.CostUSD == nil {
			continue
		}
		usd := min(microsOf(*m.CostUSD), rest)
		models[cmp.Or(m.ID, unknownName)] += usd
		rest -= usd
	}
	if rest > 0 {
		models[modelOf(r)] += rest
	}
}

func dayList(days map[string]map[string]Micros) []Day {
	list := make([]Day, 0, len(days))
	for date, tasks := range days {
		d := Day{Date: date, USD: map[string]float64{}}
		for task, m := range tasks {
			d.USD[task] = m.USD()
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Day) int { return cmp.Compare(a.Date, b.Date) })
	return list
}

func shareList(models map[string]Micros) []Share {
	list := make([]Share, 0, len(models))
	for name, m := range models {
		list = append(list, Share{Name: name, USD: m.USD()})
	}
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(a.Name, b.Name)) })
	return list
}

// Forecast is what the calendar month (UTC) will come to if it goes on as it did.
type Forecast struct {
	Month  string  `json:"month"` // YYYY-MM
	USD    float64 `json:"usd"`
	SoFar  float64 `json:"so_far_usd"`
	Days   float64 `json:"days"` // that it rests on
	Runs   int     `json:"runs"`
	Reason string  `json:"reason,omitempty"` // why there is no number
}

// leastForecastDays is how much of a month has to be seen.
const leastForecastDays = 3

// forecast draws a straight line from the first of the month to now.
func forecast(records []usage.Record, now time.Time) *Forecast {
	now = now.UTC()
	start := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	end := start.AddDate(0, 1, 0)
	var soFar Micros
	priced := 0
	f := &Forecast{Month: start.Format("2006-01"), Days: now.Sub(start).Hours() / 24}
	for i := range records {
		r := &records[i]
		if r.Started == nil || r.Started.Before(start) || !r.Started.Before(now) {
			continue
		}
		f.Runs++
		if r.CostUSD != nil {
			soFar += microsOf(*r.CostUSD)
			priced++
		}
	}
	f.SoFar = soFar.USD()
	if f.Days < leastForecastDays {
		f.Reason = "too early in the month"
		return f
	}
	if priced == 0 && f.Runs > 0 {
		f.Reason = "no cost is known"
		return f
	}
	f.USD = f.SoFar * end.Sub(start).Hours() / now.Sub(start).Hours()
	return f
}
