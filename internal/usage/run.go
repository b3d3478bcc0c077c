// Package usage turns an execution file into numbers, one line for the job summary and one record.
//
// It reads the files of three engines and of our own runs, takes nothing from them but numbers and validated words, and
// writes what is unknown as unknown, never as 0. It does no I/O but through the reader that it is given and reads no
// clock.
package usage

import (
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// Basis says what the dollars of a run rest on, one word of a record.
type Basis string

// The bases of a record.
const (
	BasisMeter     Basis = "meter"      // counted call by call by our own meter
	BasisEngine    Basis = "engine"     // the engine's own sum
	BasisTable     Basis = "table"      // exact tokens of each call at the table's prices
	BasisEstimate  Basis = "estimate"   // sums at the table's prices, or a price that the engine guessed
	BasisListPrice Basis = "list_price" // a subscription: nothing is billed by the token
	BasisUnknown   Basis = "unknown"
)

var bases = []Basis{BasisMeter, BasisEngine, BasisTable, BasisEstimate, BasisListPrice, BasisUnknown}

// Run is what one run was, as far as it is known. Nil, "" and 0 limits are unknown.
type Run struct {
	Task          string
	Issue         int
	Engine        engine.Name
	EngineVersion string
	Started       time.Time
	ModelAsked    string
	Models        []enginelog.Model // the one that cost most first
	Tokens        *enginelog.Tokens
	Ended         engine.Ended
	Status        int    // the provider's HTTP status, for provider_error
	Detail        string // fixed words that say more about Ended
	Turns         *int64
	MaxTurns      int
	Calls         *int64 // requests at the meter
	DurationMS    *int64
	CostUSD       *float64
	CostBasis     Basis
	AtMost        bool // some calls are in CostUSD at what was kept back for them: nobody knows what they cost
	Unpriced      bool // the log says zero dollars although tokens were used
	MaxBudgetUSD  float64
	WorstNextUSD  float64 // what the call that was refused could have cost
	ToolsDenied   *int64
	Sessions      int
	Own           bool // the file is one of our own runs
	Metered       bool // and its numbers are our own meter's
	Session       *Session
}

// Session says whether a saved conversation was resumed and why not. Reasons are fixed words. In shadow mode every run is
// fresh, and no reason means that it would have been resumed.
type Session struct {
	Decision      string   `json:"decision" jsonschema:"enum=fresh,enum=resumed"`
	Reasons       []string `json:"reasons"`
	Shadow        bool     `json:"shadow,omitempty" jsonschema:"description=Fresh whatever the reasons say; without any it would have been resumed"`
	ResumeUSD     *float64 `json:"resume_usd,omitempty" jsonschema:"minimum=0,description=What resuming would have cost in US dollars"`
	FreshUSD      *float64 `json:"fresh_usd,omitempty" jsonschema:"minimum=0,description=What a fresh start costs in US dollars by the same estimate"`
	ContextTokens int64    `json:"context_tokens,omitempty" jsonschema:"minimum=0,description=Tokens of the conversation that was resumed"`
	FirstCached   *int64   `json:"first_cached,omitempty" jsonschema:"minimum=0,maximum=100,description=Percent of the resumed run's first call that came from the provider's cache"`
}

// Given is what is known of a run besides its execution file. Zero values are unknown.
type Given struct {
	Task         string
	Issue        int
	Engine       engine.Name
	Model        string
	MaxTurns     int
	MaxBudgetUSD float64
	Ended        engine.Ended
	Session      *Session
}

// Fill sets what the execution file does not know.
func (r *Run) Fill(g Given) {
	if r.Task == "" {
		r.Task = g.Task
	}
	if r.Issue == 0 {
		r.Issue = g.Issue
	}
	if r.Engine == "" {
		r.Engine = g.Engine
	}
	if !r.Own && g.Model != "" {
		r.ModelAsked = g.Model
	}
	if r.MaxTurns == 0 {
		r.MaxTurns = g.MaxTurns
	}
	if r.MaxBudgetUSD == 0 {
		r.MaxBudgetUSD = g.MaxBudgetUSD
	}
	if r.Session == nil {
		r.Session = g.Session
	}
}

// Override sets what is given, whatever the execution file says; only how a run of ours ended, by its last record, stays.
func (r *Run) Override(g Given) {
	if g.Task != "" {
		r.Task = g.Task
	}
	if g.Issue != 0 {
		r.Issue = g.Issue
	}
	if g.Engine != "" {
		r.Engine = g.Engine
	}
	if g.Model != "" {
		r.ModelAsked = g.Model
	}
	if g.MaxTurns != 0 {
		r.MaxTurns = g.MaxTurns
	}
	if g.MaxBudgetUSD != 0 {
		r.MaxBudgetUSD = g.MaxBudgetUSD
	}
	if g.Session != nil {
		r.Session = g.Session
	}
	if g.Ended.Valid() && r.Ended != g.Ended && (!r.Own || r.Ended == engine.Unfinished) {
		r.Ended, r.Status, r.Detail = g.Ended, 0, ""
	}
}

// Pricer prices the tokens of one model in dollars. ok is false when the model has no price.
type Pricer func(model string, in, cached, write5m, write1h, out int64) (usd float64, ok bool)
