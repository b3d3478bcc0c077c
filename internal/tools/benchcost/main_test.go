package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

// asCCUsage adds transcripts up as ccusage does: each answer once, by its tokens and the prices.
func asCCUsage(t *testing.T, home string) sums {
	t.Helper()
	prices, err := meter.Prices(month.End())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err, len(paths))
	}
	var all sums
	at := map[string]int{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var answer struct {
				Timestamp string
				Message   struct {
					Model string
					Usage struct {
						Input  int64 `json:"input_tokens"`
						Output int64 `json:"output_tokens"`
						Read   int64 `json:"cache_read_input_tokens"`
						Write  int64 `json:"cache_creation_input_tokens"`
					}
				}
			}
			if err := json.Unmarshal(line, &answer); err != nil {
				t.Fatal(err)
			}
			u := answer.Message.Usage
			usd, ok := prices.Cost(answer.Message.Model, u.Input, u.Read, u.Write, 0, u.Output)
			if !ok {
				t.Fatal(answer.Message.Model)
			}
			date := answer.Timestamp[:10]
			if _, ok := at[date]; !ok {
				at[date] = len(all.Daily)
				all.Daily = append(all.Daily, day{Date: date})
			}
			all.Daily[at[date]].USD += usd
			all.Totals.USD += usd
		}
	}
	return all
}

// TestBothSeeTheSameRuns: transcripts and records of the month come to the same dollars, day by day, and the page is only
// written when they do.
func TestBothSeeTheSameRuns(t *testing.T) {
	t.Parallel()
	recorded, err := month.Load(filepath.Join(testtool.Root(t), filepath.FromSlash(runsDir)))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := month.Make(recorded)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := measured{version: "ccusage 0", runs: runs}
	if m.ours, err = cost(t.Context(), dir, runs); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := writeTranscript(dir, "x"+r.Run.Started.Format("0102T1504"), r); err != nil {
			t.Fatal(err)
		}
	}
	m.theirs = asCCUsage(t, dir)
	text, err := m.page()
	if err != nil || math.Abs(m.theirs.Totals.USD-m.ours.Total.USD.Sum) > 0.001 || m.ours.Total.Runs != len(runs) {
		t.Fatalf("%v: $%v and $%v, %d of %d runs", err, m.theirs.Totals.USD, m.ours.Total.USD.Sum, m.ours.Total.Runs, len(runs))
	}
	for _, want := range []string{"| 2026-11-10 |", "70 runs", "marked as missing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	m.theirs.Daily[3].USD += 0.01
	if _, err := m.page(); err == nil {
		t.Error("a difference of a cent is not noticed")
	}
	m.theirs.Daily = m.theirs.Daily[:3]
	if _, err := m.page(); err == nil {
		t.Error("missing days are not noticed")
	}
}
