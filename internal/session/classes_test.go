package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// class is one kind of value of one part of the input, with the reason that it must add (none: "") and the note.
type class struct {
	set    func(in *Input, saved *Record)
	reason Reason
	note   Note
}

// known is one part of the input. Its first class is the one that allows to resume.
type part struct {
	name    string
	classes []class
}

func only(reason Reason, sets ...func(*Input, *Record)) []class {
	out := []class{{set: func(*Input, *Record) {}}}
	for _, s := range sets {
		out = append(out, class{set: s, reason: reason})
	}
	return out
}

// parts are all parts of the input with all their classes. Reasons do not depend on one another, so that what a whole
// input must give is the reasons of its classes in their order.
func parts() []part {
	wakes := []class{{set: func(*Input, *Record) {}}}
	for _, w := range []Wake{"reporter_replied", "maintainer_commented", "mention", "review_requested", "changes_requested", "poll_scoped", "manual", "retry_transient", "retry_process_lost", "continue_turns", "continue_budget"} {
		wakes = append(wakes, class{set: func(in *Input, _ *Record) { in.Wake = w }})
	}
	for _, w := range []Wake{"issue_opened", "assigned", "approval_requested", "reviewer_recovery", "poll_unscoped", "issue_edited", "reopened"} {
		wakes = append(wakes, class{set: func(in *Input, _ *Record) { in.Wake = w }, reason: Reason("wake_" + w)})
	}
	for _, w := range []Wake{"", "Manual", "wake_manual", "issue_comment_recovered"} {
		wakes = append(wakes, class{set: func(in *Input, _ *Record) { in.Wake = w }, reason: WakeUnknown})
	}
	empty, other := "", "follow-up/o/r#8"
	stores := only(TranscriptMissing, func(in *Input, _ *Record) { in.Store = StoreMissing })
	stores = append(
		stores, class{set: func(in *Input, _ *Record) { in.Store = StoreHash }, reason: TranscriptHash},
		class{set: func(in *Input, _ *Record) { in.Store = StoreSecret }, reason: TranscriptSecret},
		class{set: func(in *Input, _ *Record) { in.Store = StoreUntrusted }, reason: TranscriptUntrusted},
		class{set: func(in *Input, _ *Record) { in.Store = "" }, reason: TranscriptUntrusted},
	)
	engines := []class{
		{set: func(*Input, *Record) {}},
		{set: func(in *Input, _ *Record) { in.Current.EngineVersion = "2.1.251" }, note: EnginePatchChanged},
		{set: func(in *Input, _ *Record) { in.Current.EngineVersion = "3.0.0" }, reason: EngineMajorChanged, note: EnginePatchChanged},
		{set: func(_ *Input, r *Record) { r.EngineVersion = "" }, reason: EngineMajorChanged, note: EnginePatchChanged},
		{set: func(in *Input, _ *Record) { in.Current.Engine = "codex" }, reason: EngineChanged},
	}
	times := []class{
		{set: func(*Input, *Record) {}},
		{set: func(in *Input, r *Record) { r.LastUsed = in.Now.Add(-30 * time.Second) }},
		{set: func(in *Input, r *Record) {
			r.LastUsed = in.Now.Add(-9 * time.Hour)
			r.Created = in.Now.Add(-10 * time.Hour)
		}},
		{set: func(in *Input, r *Record) { r.LastUsed = in.Now.Add(4 * time.Minute) }},
		{set: func(in *Input, r *Record) { r.LastUsed = in.Now.Add(6 * time.Minute) }, reason: RecordTime},
		{set: func(_ *Input, r *Record) { r.LastUsed = time.Time{} }, reason: RecordTime},
		{set: func(in *Input, r *Record) { r.Created = in.Now.Add(-72 * time.Hour) }, reason: MaxAge},
	}
	heads := []class{
		{set: func(*Input, *Record) {}},
		{set: func(in *Input, _ *Record) { in.Current.Head = "h2" }, note: HeadMoved},
		{set: func(in *Input, _ *Record) { in.Current.SavedHeadIsAncestor = false }, reason: HistoryRewritten},
		{set: func(in *Input, _ *Record) { in.Current.SavedHeadIsAncestor = false; in.Current.Head = "h2" }, reason: HistoryRewritten},
	}
	contexts := []class{
		{set: func(*Input, *Record) {}},
		{set: func(_ *Input, r *Record) { r.ContextTokens = 79_999 }},
		{set: func(_ *Input, r *Record) { r.ContextTokens = 100_000 }, reason: MaxContext},
		{set: func(in *Input, r *Record) { in.Current.ContextWindow = 200_000; r.ContextTokens = 80_000 }, reason: MaxContext},
		{set: func(_ *Input, r *Record) { r.ContextTokens = 0 }, reason: LastRunPoisoned},
		{set: func(_ *Input, r *Record) { r.ContextTokens = -1 }, reason: LastRunPoisoned},
	}
	text := func(reason Reason, saved func(*Record) *string, now func(*Input) *string) []class {
		return only(
			reason,
			func(in *Input, _ *Record) { *now(in) = "other" },
			func(_ *Input, r *Record) { *saved(r) = "" },
			func(in *Input, r *Record) { *saved(r), *now(in) = "", "" },
		)
	}
	return []part{
		{"mode", append(only("", func(in *Input, _ *Record) { in.Mode = Shadow }), only(SessionsOff, func(in *Input, _ *Record) { in.Mode = Off }, func(in *Input, _ *Record) { in.Mode = "" }, func(in *Input, _ *Record) { in.Mode = "AUTO" })[1:]...)},
		{"force", only(ForceFresh, func(in *Input, _ *Record) { in.ForceFresh = true })},
		{"key", append(only(NoTaskKey, func(in *Input, _ *Record) { in.Key = nil }, func(in *Input, _ *Record) { in.Key = &empty }), class{set: func(in *Input, _ *Record) { in.Key = &other }, reason: RecordKey})},
		{"wake", wakes},
		{"schema", only(RecordSchema, func(_ *Input, r *Record) { r.Schema = 0 }, func(_ *Input, r *Record) { r.Schema = 2 })},
		{"author", only(RecordAuthor, func(_ *Input, r *Record) { r.AuthorIsTrusted = false })},
		{"time", times},
		{"engine", engines},
		{"model", text(ModelChanged, func(r *Record) *string { return &r.Model }, func(in *Input) *string { return &in.Current.Model })},
		{"effort", only(EffortChanged, func(_ *Input, r *Record) { r.Effort = nil }, func(in *Input, _ *Record) { in.Current.Effort = "max" })},
		{"rules", text(RulesChanged, func(r *Record) *string { return &r.RulesHash }, func(in *Input) *string { return &in.Current.RulesHash })},
		{"config", text(ConfigChanged, func(r *Record) *string { return &r.ConfigHash }, func(in *Input) *string { return &in.Current.ConfigHash })},
		{"tools", text(ToolsChanged, func(r *Record) *string { return &r.ToolsHash }, func(in *Input) *string { return &in.Current.ToolsHash })},
		{"permission", only(PermissionChanged, func(in *Input, _ *Record) { in.Permission = PermissionComment }, func(in *Input, _ *Record) { in.Permission = PermissionWrite }, func(_ *Input, r *Record) { r.Permission = PermissionWrite }, func(_ *Input, r *Record) { r.Permission = "" })},
		{"repository", only(RepoChanged, func(in *Input, _ *Record) { in.Current.RepositoryID = 2 }, func(in *Input, r *Record) { in.Current.RepositoryID, r.RepositoryID = 0, 0 })},
		{"workspace", text(WorkspaceMoved, func(r *Record) *string { return &r.Workspace }, func(in *Input) *string { return &in.Current.Workspace })},
		{"head", heads},
		{"body", text(MaterialEdited, func(r *Record) *string { return &r.BodyHash }, func(in *Input) *string { return &in.Material.BodyHash })},
		{"comments", only(MaterialEdited, func(in *Input, _ *Record) { in.Material.IngestedCommentsChanged = true })},
		{"ended", append(only(LastRunPoisoned, func(_ *Input, r *Record) { r.Ended = "provider_error" }, func(_ *Input, r *Record) { r.Ended = "" }), only("", func(_ *Input, r *Record) { r.Ended = "turns" }, func(_ *Input, r *Record) { r.Ended = "unfinished" })[1:]...)},
		{"runs", append(only(MaxRuns, func(_ *Input, r *Record) { r.Runs = 20 }, func(_ *Input, r *Record) { r.Runs = 21 }), class{set: func(_ *Input, r *Record) { r.Runs = 19 }})},
		{"context", contexts},
		{"cost", append(only(MaxCost, func(_ *Input, r *Record) { r.CostUSD = 5 }), class{set: func(_ *Input, r *Record) { r.CostUSD = 4.999 }})},
		{"store", stores},
	}
}

