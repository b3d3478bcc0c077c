package claude

import (
	"encoding/json"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// answerTool is the tool by which a run with a schema hands in its answer.
const answerTool = "StructuredOutput"

// maxCandidates bounds how many handed-in answers are kept; the program itself gives up after five.
const maxCandidates = 8

// NewStream starts reading the stream-json output of one run.
func (Driver) NewStream() engine.Stream { return &stream{} }

// stream keeps what a run's ending rests on. Only top-level events count: whatever a file or a message holds is text of
// a stranger.
type stream struct {
	log        Log // the numbers and the ending, as `usage` reads them from the file
	result     json.RawMessage
	candidates []json.RawMessage
	session    string
}

// Line takes one event.
func (s *stream) Line(raw []byte) {
	if ev, ok := enginelog.Parse(raw, Keys()); ok {
		s.log.Event(ev)
	}
	var event engine.Event
	if json.Unmarshal(raw, &event) != nil {
		return
	}
	if id := event.Text("session_id"); id != "" {
		s.session = id
	}
	switch event.Text("type") {
	case "assistant":
		if event.Text("parent_tool_use_id") == "" {
			s.collect(event.Event("message"))
		}
	case "result":
		s.result = slices.Clone(raw)
	}
}

func (s *stream) collect(message engine.Event) {
	for _, raw := range message.List("content") {
		var block engine.Event
		if json.Unmarshal(raw, &block) != nil || block.Text("type") != "tool_use" || block.Text("name") != answerTool {
			continue
		}
		if input, ok := block["input"]; ok {
			s.candidates = append(s.candidates, input)
		}
	}
	if extra := len(s.candidates) - maxCandidates; extra > 0 {
		s.candidates = slices.Delete(s.candidates, 0, extra)
	}
}

// Outcome is what the lines so far say.
func (s *stream) Outcome() engine.Outcome {
	sum := s.log.Summary()
	out := engine.Outcome{
		Closed: s.result != nil, Ended: sum.Ended, Status: sum.Status,
		SessionID: s.session, Candidates: s.candidates, CostKnown: sum.CostUSD != nil,
	}
	if sum.CostUSD != nil {
		out.CostUSD = *sum.CostUSD
	}
	if sum.Turns != nil {
		out.Turns = int(*sum.Turns)
	}
	if sum.ToolsDenied != nil {
		out.ToolsDenied = int(*sum.ToolsDenied)
	}
	if s.result == nil || out.Ended != engine.Finished {
		return out
	}
	var result engine.Event
	if json.Unmarshal(s.result, &result) != nil {
		return out
	}
	if answer, ok := result["structured_output"]; ok && string(answer) != "null" {
		out.Answer = answer
	}
	return out
}
