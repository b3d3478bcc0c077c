package session

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// The prices of the rows, in dollars per million tokens: the 5-minute and the 1-hour write rate.
var testPrices = map[string][4]float64{ // write 5m, write 1h, read, output
	"claude-opus-5-5": {5, 8, 0.2, 20},
	"claude-opus-5":   {6.25, 10, 0.5, 25},
	"claude-sonnet-5": {2.5, 4, 0.2, 10},
}

func priceOf(model string, ttl int64) *Price {
	p, ok := testPrices[model]
	if !ok {
		return nil
	}
	price := Price{Write: p[0], Read: p[2], Output: p[3]}
	if ttl > 300 {
		price.Write = p[1]
	}
	return &price
}

type row struct {
	ID     string `json:"id"`
	Input  Input  `json:"input"`
	Expect struct {
		Decision string    `json:"decision"`
		Reasons  []Reason  `json:"reasons"`
		Notes    []Note    `json:"notes"`
		Estimate *Estimate `json:"estimate"`
	} `json:"expect"`
}

func rows(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "sessions", "S*.json"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d rows, %v", len(files), err)
	}
	var all []row
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r row
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, r)
	}
	return all
}

func rowNamed(t *testing.T, id string) row {
	t.Helper()
	for _, r := range rows(t) {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no row %s", id)
	return row{}
}

func decide(in Input) Decision {
	return Decide(in, priceOf(in.Current.Model, in.CacheTTLSeconds))
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t) {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			d := decide(r.Input)
			if d.Word() != r.Expect.Decision {
				t.Errorf("got %s, want %s", d.Word(), r.Expect.Decision)
			}
			if diff := cmp.Diff(r.Expect.Reasons, append([]Reason{}, d.Reasons...)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r.Expect.Notes, append([]Note{}, d.Notes...)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			compareEstimate(t, r.Expect.Estimate, d.Estimate)
		})
	}
}

func compareEstimate(t *testing.T, want, got *Estimate) {
	t.Helper()
	if (want == nil) != (got == nil) {
		t.Fatalf("estimate: got %v, want %v", got, want)
	}
	if want == nil {
		return
	}
	for _, pair := range [][2]float64{{want.Warm, got.Warm}, {want.ResumeUSD, got.ResumeUSD}, {want.FreshUSD, got.FreshUSD}} {
		if math.Abs(pair[0]-pair[1]) > 0.00006 {
			t.Errorf("estimate: got %+v, want %+v", *got, *want)
		}
	}
}

