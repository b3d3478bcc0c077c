package ledger

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

const (
	repo     = "octo-org/demo"
	repoID   = 7
	router   = ".github/workflows/issue-assistant.yml"
	triage   = ".github/workflows/issue-assistant-triage.yml"
	otherCI  = ".github/workflows/ci.yml"
	mainName = "main"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// github is a small repository: runs and artifacts in memory.
type github struct {
	runs      []ghapi.Run
	artifacts []ghapi.Artifact
	zips      map[int64][]byte
	fail      error
	downloads int
	requests  int
}

func newGitHub() *github { return &github{zips: map[int64][]byte{}} }

func (g *github) Artifacts(_ context.Context, name string, _ int) ([]ghapi.Artifact, error) {
	g.requests++
	var found []ghapi.Artifact
	for _, a := range g.artifacts {
		if a.Name == name {
			found = append(found, a)
		}
	}
	return found, g.fail
}

var errGone = &ghapi.Error{Kind: ghapi.KindNotFound, Status: 404}

func (g *github) DownloadArtifact(_ context.Context, id, limit int64) ([]byte, error) {
	g.requests++
	g.downloads++
	data, ok := g.zips[id]
	if !ok {
		return nil, errGone
	}
	if int64(len(data)) > limit {
		return nil, &ghapi.Error{Kind: ghapi.KindTooLarge}
	}
	return data, nil
}

func (g *github) Run(_ context.Context, id int64) (ghapi.Run, error) {
	g.requests++
	for _, r := range g.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return ghapi.Run{}, errGone
}

func (g *github) Runs(_ context.Context, f ghapi.RunFilter) ([]ghapi.Run, error) {
	g.requests++
	var found []ghapi.Run
	for _, r := range g.runs {
		if (f.Workflow == "" || strings.HasSuffix(r.Path, "/"+f.Workflow)) && (f.Status == "" || f.Status == r.Status || f.Status == r.Conclusion) && r.HeadBranch == f.Branch {
			found = append(found, r)
		}
	}
	return found, nil
}

func (g *github) start(id int64, path string) {
	g.runs = append(g.runs, ghapi.Run{ID: id, Attempt: 1, Path: path, HeadRepo: repo, HeadBranch: mainName, Status: "completed", Conclusion: "success", CreatedAt: now})
}

func record(run int64, cost float64) usage.Record {
	started := now
	return usage.Record{Schema: 1, Repository: repo, Issue: 1, Task: "triage", RunID: run, Attempt: 1, Started: &started, Ended: "finished", CostUSD: &cost}
}

func zipOf(t testing.TB, files map[string]any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, v := range files {
		data, isRaw := v.([]byte)
		var err error
		if !isRaw {
			if data, err = json.Marshal(v); err != nil {
				t.Fatal(err)
			}
		}
		method := zip.Store
		if len(data) > maxFile {
			method = zip.Deflate // small on the way, large when it is unpacked
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (g *github) upload(id, run int64, at time.Time, data []byte) *ghapi.Artifact {
	g.artifacts = append(g.artifacts, ghapi.Artifact{ID: id, Name: ArtifactName(1), RunID: run, RepoID: repoID, HeadRepoID: repoID, HeadBranch: mainName, CreatedAt: at})
	g.zips[id] = data
	return &g.artifacts[len(g.artifacts)-1]
}

func reader(g *github) Reader {
	return Reader{
		Source: g, Repo: repo, Branch: mainName, Workflows: []string{router, triage},
		Started: func(context.Context, ghapi.Run) (bool, error) { return true, nil },
	}
}

func read(t *testing.T, g *github) Result {
	t.Helper()
	got, err := reader(g).Read(t.Context(), MonthOf(now))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestParallelRunsLoseNothing lets 20 runs read and write in random order: whatever they knew of each other, a reader
// afterwards finds all of them, each once.
func TestParallelRunsLoseNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newGitHub()
		type step struct {
			run   int64
			write bool
		}
		var steps []step
		for run := int64(1); run <= 20; run++ {
			g.start(run, router)
			steps = append(steps, step{run, false}, step{run, true})
		}
		rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		known := map[int64]Carried{}
		done := map[int64]bool{}
		for i, s := range steps {
			if s.write {
				if _, hasRead := known[s.run]; !hasRead {
					known[s.run] = Carried{Schema: Version} // it could not read before it wrote
				}
				g.upload(100+s.run, s.run, now.Add(time.Duration(i)*time.Second), zipOf(t, map[string]any{RecordFile: record(s.run, 0.25), CarriedFile: known[s.run]}))
				done[s.run] = true
				continue
			}
			if !done[s.run] {
				known[s.run] = read(t, g).Ledger.Carry(MonthOf(now))
			}
		}
		got := read(t, g)
		if got.Ledger.Len() != 20 || len(got.Lost) != 0 {
			t.Fatalf("seed %d: %d of 20 records, %d lost", seed, got.Ledger.Len(), len(got.Lost))
		}
		if sum := got.Ledger.Sum(MonthOf(now), 1, got.Lost); math.Abs(sum.USD-5) > 1e-9 {
			t.Fatalf("seed %d: $%.4f, want $5", seed, sum.USD)
		}
	}
}

func TestTheUsualReadIsSmall(t *testing.T) {
	t.Parallel()
	g := newGitHub()
	var carried Carried
	for run := int64(1); run <= 200; run++ {
		g.start(run, router)
		g.upload(1000+run, run, now.Add(time.Duration(run)*time.Second), zipOf(t, map[string]any{RecordFile: record(run, 0.1), CarriedFile: carried}))
		g.downloads = 0
		got := read(t, g)
		if got.Ledger.Len() != int(run) || g.downloads > 1 {
			t.Fatalf("run %d: %d records in %d downloads", run, got.Ledger.Len(), g.downloads)
		}
		carried = got.Ledger.Carry(MonthOf(now))
	}
	if data, err := json.Marshal(carried); err != nil || len(data) > 200_000 {
		t.Errorf("200 runs carry %d bytes, %v", len(data), err)
	}
}

func TestForgedArtifactsChangeNothing(t *testing.T) {
	t.Parallel()
	bomb := bytes.Repeat([]byte{'0'}, maxFile+10)
	many := map[string]any{RecordFile: record(2, 99)}
	for i := range 10_000 {
		many[fmt.Sprint("x", i)] = []byte("x")
	}
	wrongAttempt := record(2, 99)
	wrongAttempt.Attempt = 5
	absurd := record(2, 1e9)
	negative := record(2, -5)
	for name, forge := range map[string]func(g *github){
		"a fork's pull request": func(g *github) {
			g.start(2, router)
			g.runs[1].HeadRepo = "stranger/demo"
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(2, 99)})).HeadRepoID = 666
		},
		"a fork that hides": func(g *github) {
			g.start(2, router)
			g.runs[1].HeadRepo = "stranger/demo"
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(2, 99)}))
		},
		"another workflow": func(g *github) {
			g.start(2, otherCI)
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(2, 99)}))
		},
		"another branch": func(g *github) {
			g.start(2, router)
			g.runs[1].HeadBranch = "evil"
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(2, 99)})).HeadBranch = "evil"
		},
		"a record of another run": func(g *github) {
			g.start(2, otherCI)
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(1, 99)}))
		},
		"carried records of runs that do not exist": func(g *github) {
			g.start(3, router)
			g.upload(13, 3, now.Add(time.Hour), zipOf(t, map[string]any{RecordFile: record(3, 0), CarriedFile: Carried{Schema: 1, Records: []usage.Record{record(777, 50)}}}))
		},
		"carried records of a foreign workflow": func(g *github) {
			g.start(3, router)
			g.start(4, otherCI)
			g.upload(13, 3, now.Add(time.Hour), zipOf(t, map[string]any{RecordFile: record(3, 0), CarriedFile: Carried{Schema: 1, Records: []usage.Record{record(4, 50)}}}))
		},
		"a run that does not exist": func(g *github) {
			g.upload(12, 2, now, zipOf(t, map[string]any{RecordFile: record(2, 99)}))
		},
		"an expired artifact": func(g *github) {
			g.start(2, otherCI)
			g.upload(12, 2, now, nil).Expired = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub()
			g.start(1, router)
			g.upload(11, 1, now, zipOf(t, map[string]any{RecordFile: record(1, 0.2)}))
			forge(g)
			got := read(t, g)
			if sum := got.Ledger.Sum(MonthOf(now), 1, got.Lost); math.Abs(sum.Total()-0.2) > 1e-9 {
				t.Errorf("the sum is $%.2f: %+v", sum.Total(), sum)
			}
		})
	}
	// What one of our own runs has uploaded damaged does not count either; that run is found again by its jobs.
	for name, data := range map[string][]byte{
		"no zip":           []byte("PK nonsense"),
		"zip bomb":         zipOf(t, map[string]any{RecordFile: bomb}),
		"too large":        bytes.Repeat([]byte("PK"), maxZip),
		"10,000 entries":   zipOf(t, many),
		"bad JSON":         zipOf(t, map[string]any{RecordFile: []byte("{")}),
		"array":            zipOf(t, map[string]any{RecordFile: []byte("[]")}),
		"wrong attempt":    zipOf(t, map[string]any{RecordFile: wrongAttempt}),
		"absurd cost":      zipOf(t, map[string]any{RecordFile: absurd}),
		"negative cost":    zipOf(t, map[string]any{RecordFile: negative}),
		"other run's":      zipOf(t, map[string]any{RecordFile: record(1, 99)}),
		"bad carried file": zipOf(t, map[string]any{RecordFile: []byte("null"), CarriedFile: []byte(`{"schema":9}`)}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub()
			g.start(1, router)
			g.upload(11, 1, now, zipOf(t, map[string]any{RecordFile: record(1, 0.2)}))
			g.start(2, router)
			g.runs[1].Conclusion = "failure"
			g.upload(12, 2, now, data)
			warned := 0
			r := reader(g)
			r.Warn = func(string) { warned++ }
			got, err := r.Read(t.Context(), MonthOf(now))
			if err != nil {
				t.Fatal(err)
			}
			sum := got.Ledger.Sum(MonthOf(now), 0.5, got.Lost)
			if sum.Runs != 1 || sum.Lost != 1 || math.Abs(sum.Total()-0.7) > 1e-9 || warned == 0 {
				t.Errorf("%+v, %d warnings", sum, warned)
			}
		})
	}
}