// world builds inputs of classes.
type builder struct {
	base  Input
	parts []part
	price *Price
}

func newBuilder(t *testing.T) builder {
	t.Helper()
	return builder{base: rowNamed(t, "S02").Input, parts: parts(), price: priceOf("claude-opus-5-5", 300)}
}

// build takes one class of each part, and says what must come of it but for the price.
func (b builder) build(pick []int) (in Input, reasons []Reason, notes []Note) {
	in = b.base
	saved := *b.base.Saved
	in.Saved = &saved
	for i, p := range b.parts {
		c := p.classes[pick[i]]
		c.set(&in, &saved)
		if c.reason != "" && !slices.Contains(reasons, c.reason) {
			reasons = append(reasons, c.reason)
		}
		if c.note != "" {
			notes = append(notes, c.note)
		}
	}
	slices.SortFunc(reasons, func(x, y Reason) int { return slices.Index(Reasons, x) - slices.Index(Reasons, y) })
	slices.SortFunc(notes, func(x, y Note) int {
		return slices.Index([]Note{HeadMoved, EnginePatchChanged}, x) - slices.Index([]Note{HeadMoved, EnginePatchChanged}, y)
	})
	return in, reasons, notes
}

// check decides on one input and holds the decision to every invariant that a single input can show. It returns what is
// wrong.
func (b builder) check(pick []int) (fault string) {
	in, want, notes := b.build(pick)
	d := Decide(in, b.price)
	class, _ := classOf(in.Wake)
	// (1) fresh is "there is a reason", and the reasons are those of the classes in the order of the contract.
	got := d.Reasons
	if len(want) == 0 && class == wakeCost && d.Estimate != nil && d.Estimate.dearer() {
		want = []Reason{ResumeDearer}
	}
	switch {
	case d.Fresh() != (len(d.Reasons) > 0), (d.Word() == "fresh") != d.Fresh(), !slices.Equal(want, got):
		return fmt.Sprintf("%v: got %v, want %v", pick, got, want)
	case !slices.Equal(notes, d.Notes):
		return fmt.Sprintf("%v: notes %v, want %v", pick, d.Notes, notes)
	case (d.Estimate != nil) != (len(want) == 0 || want[0] == ResumeDearer):
		return fmt.Sprintf("%v: estimate %v", pick, d.Estimate)
	// (9) a forced fresh start is never lost.
	case in.ForceFresh && !slices.Contains(got, ForceFresh):
		return fmt.Sprintf("%v: the forced fresh start is lost", pick)
	// (10) a fresh conversation never gets the delta prompt; in shadow mode every one is fresh.
	case d.Prompt == PromptDelta && (d.Fresh() || in.Mode != Auto):
		return fmt.Sprintf("%v: the delta prompt for %s in %s", pick, d.Word(), in.Mode)
	}
	// Without a price a decision by cost is fresh; a continuation goes on.
	if blind := Decide(in, nil); len(want) == 0 && slices.Equal(blind.Reasons, []Reason{PriceUnknown}) != (class == wakeCost) {
		return fmt.Sprintf("%v: without a price %v", pick, blind.Reasons)
	}
	// Nothing saved: the reasons before the record, and that nothing is.
	in.Saved = nil
	var before []Reason
	for _, r := range want {
		if slices.Index(Reasons, r) < slices.Index(Reasons, NoSavedSession) {
			before = append(before, r)
		}
	}
	if none := Decide(in, b.price); !slices.Equal(none.Reasons, append(before, NoSavedSession)) || none.Prompt != PromptFull {
		return fmt.Sprintf("%v: nothing saved: %v", pick, none.Reasons)
	}
	return ""
}

