package codex

import (
	"encoding/json"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// NewStream starts reading the output of `codex exec --json`.
func (Driver) NewStream() engine.Stream { return &stream{} }

// stream keeps the last message of the agent: with no tool call behind it, it is the answer.
type stream struct {
	log    Log
	last   string
	thread string
	closed bool
}

// event is one event by its exact keys; struct fields would match in any letter case.
type event map[string]json.RawMessage

func (e event) text(key string) string {
	var s string
	if json.Unmarshal(e[key], &s) != nil {
		return ""
	}
	return s
}

// Line takes one event.
func (s *stream) Line(raw []byte) {
	if ev, ok := enginelog.Parse(raw, Keys()); ok {
		s.log.Event(ev)
	}
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	switch e.text("type") {
	case "thread.started":
		s.thread = e.text("thread_id")
	case "turn.started":
		s.last, s.closed = "", false
	case "turn.completed", "turn.failed":
		s.closed = true
	case "item.started", "item.completed":
		var item event
		if json.Unmarshal(e["item"], &item) != nil {
			return
		}
		switch item.text("type") {
		case "agent_message":
			s.last = item.text("text")
		case "reasoning", "error", "todo_list":
		default: // a tool call: what was said before was no answer
			s.last = ""
		}
	}
}

// Outcome is what the lines so far say.
func (s *stream) Outcome() engine.Outcome {
	sum := s.log.Summary()
	out := engine.Outcome{Closed: s.closed, Ended: sum.Ended, Status: sum.Status, SessionID: s.thread}
	answer, ok := engine.AnswerIn(s.last)
	switch {
	case ok && out.Ended == engine.Finished:
		out.Answer = answer
	case ok:
		out.Candidates = []json.RawMessage{answer}
	case out.Ended == engine.Finished:
		out.Ended = engine.BadAnswer // prose
	}
	return out
}
