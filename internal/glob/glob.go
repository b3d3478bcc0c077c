// Package glob matches names with patterns, in time proportional to pattern times name at worst, whoever wrote them.
package glob

import (
	"path"
	"strings"
)

// Path matches a path with slashes: * and ? stay in one name, [a-z] is one character, ** is any number of whole names. A
// pattern with an open bracket matches nothing.
func Path(pattern, name string) bool {
	return match(strings.Split(pattern, "/"), strings.Split(name, "/"),
		func(p string) bool { return p == "**" },
		func(p, n string) bool {
			ok, err := path.Match(p, n)
			return ok && err == nil
		})
}

// Text matches a text of which * is any part.
func Text(pattern, text string) bool {
	return match([]byte(pattern), []byte(text),
		func(p byte) bool { return p == '*' },
		func(p, c byte) bool { return p == c })
}

// match matches part by part; a pattern's part that is many stands for any number of parts. It goes back to the last of
// those only: what an earlier one could take as well changes nothing.
func match[T any](pattern, parts []T, many func(T) bool, one func(pattern, part T) bool) bool {
	star, mark, p, n := -1, 0, 0, 0
	for n < len(parts) {
		switch {
		case p < len(pattern) && many(pattern[p]):
			star, mark = p, n
			p++
		case p < len(pattern) && one(pattern[p], parts[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && many(pattern[p]) {
		p++
	}
	return p == len(pattern)
}
