// Package lazy compiles patterns when they are first used: a command that needs none of them starts without that work.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the pattern once. Like regexp.MustCompile it panics on a wrong pattern, at its
// first use; every pattern of the program is used by a test.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
