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

// Line takes one event.
func (s *stream) Line(raw []byte) {
	if ev, ok := enginelog.Parse(raw, Keys()); ok {
		s.log.Event(ev)
	}
	var e engine.Event
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	switch e.Text("type") {
	case "thread.started":
		s.thread = e.Text("thread_id")
	case "turn.started":
		s.last, s.closed = "", false
	case "turn.completed", "turn.failed":
		s.closed = true
	case "item.started", "item.completed":
		item := e.Event("item")
		if item == nil {
			return
		}
		switch item.Text("type") {
		case "agent_message":
			s.last = item.Text("text")
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
	out.Said(s.last)
	return out
}
