package claude

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// Keys are the parts of Claude Code's events that its log is judged by, with the bytes to keep of each.
func Keys() enginelog.Want {
	return enginelog.Want{
		"type": 64, "subtype": 64, "session_id": 130, "parent_tool_use_id": 8,
		"model": 400, "claude_code_version": 64, "apiKeySource": 64, "tools": 16 << 10,
		"error": 4 << 10, "rate_limit_info": 2 << 10,
		"is_error": 16, "num_turns": 64, "duration_ms": 64, "duration_api_ms": 64, "total_cost_usd": 64, "cost_usd": 64,
		"api_error_status": 64, "api_error": 64, "terminal_reason": 64, "stop_reason": 64,
		"usage": 8 << 10, "modelUsage": 64 << 10, "model_usage_since_last_result": 64 << 10,
		"permission_denials": 1, "permission_denials_count": 64,
		"result": 4 << 10, "structured_output": 1,
	}
}

// Result is a closing `result` object of Claude Code, field by field: a field that is missing, of the wrong type or
// absurd is nil and leaves the others alone. Facts: spec of the CLI 2.1.240 and 2.1.332.
type Result struct {
	Subtype        string
	IsError        bool
	Unclear        bool   // is_error is there and neither true nor false; without the key, older logs are no errors
	Turns          *int64 // num_turns; one more than the limit when that stopped it
	DurationMS     *int64
	APIMS          *int64
	CostUSD        *float64 // cumulative within a session
	Status         *int64   // HTTP status of the API's last answer, when that was an error
	StopReason     string
	TerminalReason string
	APIError       string
	SessionID      string
	Models         []enginelog.Model // modelUsage, cumulative within a session
	ModelsCut      bool              // modelUsage names more than is kept
	Since          []enginelog.Model // model_usage_since_last_result
	HasSince       bool              // and all of it is kept
	Usage          *enginelog.Tokens // the main loop's own
	ToolsDenied    *int64
	HasText        bool   // result is a string
	Text           string // its start
	HasStructured  bool
}

func resultOf(ev *enginelog.Event) Result {
	r := Result{
		Subtype:        ev.Word("subtype"),
		Turns:          ev.Field("num_turns").Count(enginelog.MaxTurns),
		DurationMS:     ev.Field("duration_ms").Millis(),
		APIMS:          ev.Field("duration_api_ms").Millis(),
		Status:         ev.Field("api_error_status").Count(999),
		StopReason:     ev.Word("stop_reason"),
		TerminalReason: ev.Word("terminal_reason"),
		APIError:       ev.Word("api_error"),
		SessionID:      ev.Word("session_id"),
		Usage:          usageOf(ev.Field("usage")),
		HasText:        ev.Field("result").Kind() == '"',
		Text:           ev.Field("result").Text(),
	}
	models, whole := modelsOf(ev.Field("modelUsage"))
	r.Models, r.ModelsCut = models, !whole
	var known bool
	r.IsError, known = ev.Field("is_error").Bool()
	r.Unclear = !known && ev.Has("is_error")
	r.CostUSD = ev.Field("total_cost_usd").Dollars()
	if !ev.Has("total_cost_usd") {
		r.CostUSD = ev.Field("cost_usd").Dollars() // the name before 2025
	}
	if f := ev.Field("model_usage_since_last_result"); f.Kind() == '{' {
		r.Since, r.HasSince = modelsOf(f)
	}
	if f := ev.Field("permission_denials"); f.Kind() == '[' {
		n := int64(f.Elems)
		r.ToolsDenied = &n
	} else {
		r.ToolsDenied = ev.Field("permission_denials_count").Count(enginelog.MaxTurns)
	}
	if f := ev.Field("structured_output"); f.Kind() != 0 && !f.IsNull() {
		r.HasStructured = f.Kind() != 'n'
	}
	return r
}

