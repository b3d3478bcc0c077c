package ledger

import (
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Sum is what a month has cost so far. USD holds what is known; runs whose cost is unknown, lost or still going are in
// Reserved at their full budget, and are counted.
type Sum struct {
	USD      float64
	Reserved float64
	Runs     int // with a record
	Unknown  int // with a record, without a cost
	Lost     int // started, without a record
}

// Total is what counts against the cap.
func (s Sum) Total() float64 { return s.USD + s.Reserved }

// Sum adds up a month. budget stands for runs whose own budget is not known either, in dollars; lost are started runs
// without a record.
func (l *Ledger) Sum(month Month, budget float64, lost []Key) Sum {
	var s Sum
	for _, r := range l.records {
		if !month.Holds(r) {
			continue
		}
		s.Runs++
		if r.CostUSD != nil {
			s.USD += *r.CostUSD
			continue
		}
		if r.Ended == string(engine.NotStarted) {
			continue
		}
		s.Unknown++
		s.Reserved += budgetOf(r, budget)
	}
	for _, k := range lost {
		if l.Has(k) {
			continue
		}
		s.Lost++
		s.Reserved += budget
	}
	return s
}

func budgetOf(r usage.Record, otherwise float64) float64 {
	if r.MaxBudgetUSD != nil {
		return *r.MaxBudgetUSD
	}
	return otherwise
}

// Admits reports whether a run with this budget may start under a monthly cap. A cap of 0 admits every run.
func (s Sum) Admits(budget, capUSD float64) bool {
	return capUSD == 0 || s.Total()+budget <= capUSD
}
