package run

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// minSecret is the shortest value that counts as a secret: shorter ones stand in ordinary text by chance.
const minSecret = 8

// secretFinder looks for known values, also when a model was talked into disguising them a little.
type secretFinder struct {
	needles []string // lower case, without spaces and invisible characters
}

func newSecretFinder(values []string) *secretFinder {
	f := &secretFinder{}
	seen := map[string]bool{}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < minSecret {
			continue
		}
		for _, form := range forms(v) {
			if n := squeeze(form); len(n) >= minSecret && !seen[n] {
				seen[n] = true
				f.needles = append(f.needles, n)
			}
		}
	}
	return f
}

// forms are the value, backwards, in hex, percent-encoded and in base64 at each of its three alignments.
func forms(v string) []string {
	out := []string{v, reversed(v), hex.EncodeToString([]byte(v)), url.QueryEscape(v)}
	for shift := range 3 {
		// The first and the last characters depend on what stands around the value.
		enc := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
		inner := enc[(shift*8+5)/6 : len(enc)-1]
		out = append(out, inner, strings.NewReplacer("+", "-", "/", "_").Replace(inner))
	}
	return out
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// squeeze drops letter case, spaces and what nobody sees.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// in reports whether the text, or the strings of the value that was decoded from it one after the other, hold one.
func (f *secretFinder) in(text string, value any) bool {
	if len(f.needles) == 0 {
		return false
	}
	var b strings.Builder
	collectStrings(&b, value)
	for _, hay := range []string{squeeze(text), squeeze(b.String())} {
		for _, n := range f.needles {
			if strings.Contains(hay, n) {
				return true
			}
		}
	}
	return false
}

func collectStrings(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString(v)
	case []any:
		for _, e := range v {
			collectStrings(b, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(k)
			collectStrings(b, v[k])
		}
	}
}
