// Package search finds the issues that resemble one issue.
//
// It is a BM25F index held in memory: title, error lines, identifiers, paths, answers to a form, labels and body are
// fields with weights of their own. Words are stemmed, scripts without spaces are cut into pairs of characters, and words
// for the same thing ("crash", "panic", "崩溃") meet in one concept. Shared words are no proof that two issues are the
// same problem: the strongest verdict is [MayBeSame], and it is never given to a closed issue.
//
// An index of 50,000 issues takes less than 150 MB and answers in less than 50 ms (docs/benchmarks/context.md).
package search

import (
	"cmp"
	"math"
	"slices"
)

// Doc is an issue as the index reads it.
type Doc struct {
	Number      int
	Title       string
	Body        string
	State       string // open or closed
	StateReason string
	Opened      string // a date; only handed through
	Labels      []string
	PullRequest bool // never added, never found
}

// Verdict says how much the shared words may mean.
type Verdict string

// The verdicts. There is none for "is the same": words cannot tell.
const (
	Related   Verdict = "related"
	MayBeSame Verdict = "may be the same"
)

// Match is one word that both issues share.
type Match struct {
	Word  string `json:"word"`  // as the issue at hand has it
	Field string `json:"field"` // where the other issue has it
}

// Hit is an issue that resembles the one at hand.
type Hit struct {
	Number      int
	Title       string
	State       string
	StateReason string
	Opened      string
	Score       float64
	Share       float64 // of what the issue at hand says, weighed: 0 to 1
	Verdict     Verdict
	Matched     []Match // what weighs most first, at most maxMatched
}

// Query chooses among the issues.
type Query struct {
	Newer bool // also issues with a higher number
	Max   int  // how many; 0: 20
}

// maxMatched is how many shared words a hit names.
const maxMatched = 8

// defaultMax is how many hits are given when the query does not say.
const defaultMax = 20

// Index holds issues. The zero value is not usable: [New]. It is not safe for use by several goroutines while it grows.
type Index struct {
	lists  map[uint64]uint32 // hash of a term -> its place in terms
	terms  []postings
	docs   []stored
	titles map[uint64][]uint32 // issues by their whole title
	byNum  map[int]uint32
	an     *analyzer
}

// stored is what is kept of an issue.
type stored struct {
	number                            int
	title, state, stateReason, opened string
	gone                              bool // replaced by a later version of the same issue
}

// New is an empty index.
func New() *Index {
	return &Index{lists: map[uint64]uint32{}, titles: map[uint64][]uint32{}, byNum: map[int]uint32{}, an: newAnalyzer(false)}
}

// Add puts an issue in. Pull requests stay out; a number that is there already is replaced.
func (x *Index) Add(d Doc) {
	if d.PullRequest || d.Number < 1 {
		return
	}
	x.put(d, x.an.analyze(d))
}

// put stores an analyzed issue.
func (x *Index) put(d Doc, a analyzed) {
	if old, there := x.byNum[d.Number]; there {
		x.docs[old].gone = true
	}
	id := uint32(len(x.docs)) //nolint:gosec // far below 2^32
	x.byNum[d.Number] = id
	x.docs = append(x.docs, stored{
		number: d.Number, title: clip(d.Title, maxTitle), state: d.State, stateReason: clip(d.StateReason, 40), opened: clip(d.Opened, 40),
	})
	if a.title != 0 {
		x.titles[a.title] = append(x.titles[a.title], id)
	}
	for _, t := range a.terms {
		place, ok := x.lists[t.hash]
		if !ok {
			place = uint32(len(x.terms)) //nolint:gosec // far below 2^32
			x.lists[t.hash] = place
			x.terms = append(x.terms, postings{})
		}
		x.terms[place].add(id, t)
	}
}

// wanted is a term of the query with what it weighs.
type wanted struct {
	word   string
	weight float64 // idf and the query's own frequency
	list   *postings
}

