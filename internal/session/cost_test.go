package session

import (
	"math"
	"testing"
	"time"
)

var followUp = Profile{FreshTokens: 20_000, NewTokens: 1_500, ResumedTurns: 4, FreshTurns: 8, GrowthTokens: 2_000, OutputTokens: 400}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.0005 {
		t.Errorf("%s: got %.4f, want %.4f", what, got, want)
	}
}

func TestCostModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		model             string
		ttl               int64
		warm, cold, fresh float64
	}{
		{"M01", "claude-opus-5-5", 300, 0.1076, 0.3236, 0.2704},
		{"M02", "claude-opus-5", 300, 0.1821, 0.4409, 0.3835},
		{"M04", "claude-opus-5-5", 3600, 0.1301, 0.4811, 0.3724},
	} {
		price := *priceOf(tt.model, tt.ttl)
		warm, cold := ResumedUSD(45_000, followUp, price)
		near(t, tt.name+" warm", warm, tt.warm)
		near(t, tt.name+" cold", cold, tt.cold)
		near(t, tt.name+" fresh", FreshUSD(followUp, price), tt.fresh)
	}
	e := estimate(350_000, 0.9, followUp, *priceOf("claude-opus-5-5", 300))
	near(t, "M05", e.ResumeUSD, 0.5196)
	if !e.dearer() {
		t.Error("M05: mostly warm and still dearer")
	}
}

func TestPollTickCost(t *testing.T) {
	t.Parallel()
	tick := Profile{NewTokens: 500, ResumedTurns: 3, GrowthTokens: 700, OutputTokens: 150}
	warm, cold := ResumedUSD(983_000, tick, *priceOf("claude-opus-5", 300))
	if math.Abs(warm-1.498) > 0.001 || math.Abs(cold-7.151) > 0.001 {
		t.Errorf("M07: got %.3f and %.3f", warm, cold)
	}
	warm, cold = ResumedUSD(150_000, tick, *priceOf("claude-opus-5-5", 300))
	if math.Abs(warm-0.109) > 0.001 || math.Abs(cold-0.829) > 0.001 {
		t.Errorf("M08: got %.3f and %.3f", warm, cold)
	}
}

func TestWarmth(t *testing.T) {
	t.Parallel()
	ttl := 5 * time.Minute
	for _, tt := range []struct {
		name   string
		idle   time.Duration
		tokens int64
		notes  []Note
		want   float64
	}{
		{"M10 below", 2 * time.Minute, 79_999, nil, 0.90},
		{"M10 at", 2 * time.Minute, 80_000, nil, 0.50},
		{"under a minute", 59 * time.Second, 99_999, nil, 0.95},
		{"a minute", time.Minute, 10_000, nil, 0.90},
		{"at the TTL", ttl, 10_000, nil, 0},
		{"head moved", time.Second, 10_000, []Note{HeadMoved}, 0},
	} {
		if got := Warm(bucketOf(tt.idle, ttl, tt.tokens, tt.notes), nil); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCountedRatesReplacePublishedOnes(t *testing.T) {
	t.Parallel()
	var o Observed
	for i := range 19 {
		o = Observe(o, int64(i%2), 1) // read 1 of 2 tokens: half is enough
	}
	if o.Hits != 9 || o.Misses != 10 {
		t.Fatalf("counted %+v", o)
	}
	if got := Warm(BucketSmall, map[Bucket]Observed{BucketSmall: o}); got != 0.90 {
		t.Errorf("19 observations are too few, got %v", got)
	}
	o = Observe(o, 0, 0)
	if got := Warm(BucketSmall, map[Bucket]Observed{BucketSmall: o}); got != 0.45 {
		t.Errorf("got %v, want 9 of 20", got)
	}
	if got := Warm(BucketCold, map[Bucket]Observed{BucketCold: {Hits: 50}}); got != 0 {
		t.Errorf("a cold cache is cold, got %v", got)
	}
	if got := Warm(BucketSmall, map[Bucket]Observed{BucketSmall: {Hits: 40, Misses: -15}}); got != 0.90 {
		t.Errorf("counts that cannot be are not believed, got %v", got)
	}
}

// The measured runs of the assistant: 3 turns at about $0.08, 15 turns at about $0.20.
func TestMeasuredRunsAreReproduced(t *testing.T) {
	t.Parallel()
	price := *priceOf("claude-opus-5-5", 300)
	small := FreshUSD(Profile{FreshTokens: 13_000, FreshTurns: 3, GrowthTokens: 500, OutputTokens: 120}, price)
	large := FreshUSD(Profile{FreshTokens: 13_000, FreshTurns: 15, GrowthTokens: 500, OutputTokens: 200}, price)
	if math.Abs(small-0.082) > 0.005 || math.Abs(large-0.197) > 0.02 {
		t.Errorf("computed %.3f and %.3f", small, large)
	}
}

// TestHugeCounts: counts that no conversation reaches make a run dearer, never cheaper, and a cache warmer, never colder.
func TestHugeCounts(t *testing.T) {
	t.Parallel()
	price := Price{Write: 6.25, Read: 0.5, Output: 25}
	usual := Profile{FreshTokens: 20_000, NewTokens: 500, ResumedTurns: 3, FreshTurns: 6, GrowthTokens: 2000, OutputTokens: 300}
	warm, cold := ResumedUSD(30_000, usual, price)
	fresh := FreshUSD(usual, price)
	for name, p := range map[string]Profile{
		"output": {FreshTokens: 20_000, NewTokens: 500, ResumedTurns: 3, FreshTurns: 6, GrowthTokens: 2000, OutputTokens: math.MaxInt64},
		"growth": {FreshTokens: 20_000, NewTokens: 500, ResumedTurns: 3, FreshTurns: 6, GrowthTokens: math.MaxInt64, OutputTokens: 300},
		"all":    {math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		w, c := ResumedUSD(math.MaxInt64, p, price)
		if f := FreshUSD(p, price); w <= warm || c <= cold || f <= fresh {
			t.Errorf("%s: resumed %g to %g, fresh %g", name, w, c, f)
		}
	}
	if got := TTL(math.MaxInt64); got < TTL(3600) {
		t.Errorf("a cache for ever lasts %v", got)
	}
	many := map[Bucket]Observed{BucketSmall: {Hits: math.MaxInt64, Misses: math.MaxInt64}}
	if got := Warm(BucketSmall, many); got != 0.5 {
		t.Errorf("half of all calls hit: %g", got)
	}
}
