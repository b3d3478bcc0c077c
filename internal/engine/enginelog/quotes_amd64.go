package enginelog

import "golang.org/x/sys/cpu"

// find marks the quotes and the backslashes of text, which has 64 bytes for each word of quotes.
func find(quotes, slashes marks, text []byte) {
	n := len(quotes)
	if n == 0 || len(slashes) != n || len(text) != n*64 {
		return
	}
	if cpu.X86.HasAVX2 {
		findBlocksAVX2(&quotes[0], &slashes[0], &text[0], n)
		return
	}
	findBlocks(&quotes[0], &slashes[0], &text[0], n)
}

// findBlocks does so for n > 0 words. It uses nothing but SSE2, which every amd64 has.
//
//go:noescape
func findBlocks(quotes, slashes *uint64, text *byte, n int)

// findBlocksAVX2 does so on processors that have AVX2.
//
//go:noescape
func findBlocksAVX2(quotes, slashes *uint64, text *byte, n int)
