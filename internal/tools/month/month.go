// Package month makes up a month of runs for pictures and comparisons: the recorded runs of internal/tools/pictures in a
// random order that is the same every time.
package month

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// Recorded is one recorded run: what the meter wrote, without what the engine read and said.
type Recorded struct {
	Run   engine.RunRecord
	Calls []engine.CallRecord
	End   engine.EndRecord
}

// Run is one run of the month.
type Run struct {
	Recorded

	ID    int64 // of the workflow's run
	Issue int
}

// Parse reads an execution file of ours.
func Parse(data []byte) (Recorded, error) {
	var r Recorded
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(lines.Bytes(), &kind); err != nil {
			return r, err
		}
		var err error
		switch kind.Type {
		case engine.TypeRun:
			err = json.Unmarshal(lines.Bytes(), &r.Run)
		case engine.TypeCall:
			var c engine.CallRecord
			err = json.Unmarshal(lines.Bytes(), &c)
			r.Calls = append(r.Calls, c)
		case engine.TypeEnd:
			err = json.Unmarshal(lines.Bytes(), &r.End)
		}
		if err != nil {
			return r, err
		}
	}
	if r.Run.Type == "" || r.End.Type == "" || len(r.Calls) == 0 {
		return r, fmt.Errorf("no execution file of a whole run")
	}
	return r, lines.Err()
}

// Encode is the execution file of a recorded run.
func (r Recorded) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	if err := e.Encode(r.Run); err != nil {
		return nil, err
	}
	for _, c := range r.Calls {
		if err := e.Encode(c); err != nil {
			return nil, err
		}
	}
	err := e.Encode(r.End)
	return b.Bytes(), err
}

// Load reads the recorded runs of a folder by their names, such as triage-small.
func Load(dir string) (map[string]Recorded, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	all := map[string]Recorded{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = r
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no recorded run in %s: `make pictures-record` makes them", dir)
	}
	return all, nil
}

// Begin and End are the month's days.
func Begin() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

// End is when the report is made.
func End() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

// Make draws the month's runs from the recorded ones. One in twelve is stopped at its turns, and some fail at the
// provider.
func Make(recorded map[string]Recorded) ([]Run, error) {
	rng := rand.New(rand.NewPCG(42, 11))
	tasks := []string{"triage", "triage", "triage", "triage", "follow-up", "follow-up", "reanalyze", "maintainer-reply", "maintainer-reply", "release-reply"}
	sizes := []string{"small", "middle", "middle", "middle", "large"}
	var runs []Run
	for day := Begin(); day.Before(End().Truncate(24 * time.Hour)); day = day.AddDate(0, 0, 1) {
		n := 2 + rng.IntN(6)
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			n = rng.IntN(3)
		}
		for range n {
			name := tasks[rng.IntN(len(tasks))] + "-" + sizes[rng.IntN(len(sizes))]
			r, ok := recorded[name]
			if !ok {
				return nil, fmt.Errorf("there is no recorded run %s", name)
			}
			run := Run{Recorded: r, ID: int64(7_000_000 + len(runs)), Issue: 40 + rng.IntN(45)}
			run.Run.Issue = run.Issue
			run.Run.Started = day.Add(time.Duration(7*60+rng.IntN(14*60)) * time.Minute)
			switch k := rng.IntN(24); {
			case k < 2:
				run.stop(engine.Turns, min(len(r.Calls)-1, 3+rng.IntN(9)))
			case k == 2:
				run.stop(engine.ProviderError, 1)
				run.End.Status = 500
			}
			run.time(rng)
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return a.Run.Started.Compare(b.Run.Started) })
	return runs, nil
}

// stop cuts the run after its first n calls.
func (r *Run) stop(how engine.Ended, n int) {
	r.Calls = slices.Clone(r.Calls[:n])
	if how == engine.Turns {
		r.Run.MaxTurns = n
	}
	r.End = engine.EndRecord{Type: engine.TypeEnd, Ended: how, Turns: n, Calls: n, CostBasis: r.End.CostBasis}
	for _, c := range r.Calls {
		r.End.CostUSD += c.CostUSD
	}
}

// time gives the calls a duration: the stand-in of the recorded runs answers at once.
func (r *Run) time(rng *rand.Rand) {
	r.End.DurationMS = 0
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		r.Calls[i].DurationMS = 1500 + r.Calls[i].Output*14 + rng.Int64N(3000)
		r.End.DurationMS += r.Calls[i].DurationMS
	}
}
