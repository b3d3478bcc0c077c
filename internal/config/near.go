package config

import (
	"strings"
	"unicode"
)

// nearest returns the known name that a wrong one most likely means, or nothing. The first of equals wins.
func nearest(name string, known []string) string {
	plain := plainName(name)
	best, distance := "", 1+max(1, min(len(plain), 24)/3)
	for _, k := range known {
		if k == "" {
			continue
		}
		if d := edits(plain, plainName(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" || len(plain) < 4 {
		return best
	}
	for _, k := range known { // "budget" means max_budget_usd
		if strings.Contains(plainName(k), plain) {
			return k
		}
	}
	return ""
}

// plainName writes maxTurns, max-turns and Max_Turns as max_turns.
func plainName(s string) string {
	var b strings.Builder
	var before rune
	for i, r := range s {
		if i >= 64 {
			break // no known name is longer
		}
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if unicode.IsLower(before) {
				b.WriteByte('_')
			}
			before = r
			b.WriteRune(unicode.ToLower(r))
			continue
		}
		before = r
		b.WriteRune(r)
	}
	return b.String()
}

// edits counts the insertions, deletions and replacements between two short names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
