package enginelog

import (
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// Both loops are held against the one in Go, whichever this processor is given.
func TestBlocks(t *testing.T) {
	t.Parallel()
	loops := map[string]func(quotes, slashes *uint64, text *byte, n int){"SSE2": findBlocks}
	if cpu.X86.HasAVX2 {
		loops["AVX2"] = findBlocksAVX2
	} else {
		t.Log("this processor has no AVX2")
	}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, at := 1+rng.IntN(9), rng.IntN(64)
		text := make([]byte, at+n*64)
		for i := range text {
			text[i] = byte(rng.IntN(256))
			if rng.IntN(3) > 0 {
				text[i] = "\"\\\x22\x5c\xa2\xdc\x00 "[rng.IntN(8)]
			}
		}
		text = text[at:] // aligned to nothing
		wantQuotes, wantSlashes := make(marks, n), make(marks, n)
		findByWords(wantQuotes, wantSlashes, text)
		for name, loop := range loops {
			quotes, slashes := make(marks, n+1), make(marks, n+1)
			loop(&quotes[0], &slashes[0], &text[0], n)
			if !slices.Equal(quotes, append(slices.Clone(wantQuotes), 0)) || !slices.Equal(slashes, append(slices.Clone(wantSlashes), 0)) {
				t.Errorf("%s, %q: quotes %x and backslashes %x, want %x and %x", name, text, quotes, slashes, wantQuotes, wantSlashes)
			}
		}
	}
}
