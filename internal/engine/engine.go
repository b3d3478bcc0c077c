// Package engine knows the command-line programs that read an issue (Claude Code, Codex, Gemini): how each is told its
// rules, limits and tools, and how each ends.
//
// This package holds what the engines share: the words for how a run ended and the records of an execution file.
// One sub-package per engine holds the rest.
package engine

import "slices"

// Ended is how a run ended: one word, the same on every engine, in outputs, records and the line.
type Ended string

// The closed list of endings.
const (
	Finished      Ended = "finished"      // a final success event and an answer that parses
	Turns         Ended = "turns"         // stopped at its turns
	Budget        Ended = "budget"        // stopped at its budget
	Time          Ended = "time"          // stopped at its minutes
	NoAnswer      Ended = "no_answer"     // ended well, without an answer
	BadAnswer     Ended = "bad_answer"    // the answer never fitted its schema, or is too long to hand on
	ModelRefused  Ended = "model_refused" // the model would not answer
	AccountLimit  Ended = "account_limit" // the account's own limit: wait until it resets
	NotSignedIn   Ended = "not_signed_in" // no key, or one that is not accepted
	UnknownModel  Ended = "unknown_model" // the provider does not know the model
	RateLimited   Ended = "rate_limited"  // too many requests, also after retries
	ProviderError Ended = "provider_error"
	Interrupted   Ended = "interrupted" // a signal from outside ended it
	Unfinished    Ended = "unfinished"  // the log stops without saying why
	NotStarted    Ended = "not_started" // refused before the first request
	NoData        Ended = "no_data"     // there is nothing to read
)

// Endings lists every word that Ended can be.
var Endings = []Ended{
	Finished, Turns, Budget, Time, NoAnswer, BadAnswer, ModelRefused, AccountLimit, NotSignedIn,
	UnknownModel, RateLimited, ProviderError, Interrupted, Unfinished, NotStarted, NoData,
}

// Valid reports whether e is one of Endings.
func (e Ended) Valid() bool { return slices.Contains(Endings, e) }

// Stopped reports whether one of the task's own limits ended the run without an answer.
func (e Ended) Stopped() bool { return e == Turns || e == Budget || e == Time }

// ByIssue reports whether an issue's text can cause this ending; such a run never turns a job red.
func (e Ended) ByIssue() bool {
	return e == Finished || e.Stopped() || e == NoAnswer || e == BadAnswer || e == ModelRefused
}

// Name is an engine's name as it stands in settings.
type Name string

// The engines.
const (
	Claude Name = "claude"
	Codex  Name = "codex"
	Gemini Name = "gemini"
)

// Names lists the engines in the order of the documentation.
var Names = []Name{Claude, Codex, Gemini}
