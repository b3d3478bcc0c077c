// Package gemini knows the command line of Google's Gemini CLI, version 0.61: how it is told its rules, limits and tools,
// and how its logs are read.
package gemini

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// Keys are the parts of the Gemini CLI's events that its log is judged by, with the bytes to keep of each.
func Keys() enginelog.Want {
	return enginelog.Want{
		"type": 64, "session_id": 130, "sessionId": 130, "model": 400, "role": 32, "content": 4 << 10, "response": 4 << 10,
		"status": 64, "stats": 64 << 10, "error": 4 << 10, "severity": 32, "subtype": 64,
		"id": 130, "tokens": 1 << 10, "$set": 1,
	}
}

// Log gathers the events of `gemini -o stream-json`, the one object of `-o json`, or the chat file that the CLI keeps.
// Facts: Gemini CLI 0.61.
type Log struct {
	seen    bool
	results int
	asked   string
	answer  bool // text of the model came, and no tool call after it
	closed  *closing
	chat    chat
}

// closing is what a result, or the object of -o json, says.
type closing struct {
	models   []enginelog.Model
	tokens   *enginelog.Tokens
	turns    *int64
	duration *int64
	ended    engine.Ended
	status   int
	denied   *int64
}

// Event takes one event and reports whether it is one of the Gemini CLI's.
func (l *Log) Event(ev *enginelog.Event) bool {
	switch ev.Word("type") {
	case "init":
		if name, ok := ev.Str("model"); ok {
			l.asked = enginelog.ModelName(name)
		}
		l.answer, l.closed = false, nil
	case "message":
		if ev.Word("role") == "assistant" && !enginelog.IsBlank(ev.Field("content").Text()) {
			l.answer = true
		}
	case "tool_use", "tool_result":
		l.answer = false
	case "error":
		if !ev.Has("severity") {
			return false
		}
	case "result":
		if ev.Has("subtype") || !ev.Has("status") {
			return false
		}
		l.result(ev)
	case "gemini", "user", "info":
		if !l.chat.event(ev) {
			return false
		}
	case "":
		if !l.object(ev) && !l.chat.event(ev) {
			return false
		}
	default:
		return false
	}
	l.seen = true
	return true
}

// result reads the closing event of stream-json.
func (l *Log) result(ev *enginelog.Event) {
	l.results++
	c := &closing{}
	l.closed = c
	if f := ev.Field("stats"); !f.Cut {
		stats := f.Sub()
		c.tokens = streamTokens(stats)
		for _, m := range stats.Get("models").Sub() {
			c.models = addModel(c.models, m.Key, streamTokens(m.Value.Sub()))
		}
		if ms := stats.Get("duration_ms").Millis(); ms != nil && *ms > 0 { // errors say 0
			c.duration = ms
		}
	}
	status, fault := ev.Word("status"), ev.Field("error")
	switch {
	case status == "error", fault.Kind() == '{':
		c.ended, c.status = failure(fault.Sub())
	case status != "success", !none(fault): // neither a success nor an error that can be read
		c.ended = engine.Unfinished
	case l.answer:
		c.ended = engine.Finished
	default:
		c.ended = engine.NoAnswer
	}
}

// none reports whether a field is missing or null.
func none(f enginelog.Field) bool { return f.Kind() == 0 || f.IsNull() }

// object reads what -o json prints: one object without a type.
func (l *Log) object(ev *enginelog.Event) bool {
	failed := ev.Field("error").Kind() == '{'
	if !ev.Has("session_id") || (!ev.Has("stats") && !failed) {
		return false
	}
	l.results++
	c := &closing{}
	l.closed = c
	var requests, refused int64
	if f := ev.Field("stats"); !f.Cut {
		stats := f.Sub()
		for _, m := range stats.Get("models").Sub() {
			use := m.Value.Sub()
			t := objectTokens(use.Get("tokens").Sub())
			c.models = addModel(c.models, m.Key, t)
			if t != nil {
				c.tokens = addTokens(c.tokens, t)
			}
			api := use.Get("api").Sub()
			if n := api.Get("totalRequests").Count(enginelog.MaxTurns); n != nil {
				requests += *n
				if e := api.Get("totalErrors").Count(*n); e != nil {
					requests -= *e
				}
			}
			if n := api.Get("errorsByType").Sub().Get("SAFETY_BLOCKED").Count(enginelog.MaxTurns); n != nil {
				refused += *n
			}
		}
		if len(c.models) > 0 {
			c.turns = &requests
		}
		c.denied = stats.Get("tools").Sub().Get("totalDecisions").Sub().Get("reject").Count(enginelog.MaxTurns)
	}
	switch {
	case failed && refused > 0:
		c.ended = engine.ModelRefused
	case failed:
		c.ended, c.status = failure(ev.Field("error").Sub())
	case !none(ev.Field("error")): // an error of an unknown kind
		c.ended = engine.Unfinished
	case enginelog.IsBlank(ev.Field("response").Text()):
		c.ended = engine.NoAnswer
	default:
		c.ended = engine.Finished
	}
	return true
}

