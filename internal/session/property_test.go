package session

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// faults are the classes of input: each changes one thing, and names the reason it must add (none for notes).
type fault struct {
	name   string
	apply  func(*Input)
	reason Reason
}

func faults() []fault {
	saved := func(f func(*Record)) func(*Input) {
		return func(in *Input) { f(in.Saved) }
	}
	return []fault{
		{"off", func(in *Input) { in.Mode = Off }, SessionsOff},
		{"forced", func(in *Input) { in.ForceFresh = true }, ForceFresh},
		{"no key", func(in *Input) { in.Key = nil }, NoTaskKey},
		{"opened", func(in *Input) { in.Wake = "issue_opened" }, WakeIssueOpened},
		{"schema", saved(func(r *Record) { r.Schema = 9 }), RecordSchema},
		{"author", saved(func(r *Record) { r.AuthorIsTrusted = false }), RecordAuthor},
		{"future", saved(func(r *Record) { r.LastUsed = r.LastUsed.Add(time.Hour) }), RecordTime},
		{"model", saved(func(r *Record) { r.Model = "other" }), ModelChanged},
		{"rules", func(in *Input) { in.Current.RulesHash = "other" }, RulesChanged},
		{"tools", func(in *Input) { in.Current.ToolsHash = "other" }, ToolsChanged},
		{"permission", func(in *Input) { in.Permission = PermissionWrite }, PermissionChanged},
		{"rewritten", func(in *Input) { in.Current.SavedHeadIsAncestor = false }, HistoryRewritten},
		{"edited", func(in *Input) { in.Material.IngestedCommentsChanged = true }, MaterialEdited},
		{"poisoned", saved(func(r *Record) { r.Ended = "provider_error" }), LastRunPoisoned},
		{"runs", saved(func(r *Record) { r.Runs = 20 }), MaxRuns},
		{"store", func(in *Input) { in.Store = StoreMissing }, TranscriptMissing},
	}
}

// TestFullCrossProduct builds every subset of the faults: 65,536 inputs.
func TestFullCrossProduct(t *testing.T) {
	t.Parallel()
	base := rowNamed(t, "S02").Input
	all := faults()
	price := priceOf("claude-opus-5-5", 300)
	for set := range 1 << len(all) {
		in := base
		record := *base.Saved
		in.Saved = &record
		var want []Reason
		for i, f := range all {
			if set&(1<<i) != 0 {
				f.apply(&in)
				want = append(want, f.reason)
			}
		}
		d := Decide(in, price)
		if d.Fresh() != (len(d.Reasons) > 0) || (d.Word() == "fresh") != d.Fresh() {
			t.Fatalf("set %b: fresh and reasons disagree: %+v", set, d)
		}
		// The table above is in the order of the contract, so the reasons must come out exactly so.
		if !slices.Equal(want, d.Reasons) {
			t.Fatalf("set %b: got %v, want %v", set, d.Reasons, want)
		}
		if d.Fresh() && d.Prompt == PromptDelta {
			t.Fatalf("set %b: a fresh conversation got the delta prompt", set)
		}
		if in.ForceFresh && !d.Fresh() {
			t.Fatalf("set %b: a forced fresh start was lost", set)
		}
	}
}

func TestAMismatchNeverTurnsFreshIntoResume(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t) {
		if r.Input.Saved == nil || !decide(r.Input).Fresh() {
			continue
		}
		for _, f := range faults() {
			in := r.Input
			record := *r.Input.Saved
			in.Saved = &record
			f.apply(&in)
			if d := decide(in); !d.Fresh() {
				t.Errorf("%s with %s resumes", r.ID, f.name)
			}
		}
	}
}

func TestWordsAreOfTheClosedListsWhateverTheTextHolds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	hostile := []string{"", "x", "<!-- -->", "::error::", "a\nb", "${{ secrets.X }}", strings.Repeat("z", 5000), "wake_x"}
	pick := func() string { return hostile[rng.IntN(len(hostile))] }
	base := rowNamed(t, "S02").Input
	for range 5000 {
		in := base
		record := *base.Saved
		in.Saved = &record
		key := pick()
		in.Key, in.Task, in.Wake, in.Mode, in.Store = &key, pick(), Wake(pick()), Mode(pick()), Store(pick())
		in.Permission, in.Material.BodyHash = Permission(pick()), pick()
		record.Author, record.Key, record.Engine, record.EngineVersion, record.Ended = pick(), pick(), pick(), pick(), pick()
		record.Runs, record.ContextTokens, record.CostUSD = rng.IntN(40)-10, rng.Int64N(300_000)-1000, rng.Float64()*10-1
		first, second := decide(in), decide(in)
		if !slices.Equal(first.Reasons, second.Reasons) || !slices.Equal(first.Notes, second.Notes) {
			t.Fatal("two calls with one input differ")
		}
		last := -1
		for _, r := range first.Reasons {
			i := slices.Index(Reasons, r)
			if i <= last {
				t.Fatalf("reason %q is unknown or out of order in %v", r, first.Reasons)
			}
			last = i
		}
		for _, n := range first.Notes {
			if n != HeadMoved && n != EnginePatchChanged {
				t.Fatalf("unknown note %q", n)
			}
		}
	}
}
