// Package codex knows the command line of OpenAI's Codex CLI, version 0.171: how it is told its rules, limits and tools,
// and how its logs are read.
package codex

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// Keys are the parts of Codex's events that its log is judged by, with the bytes to keep of each.
func Keys() enginelog.Want {
	return enginelog.Want{
		"type": 64, "thread_id": 130, "usage": 4 << 10, "item": 2 << 10, "error": 2 << 10, "payload": 16 << 10,
	}
}

// Log gathers the events of `codex exec --json`, or of the session file that Codex keeps beside it (the rollout file,
// whose events have a payload). The first names neither model nor dollars nor turns. Facts: Codex 0.171.
type Log struct {
	seen    bool
	results int
	thread  string
	threads map[string]enginelog.Tokens // the usage of a thread is a running total
	order   []string
	open    map[string]bool // threads with a turn whose usage is not in their total
	ended   engine.Ended
	answer  bool // a message of the agent came, and no tool call after it
	rollout rollout
}

// maxThreads bounds what one log can name.
const maxThreads = 64

// Event takes one event and reports whether it is one of Codex's.
func (l *Log) Event(ev *enginelog.Event) bool {
	kind := ev.Word("type")
	switch kind {
	case "thread.started":
		l.thread = ev.Word("thread_id")
	case "turn.started":
		l.ended, l.answer = "", false
		l.begin()
	case "item.started", "item.updated":
	case "item.completed":
		l.item(ev.Field("item"))
	case "error":
		if ev.Has("severity") || ev.Field("error").Kind() == '{' { // another engine's
			return false
		}
	case "turn.completed":
		l.results++
		l.ended = engine.Finished
		if !l.answer {
			l.ended = engine.NoAnswer
		}
		l.total(ev.Field("usage"))
	case "turn.failed":
		l.results++
		l.ended = failure(ev.Field("error").Sub().Get("message").Text())
	default:
		if !l.rollout.event(ev, kind) {
			return false
		}
		if l.rollout.closed {
			l.rollout.closed = false
			l.results++
		}
	}
	l.seen = true
	return true
}

func (l *Log) item(f enginelog.Field) {
	if f.Kind() != '{' {
		return
	}
	item := f.Sub()
	switch item.Get("type").Word() {
	case "agent_message":
		text := item.Get("text")
		// a text that is too long to be kept is certainly not blank
		l.answer = !enginelog.IsBlank(text.Text()) || (f.Cut && !item.Has("text"))
	case "reasoning", "error", "todo_list":
	default: // a tool call, also one of a kind that is not known yet: what was said before was no answer
		l.answer = false
	}
}

// begin notes that the thread's total no longer holds everything.
func (l *Log) begin() {
	if l.open == nil {
		l.open = map[string]bool{}
	}
	if len(l.open) <= maxThreads { // one more than has a total: it stays open
		l.open[l.thread] = true
	}
}

func (l *Log) total(f enginelog.Field) {
	l.begin()
	t := tokensOf(f.Sub())
	if t == nil || f.Cut {
		return
	}
	if l.threads == nil {
		l.threads = map[string]enginelog.Tokens{}
	}
	if _, ok := l.threads[l.thread]; !ok {
		if len(l.order) == maxThreads {
			return
		}
		l.order = append(l.order, l.thread)
	}
	l.threads[l.thread] = *t
	delete(l.open, l.thread)
}

// tokensOf splits input_tokens, which include the cached and the written ones; output_tokens include reasoning.
// A part that is there and is no count makes all of them unknown: shown as 0 it would be wrong, and so would the price.
func tokensOf(m enginelog.Members) *enginelog.Tokens {
	in := m.Get("input_tokens").Count(enginelog.MaxTokens)
	out := m.Get("output_tokens").Count(enginelog.MaxTokens)
	if in == nil && out == nil {
		return nil
	}
	for _, key := range []string{"input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"} {
		if m.Get(key).Uncountable(enginelog.MaxTokens) {
			return nil
		}
	}
	var t enginelog.Tokens
	if out != nil {
		t.Output = *out
	}
	if n := m.Get("cached_input_tokens").Count(enginelog.MaxTokens); n != nil {
		t.Cached = *n
	}
	if n := m.Get("cache_write_input_tokens").Count(enginelog.MaxTokens); n != nil {
		t.CacheWrite = *n
	}
	if in != nil {
		t.Input = *in
	}
	if t.Input -= t.Cached + t.CacheWrite; t.Input < 0 { // parts that are more than the whole
		return nil
	}
	return &t
}

// failure knows only one reason by its words: a used-up account has no code in this log.
func failure(text string) engine.Ended {
	if strings.HasPrefix(text, "Quota exceeded.") || strings.HasPrefix(text, "You've hit your usage limit") {
		return engine.AccountLimit
	}
	return engine.ProviderError
}

// Results is the number of closing events so far.
func (l *Log) Results() int { return l.results }

// Seen reports whether any event was Codex's.
func (l *Log) Seen() bool { return l.seen }

// Summary says what the log says.
func (l *Log) Summary() enginelog.Summary {
	s := enginelog.Summary{Engine: engine.Codex, Ended: engine.Unfinished}
	if l.rollout.seen {
		return l.rollout.summary(s)
	}
	if l.ended != "" {
		s.Ended = l.ended
	}
	if len(l.open) > 0 { // a part of the tokens stands nowhere
		return s
	}
	s.Sessions = len(l.order)
	for _, thread := range l.order {
		t := l.threads[thread]
		if s.Tokens != nil {
			t = s.Tokens.Add(t)
		}
		s.Tokens = &t
	}
	return s
}
