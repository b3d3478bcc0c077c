package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/usage"
)

var update = flag.Bool("update", false, "write golden files anew")

var (
	since = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	until = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// sample builds records with a seed: the same records every time.
func sample(n int, seed uint64) []usage.Record {
	rng := rand.New(rand.NewPCG(seed, 7))
	tasks := []string{"triage", "triage", "triage", "follow-up", "maintainer-reply", "release-reply", "reanalyze"}
	ended := []string{"finished", "finished", "finished", "finished", "finished", "budget", "turns", "provider_error"}
	all := make([]usage.Record, 0, n)
	for i := range n {
		started := since.Add(time.Duration(rng.Int64N(int64(19 * 24 * time.Hour))))
		cost := math.Round(rng.Float64()*600_000) / 1e6
		turns, ms := 1+rng.Int64N(30), 5000+rng.Int64N(200_000)
		in, cached, write, out := rng.Int64N(20_000), rng.Int64N(300_000), rng.Int64N(20_000), rng.Int64N(4000)
		maxTurns, budget := 40, 1.0
		r := usage.Record{
			Schema: 1, Repository: "octo-org/demo", Issue: 1 + rng.IntN(max(n/2, 1)), Task: tasks[rng.IntN(len(tasks))],
			RunID: int64(i + 1), Attempt: 1, Started: &started, Engine: "claude", ModelAsked: "claude-opus-5-5",
			Ended: ended[rng.IntN(len(ended))], Turns: &turns, MaxTurns: &maxTurns, DurationMS: &ms, CostUSD: &cost, MaxBudgetUSD: &budget,
			Models: []usage.RecordModel{{ID: "claude-opus-5-5", Input: &in, CachedInput: &cached, CacheWrite: &write, Output: &out, CostUSD: &cost}},
		}
		if i%17 == 0 {
			r.CostUSD, r.Models = nil, nil
		}
		all = append(all, r)
	}
	return all
}

func TestShownCentsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		records := sample(1+int(seed), seed)
		for _, by := range Groupings {
			rep := Make(records, by, since, until)
			var cents int64
			var exact Micros
			runs, unknown := 0, 0
			for _, r := range rep.Rows {
				cents += r.Cents
				exact += r.total
				runs += r.Runs
				unknown += r.Unknown
				if off := math.Abs(float64(r.Cents) - float64(r.total)/10_000); off >= 1 {
					t.Fatalf("seed %d by %s: a row is shown %.2f cents off", seed, by, off)
				}
			}
			if cents != rep.Total.Cents || exact != rep.Total.total || runs != rep.Total.Runs || unknown != rep.Total.Unknown {
				t.Fatalf("seed %d by %s: rows %d cents %d runs, total %d cents %d runs", seed, by, cents, runs, rep.Total.Cents, rep.Total.Runs)
			}
			days, models := 0.0, 0.0
			for _, d := range rep.Days {
				for _, usd := range d.USD {
					days += usd
				}
			}
			for _, m := range rep.Models {
				models += m.USD
			}
			if total := rep.Total.USD.Sum; math.Abs(days-total) > 1e-6 || math.Abs(models-total) > 1e-6 {
				t.Fatalf("seed %d: charts show $%.6f and $%.6f of $%.6f", seed, days, models, total)
			}
		}
	}
}

