package anthropic

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
)

// Counter is the server's tokenizer and cache. Every block of a prompt has its own tokens per byte, drawn from its
// content, so the same block always has the same tokens.
type Counter struct {
	Seed uint64
	// Tokens per byte lie between Min and Max. Both 0: 0.25.
	Min, Max float64
	MissRate float64 // the share of requests that find nothing in the cache
	// CountError is how far count_tokens may be from the truth, as a share; 0: exact.
	CountError float64
}

const (
	toolTokens  = 346  // the provider's own words about tools
	imageTokens = 4784 // the dearest image
)

// tally is the state of one server's counter: what it billed for its own blocks, and its cache.
type tally struct {
	Counter
	mu    sync.Mutex
	own   map[string]int64 // tokens of the server's own blocks, by part.own
	cache map[uint64]bool  // hashes of prefixes that were written
	rand  *rand.Rand
}

func newTally(c Counter) *tally {
	if c.Min == 0 && c.Max == 0 {
		c.Min, c.Max = 0.25, 0.25
	}
	return &tally{Counter: c, own: map[string]int64{}, cache: map[uint64]bool{}, rand: rand.New(rand.NewPCG(c.Seed, 7))} //nolint:gosec // a test's server repeats itself by its seed
}

// tokens of a text: at least one, and never more than one per byte.
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
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	_, _ = h.Write([]byte(text))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>29
}

// prompt counts a request and moves its blocks through the cache.
func (t *tally) prompt(blocks []block) Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var (
		chain    uint64
		sum      int64
		lastMark = -1
		sums     = make([]int64, len(blocks))
		chains   = make([]uint64, len(blocks))
		u        Usage
	)
	miss := t.MissRate > 0 && t.rand.Float64() < t.MissRate
	for i, b := range blocks {
		sum += t.blockTokens(b)
		chain = hashOf(chain, b.key)
		sums[i], chains[i] = sum, chain
		if b.mark != "" {
			lastMark = i
		}
	}
	if !miss {
		for i := lastMark; i >= 0; i-- {
			if t.cache[chains[i]] {
				u.CachedInput = sums[i]
				break
			}
		}
	}
	from := u.CachedInput
	for i, b := range blocks {
		if b.mark == "" || sums[i] <= from {
			continue
		}
		if b.mark == "1h" {
			u.CacheWrite1h += sums[i] - from
		} else {
			u.CacheWrite5m += sums[i] - from
		}
		from = sums[i]
	}
	u.Input = sum - from
	for i, b := range blocks {
		if b.mark != "" {
			t.cache[chains[i]] = true
		}
	}
	return u
}

// count is the prompt's size without touching the cache.
func (t *tally) count(blocks []block) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum int64
	for _, b := range blocks {
		sum += t.blockTokens(b)
	}
	if t.CountError > 0 {
		sum = int64(float64(sum) * (1 + t.CountError*(2*t.rand.Float64()-1)))
	}
	return sum
}

func (t *tally) blockTokens(b block) int64 {
	if b.fixed > 0 {
		return b.fixed
	}
	if n, ok := t.own[b.own]; ok && b.own != "" {
		return n
	}
	// Roles and the frame of a block cost a few tokens more.
	return t.tokens(b.text) + 4 + int64(hashOf(t.Seed+1, b.key)%9) + int64(b.images)*imageTokens
}

// remember keeps what a block of an answer was billed at: it costs the same when it comes back.
func (t *tally) remember(own string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own[own] = n
}
