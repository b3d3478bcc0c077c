package enginelog

// find marks the quotes and the backslashes of text, which has 64 bytes for each word of quotes.
func find(quotes, slashes marks, text []byte) {
	if n := len(quotes); n > 0 && len(slashes) == n && len(text) == n*64 {
		findBlocks(&quotes[0], &slashes[0], &text[0], n)
	}
}

// findBlocks does so for n > 0 words. It uses nothing but SSE2, which every amd64 has.
//
//go:noescape
func findBlocks(quotes, slashes *uint64, text *byte, n int)