func TestUnknownCostsAreCountedNotAdded(t *testing.T) {
	t.Parallel()
	records := sample(3, 1)
	for i := range records {
		records[i].CostUSD = nil
	}
	rep := Make(records, ByTask, since, until)
	if rep.Total.Unknown != 3 || rep.Total.USD.Median != nil || rep.Total.PerIssueUSD != nil {
		t.Errorf("%+v", rep.Total)
	}
	var b bytes.Buffer
	if err := rep.Text(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, " 0.00") || !strings.Contains(text, "3 runs of unknown cost, in no sum") {
		t.Errorf("unknown is shown as nothing:\n%s", text)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	records := sample(60, 3)
	light := Light{Model: "claude-haiku-5-5", Price: func(_ string, in, cached, w5, _, out int64) (float64, bool) {
		return (float64(in)*0.1 + float64(cached)*0.01 + float64(w5)*0.125 + float64(out)*0.5) / 1e6, true
	}}
	rep := Make(records, ByTask, since, until)
	rep.Advice = Advise(records, since, until, light, false)
	var text bytes.Buffer
	if err := rep.Text(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, " ") || !strings.Contains(line, ".") {
			continue
		}
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > maxColumns && strings.Contains(line, "  ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	data, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"cost.txt": text.String(), "cost.md": rep.Markdown(), "cost.json": string(data) + "\n"} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.MkdirAll("testdata", 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWideNamesStayInTheTable(t *testing.T) {
	t.Parallel()
	records := sample(20, 5)
	for i := range records {
		records[i].ModelAsked = strings.Repeat("m", 150) + fmt.Sprint(i)
		records[i].Models = nil
	}
	var b bytes.Buffer
	if err := Make(records, ByModel, since, until).Text(&b); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(b.String(), "\n")
	for i, line := range strings.Split(b.String(), "\n") {
		if i > len(records) {
			break
		}
		if n := utf8.RuneCountInString(line); n > maxColumns {
			t.Errorf("%d columns (head %d)", n, len(head))
		}
	}
}

func TestForecast(t *testing.T) {
	t.Parallel()
	cost := 3.0
	at := func(day int) *time.Time { x := time.Date(2026, 11, day, 1, 0, 0, 0, time.UTC); return &x }
	records := []usage.Record{{Schema: 1, Started: at(1), CostUSD: &cost}, {Schema: 1, Started: at(9), CostUSD: &cost}, {Schema: 1, Started: at(25), CostUSD: &cost}}
	now := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC)
	want := &Forecast{Month: "2026-11", USD: 18, SoFar: 6, Days: 10, Runs: 2}
	if diff := cmp.Diff(want, forecast(records, now)); diff != "" {
		t.Error(diff)
	}
	if f := forecast(records, now.AddDate(0, 0, -9)); f.Reason == "" || f.USD != 0 {
		t.Errorf("a forecast from one day: %+v", f)
	}
}

func TestAdviceHasItsNumbers(t *testing.T) {
	t.Parallel()
	records := sample(40, 9)
	for i := range records {
		records[i].Task, records[i].Ended = "maintainer-reply", "finished"
		if i < 10 {
			records[i].Task, records[i].Ended = "triage", "turns"
		}
		*records[i].Turns = 3
	}
	light := Light{Model: "small", Price: func(string, int64, int64, int64, int64, int64) (float64, bool) { return 0.001, true }}
	got := Advise(records, since, until, light, false)
	var settings []string
	for _, a := range got {
		settings = append(settings, a.Setting)
	}
	if diff := cmp.Diff([]string{"max_turns", "max_turns", "", "light_model"}, settings); diff != "" {
		t.Errorf("%s\n%+v", diff, got)
	}
	if want := "raise `max_turns`: 10 of 10 triage runs stopped at it and posted nothing"; got[0].Text != want {
		t.Errorf("got %q", got[0].Text)
	}
	if again := Advise(records, since, until, light, true); len(again) != 3 {
		t.Errorf("a light model is set already: %+v", again)
	}
	if none := Advise(nil, since, until, light, false); len(none) != 0 || none == nil {
		t.Errorf("no runs, no advice: %+v", none)
	}
}

// TestForgedRecords: foreign words and impossible numbers in a folder never reach the report.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(sample(1, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{
		`"ended":"::error::\u001b[31m"`, `"task":"a\n::error::b"`, `"cost_usd":-5`, `"cost_usd":1e308`, `"turns":-5`,
		`"duration_ms":-1`, `"calls":-1`, `"issue":-1`, `"run_id":-1`, `"schema":2`, `"max_budget_usd":-1`,
		`"models":[{"id":"m","cost_usd":-1}]`, `"models":[{"id":"m","input":-1}]`, `"models":[{"id":"m","output":4611686018427387904}]`,
	} {
		for _, name := range []string{"a.json", "a.jsonl"} {
			data := append(good[:len(good)-1:len(good)-1], ","+forged+"}"...)
			if got, unread, err := Load(fstest.MapFS{name: {Data: data}}); err != nil || len(got) != 0 || len(unread) != 1 {
				t.Errorf("%s in %s: %d records, unread %v, %v", forged, name, len(got), unread, err)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	records := sample(4, 2)
	asJSON := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	lines := append(append(asJSON(records[1]), '\n'), append([]byte("not a record\n\n"), asJSON(records[2])...)...)
	got, unread, err := Load(fstest.MapFS{
		"one.json":         {Data: asJSON(records[0])},
		"sub/lines.jsonl":  {Data: lines},
		"sub/carried.json": {Data: asJSON(map[string]any{"schema": 1, "records": records[:2]})},
		"array.json":       {Data: asJSON(records[3:])},
		"other.json":       {Data: []byte(`{"a":1}`)},
		"broken.json":      {Data: []byte(`{"a":`)},
		"README.md":        {Data: []byte("x")},
		"pipe.json":        {Mode: fs.ModeNamedPipe},
		"mark.json":        {Data: append([]byte("\uFEFF"), asJSON(records[0])...)},
	})
	if err != nil || len(got) != 4 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	if diff := cmp.Diff([]string{"broken.json", "other.json", "pipe.json"}, unread); diff != "" {
		t.Error(diff)
	}
}

func TestNoRuns(t *testing.T) {
	t.Parallel()
	rep := Make(nil, ByIssue, since, until)
	var b bytes.Buffer
	if err := rep.Text(&b); err != nil || !strings.Contains(b.String(), "No runs in this time.") {
		t.Errorf("%q %v", b.String(), err)
	}
	if md := rep.Markdown(); strings.Contains(md, "mermaid") {
		t.Errorf("an empty chart: %s", md)
	}
}

func BenchmarkMake100k(b *testing.B) {
	records := sample(100_000, 4)
	b.ReportAllocs()
	for b.Loop() {
		Make(records, ByTask, since, until)
	}
}

// TestBarsAreDaysInARow: a day without a run has its place, labels never meet, and nothing is lost when days are put
// together.
func TestBarsAreDaysInARow(t *testing.T) {
	t.Parallel()
	begin := time.Date(2027, 1, 28, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ days, bars, step int }{{1, 1, 1}, {31, 31, 1}, {32, 5, 7}, {108, 16, 7}, {109, 4, 28}, {400, 15, 28}} {
		for shift := range 40 {
			first := begin.AddDate(0, 0, shift)
			last := first.AddDate(0, 0, tt.days-1)
			rep := Report{Days: []Day{{first.Format(dayFormat), map[string]float64{"triage": 1}}}}
			if tt.days > 1 {
				rep.Days = append(rep.Days, Day{last.Format(dayFormat), map[string]float64{"triage": 0.25, "reanalyze": 0.5}})
			}
			bars := rep.bars()
			seen, sum := map[string]bool{}, 0.0
			for _, b := range bars {
				seen[b.label] = true
				sum += b.above([]string{"triage", "reanalyze"})
			}
			if want := 1 + 0.75*float64(min(tt.days-1, 1)); len(bars) != tt.bars || len(seen) != len(bars) || sum != want {
				t.Fatalf("%d days from %s: %d bars, %d labels, $%v of $%v", tt.days, first.Format(dayFormat), len(bars), len(seen), sum, want)
			}
		}
	}
}

func TestPieHasFewSlices(t *testing.T) {
	t.Parallel()
	var rep Report
	for i := range 9 {
		rep.Models = append(rep.Models, Share{fmt.Sprintf("m%d \"x\"\n", i), float64(9 - i)})
	}
	rep.Models = append(rep.Models, Share{"nothing", 0.004})
	chart := rep.modelChart()
	if strings.Count(chart, " : ") != 6 || !strings.Contains(chart, `"others" : 10.00`) || !strings.Contains(chart, "\"m0 'x' \" : 9.00\n") || strings.Contains(chart, "nothing") {
		t.Error(chart)
	}
	if chart := (Report{Models: []Share{{"free", 0.001}}}).modelChart(); chart != "" {
		t.Error(chart)
	}
}
