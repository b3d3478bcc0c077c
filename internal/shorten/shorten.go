// Package shorten fits foreign text into a line for people: so many characters and no more, and one sees that it was cut.
package shorten

import "strconv"

// To is a text with at most limit characters, of which the last is an ellipsis when some are left out.
func To(limit int, s string) string {
	if len(s) <= limit {
		return s
	}
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// Quoted shows a foreign value inside a message: on one line, the first 60 characters of it.
func Quoted(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return strconv.Quote(string(r[:limit])) + "…"
	}
	return strconv.Quote(s)
}
