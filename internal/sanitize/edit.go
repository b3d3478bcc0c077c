package sanitize

import (
	"slices"
	"strings"
)

// edit replaces a range of the source; kind is what was live there.
type edit struct {
	start, end int
	with       string
	kind       string
}

// apply makes the edits that lie within lo and hi and returns that part. Of two that overlap the first wins; the next
// pass finds the other. Backticks of an edit never touch other backticks, and no backslash before them escapes them.
func apply(src string, edits []edit, lo, hi int) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	out := make([]byte, 0, hi-lo+64)
	at := lo
	for _, e := range edits {
		if e.start < at || e.end > hi {
			continue
		}
		out = append(out, src[at:e.start]...)
		if strings.HasPrefix(e.with, "`") {
			out = apart(out)
		}
		out = append(out, e.with...)
		at = e.end
		if at < hi && src[at] == '`' && len(out) > 0 && out[len(out)-1] == '`' {
			out = append(out, ' ')
		}
	}
	return string(append(out, src[at:hi]...))
}

// apart lets a code span begin after out.
func apart(out []byte) []byte {
	if len(out) == 0 {
		return out
	}
	switch out[len(out)-1] {
	case '`':
		return append(out, ' ')
	case '\\':
		n := 0
		for n < len(out) && out[len(out)-1-n] == '\\' {
			n++
		}
		if n%2 == 1 {
			return append(out, '\\')
		}
	}
	return out
}
