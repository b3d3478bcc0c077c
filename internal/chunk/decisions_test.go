package chunk

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func rowFiles(t *testing.T, pattern string, least int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "sessions", pattern))
	if err != nil || len(files) < least {
		t.Fatalf("%d rows, %v", len(files), err)
	}
	return files
}

func load(t *testing.T, file string, expect any) State {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Input  State           `json:"input"`
		Expect json.RawMessage `json:"expect"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Expect, expect); err != nil {
		t.Fatal(err)
	}
	return r.Input
}

func TestPollRows(t *testing.T) {
	t.Parallel()
	for _, file := range rowFiles(t, "P*.json", 14) {
		var want Verdict
		got := Poll(load(t, file, &want))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
		}
	}
}

func TestWrapRows(t *testing.T) {
	t.Parallel()
	for _, file := range rowFiles(t, "W*.json", 9) {
		var want WrapResult
		in := load(t, file, &want)
		got := WrapUp(in.Chunk, in.Facts)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
		}
	}
}

func base() State {
	calls, context, cost := int64(50), int64(60_000), 0.5
	return State{
		Chunk: &Chunk{
			State: Open, Claims: []Claim{{1, ClaimOpen}}, Armed: true, PullRequestsMade: 1,
			Calls: &calls, ContextTokens: &context, CostUSD: &cost,
		},
		Facts:  Facts{GitHub: "ok", Changed: true, SecondsSinceRun: 1e9, BudgetLeft: true},
		Limits: DefaultLimits(),
	}
}

func TestFurtherPollRows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*State)
		want   Verdict
	}{
		"released chunk":              {func(s *State) { s.Chunk.State = Released }, Verdict{Quiet, ChunkReleased, true, 0, nil}},
		"failed chunk waits":          {func(s *State) { s.Chunk.State = Failed }, Verdict{Hold, Paused, false, 0, nil}},
		"400 calls":                   {func(s *State) { *s.Chunk.Calls = 400 }, Verdict{Release, ChunkLimit, true, 0, nil}},
		"sixth pull request":          {func(s *State) { s.Chunk.PullRequestsMade = 6 }, Verdict{Release, ChunkLimit, true, 0, nil}},
		"$20":                         {func(s *State) { *s.Chunk.CostUSD = 20 }, Verdict{Release, ChunkLimit, true, 0, nil}},
		"7 days":                      {func(s *State) { s.Facts.SecondsSinceChange = 604_800 }, Verdict{Release, WaitedTooLong, true, 0, nil}},
		"a second before 7 days":      {func(s *State) { s.Facts.SecondsSinceChange = 604_799 }, Verdict{Run, LiveAndChanged, false, 0, nil}},
		"own events":                  {func(s *State) { s.Facts.OwnEventsOnly = true }, Verdict{Quiet, OwnEventsOnly, false, 0, nil}},
		"2 idle runs, 119 s":          {func(s *State) { s.Facts.RunsWithoutProgress, s.Facts.SecondsSinceRun = 2, 119 }, Verdict{Quiet, Throttled, false, 0, nil}},
		"7 idle runs, 1,800 s":        {func(s *State) { s.Facts.RunsWithoutProgress, s.Facts.SecondsSinceRun = 7, 1800 }, Verdict{Run, LiveAndChanged, false, 0, nil}},
		"many idle runs":              {func(s *State) { s.Facts.RunsWithoutProgress, s.Facts.SecondsSinceRun = 1<<30, 1799 }, Verdict{Quiet, Throttled, false, 0, nil}},
		"rate limit":                  {func(s *State) { s.Facts.GitHub = "rate_limit" }, Verdict{Error, GitHubRateLimit, false, 0, nil}},
		"unreadable, third":           {func(s *State) { s.Facts.GitHub, s.Facts.ErrorsInARow = "unreadable", 2 }, Verdict{Error, GitHubUnreadable, false, 3, nil}},
		"an outage hides everything":  {func(s *State) { s.Facts.GitHub, s.Chunk = "timeout", nil }, Verdict{Error, GitHubTimeout, false, 0, nil}},
		"feedback on a merged pull":   {func(s *State) { s.Chunk.Claims, s.Chunk.FeedbackOpen = nil, 1 }, Verdict{Run, LiveAndChanged, false, 0, nil}},
		"claim that nobody can read":  {func(s *State) { s.Chunk.Claims[0].State = ClaimUnknown }, Verdict{Run, LiveAndChanged, false, 0, nil}},
		"claim state of a later time": {func(s *State) { s.Chunk.Claims[0].State = "dreaming" }, Verdict{Run, LiveAndChanged, false, 0, nil}},
		"use unknown":                 {func(s *State) { s.Chunk.Calls, s.Chunk.CostUSD = nil, nil }, Verdict{Run, LiveAndChanged, false, 0, []string{"calls", "cost_usd"}}},
		"context unknown":             {func(s *State) { s.Chunk.ContextTokens = nil }, Verdict{Run, LiveAndChanged, false, 0, []string{"context_tokens"}}},
	} {
		s := base()
		tt.change(&s)
		if diff := cmp.Diff(tt.want, Poll(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// every builds all combinations of the classes of input.
func every(visit func(State)) {
	phases := []Phase{Open, Working, Waiting, Releasing, Wrapping, Wrapped, Released, Failed, "unheard of"}
	claims := [][]Claim{nil, {{1, ClaimOpen}}, {{1, ClaimClosed}, {2, ClaimReleased}}, {{1, ClaimUnknown}}, {{1, ClaimDone}, {2, ClaimTakenOver}}}
	pulls := [][]Pull{nil, {{9, PullOpen}}, {{9, PullMerged}, {10, PullClosed}}, {{9, PullUnknown}}}
	for _, phase := range phases {
		for _, c := range claims {
			for _, p := range pulls {
				for bits := range 1 << 10 {
					s := base()
					on := func(i int) bool { return bits&(1<<i) != 0 }
					s.Chunk.State, s.Chunk.Claims, s.Chunk.PullRequests = phase, c, p
					s.Chunk.Paused, s.Chunk.Armed, s.Facts.Changed, s.Facts.OwnEventsOnly = on(0), on(1), on(2), on(3)
					s.Facts.BudgetLeft = on(4)
					if on(5) {
						s.Chunk.FeedbackOpen = 1
					}
					if on(6) {
						s.Chunk.TrackedLeft = 1
					}
					if on(7) {
						s.Facts.GitHub = "timeout"
					}
					if on(8) {
						s.Chunk.FailedWrites, s.Chunk.FindingsUnfiled, s.Chunk.FollowupsClaimed = 1, 1, 1
					}
					if on(9) {
						s.Facts.RunsWithoutProgress, s.Facts.SecondsSinceRun = 3, 5
					}
					visit(s)
				}
			}
		}
	}
}

func TestInvariants(t *testing.T) {
	t.Parallel()
	every(func(s State) {
		v := Poll(s)
		if v.Action == Run && (!s.Chunk.live() || s.Chunk.Paused || !s.Facts.Changed || s.Facts.OwnEventsOnly || !s.Facts.BudgetLeft || s.Facts.GitHub != "ok") {
			t.Fatalf("the gate runs with nothing live: %+v %+v", *s.Chunk, s.Facts)
		}
		if s.Facts.GitHub != "ok" && (v.Disarm || v.Action != Error) {
			t.Fatalf("an outage ended a chunk: %+v", v)
		}
		if v.Disarm && s.Chunk.live() && (v.Action == Quiet && s.Chunk.State != Wrapped && s.Chunk.State != Released) {
			t.Fatalf("a live chunk was disarmed quietly: %+v", v)
		}
		w := WrapUp(s.Chunk, s.Facts)
		if (w.State == StateWrapped) != (len(w.Unmet) == 0) {
			t.Fatalf("wrapped and unmet disagree: %+v", w)
		}
		if w.State == StateWrapped && s.Chunk.Armed {
			t.Fatalf("wrapped while the poll is armed")
		}
		if w.State == StateWrapped && s.Facts.GitHub != "ok" && s.Chunk.State != Wrapped {
			t.Fatalf("wrapped in an outage")
		}
	})
}

func TestAWrappedChunkStaysWrapped(t *testing.T) {
	t.Parallel()
	s := base()
	s.Chunk.State, s.Chunk.Armed = Wrapped, false
	if got := WrapUp(s.Chunk, s.Facts); got.State != StateWrapped {
		t.Errorf("W14: got %+v", got)
	}
	if got := Poll(s); got.Reason != ChunkWrapped {
		t.Errorf("W14: the gate says %+v", got)
	}
}

func TestClaimRows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	mine := func(id int64, chunk string, lease time.Duration) Marker {
		return Marker{CommentID: id, Chunk: chunk, LeaseUntil: now.Add(lease), Trusted: true}
	}
	ready := Candidate{Ready: true, Labelled: true}
	with := func(f func(*Candidate)) Candidate { c := ready; f(&c); return c }
	me := Claimer{Chunk: "a", State: Open}
	for name, tt := range map[string]struct {
		by   Claimer
		c    Candidate
		want ClaimVerdict
	}{
		"K01 ready":                 {me, ready, ClaimVerdict{}},
		"K02 ours already":          {me, with(func(c *Candidate) { c.Markers = []Marker{mine(5, "a", time.Hour)} }), ClaimVerdict{Ours: true}},
		"K03 another's":             {me, with(func(c *Candidate) { c.Markers = []Marker{mine(5, "b", time.Hour)} }), ClaimVerdict{Refused: RefusedHeld}},
		"K04 lease expired":         {me, with(func(c *Candidate) { c.Markers = []Marker{mine(5, "b", -time.Hour)} }), ClaimVerdict{TakeOver: "b"}},
		"K05 backlog":               {me, with(func(c *Candidate) { c.Ready = false; c.Backlog = true }), ClaimVerdict{Refused: RefusedNotReady}},
		"K05 ready and backlog":     {me, with(func(c *Candidate) { c.Backlog = true }), ClaimVerdict{Refused: RefusedNotReady}},
		"K06 pull request":          {me, with(func(c *Candidate) { c.HasOpenPull = true }), ClaimVerdict{Refused: RefusedHasPull}},
		"K07 assignee":              {me, with(func(c *Candidate) { c.HumanAssignee = true }), ClaimVerdict{Refused: RefusedAssigned}},
		"K08 closed":                {me, with(func(c *Candidate) { c.Closed = true }), ClaimVerdict{Refused: RefusedClosed}},
		"K09 set fixed":             {Claimer{"a", Working, 1}, ready, ClaimVerdict{Refused: RefusedSetFixed}},
		"K10 own follow-up":         {me, with(func(c *Candidate) { c.SpawnedBy = "a" }), ClaimVerdict{Refused: RefusedOwnFollowup}},
		"K11 another's follow-up":   {me, with(func(c *Candidate) { c.SpawnedBy = "b" }), ClaimVerdict{}},
		"K13 stranger's marker":     {me, with(func(c *Candidate) { m := mine(1, "b", time.Hour); m.Trusted = false; c.Markers = []Marker{m} }), ClaimVerdict{}},
		"K14 seventh":               {Claimer{"a", Open, 6}, ready, ClaimVerdict{Refused: RefusedChunkFull}},
		"sixth":                     {Claimer{"a", Open, 5}, ready, ClaimVerdict{}},
		"K16 released":              {me, with(func(c *Candidate) { m := mine(1, "b", time.Hour); m.Withdrawn = true; c.Markers = []Marker{m} }), ClaimVerdict{}},
		"without the chunk's label": {me, with(func(c *Candidate) { c.Labelled = false }), ClaimVerdict{Refused: RefusedNotLabelled}},
		"ours but closed":           {me, with(func(c *Candidate) { c.Closed = true; c.Markers = []Marker{mine(5, "a", time.Hour)} }), ClaimVerdict{Refused: RefusedClosed}},
		"lowest id wins":            {me, with(func(c *Candidate) { c.Markers = []Marker{mine(9, "a", time.Hour), mine(5, "b", time.Hour)} }), ClaimVerdict{Refused: RefusedHeld}},
		"lowest id is ours":         {me, with(func(c *Candidate) { c.Markers = []Marker{mine(9, "b", time.Hour), mine(5, "a", time.Hour)} }), ClaimVerdict{Ours: true}},
	} {
		if diff := cmp.Diff(tt.want, MayClaim(tt.by, tt.c, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
