package standin

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
)

// Counter is the server's tokenizer and cache. Every block of a prompt has its own tokens per byte, drawn from its
// content, so that the same block always has the same tokens.
type Counter struct {
	Seed     uint64
	Min, Max float64 // tokens per byte; both 0: 0.25
	MissRate float64 // the share of requests that find nothing in the cache
}

type tally struct {
	Counter
	mu    sync.Mutex
	own   map[string]int64
	cache map[uint64]bool
	rand  *rand.Rand
}

func newTally(c Counter) *tally {
	if c.Min == 0 && c.Max == 0 {
		c.Min, c.Max = 0.25, 0.25
	}
	return &tally{Counter: c, own: map[string]int64{}, cache: map[uint64]bool{}, rand: rand.New(rand.NewPCG(c.Seed, 11))} //nolint:gosec // a test's server repeats itself
}

// tokens of a text: at least one, never more than one per byte.
func (t *tally) tokens(text string) int64 {
	if text == "" {
		return 0
	}
	share := float64(hashOf(t.Seed, text)%10_000) / 10_000
	n := int64(math.Ceil(float64(len(text)) * (t.Min + (t.Max-t.Min)*share)))
	return min(max(n, 1), int64(len(text)))
}

func hashOf(seed uint64, text string) uint64 {
	h := fnv.New64a()
	var s [8]byte
	for i := range s {
		s[i] = byte(seed >> (8 * i) & 0xff)
	}
	_, _ = h.Write(s[:])
	_, _ = h.Write([]byte(text))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>29
}

func (t *tally) block(b Block) int64 {
	if n, ok := t.own[b.Own]; ok && b.Own != "" {
		return n
	}
	return t.tokens(b.Text) + 4 + int64(hashOf(t.Seed+1, b.Key)%9)
}

// prompt counts a request. Its longest known prefix comes from the cache; writes says that the rest is billed as written.
func (t *tally) prompt(blocks []Block, writes bool) Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	miss := t.MissRate > 0 && t.rand.Float64() < t.MissRate
	var sum, cached int64
	var chain uint64
	for _, b := range blocks {
		sum += t.block(b)
		chain = hashOf(chain, b.Key)
		if t.cache[chain] && !miss {
			cached = sum
		}
		t.cache[chain] = true
	}
	u := Usage{Input: sum - cached, CachedInput: cached}
	if writes {
		u.CacheWrite, u.Input = u.Input, 0
	}
	return u
}

// count is the prompt's size without touching the cache.
func (t *tally) count(blocks []Block) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum int64
	for _, b := range blocks {
		sum += t.block(b)
	}
	return sum
}

// remember keeps what a part of an answer was billed at: it costs the same when it comes back.
func (t *tally) remember(own string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own[own] = n
}
