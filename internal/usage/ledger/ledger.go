// Package ledger keeps what the runs of a month have cost: a set of records that only grows, carried from run to run in
// artifacts, so that parallel runs lose nothing and no branch or database is needed.
//
// Each run uploads its own record together with the records it knew and the ids of the artifacts these came from. A
// reader loads the newest artifact first and goes on until every artifact of the month is contained in what it has.
package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Version is the version of Carried.
const Version = 1

// Names of the two files in an artifact.
const (
	RecordFile  = "issue-assistant-usage.json"  // the run's own record
	CarriedFile = "issue-assistant-ledger.json" // what it knew of others
)

// Key names one attempt of one run.
type Key struct {
	RunID   int64
	Attempt int
}

// Carried is what a run knew when it started.
type Carried struct {
	Schema    int            `json:"schema"`
	Records   []usage.Record `json:"records"`
	Artifacts []int64        `json:"artifacts"` // ids of the artifacts whose records are contained
	Idle      []Key          `json:"idle"`      // runs that ended without a record because they never started an engine
}

// MarshalText keeps a key short: "run/attempt".
func (k Key) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d/%d", k.RunID, k.Attempt), nil }

// UnmarshalText reads "run/attempt".
func (k *Key) UnmarshalText(text []byte) error {
	run, attempt, _ := strings.Cut(string(text), "/")
	id, err1 := strconv.ParseInt(run, 10, 64)
	n, err2 := strconv.Atoi(attempt)
	if err1 != nil || err2 != nil || id <= 0 || n <= 0 {
		return errors.New("a key is written run/attempt")
	}
	k.RunID, k.Attempt = id, n
	return nil
}

// Ledger is the set. The zero value is not usable: New.
type Ledger struct {
	records   map[Key]usage.Record
	artifacts map[int64]bool
	idle      map[Key]bool
}

// New is an empty ledger.
func New() *Ledger {
	return &Ledger{records: map[Key]usage.Record{}, artifacts: map[int64]bool{}, idle: map[Key]bool{}}
}

// Add puts a record in. A record that is there already stays as it is: the set only grows, so it cannot be rewritten
// later by whoever carries it.
func (l *Ledger) Add(r usage.Record) bool {
	key := Key{r.RunID, r.Attempt}
	if key.RunID <= 0 || key.Attempt <= 0 {
		return false
	}
	if _, known := l.records[key]; known {
		return false
	}
	l.records[key] = r
	return true
}

// Contains reports whether the records of an artifact are in the set.
func (l *Ledger) Contains(artifact int64) bool { return l.artifacts[artifact] }

// MarkContained notes that the records of an artifact are in the set.
func (l *Ledger) MarkContained(artifact int64) { l.artifacts[artifact] = true }

// MarkIdle notes a run that ended without starting an engine.
func (l *Ledger) MarkIdle(k Key) { l.idle[k] = true }

// Idle reports whether a run is known to have started no engine.
func (l *Ledger) Idle(k Key) bool { return l.idle[k] }

// Has reports whether there is a record of an attempt.
func (l *Ledger) Has(k Key) bool {
	_, ok := l.records[k]
	return ok
}

// Len is the number of records.
func (l *Ledger) Len() int { return len(l.records) }

// Records returns all records, oldest run first.
func (l *Ledger) Records() []usage.Record {
	all := make([]usage.Record, 0, len(l.records))
	for _, r := range l.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b usage.Record) int {
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt))
	})
	return all
}

// Carry is what the next run hands on: the records of the month and the artifacts they came from.
func (l *Ledger) Carry(month Month) Carried {
	c := Carried{Schema: Version, Records: []usage.Record{}, Artifacts: []int64{}, Idle: []Key{}}
	for _, r := range l.Records() {
		if month.Holds(r) {
			c.Records = append(c.Records, r)
		}
	}
	for id := range l.artifacts {
		c.Artifacts = append(c.Artifacts, id)
	}
	slices.Sort(c.Artifacts)
	for k := range l.idle {
		c.Idle = append(c.Idle, k)
	}
	slices.SortStableFunc(c.Idle, func(a, b Key) int { return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt)) })
	return c
}

// Month is a calendar month in UTC.
type Month struct{ start, end time.Time }

// MonthOf is the month that holds a moment.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	start := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return Month{start: start, end: start.AddDate(0, 1, 0)}
}

// Start is the month's first moment.
func (m Month) Start() time.Time { return m.start }

// End is the first moment of the next month.
func (m Month) End() time.Time { return m.end }

// Holds reports whether a run started in this month. A run whose start is not known counts in every month.
func (m Month) Holds(r usage.Record) bool {
	return r.Started == nil || m.HoldsTime(*r.Started)
}

// HoldsTime reports whether a moment lies in this month.
func (m Month) HoldsTime(t time.Time) bool { return !t.Before(m.start) && t.Before(m.end) }

// maxCarried bounds what is believed of one artifact.
const maxCarried = 20_000

// DecodeCarried reads a file of carried records.
func DecodeCarried(data []byte) (Carried, error) {
	var c Carried
	if err := json.Unmarshal(data, &c); err != nil {
		return Carried{}, fmt.Errorf("read carried records: %w", err)
	}
	if c.Schema != Version {
		return Carried{}, fmt.Errorf("carried records of schema %d: this release reads %d", c.Schema, Version)
	}
	if len(c.Records) > maxCarried || len(c.Artifacts) > maxCarried || len(c.Idle) > maxCarried {
		return Carried{}, fmt.Errorf("more than %d carried records", maxCarried)
	}
	return c, nil
}
