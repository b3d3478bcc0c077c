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
	case "init":
		s.session = e.text("session_id")
	case "message":
		if e.text("role") == "assistant" && s.text.Len() <= maxText {
			s.text.WriteString(e.text("content"))
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
	answer, ok := engine.AnswerIn(s.text.String())
	switch {
	case ok && out.Ended == engine.Finished:
		out.Answer = answer
	case ok:
		out.Candidates = []json.RawMessage{answer}
	case out.Ended == engine.Finished:
		out.Ended = engine.BadAnswer // prose, or cut
	}
	return out
}