func TestLostRunsCountAtTheirBudget(t *testing.T) {
	t.Parallel()
	g := newGitHub()
	for id, end := range map[int64]string{1: "failure", 2: "cancelled", 3: "timed_out", 4: "success"} {
		g.start(id, router)
		g.runs[len(g.runs)-1].Conclusion = end
	}
	g.start(5, router)
	g.runs[4].Status, g.runs[4].Conclusion = "in_progress", ""
	r := reader(g)
	r.Self = Key{5, 1}
	asked := map[int64]int{}
	r.Started = func(_ context.Context, run ghapi.Run) (bool, error) { asked[run.ID]++; return run.ID != 2, nil }
	got, err := r.Read(t.Context(), MonthOf(now))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Lost, func(a, b Key) int { return int(a.RunID - b.RunID) })
	if diff := cmp.Diff([]Key{{1, 1}, {3, 1}}, got.Lost); diff != "" {
		t.Error(diff)
	}
	if !got.Ledger.Idle(Key{2, 1}) {
		t.Error("the run that started nothing must be remembered, so that it is not asked again")
	}
	if sum := got.Ledger.Sum(MonthOf(now), 2, got.Lost); sum.Total() != 4 || sum.Lost != 2 {
		t.Errorf("%+v", sum)
	}
}

