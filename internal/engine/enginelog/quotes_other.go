//go:build !amd64

package enginelog

// find marks the quotes and the backslashes of text, which has 64 bytes for each word of quotes.
func find(quotes, slashes marks, text []byte) { findByWords(quotes, slashes, text) }