// TestEveryThreeClasses takes every three parts through all their classes, and pseudo-random whole inputs.
// SESSION_CASES sets the number of the latter.
func TestEveryThreeClasses(t *testing.T) {
	t.Parallel()
	b := newBuilder(t)
	n, pick := len(b.parts), make([]int, len(b.parts))
	each := func(i int, f func()) {
		for c := range b.parts[i].classes {
			pick[i] = c
			f()
		}
		pick[i] = 0
	}
	check := func() {
		if fault := b.check(pick); fault != "" {
			t.Fatal(fault)
		}
	}
	cases := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				each(i, func() { each(j, func() { each(k, func() { check(); cases++ }) }) })
			}
		}
	}
	random := 30_000
	if s := os.Getenv("SESSION_CASES"); s != "" {
		var err error
		if random, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(14, 2))
	for range random {
		for i, p := range b.parts {
			pick[i] = 0
			if rng.IntN(4) == 0 { // else nearly every input would have most of the reasons
				pick[i] = rng.IntN(len(p.classes))
			}
		}
		check()
	}
	t.Logf("%d inputs of three classes, %d whole ones", cases, random)
}

// TestAClassMoreNeverResumes: (2) whatever is fresh stays fresh when one more thing differs.
func TestAClassMoreNeverResumes(t *testing.T) {
	t.Parallel()
	b := newBuilder(t)
	pick := make([]int, len(b.parts))
	for i, p := range b.parts {
		for c := range p.classes {
			clear(pick)
			pick[i] = c
			in, reasons, _ := b.build(pick)
			if !Decide(in, b.price).Fresh() {
				continue
			}
			for j, q := range b.parts {
				for more, with := range q.classes {
					if j == i || with.reason == "" {
						continue
					}
					pick[j] = more
					in, _, _ := b.build(pick)
					if d := Decide(in, b.price); !d.Fresh() {
						t.Errorf("%s %d is fresh (%v), with %s %d it resumes", p.name, c, reasons, q.name, more)
					}
					pick[j] = 0
				}
			}
		}
	}
}

