package engine

import "time"

// Types of the lines that a run of ours adds to the engine's own lines in an execution file. An engine's line never
// carries one of these types: the run wraps or renames what does.
const (
	TypeRun  = "issue_assistant.run"  // first line: RunRecord
	TypeHeld = "issue_assistant.held" // one per request that goes to the provider, before it does: HeldRecord
	TypeCall = "issue_assistant.call" // one per request at the meter, when it has ended: CallRecord
	TypeEnd  = "issue_assistant.end"  // last line: EndRecord
	TypeText = "issue_assistant.text" // a line of the engine that is no JSON object: TextRecord

	TypeSession = "issue_assistant.session" // sessions on, before a conversation starts or goes on: SessionRecord
)

// RecordSchema is the version of the records below.
const RecordSchema = 1

// RunRecord says what was started and within which limits.
type RunRecord struct {
	Type           string    `json:"type"`
	Schema         int       `json:"schema"`
	Task           string    `json:"task"`
	Issue          int       `json:"issue,omitempty"`
	Engine         Name      `json:"engine"`
	EngineVersion  string    `json:"engine_version,omitempty"`
	Model          string    `json:"model"`
	Effort         string    `json:"effort,omitempty"`
	MaxTurns       int       `json:"max_turns"`
	MaxBudgetUSD   float64   `json:"max_budget_usd"`
	TimeoutMinutes int       `json:"timeout_minutes"`
	ListPrice      bool      `json:"list_price,omitempty"` // a subscription: nothing is billed by the token
	Started        time.Time `json:"started"`
}

// Basis says what the dollars of one call rest on.
type Basis string

// The bases of a call's dollars.
const (
	BasisUsage    Basis = "usage"    // the provider's own final usage, priced by the table
	BasisReserved Basis = "reserved" // no trustworthy usage: booked at the reservation
	BasisFree     Basis = "free"     // an HTTP error, or refused by the meter: nothing was billed
)

// HeldRecord is what the meter keeps back for a call that is about to go out. A run that is killed leaves it without a
// CallRecord of the same N: the call cost at most that much.
type HeldRecord struct {
	Type        string  `json:"type"`
	N           int     `json:"n"`
	ReservedUSD float64 `json:"reserved_usd"`
}

// CallRecord is one request of the engine as the meter saw it. Tokens are counts; dollars are US dollars.
// A call is a turn when an answer of the model arrived.
type CallRecord struct {
	Type         string  `json:"type"`
	N            int     `json:"n"`
	Model        string  `json:"model"`                // as asked
	ModelUsed    string  `json:"model_used,omitempty"` // as answered, when it differs
	Status       int     `json:"status"`               // HTTP status given to the engine
	Turn         bool    `json:"turn"`
	Input        int64   `json:"input"`        // uncached input
	CachedInput  int64   `json:"cached_input"` // read from the provider's cache
	CacheWrite5m int64   `json:"cache_write_5m"`
	CacheWrite1h int64   `json:"cache_write_1h"`
	Output       int64   `json:"output"` // thinking included
	CostUSD      float64 `json:"cost_usd"`
	ReservedUSD  float64 `json:"reserved_usd"`
	Basis        Basis   `json:"basis"`
	StopReason   string  `json:"stop_reason,omitempty"` // a fixed word of the provider
	Last         bool    `json:"last,omitempty"`        // the meter asked for the answer with this call
	Refused      Ended   `json:"refused,omitempty"`     // turns or budget: it did not go out
	DurationMS   int64   `json:"duration_ms"`
}

// SessionRecord says whether the conversation that follows is a fresh one and why. The last one of a file counts.
type SessionRecord struct {
	Type          string   `json:"type"`
	Decision      string   `json:"decision"`         // fresh or resumed
	Reasons       string   `json:"reasons"`          // words of the closed list, with blanks between
	Shadow        bool     `json:"shadow,omitempty"` // fresh whatever the reasons say; none: it would have resumed
	ResumeUSD     *float64 `json:"resume_usd,omitempty"`
	FreshUSD      *float64 `json:"fresh_usd,omitempty"`
	ContextTokens int64    `json:"context_tokens,omitempty"` // of the conversation that goes on
}

// EndRecord says how the run ended. WorstNextCallUSD is what the call that was refused could have cost, 0 if none was.
type EndRecord struct {
	Type             string  `json:"type"`
	Ended            Ended   `json:"ended"`
	Status           int     `json:"status,omitempty"` // the provider's HTTP status, for provider_error
	Turns            int     `json:"turns"`
	Calls            int     `json:"calls"`
	CostUSD          float64 `json:"cost_usd"`
	CostBasis        string  `json:"cost_basis"` // meter, engine, list_price, unknown
	WorstNextCallUSD float64 `json:"worst_next_call_usd,omitempty"`
	ToolsDenied      int     `json:"tools_denied,omitempty"`
	DurationMS       int64   `json:"duration_ms"`
	SessionID        string  `json:"session_id,omitempty"`
}

// TextRecord keeps a line of the engine that is no JSON object.
type TextRecord struct {
	Type string `json:"type"`
	Text string `json:"text"`
}
