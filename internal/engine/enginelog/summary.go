package enginelog

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// Tokens counts the tokens of a run or of one model. Input is uncached, Output includes thinking.
type Tokens struct {
	Input      int64
	Cached     int64 // read from the provider's cache
	CacheWrite int64 // written to it, whatever its lifetime
	Write1h    int64 // the part of CacheWrite with a lifetime of an hour
	Output     int64
}

// Add returns the sum.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{
		t.Input + o.Input, t.Cached + o.Cached, t.CacheWrite + o.CacheWrite, t.Write1h + o.Write1h,
		t.Output + o.Output,
	}
}

// Used reports whether there is any token.
func (t Tokens) Used() bool { return t.Input > 0 || t.Cached > 0 || t.CacheWrite > 0 || t.Output > 0 }

// Model is what one model did in a run. Nil is unknown.
type Model struct {
	ID      string // a model name, or "?" when the log holds something else
	Tokens  *Tokens
	CostUSD *float64
	Guessed bool // the engine did not know the model's price
	Foreign bool // another provider sent the bill: the dollars are an estimate
}

// Summary is what an engine's log says about its run. Nil is unknown.
type Summary struct {
	Engine      engine.Name
	Version     string
	ModelAsked  string
	Models      []Model
	Tokens      *Tokens // of all models
	Turns       *int64
	DurationMS  *int64
	CostUSD     *float64
	Unpriced    bool // the log says zero dollars although tokens were used
	Estimate    bool // the dollars rest on a guess
	ListPrice   bool // nothing was billed by the token
	Ended       engine.Ended
	Status      int    // HTTP status, for provider_error
	Detail      string // fixed words or a validated word that say more about Ended
	ToolsDenied *int64
	Sessions    int
}

// UnknownModel stands for a model name that is none.
const UnknownModel = "?"

var modelName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$`)

// ModelName returns the name, or UnknownModel when it is none: names reach the job summary.
func ModelName(name string) string {
	if !modelName().MatchString(name) || strings.Contains(name, "//") {
		return UnknownModel
	}
	return name
}

var smallWord = lazy.Regexp(`^[a-z][a-z0-9_]{0,39}$`)

// SmallWord returns word when it is a short word of lower-case letters, digits and underscores, else "".
func SmallWord(word string) string {
	if !smallWord().MatchString(word) {
		return ""
	}
	return word
}

var versionText = lazy.Regexp(`^[0-9A-Za-z][0-9A-Za-z.+-]{0,39}$`)

// Version returns text when it looks like a version, else "".
func Version(text string) string {
	if !versionText().MatchString(text) {
		return ""
	}
	return text
}

// ByStatus is the ending that an HTTP status of the provider names. 429 is left to the caller.
func ByStatus(status int) engine.Ended {
	switch status {
	case 401, 403:
		return engine.NotSignedIn
	case 404:
		return engine.UnknownModel
	case 429:
		return engine.RateLimited
	}
	return engine.ProviderError
}

// IsBlank reports whether a text holds nothing that can be seen.
func IsBlank(text string) bool {
	return strings.IndexFunc(text, visible) < 0
}