func usageOf(f enginelog.Field) *enginelog.Tokens {
	if f.Cut {
		return nil
	}
	m := f.Sub()
	return tokensOf(m, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
}

// tokensOf reads four counts; nil when none of them is there, or one is there and is no count: shown as 0 it would be
// wrong, and a price made of the others too low.
func tokensOf(m enginelog.Members, input, cached, write, output string) *enginelog.Tokens {
	var t enginelog.Tokens
	found := false
	for _, part := range []struct {
		key string
		to  *int64
	}{{input, &t.Input}, {cached, &t.Cached}, {write, &t.CacheWrite}, {output, &t.Output}} {
		f := m.Get(part.key)
		if f.Uncountable(enginelog.MaxTokens) {
			return nil
		}
		if n := f.Count(enginelog.MaxTokens); n != nil {
			*part.to = *n
			found = true
		}
	}
	if !found {
		return nil
	}
	return &t
}

// maxModels bounds what a run can name; real ones use up to four.
const maxModels = 64

// modelsOf returns nothing, and false, when there are more models than are kept: a part would be taken for the whole.
func modelsOf(f enginelog.Field) ([]enginelog.Model, bool) {
	if f.Cut {
		return nil, false
	}
	var models []enginelog.Model
	at := map[string]int{}
	for _, m := range f.Sub() {
		use := m.Value.Sub()
		model := enginelog.Model{
			ID: enginelog.ModelName(m.Key),
			Tokens: tokensOf(use, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens",
				"outputTokens"),
			CostUSD: use.Get("costUSD").Dollars(),
			Guessed: use.Get("costBasis").Word() == "unknown",
			Foreign: foreign(m.Key, use.Get("provider").Word()),
		}
		if i, ok := at[m.Key]; ok {
			models[i] = model
			continue
		}
		if len(models) == maxModels {
			return nil, false
		}
		at[m.Key] = len(models)
		models = append(models, model)
	}
	return models, true
}

// foreign reports whether the bill comes from a cloud and not from Anthropic: Bedrock's ids hold the vendor's name,
// newer CLIs name the provider.
func foreign(id, provider string) bool {
	if provider != "" {
		return provider != "firstParty"
	}
	return strings.HasPrefix(id, "anthropic.") || strings.Contains(id, ".anthropic.") || strings.HasPrefix(id, "arn:")
}

// Ended says how the run ended. A success is a success only without is_error; the CLI reports every API error as
// subtype success, so that an is_error which cannot be read leaves the end open.
func (r Result) Ended() engine.Ended { return r.ended(hints{}) }

// hints are what other lines of the log add to a result.
type hints struct {
	code        string // error code of the last synthetic assistant line
	schema      bool   // an answer by the StructuredOutput tool was asked for
	limitPassed bool   // a rate_limit_event says that the account's limit is used up
}

func (r Result) ended(c hints) engine.Ended {
	switch r.Subtype {
	case "success":
		switch {
		case r.IsError, r.Unclear && r.Status != nil:
			return r.apiError(c)
		case r.Unclear: // nothing says that it succeeded, and nothing why not
			return engine.Unfinished
		}
		return r.success(c)
	case "error_max_turns":
		return engine.Turns
	case "error_max_budget_usd":
		return engine.Budget
	case "error_max_structured_output_retries":
		return engine.BadAnswer
	case "error_during_execution":
		if strings.HasPrefix(r.TerminalReason, "aborted_") {
			return engine.Interrupted
		}
		if r.neverStarted() {
			return engine.NotStarted
		}
	}
	return engine.Unfinished
}

// neverStarted: a session to resume that is gone ends the CLI before its first request.
func (r Result) neverStarted() bool {
	zero := func(n *int64) bool { return n != nil && *n == 0 }
	return zero(r.Turns) && zero(r.DurationMS) && (r.CostUSD == nil || *r.CostUSD == 0)
}

func (r Result) success(c hints) engine.Ended {
	switch {
	case r.StopReason == "refusal":
		return engine.ModelRefused
	case r.HasStructured:
		return engine.Finished
	case c.schema, r.HasText && enginelog.IsBlank(r.Text):
		return engine.NoAnswer
	}
	return engine.Finished
}

// apiError reads the reason from codes. Two fixed phrases serve logs that have none.
func (r Result) apiError(c hints) engine.Ended {
	if r.Status != nil {
		if *r.Status == 429 && r.accountLimit(c) {
			return engine.AccountLimit
		}
		return enginelog.ByStatus(int(*r.Status))
	}
	switch {
	case r.StopReason == "refusal":
		return engine.ModelRefused
	case r.APIError == "max_output_tokens", c.code == "max_output_tokens":
		return engine.NoAnswer
	case limitText(r.Text):
		return engine.AccountLimit
	case strings.HasPrefix(r.Text, "Not logged in"), strings.HasPrefix(r.Text, "Invalid API key"):
		return engine.NotSignedIn
	}
	return byCode(c.code)
}

// byCode translates the error code of an assistant line or of an API error.
func byCode(code string) engine.Ended {
	switch code {
	case "authentication_failed", "authentication_error", "permission_error":
		return engine.NotSignedIn
	case "rate_limit", "rate_limit_error":
		return engine.RateLimited
	case "model_not_found":
		return engine.UnknownModel
	case "billing_error":
		return engine.AccountLimit
	}
	return engine.ProviderError
}

// accountLimit tells a used-up account from too many requests, both 429. The CLI ends a request that the API rejected
// with terminal_reason api_error; older ones said "completed" for both, and there a run that had got answers before is
// the account's limit.
func (r Result) accountLimit(c hints) bool {
	if c.limitPassed || limitText(r.Text) {
		return true
	}
	if r.TerminalReason == "api_error" {
		return false
	}
	return (r.CostUSD != nil && *r.CostUSD > 0) || (r.APIMS != nil && *r.APIMS > 0)
}

// limitText knows the CLI's own words for the account's limit, such as "Claude AI usage limit reached|1749924000" and
// "Session limit reached ∙ resets 5am". What the API says begins with "API Error".
func limitText(text string) bool {
	if strings.HasPrefix(text, "API Error") {
		return false
	}
	for _, phrase := range []string{
		"usage limit reached", "limit reached ", "hit your limit", "∙ resets ", "· resets ",
		"Credit balance is too low",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}
