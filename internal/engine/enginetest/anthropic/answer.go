package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
)

// part is one block of an answer with the tokens it is billed at.
type part struct {
	kind   string // text, thinking, tool_use
	text   string // of a text or thinking block; the JSON input of a tool call
	name   string
	id     string // of a tool call; the signature of a thinking block
	tokens int64
	broken bool // a tool call that max_tokens cut
}

// own is the name under which the part is known when it comes back.
func (p part) own() string {
	if p.kind == "text" {
		return "text\x00" + p.text
	}
	return p.id
}

func (p part) json() map[string]any {
	switch p.kind {
	case "thinking":
		return map[string]any{"type": "thinking", "thinking": p.text, "signature": p.id}
	case "tool_use":
		return map[string]any{"type": "tool_use", "id": p.id, "name": p.name, "input": json.RawMessage(p.text)}
	}
	return map[string]any{"type": "text", "text": p.text}
}

// answer is what a step gives for a request, cut at max_tokens.
type answer struct {
	id     string
	model  string
	stop   string
	detail map[string]any
	parts  []part
	truth  Usage
}

func (s *Server) answer(r *Request, step Step, n int) answer {
	step.Text, step.Thinking = strings.ToValidUTF8(step.Text, "?"), strings.ToValidUTF8(step.Thinking, "?")
	a := answer{id: fmt.Sprintf("msg_%024d", n), model: step.Model, stop: step.StopReason, detail: step.StopDetails}
	if a.model == "" {
		a.model = r.Model
	}
	if step.Thinking != "" || step.HiddenTokens > 0 {
		a.parts = append(a.parts, part{
			kind: "thinking", text: step.Thinking, id: fmt.Sprintf("c2lnbmF0dXJl%08d", n),
			tokens: s.tally.Tokens(step.Thinking) + step.HiddenTokens,
		})
	}
	if step.Text != "" {
		a.parts = append(a.parts, part{kind: "text", text: step.Text, tokens: s.tally.Tokens(step.Text) + 3})
	}
	tools := step.Tools
	if step.Answer != nil {
		tools = append(append([]Tool(nil), tools...), Tool{Name: "StructuredOutput", Input: step.Answer})
	}
	for i, tool := range tools {
		raw, err := json.Marshal(tool.Input)
		if err != nil || tool.Input == nil {
			raw = []byte("{}")
		}
		id := tool.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%018d%06d", n, i)
		}
		a.parts = append(a.parts, part{
			kind: "tool_use", text: string(raw), name: tool.Name, id: id,
			tokens: s.tally.Tokens(tool.Name+string(raw)) + 12,
		})
	}
	if len(a.parts) == 0 && a.stop != "refusal" {
		a.parts = []part{{kind: "text", text: "done", tokens: 4}}
	}
	if a.stop == "" {
		a.stop = "end_turn"
		if len(tools) > 0 {
			a.stop = "tool_use"
		}
	}
	if !step.IgnoreMax {
		a.limit(r.MaxTokens)
	}
	for _, p := range a.parts {
		a.truth.Output += p.tokens
		s.tally.Remember(p.own(), p.tokens)
	}
	a.truth.Output = max(a.truth.Output, 1)
	return a
}

// limit cuts the answer where its tokens reach max.
func (a *answer) limit(limit int64) {
	left := limit
	for i := range a.parts {
		p := &a.parts[i]
		if p.tokens <= left {
			left -= p.tokens
			continue
		}
		keep := int(float64(len(p.text)) * float64(left) / float64(p.tokens))
		p.text, p.tokens, p.broken = strings.ToValidUTF8(p.text[:keep], ""), left, p.kind == "tool_use"
		a.parts, a.stop = a.parts[:i+1], "max_tokens"
		return
	}
}

// message is the plain form of the answer.
func (a answer) message(u *Usage) map[string]any {
	content := []any{}
	for _, p := range a.parts {
		if !p.broken {
			content = append(content, p.json())
		}
	}
	m := map[string]any{
		"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": a.stop, "stop_sequence": nil,
	}
	if a.detail != nil {
		m["stop_details"] = a.detail
	}
	if u != nil {
		m["usage"] = u.json()
	}
	return m
}

// event is one event of a stream.
type event struct {
	name string
	data any
}

func (a answer) events(start, final *Usage, chunk int) []event {
	if chunk <= 0 {
		chunk = 40
	}
	first := a.message(nil)
	first["content"], first["stop_reason"] = []any{}, nil
	delete(first, "stop_details")
	if start != nil {
		first["usage"] = start.json()
	}
	evs := []event{{"message_start", map[string]any{"type": "message_start", "message": first}}}
	for i, p := range a.parts {
		empty := p.json()
		kind, field := "text_delta", "text"
		switch p.kind {
		case "text":
			empty["text"] = ""
		case "thinking":
			empty["thinking"], empty["signature"] = "", ""
			kind, field = "thinking_delta", "thinking"
		default:
			empty["input"] = map[string]any{}
			kind, field = "input_json_delta", "partial_json"
		}
		evs = append(evs, event{"content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": empty}})
		text := []rune(p.text)
		for k := 0; k < len(text); k += chunk {
			evs = append(evs, delta(i, kind, field, string(text[k:min(k+chunk, len(text))])))
		}
		if p.kind == "thinking" {
			evs = append(evs, delta(i, "signature_delta", "signature", p.id))
		}
		evs = append(evs, event{"content_block_stop", map[string]any{"type": "content_block_stop", "index": i}})
	}
	end := map[string]any{"stop_reason": a.stop, "stop_sequence": nil}
	if a.detail != nil {
		end["stop_details"] = a.detail
	}
	last := map[string]any{"type": "message_delta", "delta": end}
	if final != nil {
		last["usage"] = final.json()
	}
	return append(evs, event{"message_delta", last}, event{"message_stop", map[string]any{"type": "message_stop"}})
}

func delta(i int, kind, field, text string) event {
	return event{"content_block_delta", map[string]any{
		"type": "content_block_delta", "index": i,
		"delta": map[string]any{"type": kind, field: text},
	}}
}
