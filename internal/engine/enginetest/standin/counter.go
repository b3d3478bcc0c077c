package standin

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
)

// Counter is a server's tokenizer and cache. Every block of a prompt has its own tokens per byte, drawn from its content,
// so that the same block always has the same tokens.
type Counter struct {
	Seed     uint64
	Min, Max float64 // tokens per byte; both 0: 0.25
	MissRate float64 // the share of requests that find nothing in the cache
	// CountError is how far the API's counter may be from the truth, as a share; 0: exact.
	CountError float64
}

// Tally is the state of one server's counter: what it billed for its own blocks, and its cache.
type Tally struct {
	Counter
	mu    sync.Mutex
	own   map[string]int64 // tokens of the server's own blocks
	cache map[uint64]bool  // hashes of prefixes that were written
	rand  *rand.Rand
}

// NewTally starts counting.
func NewTally(c Counter) *Tally {
	if c.Min == 0 && c.Max == 0 {
		c.Min, c.Max = 0.25, 0.25
	}
	return &Tally{Counter: c, own: map[string]int64{}, cache: map[uint64]bool{}, rand: rand.New(rand.NewPCG(c.Seed, 7))} //nolint:gosec // a test's server repeats itself by its seed
}

// Tokens of a text: at least one, never more than one per byte.
func (t *Tally) Tokens(text string) int64 {
	if text == "" {
		return 0
	}
	share := float64(hashOf(t.Seed, text)%10_000) / 10_000
	n := int64(math.Ceil(float64(len(text)) * (t.Min + (t.Max-t.Min)*share)))
	return min(max(n, 1), int64(len(text)))
}

func hashOf(seed uint64, text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	_, _ = h.Write([]byte(text))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>29
}

func (t *Tally) block(b Block) int64 {
	if b.Fixed > 0 {
		return b.Fixed
	}
	if n, ok := t.own[b.Own]; ok && b.Own != "" {
		return n
	}
	// Roles and the frame of a block cost a few tokens more.
	return t.Tokens(b.Text) + 4 + int64(hashOf(t.Seed+1, b.Key)%9) + b.More
}

// Spot is where a block ends: the tokens up to there, and whether that prefix was in the cache.
type Spot struct {
	Tokens int64
	Cached bool
}

// Walk counts a request block by block and puts the prefixes that keep names into the cache. Where the cache misses, no
// spot is cached.
func (t *Tally) Walk(blocks []Block, keep func(Block) bool) []Spot {
	t.mu.Lock()
	defer t.mu.Unlock()
	miss := t.MissRate > 0 && t.rand.Float64() < t.MissRate
	var sum int64
	var chain uint64
	spots := make([]Spot, len(blocks))
	for i, b := range blocks {
		sum += t.block(b)
		chain = hashOf(chain, b.Key)
		spots[i] = Spot{sum, t.cache[chain] && !miss}
		if keep(b) {
			t.cache[chain] = true
		}
	}
	return spots
}

// prompt counts a request. Its longest known prefix comes from the cache; writes says that the rest is billed as written.
func (t *Tally) prompt(blocks []Block, writes bool) Usage {
	var sum, cached int64
	for _, s := range t.Walk(blocks, func(Block) bool { return true }) {
		if sum = s.Tokens; s.Cached {
			cached = sum
		}
	}
	u := Usage{Input: sum - cached, CachedInput: cached}
	if writes {
		u.CacheWrite, u.Input = u.Input, 0
	}
	return u
}

// Count is the prompt's size as the API's counter says it, without touching the cache.
func (t *Tally) Count(blocks []Block) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum int64
	for _, b := range blocks {
		sum += t.block(b)
	}
	if t.CountError > 0 {
		sum = int64(float64(sum) * (1 + t.CountError*(2*t.rand.Float64()-1)))
	}
	return sum
}

// Remember keeps what a part of an answer was billed at: it costs the same when it comes back.
func (t *Tally) Remember(own string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own[own] = n
}