// Similar finds the issues that resemble d, most similar first. An issue that says too little finds only those with the
// very same title: the words of a template or of spam are no evidence.
func (x *Index) Similar(d Doc, q Query) []Hit {
	if q.Max <= 0 {
		q.Max = defaultMax
	}
	an := newAnalyzer(true)
	a := an.analyze(d)
	eligible := func(id uint32) bool {
		s := &x.docs[id]
		return !s.gone && s.number != d.Number && (q.Newer || d.Number < 1 || s.number < d.Number)
	}
	scores := make([]float32, len(x.docs))
	terms, self := x.wanted(a, an)
	least := minEvidence
	if claimsDuplicate(d.Title) {
		least = minUntitled
	}
	if a.evidence >= least {
		for _, t := range terms {
			weight := t.weight
			t.list.each(func(id uint32, tf float64, _ fieldSet) {
				scores[id] += float32(weight * tf / (saturation + tf))
			})
		}
	}
	floor := float32(minShare * self)
	same := float32(sameTitle * self)
	if a.title != 0 {
		for _, id := range x.titles[a.title] {
			scores[id] += max(same, 1e-3)
		}
	}
	top := best(scores, floor, q.Max, eligible, func(id uint32) int { return x.docs[id].number })
	return x.hits(top, scores, terms, self, a)
}

// wanted looks the terms of the query up; self is what the query would score against itself.
func (x *Index) wanted(a analyzed, an *analyzer) (terms []wanted, self float64) {
	n := float64(max(len(x.docs), 1))
	for _, t := range a.terms {
		frequency := t.tf / (querySaturation + t.tf)
		df := 0.0
		var list *postings
		if place, ok := x.lists[t.hash]; ok {
			list = &x.terms[place]
			df = float64(list.docs)
		}
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		weight := idf * frequency
		self += weight * t.tf / (saturation + t.tf)
		if list != nil {
			terms = append(terms, wanted{word: an.words[t.hash], weight: weight, list: list})
		}
	}
	// The heaviest terms decide; the tail of a long text costs time and says little.
	slices.SortFunc(terms, func(p, q wanted) int { return cmp.Or(cmp.Compare(q.weight, p.weight), cmp.Compare(p.word, q.word)) })
	if len(terms) > maxQueryTerms {
		terms = terms[:maxQueryTerms]
	}
	return terms, self
}

// best picks the n highest scores above floor.
func best(scores []float32, floor float32, n int, eligible func(uint32) bool, number func(uint32) int) []uint32 {
	before := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(number(b), number(a)))
	}
	var top []uint32
	for i, s := range scores {
		id := uint32(i)
		if s <= 0 || s < floor || !eligible(id) {
			continue
		}
		if len(top) == n && before(id, top[n-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, id, before)
		top = slices.Insert(top, at, id)
		top = top[:min(len(top), n)]
	}
	return top
}

// hits says of the best issues what they share with the query.
func (x *Index) hits(top []uint32, scores []float32, terms []wanted, self float64, a analyzed) []Hit {
	type shared struct {
		Match
		weight float64
		strong bool
	}
	found := map[uint32][]shared{}
	for _, id := range top {
		found[id] = nil
	}
	for _, t := range terms {
		t.list.each(func(id uint32, tf float64, in fieldSet) {
			if list, ok := found[id]; ok {
				found[id] = append(list, shared{
					Match: Match{Word: t.word, Field: in.name()}, weight: t.weight * tf / (saturation + tf), strong: in.strong(),
				})
			}
		})
	}
	out := make([]Hit, 0, len(top))
	for _, id := range top {
		s, list := x.docs[id], found[id]
		slices.SortStableFunc(list, func(p, q shared) int { return cmp.Compare(q.weight, p.weight) })
		h := Hit{
			Number: s.number, Title: s.title, State: s.state, StateReason: s.stateReason, Opened: s.opened,
			Score: float64(scores[id]), Verdict: Related,
		}
		if self > 0 {
			h.Share = min(1, h.Score/self)
		}
		strong := 0
		seen := map[string]bool{}
		for _, m := range list {
			if m.strong {
				strong++
			}
			if m.Word != "" && !seen[m.Word] && len(h.Matched) < maxMatched {
				seen[m.Word] = true
				h.Matched = append(h.Matched, m.Match)
			}
		}
		if s.state != "closed" && h.Share >= mayBeSame && (strong >= 2 || len(list) >= 6) && a.evidence >= muchEvidence {
			h.Verdict = MayBeSame
		}
		out = append(out, h)
	}
	return out
}

// clip copies the first characters of a text, so that the text itself can go.
func clip(s string, limit int) string {
	n := 0
	for i := range s {
		if n++; n > limit {
			return string([]byte(s[:i]))
		}
	}
	return string([]byte(s))
}
