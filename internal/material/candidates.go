package material

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/issue-assistant/issue-assistant/internal/comment"
)

// maxCandidates is how many similar issues candidates.md names.
const maxCandidates = 20

// Candidate is an issue that looks like the one at hand.
type Candidate struct {
	Record
	Score   float64
	Matched []string // the words that both share, rarest first
}

// Candidates finds the most similar older issues by the words they share with the title and the body (Okapi BM25, the
// title counted three times).
func Candidates(number int, title, body string, others []Record) []Candidate {
	query := map[string]bool{}
	for _, w := range words(title + " " + body) {
		query[w] = true
	}
	docs := make([][]string, len(others))
	in := map[string]int{}
	total := 0
	for i, o := range others {
		docs[i] = words(strings.Repeat(o.Title+" ", 3) + o.Excerpt)
		total += len(docs[i])
		seen := map[string]bool{}
		for _, w := range docs[i] {
			if query[w] && !seen[w] {
				seen[w] = true
				in[w]++
			}
		}
	}
	if total == 0 {
		return nil
	}
	average := float64(total) / float64(len(others))
	var out []Candidate
	for i, o := range others {
		if o.Number >= number {
			continue
		}
		c := score(docs[i], query, in, len(others), average)
		if c.Score > 0 {
			c.Record = o
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Number, a.Number))
	})
	return out[:min(len(out), maxCandidates)]
}

func score(doc []string, query map[string]bool, in map[string]int, docs int, average float64) Candidate {
	const k1, b = 1.2, 0.75
	counts := map[string]int{}
	for _, w := range doc {
		if query[w] {
			counts[w]++
		}
	}
	var c Candidate
	idf := func(w string) float64 { return math.Log(1 + (float64(docs-in[w])+0.5)/(float64(in[w])+0.5)) }
	for w, n := range counts {
		tf := float64(n)
		c.Matched = append(c.Matched, w)
		c.Score += idf(w) * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(len(doc))/average))
	}
	slices.SortFunc(c.Matched, func(x, y string) int { return cmp.Or(cmp.Compare(idf(y), idf(x)), cmp.Compare(x, y)) })
	c.Matched = c.Matched[:min(len(c.Matched), 8)]
	return c
}

// words are what is compared: lower case, at least two characters; of scripts without spaces every pair of characters.
func words(s string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		r := []rune(field)
		if unicode.In(r[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			for i := range len(r) - 1 {
				out = append(out, string(r[i:i+2]))
			}
			continue
		}
		if len(r) > 1 && len(r) <= 64 {
			out = append(out, field)
		}
	}
	return out
}

// CandidatesFile is candidates.md. What strangers wrote stands as code.
func CandidatesFile(list []Candidate) string {
	var b strings.Builder
	b.WriteString("# Similar older issues\n\nFound by shared words, most similar first. Similar words are not the same problem: read an issue before you name it.\n\n")
	if len(list) == 0 {
		b.WriteString("None was found.\n")
	}
	for _, c := range list {
		how := c.State
		if c.StateReason != "" && c.State == "closed" {
			how += " as " + c.StateReason
		}
		matched := make([]string, len(c.Matched))
		for i, w := range c.Matched {
			matched[i] = comment.Code(w)
		}
		fmt.Fprintf(&b, "- #%d (%s, opened %s, score %.1f): %s; shared: %s\n", c.Number, how, c.Opened, c.Score, comment.Code(c.Title), strings.Join(matched, ", "))
	}
	return b.String()
}
