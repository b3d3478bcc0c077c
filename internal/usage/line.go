package usage

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// Line renders a run as one line of Markdown without a line break. Only numbers and validated words are in it.
func Line(r Run) string {
	parts := []string{head(r)}
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(modelPart(r))
	add(outcome(r))
	add(turnsPart(r))
	if r.DurationMS != nil {
		add(formatTime(*r.DurationMS))
	}
	add(costPart(r))
	add(tokensPart(r.Tokens))
	if r.ToolsDenied != nil && *r.ToolsDenied > 0 {
		add(plural(*r.ToolsDenied, "tool call") + " denied")
	}
	if r.Sessions > 1 {
		add(plural(int64(r.Sessions), "session"))
	}
	add(sessionPart(r))
	return strings.Join(parts, " · ")
}

func head(r Run) string {
	name := Word(r.Task)
	if name == "" {
		name = "run"
	}
	if r.Issue <= 0 {
		return "**" + name + "**"
	}
	return fmt.Sprintf("**%s** of #%d", name, r.Issue)
}

var dated = lazy.Regexp(`^-(?:\d{8}|\d{4}-\d{2}-\d{2})$`)

func modelPart(r Run) string {
	asked := r.ModelAsked
	if len(r.Models) == 0 {
		if asked == "" {
			return ""
		}
		return escapeModel(asked)
	}
	used := r.Models[0].ID
	text := escapeModel(used)
	if asked != "" && asked != used && !dated().MatchString(strings.TrimPrefix(used, asked)) {
		text = escapeModel(asked) + " → " + text
	}
	if more := len(r.Models) - 1; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

var plainModel = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9.\[\]-]*$`)

// escapeModel makes a model name safe in Markdown. Brackets are escaped; a name with characters that GitHub gives a
// meaning to (_, @, :, /, a leading www.) stands in a code span, which a model name cannot end.
func escapeModel(name string) string {
	name = enginelog.ModelName(name)
	if name == enginelog.UnknownModel {
		return name
	}
	if !plainModel().MatchString(name) || strings.HasPrefix(strings.ToLower(name), "www.") {
		return "`" + name + "`"
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(name)
}

// words are the outcomes.
func words() map[engine.Ended]string {
	return map[engine.Ended]string{
		engine.Finished:      "finished",
		engine.Turns:         "**stopped at its turns**, nothing posted: raise `max_turns`",
		engine.Budget:        "**stopped at its budget**, nothing posted: raise `max_budget_usd`",
		engine.Time:          "**stopped at its time**, nothing posted: raise `timeout_minutes`",
		engine.NoAnswer:      "no answer",
		engine.BadAnswer:     "answer did not fit its schema",
		engine.ModelRefused:  "refused by the model",
		engine.AccountLimit:  "account limit: wait until it resets",
		engine.NotSignedIn:   "not signed in: check the secret",
		engine.UnknownModel:  "unknown model: check `model`",
		engine.RateLimited:   "rate limited",
		engine.ProviderError: "provider error",
		engine.Interrupted:   "interrupted",
		engine.Unfinished:    "did not finish",
		engine.NotStarted:    "not started",
		engine.NoData:        "no usage data",
	}
}

func outcome(r Run) string {
	ended := r.Ended
	if !ended.Valid() {
		ended = engine.NoData
	}
	text := words()[ended]
	switch ended {
	case engine.ProviderError:
		if r.Status > 0 {
			text += fmt.Sprintf(" %d", r.Status)
		}
	case engine.NotStarted:
		text += ": "
		if r.Own {
			text += "see the log of `run`"
		} else {
			text += "no request was made"
		}
	case engine.Unfinished, engine.NoData, engine.Budget:
		if r.Detail != "" {
			text += " (" + r.Detail + ")"
		}
	default:
	}
	return text
}

// silent reports whether a run has no numbers that anyone would look for.
func silent(r Run) bool {
	return r.Ended == engine.NoData || r.Ended == engine.NotStarted || !r.Ended.Valid()
}

func turnsPart(r Run) string {
	limit := int64(r.MaxTurns)
	if r.Turns == nil {
		if limit == 0 || silent(r) {
			return ""
		}
		return fmt.Sprintf("? of %s", plural(limit, "turn"))
	}
	turns := *r.Turns
	if limit == 0 {
		return plural(turns, "turn")
	}
	over := turns > limit
	if !r.Metered {
		// Claude counts the turn that its own limit did not let it take.
		if r.Ended == engine.Turns && turns == limit+1 {
			turns = limit
		}
		over = turns > limit+1
	}
	text := fmt.Sprintf("%d of %s", turns, plural(limit, "turn"))
	if over {
		text = "⚠ " + text
	}
	return text
}

func costPart(r Run) string {
	var b strings.Builder
	switch {
	case r.CostUSD != nil:
		b.WriteString(formatUSD(*r.CostUSD))
	case r.Unpriced:
		b.WriteString("cost unpriced")
	case silent(r):
		return ""
	default:
		b.WriteString("cost unknown")
	}
	if r.MaxBudgetUSD > 0 {
		b.WriteString(" of " + formatLimit(r.MaxBudgetUSD))
		if r.CostUSD != nil && *r.CostUSD > r.MaxBudgetUSD && !r.Own {
			b.WriteString(" (over)")
		}
	}
	if r.CostUSD != nil {
		var notes []string
		switch r.CostBasis {
		case BasisEstimate:
			notes = []string{"estimate"}
		case BasisListPrice:
			notes = []string{"list price"}
		default:
		}
		if r.AtMost {
			notes = append(notes, "at most")
		}
		if notes != nil {
			b.WriteString(" (" + strings.Join(notes, ", ") + ")")
		}
	}
	if r.WorstNextUSD > 0 {
		b.WriteString(" (next call up to " + formatUSD(r.WorstNextUSD) + ")")
	}
	return b.String()
}

func tokensPart(t *enginelog.Tokens) string {
	if t == nil || !t.Used() {
		return ""
	}
	return fmt.Sprintf("%s in + %s cached, %s out",
		formatTokens(t.Input+t.CacheWrite), formatTokens(t.Cached), formatTokens(t.Output))
}

// sessionPart is the decision on the conversation, when sessions are on.
func sessionPart(r Run) string {
	s := cleanSession(r.Session)
	switch {
	case s == nil:
		return ""
	case s.Decision == "resumed":
		return "session resumed" + resumedPart(s, r.Tokens)
	}
	text := "session fresh"
	switch {
	case len(s.Reasons) > 0:
		text += ": " + strings.Join(s.Reasons, ", ")
	case s.Shadow:
		text += ": shadow"
	}
	if s.ResumeUSD != nil && s.FreshUSD != nil {
		text += fmt.Sprintf("; would resume %s vs fresh %s", formatUSD(*s.ResumeUSD), formatUSD(*s.FreshUSD))
	}
	return text
}

// resumedPart says how large the conversation was and how much of its first call came from the cache; of a log without
// the meter's calls, how much of all of them.
func resumedPart(s *Session, t *enginelog.Tokens) string {
	var parts []string
	if s.ContextTokens > 0 {
		parts = append(parts, formatTokens(s.ContextTokens)+" context")
	}
	switch {
	case s.FirstCached != nil:
		parts = append(parts, fmt.Sprintf("first call %d%% from cache", *s.FirstCached))
	case t != nil && t.Input+t.CacheWrite+t.Cached > 0:
		parts = append(parts, fmt.Sprintf("%d%% from cache", t.Cached*100/(t.Input+t.CacheWrite+t.Cached)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
