package session

import "time"

// Price is what tokens cost, in dollars per million.
type Price struct {
	Write  float64 // input written to the cache, at the TTL in force
	Read   float64 // input read from the cache
	Output float64
}

// Pricer prices tokens of a model in dollars; ok is false when it has no price.
type Pricer func(model string, in, cached, write5m, write1h, out int64) (usd float64, ok bool)

// PriceOf takes the three rates that matter out of a table of prices; nil for a model without one. A cache that lives
// longer than five minutes is written at the hourly rate.
func PriceOf(cost Pricer, model string, ttl time.Duration) *Price {
	const sample = 1000 // tokens, below every tier of long prompts
	rate := func(cached, write5m, write1h, out int64) (float64, bool) {
		usd, ok := cost(model, 0, cached, write5m, write1h, out)
		return usd * million / sample, ok
	}
	read, ok := rate(sample, 0, 0, 0)
	if !ok {
		return nil
	}
	write, _ := rate(0, sample, 0, 0)
	if ttl > CacheTTL {
		write, _ = rate(0, 0, sample, 0)
	}
	output, _ := rate(0, 0, 0, sample)
	return &Price{Write: write, Read: read, Output: output}
}

// Estimate compares a resumed run with a fresh one.
type Estimate struct {
	Warm      float64 `json:"warm"`       // probability that the provider still holds the conversation
	ResumeUSD float64 `json:"resume_usd"` // expected
	FreshUSD  float64 `json:"fresh_usd"`
}

// Bucket groups observations of a warm cache by idle time and size.
type Bucket string

// The buckets.
const (
	BucketMinute Bucket = "minute" // idle under a minute
	BucketSmall  Bucket = "small"  // idle within the TTL, under 80,000 tokens
	BucketLarge  Bucket = "large"  // idle within the TTL, 80,000 tokens and more
	BucketCold   Bucket = "cold"   // nothing to learn
)

// Observed counts first calls that found the cache warm or cold.
type Observed struct {
	Hits   int `json:"hits"`
	Misses int `json:"misses"`
}

// enoughObserved is from when on counted rates replace the published ones.
const enoughObserved = 20

const largeContext = 80_000

// publishedWarm holds measured rates of others, used until own ones are counted.
func publishedWarm(b Bucket) float64 {
	switch b {
	case BucketMinute:
		return 0.95
	case BucketSmall:
		return 0.90
	case BucketLarge:
		return 0.50
	case BucketCold:
	}
	return 0
}

// bucketOf sorts an idle time and a size. A note means that the prefix has changed: cold.
func bucketOf(idle, ttl time.Duration, contextTokens int64, notes []Note) Bucket {
	switch {
	case idle >= ttl || len(notes) > 0:
		return BucketCold
	case idle < time.Minute:
		return BucketMinute
	case contextTokens < largeContext:
		return BucketSmall
	}
	return BucketLarge
}

// Warm is the probability that the cache still holds the conversation.
func Warm(b Bucket, observed map[Bucket]Observed) float64 {
	o := observed[b]
	hits, all := float64(o.Hits), float64(o.Hits)+float64(o.Misses)
	if b != BucketCold && o.Hits >= 0 && o.Misses >= 0 && all >= enoughObserved {
		return hits / all
	}
	return publishedWarm(b)
}

// Observe adds one run's first call to the counts: warm when at least half of its input came from the cache.
func Observe(o Observed, cacheRead, cacheCreation int64) Observed {
	if cacheRead > 0 && cacheRead >= cacheCreation {
		o.Hits++
	} else {
		o.Misses++
	}
	return o
}

// TTL is how long a cache of so many seconds keeps a prompt; more than a year of them would not fit into a Duration.
func TTL(seconds int64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(seconds, year)) * time.Second
}

const million = 1e6

// furtherCalls prices all calls but the first, which grow the context x by the profile's growth per turn, and the output
// of all turns.
func furtherCalls(x float64, turns int64, p Profile, price Price) float64 {
	n, growth := float64(turns)-1, float64(p.GrowthTokens)
	if n < 0 {
		n = 0
	}
	reads := price.Read * (n*x + growth*n*(n-1)/2)
	writes := price.Write * n * growth
	output := price.Output * (float64(turns) * float64(p.OutputTokens))
	return (reads + writes + output) / million
}

// ResumedUSD prices a resumed run of a conversation of c tokens when the cache is warm and when it is cold.
func ResumedUSD(c int64, p Profile, price Price) (warm, cold float64) {
	rest := furtherCalls(float64(c)+float64(p.NewTokens), p.ResumedTurns, p, price) + price.Write*float64(p.NewTokens)/million
	return rest + price.Read*float64(c)/million, rest + price.Write*float64(c)/million
}

// FreshUSD prices a fresh run.
func FreshUSD(p Profile, price Price) float64 {
	return furtherCalls(float64(p.FreshTokens), p.FreshTurns, p, price) + price.Write*float64(p.FreshTokens)/million
}

// estimate weighs the warm and the cold case.
func estimate(c int64, warm float64, p Profile, price Price) Estimate {
	w, cold := ResumedUSD(c, p, price)
	return Estimate{Warm: warm, ResumeUSD: warm*w + (1-warm)*cold, FreshUSD: FreshUSD(p, price)}
}

// dearerMargin leaves a tenth for moving files and for surprises.
const dearerMargin = 0.9

func (e Estimate) dearer() bool { return e.ResumeUSD > dearerMargin*e.FreshUSD }
