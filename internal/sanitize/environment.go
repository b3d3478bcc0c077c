package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

const (
	gram     = 12 // the shortest part of a value that counts
	wholeMin = 6  // the shortest value that is looked for; shorter ones are words
)

// findEnvironment finds values of the environment, whole or in parts, in several spellings.
func findEnvironment(text string, env []string) []Finding {
	grams := map[string]struct{}{}
	var short []string
	for _, value := range env {
		value = strings.TrimSpace(value)
		if len(value) < wholeMin || flat(value) {
			continue
		}
		if len(value) < gram {
			short = append(short, value)
		}
		for _, spelling := range Spellings(value) {
			for i := 0; i+gram <= len(spelling); i++ {
				if part := spelling[i : i+gram]; !flat(part) {
					grams[part] = struct{}{}
				}
			}
		}
	}
	if len(grams) == 0 && len(short) == 0 {
		return nil
	}
	folded := fold(text)
	var found []Finding
	for _, v := range []view{{text: text}, folded, join(folded)} {
		found = append(found, findGrams(v, grams)...)
		for _, value := range short {
			found = append(found, findWhole(v, value)...)
		}
	}
	return merge(found)
}

const environmentKind = "value of a secret of this run"

func findGrams(v view, grams map[string]struct{}) []Finding {
	var found []Finding
	for i := 0; i+gram <= len(v.text) && len(grams) > 0; i++ {
		if _, ok := grams[v.text[i:i+gram]]; !ok {
			continue
		}
		end := i + gram
		for end < len(v.text) {
			if _, ok := grams[v.text[end+1-gram:end+1]]; !ok {
				break
			}
			end++
		}
		found = append(found, Finding{environmentKind, v.start(i), v.end(end)})
		i = end - 1
	}
	return found
}

// findWhole finds a short value where no letter or digit stands beside it.
func findWhole(v view, value string) []Finding {
	var found []Finding
	for from := 0; ; {
		i := strings.Index(v.text[from:], value)
		if i < 0 {
			return found
		}
		start, end := from+i, from+i+len(value)
		if (start == 0 || !isWord(v.text[start-1])) && (end == len(v.text) || !isWord(v.text[end])) {
			found = append(found, Finding{environmentKind, v.start(start), v.end(end)})
		}
		from = start + 1
	}
}

// flat tells whether a part says nothing: fewer than five different characters.
func flat(s string) bool {
	seen := make([]rune, 0, 5)
	for _, r := range s {
		if !slices.Contains(seen, r) {
			if seen = append(seen, r); len(seen) == 5 {
				return false
			}
		}
	}
	return true
}

// Spellings are the forms in which a secret value is looked for: as it is, backwards, in hex, percent-encoded, in base64.
// Base64 has three, one for each place in a group of three bytes.
func Spellings(value string) []string {
	out := []string{value, reversed(value), hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))), url.QueryEscape(value)}
	if strings.Contains(value, "\n") {
		out = append(out, strings.ReplaceAll(value, "\n", ""), strings.ReplaceAll(value, "\n", `\n`))
	}
	for shift := range 3 {
		raw := append(make([]byte, shift), value...)
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			coded := coding.EncodeToString(raw)
			// Characters that hold bits of a neighbor differ: the first ones after a shift, and the last.
			from := []int{0, 2, 3}[shift]
			to := len(coded)
			if len(raw)%3 != 0 {
				to--
			}
			if from < to {
				out = append(out, coded[from:to])
			}
		}
	}
	return out
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

var secretName = lazy.Regexp(`(?i)(?:^|_)(?:api_?key|key|token|secret|passw(?:or)?d|passphrase|credentials?|pat)(?:$|_(?:value|[0-9]+)$)|_?(?:access|secret|private)_?key`)

// SecretValues picks the values of secrets from an environment of NAME=VALUE lines, by their names.
func SecretValues(environ []string) []string {
	var values []string
	for _, line := range environ {
		name, value, ok := strings.Cut(line, "=")
		if ok && len(value) >= wholeMin && secretName().MatchString(name) {
			values = append(values, value)
		}
	}
	return values
}
