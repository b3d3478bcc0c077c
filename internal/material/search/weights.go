package search

// Tuned on testdata/dups-own, with other distractors than those of the test: each was moved until recall at 20 and the
// mean reciprocal rank no longer rose.
const (
	saturation      = 1.0  // k1 of BM25
	querySaturation = 0.5  // how fast a repeated word of the query counts as one
	minShare        = 0.02 // of the query's own score, below which nothing is offered
	mayBeSame       = 0.35 // of the query's own score, from which more than "related" is said
	sameTitle       = 0.30 // of the query's own score, added for the very same title
	minEvidence     = 2    // different words that say something, below which words are no evidence
	minUntitled     = 6    // the same where the title says nothing but whose duplicate it is
	muchEvidence    = 8    // the same for more than "related"
	maxQueryTerms   = 160
	maxTitle        = 300    // characters of a title that are kept
	maxBody         = 12_000 // bytes of a body that are read; half of them from its end
	maxTerms        = 1_500  // different terms of one issue
)

// weightOf a field, the length in words that is usual for it, and how much length counts.
//
//nolint:gochecknoglobals // tables, read only
var (
	weightOf = [fields]float64{inTitle: 3.2, inError: 1.7, inCode: 2.4, inPath: 1.5, inForm: 0.9, inLabel: 0.4, inBody: 1.2}
	usual    = [fields]float64{inTitle: 5, inError: 8, inCode: 16, inPath: 6, inForm: 16, inLabel: 2, inBody: 45}
	lengthOf = [fields]float64{inTitle: 0.35, inError: 0.5, inCode: 0.6, inPath: 0.5, inForm: 0.9, inLabel: 0.3, inBody: 0.8}
)

// Weights of terms that are derived from words.
const (
	partWeight    = 0.5  // a part of an identifier
	conceptWeight = 1.05 // what the word means
	pairWeight    = 0.8  // two words of an error line that follow each other
	numberWeight  = 0.35
)