// Rows of the page that have no file of their own.
func TestFurtherRows(t *testing.T) {
	t.Parallel()
	base := rowNamed(t, "S02").Input
	change := func(f func(*Input)) Input {
		in := base
		saved := *base.Saved
		in.Saved = &saved
		f(&in)
		return in
	}
	empty := ""
	for name, tt := range map[string]struct {
		in   Input
		want []Reason
	}{
		"S61 last use in two hours":       {change(func(i *Input) { i.Saved.LastUsed = i.Now.Add(2 * time.Hour) }), []Reason{RecordTime}},
		"S61 four minutes of skew":        {change(func(i *Input) { i.Saved.LastUsed = i.Now.Add(4 * time.Minute) }), nil},
		"S64 merged wakes":                {change(func(i *Input) { i.ForceFresh = MergeForced(false, true, false) }), []Reason{ForceFresh}},
		"no merged wake was forced":       {change(func(i *Input) { i.ForceFresh = MergeForced(false, false) }), nil},
		"empty key":                       {change(func(i *Input) { i.Key = &empty }), []Reason{NoTaskKey}},
		"unknown effort":                  {change(func(i *Input) { i.Saved.Effort = nil }), []Reason{EffortChanged}},
		"unknown hash on both sides":      {change(func(i *Input) { i.Saved.RulesHash, i.Current.RulesHash = "", "" }), []Reason{RulesChanged}},
		"default effort on both sides":    {change(func(i *Input) { i.Saved.Effort, i.Current.Effort = &empty, "" }), nil},
		"unknown version":                 {change(func(i *Input) { i.Saved.EngineVersion = "" }), []Reason{EngineMajorChanged}},
		"minor version":                   {change(func(i *Input) { i.Current.EngineVersion = "2.2.0" }), nil},
		"stopped by its turns":            {change(func(i *Input) { i.Saved.Ended = "turns" }), nil},
		"stopped by its budget":           {change(func(i *Input) { i.Saved.Ended = "budget" }), nil},
		"empty run":                       {change(func(i *Input) { i.Saved.ContextTokens = 0 }), []Reason{LastRunPoisoned}},
		"rate limited":                    {change(func(i *Input) { i.Saved.Ended = "rate_limited" }), []Reason{LastRunPoisoned}},
		"an ending of another release":    {change(func(i *Input) { i.Saved.Ended = "finished_well" }), []Reason{LastRunPoisoned}},
		"an ending in another case":       {change(func(i *Input) { i.Saved.Ended = "Finished" }), []Reason{LastRunPoisoned}},
		"72 hours":                        {change(func(i *Input) { i.Saved.Created = i.Now.Add(-72 * time.Hour) }), []Reason{MaxAge}},
		"just under 72 hours":             {change(func(i *Input) { i.Saved.Created = i.Now.Add(-72*time.Hour + time.Second) }), nil},
		"window of 200k":                  {change(func(i *Input) { i.Current.ContextWindow, i.Saved.ContextTokens = 200_000, 80_000 }), []Reason{MaxContext}},
		"window of 1M":                    {change(func(i *Input) { i.Current.ContextWindow, i.Saved.ContextTokens = 1_000_000, 79_999 }), nil},
		"hash of transcript":              {change(func(i *Input) { i.Store = StoreHash }), []Reason{TranscriptHash}},
		"secret in transcript":            {change(func(i *Input) { i.Store = StoreSecret }), []Reason{TranscriptSecret}},
		"unknown verdict":                 {change(func(i *Input) { i.Store = "fine, trust me" }), []Reason{TranscriptUntrusted}},
		"mode of another letter case":     {change(func(i *Input) { i.Mode = "AUTO" }), []Reason{SessionsOff}},
		"shadow decides alike":            {change(func(i *Input) { i.Mode = Shadow }), nil},
		"other repository":                {change(func(i *Input) { i.Current.RepositoryID = 2 }), []Reason{RepoChanged}},
		"other workspace":                 {change(func(i *Input) { i.Current.Workspace = "/elsewhere" }), []Reason{WorkspaceMoved}},
		"read to comment":                 {change(func(i *Input) { i.Permission = PermissionComment }), []Reason{PermissionChanged}},
		"continuation without price":      {change(func(i *Input) { i.Wake, i.Current.Model = "retry_transient", "m-x"; i.Saved.Model = "m-x" }), nil},
		"continuation of a poisoned run":  {change(func(i *Input) { i.Wake = "retry_transient"; i.Saved.Ended = "provider_error" }), []Reason{LastRunPoisoned}},
		"record of another key and model": {change(func(i *Input) { i.Saved.Key = "x"; i.Saved.Model = "x" }), []Reason{RecordKey, ModelChanged}},
	} {
		if diff := cmp.Diff(tt.want, decide(tt.in).Reasons); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFailedResumeStartsFreshOnce(t *testing.T) {
	t.Parallel()
	d := decide(rowNamed(t, "S02").Input)
	if d.Fresh() || d.Prompt != PromptDelta {
		t.Fatalf("S02 must resume with the delta prompt, got %+v", d)
	}
	second := AfterFailedResume(d)
	if diff := cmp.Diff([]Reason{ResumeFailed}, second.Reasons); diff != "" || second.Prompt != PromptFull {
		t.Errorf("second attempt: %+v", second)
	}
}

func TestPromptKinds(t *testing.T) {
	t.Parallel()
	in := rowNamed(t, "S02").Input
	for name, tt := range map[string]struct {
		change func(*Input)
		want   PromptKind
	}{
		"resume":          {func(*Input) {}, PromptDelta},
		"shadow":          {func(i *Input) { i.Mode = Shadow }, PromptFullCheckpoint},
		"rules changed":   {func(i *Input) { i.Current.RulesHash = "r2" }, PromptFullCheckpoint},
		"asked to forget": {func(i *Input) { i.ForceFresh = true }, PromptFull},
		"forged record":   {func(i *Input) { s := *i.Saved; s.AuthorIsTrusted = false; i.Saved = &s }, PromptFull},
		"other class":     {func(i *Input) { i.Permission = PermissionWrite }, PromptFull},
		"switched off":    {func(i *Input) { i.Mode = Off }, PromptFull},
		"nothing saved":   {func(i *Input) { i.Saved = nil }, PromptFull},
	} {
		changed := in
		tt.change(&changed)
		if got := decide(changed).Prompt; got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
