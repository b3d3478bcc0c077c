package gemini

import (
	"encoding/json"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// maxText bounds what is kept of the model's text, in bytes; no answer that may be handed on is longer.
const maxText = 1 << 20

// NewStream starts reading the output of `gemini -o stream-json`.
func (Driver) NewStream() engine.Stream { return &stream{} }

// stream joins what the model said since the last tool call: that is the answer.
type stream struct {
	log     Log
	text    strings.Builder
	session string
	closed  bool
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
	case "init":
		s.session = e.Text("session_id")
	case "message":
		if e.Text("role") == "assistant" && s.text.Len() <= maxText {
			s.text.WriteString(e.Text("content"))
		}
	case "tool_use", "tool_result": // one that is not offered has no result
		s.text.Reset()
	case "result":
		s.closed = true
	}
}

// Outcome is what the lines so far say.
func (s *stream) Outcome() engine.Outcome {
	sum := s.log.Summary()
	out := engine.Outcome{Closed: s.closed, Ended: sum.Ended, Status: sum.Status, SessionID: s.session}
	out.Said(s.text.String())
	return out
}