func TestUnreadableHistoryIsAnError(t *testing.T) {
	t.Parallel()
	g := newGitHub()
	g.fail = errors.New("no connection")
	if _, err := reader(g).Read(t.Context(), MonthOf(now)); err == nil {
		t.Error("no error although nothing could be listed")
	}
}

func TestMonthsChangeAtMidnightUTC(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 11, 30, 23, 59, 59, 999, time.UTC)
	west := time.FixedZone("west", -8*3600)
	m := MonthOf(last)
	if !m.HoldsTime(last) || m.HoldsTime(last.Add(time.Second)) {
		t.Error("the month must end at midnight UTC")
	}
	if MonthOf(time.Date(2026, 11, 30, 17, 0, 0, 0, west)) != MonthOf(time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC)) {
		t.Error("local time zones must not matter")
	}
	if !m.End().Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) || MonthOf(m.End()).Start() != m.End() {
		t.Error("the next month starts where this one ends")
	}
	l := New()
	old := record(1, 3)
	before := m.Start().Add(-time.Second)
	old.Started = &before
	l.Add(old)
	l.Add(record(2, 4))
	if sum := l.Sum(m, 1, nil); sum.USD != 4 || sum.Runs != 1 {
		t.Errorf("%+v", sum)
	}
	if c := l.Carry(m); len(c.Records) != 1 {
		t.Errorf("last month's records are carried on: %+v", c)
	}
}

func TestCapStopsTheNextRun(t *testing.T) {
	t.Parallel()
	s := Sum{USD: 18.5, Reserved: 0.5}
	for _, tt := range []struct {
		budget, capUSD float64
		want           bool
	}{{1, 20, true}, {1.01, 20, false}, {100, 0, true}, {0.01, 19, false}} {
		if got := s.Admits(tt.budget, tt.capUSD); got != tt.want {
			t.Errorf("a run of $%v under a cap of $%v: %v", tt.budget, tt.capUSD, got)
		}
	}
}

func TestUnknownCostsAreCountedAndNeverZero(t *testing.T) {
	t.Parallel()
	l := New()
	unknown := record(1, 0)
	unknown.CostUSD = nil
	own := 2.0
	unknownWithBudget := record(2, 0)
	unknownWithBudget.CostUSD, unknownWithBudget.MaxBudgetUSD = nil, &own
	idle := record(3, 0)
	idle.CostUSD, idle.Ended = nil, "not_started"
	for _, r := range []usage.Record{unknown, unknownWithBudget, idle, {RunID: 0, Attempt: 1}} {
		l.Add(r)
	}
	if diff := cmp.Diff(Sum{Reserved: 3, Runs: 3, Unknown: 2}, l.Sum(MonthOf(now), 1, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestTheSetOnlyGrows(t *testing.T) {
	t.Parallel()
	l := New()
	if !l.Add(record(1, 0.5)) || l.Add(record(1, 0)) {
		t.Error("a record was replaced")
	}
	if got := *l.Records()[0].CostUSD; got != 0.5 {
		t.Errorf("the first record must stay, got $%v", got)
	}
}

func FuzzDecodeCarried(f *testing.F) {
	good, err := json.Marshal(Carried{Schema: 1, Records: []usage.Record{record(1, 1)}, Artifacts: []int64{1}, Idle: []Key{{1, 2}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":1,"idle":["1/","/1","1/1/1","-1/1"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCarried(data)
		if err != nil {
			return
		}
		for _, k := range c.Idle {
			if k.RunID <= 0 || k.Attempt <= 0 {
				t.Fatalf("key %+v", k)
			}
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeCarried(again); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}
