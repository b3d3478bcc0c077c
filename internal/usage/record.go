package usage

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// RecordSchema is the version of Record.
const RecordSchema = 1

// Record is one run in the ledger: numbers, ids and fixed words only. Null is unknown. Schema: schema/usage.schema.json.
type Record struct {
	Schema           int           `json:"schema" jsonschema:"enum=1,description=Version of this format"`
	Repository       string        `json:"repository" jsonschema:"pattern=^([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?$,description=Owner and name; empty when unknown"`
	Issue            int           `json:"issue" jsonschema:"minimum=0,description=Number of the issue; 0 when there is none"`
	Task             string        `json:"task" jsonschema:"pattern=^([a-z][a-z0-9-]{0\\,39})?$,description=The task; empty when unknown"`
	RunID            int64         `json:"run_id" jsonschema:"minimum=0,description=GITHUB_RUN_ID; 0 outside of a workflow"`
	Attempt          int           `json:"attempt" jsonschema:"minimum=0,description=GITHUB_RUN_ATTEMPT; 0 outside of a workflow"`
	Started          *time.Time    `json:"started" jsonschema:"description=When the run began"`
	Engine           string        `json:"engine" jsonschema:"enum=claude,enum=codex,enum=gemini,enum=,description=The engine; empty when unknown"`
	EngineVersion    string        `json:"engine_version" jsonschema:"description=Version of the engine's CLI; empty when unknown"`
	ModelAsked       string        `json:"model_asked" jsonschema:"description=The model that was asked for; empty when unknown"`
	Models           []RecordModel `json:"models" jsonschema:"description=The models that answered; the one that cost most first"`
	Ended            string        `json:"ended" jsonschema:"enum=finished,enum=turns,enum=budget,enum=time,enum=no_answer,enum=bad_answer,enum=model_refused,enum=account_limit,enum=not_signed_in,enum=unknown_model,enum=rate_limited,enum=provider_error,enum=interrupted,enum=unfinished,enum=not_started,enum=no_data,description=How the run ended"`
	Turns            *int64        `json:"turns" jsonschema:"minimum=0,description=Answers of the model that arrived"`
	MaxTurns         *int          `json:"max_turns" jsonschema:"minimum=1"`
	Calls            *int64        `json:"calls" jsonschema:"minimum=0,description=Requests at the meter"`
	DurationMS       *int64        `json:"duration_ms" jsonschema:"minimum=0"`
	CostUSD          *float64      `json:"cost_usd" jsonschema:"minimum=0,description=US dollars"`
	CostBasis        Basis         `json:"cost_basis" jsonschema:"enum=meter,enum=engine,enum=table,enum=estimate,enum=list_price,enum=unknown,description=What the dollars rest on"`
	MaxBudgetUSD     *float64      `json:"max_budget_usd" jsonschema:"minimum=0"`
	WorstNextCallUSD *float64      `json:"worst_next_call_usd" jsonschema:"minimum=0,description=What the call that was refused could have cost"`
	ToolsDenied      *int64        `json:"tools_denied" jsonschema:"minimum=0"`
	Session          *Session      `json:"session" jsonschema:"description=Whether a saved conversation was resumed"`
}

// RecordModel is what one model used.
type RecordModel struct {
	ID          string   `json:"id" jsonschema:"description=Model name; ? when the log held something else"`
	Input       *int64   `json:"input" jsonschema:"minimum=0,description=Uncached input tokens"`
	CachedInput *int64   `json:"cached_input" jsonschema:"minimum=0,description=Input tokens read from the provider's cache"`
	CacheWrite  *int64   `json:"cache_write" jsonschema:"minimum=0,description=Input tokens written to it"`
	Output      *int64   `json:"output" jsonschema:"minimum=0,description=Output tokens with thinking"`
	CostUSD     *float64 `json:"cost_usd" jsonschema:"minimum=0,description=US dollars"`
}

// Job is the workflow run that a record belongs to. Zero values are unknown.
type Job struct {
	Repository string
	RunID      int64
	Attempt    int
}

var repositoryName = lazy.Regexp(`^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$`)

// NewRecord makes the record of a run.
func NewRecord(r Run, job Job) Record {
	rec := Record{
		Schema: RecordSchema, Issue: max(r.Issue, 0), Task: Word(r.Task), RunID: max(job.RunID, 0),
		Attempt: max(job.Attempt, 0), EngineVersion: r.EngineVersion, Models: []RecordModel{},
		Ended: string(r.Ended), Turns: r.Turns, Calls: r.Calls, DurationMS: r.DurationMS, CostUSD: r.CostUSD,
		CostBasis: r.CostBasis, ToolsDenied: r.ToolsDenied, Session: cleanSession(r.Session),
	}
	if repositoryName().MatchString(job.Repository) {
		rec.Repository = job.Repository
	}
	if knownEngine(r.Engine) {
		rec.Engine = string(r.Engine)
	}
	if r.ModelAsked != "" {
		rec.ModelAsked = enginelog.ModelName(r.ModelAsked)
	}
	if !r.Started.IsZero() {
		rec.Started = &r.Started
	}
	if r.MaxTurns > 0 {
		rec.MaxTurns = &r.MaxTurns
	}
	if r.MaxBudgetUSD > 0 {
		rec.MaxBudgetUSD = &r.MaxBudgetUSD
	}
	if r.WorstNextUSD > 0 {
		rec.WorstNextCallUSD = &r.WorstNextUSD
	}
	if rec.CostUSD == nil || !knownBasis(rec.CostBasis) {
		rec.CostBasis = BasisUnknown
	}
	for _, m := range r.Models {
		model := RecordModel{ID: enginelog.ModelName(m.ID), CostUSD: m.CostUSD}
		if t := m.Tokens; t != nil {
			model.Input, model.CachedInput, model.CacheWrite, model.Output = &t.Input, &t.Cached, &t.CacheWrite, &t.Output
		}
		rec.Models = append(rec.Models, model)
	}
	return rec
}

func cleanSession(s *Session) *Session {
	if s == nil || (s.Decision != "fresh" && s.Decision != "resumed") {
		return nil
	}
	clean := &Session{
		Decision: s.Decision, Reasons: []string{}, Shadow: s.Shadow, ResumeUSD: s.ResumeUSD, FreshUSD: s.FreshUSD,
		ContextTokens: s.ContextTokens, FirstCached: s.FirstCached,
	}
	for _, reason := range s.Reasons {
		if word := enginelog.SmallWord(reason); word != "" {
			clean.Reasons = append(clean.Reasons, word)
		}
	}
	return clean
}

// Encode writes the record as one line of JSON.
func (r Record) Encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	return append(data, '\n'), nil
}