// failure translates the type and the code of an error. Its message is read for a used-up account alone, which has no
// code.
func failure(e enginelog.Members) (engine.Ended, int) {
	switch e.Get("type").Word() {
	case "FatalTurnLimitedError":
		return engine.Turns, 0
	case "FatalAuthenticationError":
		return engine.NotSignedIn, 0
	case "FatalCancellationError":
		return engine.Interrupted, 0
	case "FatalInputError", "FatalConfigError", "FatalSandboxError", "FatalUntrustedWorkspaceError":
		return engine.NotStarted, 0
	}
	if strings.HasPrefix(e.Get("message").Text(), "[API Error: You have exhausted your daily quota") {
		return engine.AccountLimit, 0
	}
	if code := e.Get("code").Count(599); code != nil && *code >= 400 {
		ended := enginelog.ByStatus(int(*code))
		if ended == engine.ProviderError {
			return ended, int(*code)
		}
		return ended, 0
	}
	return engine.ProviderError, 0
}

// streamTokens reads the totals of stream-json: input_tokens include the cached ones, thoughts are in total_tokens only.
func streamTokens(m enginelog.Members) *enginelog.Tokens {
	return tokensOf(m, "input_tokens", "output_tokens", "total_tokens", "cached")
}

// objectTokens reads those of -o json.
func objectTokens(m enginelog.Members) *enginelog.Tokens {
	return tokensOf(m, "prompt", "candidates", "total", "cached")
}

func tokensOf(m enginelog.Members, input, output, total, cached string) *enginelog.Tokens {
	in := m.Get(input).Count(enginelog.MaxTokens)
	out := m.Get(output).Count(enginelog.MaxTokens)
	if in == nil && out == nil {
		return nil
	}
	for _, key := range []string{input, output, total, cached} {
		if m.Get(key).Uncountable(enginelog.MaxTokens) {
			return nil // a part that is no count would be shown as 0, and the price would be wrong
		}
	}
	var t enginelog.Tokens
	if in != nil {
		t.Input = *in
		if n := m.Get(cached).Count(*in); n != nil {
			t.Cached = *n
			t.Input -= *n
		}
	}
	if out != nil {
		t.Output = *out
		if n := m.Get(total).Count(enginelog.MaxTokens); n != nil && in != nil && *n > *in+*out {
			t.Output = *n - *in
		}
	}
	return &t
}

func addTokens(a, b *enginelog.Tokens) *enginelog.Tokens {
	if a == nil {
		return b
	}
	t := a.Add(*b)
	return &t
}

// maxModels bounds what a run can name.
const maxModels = 64

func addModel(models []enginelog.Model, id string, t *enginelog.Tokens) []enginelog.Model {
	if len(models) == maxModels {
		return models
	}
	return append(models, enginelog.Model{ID: enginelog.ModelName(id), Tokens: t})
}

// Results is the number of closing events so far.
func (l *Log) Results() int { return l.results }

// Seen reports whether any event was the Gemini CLI's.
func (l *Log) Seen() bool { return l.seen }

// Summary says what the log says.
func (l *Log) Summary() enginelog.Summary {
	s := enginelog.Summary{Engine: engine.Gemini, ModelAsked: l.asked, Ended: engine.Unfinished}
	c := l.closed
	if c == nil {
		if l.chat.turns > 0 {
			l.chat.fill(&s)
		}
		return s
	}
	s.Models, s.Tokens, s.Turns, s.DurationMS = c.models, c.tokens, c.turns, c.duration
	s.Ended, s.Status, s.ToolsDenied, s.Sessions = c.ended, c.status, c.denied, 1
	return s
}