// TestTheSameWhateverTheOrderOfAMap: (3) counts in another order, the same input again and again.
func TestTheSameWhateverTheOrderOfAMap(t *testing.T) {
	t.Parallel()
	in := rowNamed(t, "S02").Input
	price := priceOf("claude-opus-5-5", 300)
	buckets := []Bucket{BucketMinute, BucketSmall, BucketLarge}
	var first Decision
	for i := range 200 {
		saved := *in.Saved
		saved.Warm = map[Bucket]Observed{}
		for j := range buckets {
			b := buckets[(i+j)%3]
			saved.Warm[b] = Observed{Hits: 10 + len(b), Misses: 15}
		}
		in.Saved = &saved
		d := Decide(in, price)
		if i == 0 {
			first = d
		}
		if !slices.Equal(d.Reasons, first.Reasons) || *d.Estimate != *first.Estimate || d.Prompt != first.Prompt {
			t.Fatalf("%+v, before %+v", d, first)
		}
	}
}

// TestForcedSurvivesEveryMerge: (9) in any order and number of queued wakes.
func TestForcedSurvivesEveryMerge(t *testing.T) {
	t.Parallel()
	for size := range 9 {
		for set := range 1 << size {
			queued := make([]bool, size)
			for i := range queued {
				queued[i] = set&(1<<i) != 0
			}
			if MergeForced(queued...) != (set != 0) {
				t.Fatalf("%v", queued)
			}
			for cut := range queued { // merged in two steps
				if MergeForced(MergeForced(queued[:cut]...), MergeForced(queued[cut:]...)) != (set != 0) {
					t.Fatalf("%v cut at %d", queued, cut)
				}
			}
		}
	}
}
