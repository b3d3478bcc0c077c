package openai

import (
	"encoding/json"
	"fmt"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

func usage(u standin.Usage) map[string]any {
	return map[string]any{
		"input_tokens":          u.Prompt(),
		"input_tokens_details":  map[string]any{"cached_tokens": u.CachedInput, "cache_write_tokens": u.CacheWrite},
		"output_tokens":         u.Output,
		"output_tokens_details": map[string]any{"reasoning_tokens": u.Thinking},
		"total_tokens":          u.Prompt() + u.Output,
	}
}

func output(p standin.Part) map[string]any {
	switch p.Kind {
	case "thinking":
		return map[string]any{
			"type": "reasoning", "id": "rs_" + p.ID, "encrypted_content": "c2VjcmV0" + p.ID,
			"summary": []any{map[string]any{"type": "summary_text", "text": p.Text}},
		}
	case "tool":
		item := map[string]any{"type": "function_call", "id": "fc_" + p.ID, "call_id": "call_" + p.ID, "name": p.Tool.Name, "arguments": p.Text, "status": "completed"}
		if p.Tool.Namespace != "" {
			item["namespace"] = p.Tool.Namespace
		}
		return item
	}
	return map[string]any{
		"type": "message", "id": "msg_" + p.ID, "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": p.Text, "annotations": []any{}}},
	}
}

func outputs(a standin.Answer) []any {
	items := []any{}
	for _, p := range a.Parts {
		if !p.Broken {
			items = append(items, output(p))
		}
	}
	return items
}

func status(a standin.Answer) string {
	if a.Cut || a.Blocked {
		return "incomplete"
	}
	return "completed"
}

// Plain is the response object.
func (dialect) Plain(_ *standin.Request, a standin.Answer) any {
	m := map[string]any{
		"id": fmt.Sprintf("resp_%05d", a.N), "object": "response", "created_at": 1_796_000_000, "model": a.Model,
		"status": status(a), "output": outputs(a), "service_tier": "default",
	}
	if a.Usage != nil {
		m["usage"] = usage(*a.Usage)
	}
	switch {
	case a.Cut:
		m["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	case a.Blocked:
		m["incomplete_details"] = map[string]any{"reason": "content_filter"}
	}
	return m
}

// Events are those of a stream.
func (d dialect) Events(r *standin.Request, a standin.Answer) []string {
	var events []string
	send := func(kind string, data map[string]any) {
		data["type"], data["sequence_number"] = kind, len(events)
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		events = append(events, fmt.Sprintf("event: %s\ndata: %s\n\n", kind, raw))
	}
	send("response.created", map[string]any{"response": map[string]any{"id": fmt.Sprintf("resp_%05d", a.N), "object": "response", "status": "in_progress", "model": a.Model}})
	for i, p := range a.Parts {
		it := output(p)
		added := output(p)
		if p.Kind == "text" {
			added["content"], added["status"] = []any{}, "in_progress"
		}
		send("response.output_item.added", map[string]any{"output_index": i, "item": added})
		kind := map[string]string{"text": "response.output_text.delta", "tool": "response.function_call_arguments.delta", "thinking": "response.reasoning_summary_text.delta"}[p.Kind]
		text := []rune(p.Text)
		const chunk = 200
		for k := 0; k < len(text); k += chunk {
			send(kind, map[string]any{"item_id": it["id"], "output_index": i, "content_index": 0, "summary_index": 0, "delta": string(text[k:min(k+chunk, len(text))])})
		}
		if !p.Broken {
			send("response.output_item.done", map[string]any{"output_index": i, "item": it})
		}
	}
	kind := "response." + status(a)
	response, _ := d.Plain(r, a).(map[string]any)
	send(kind, map[string]any{"response": response})
	return events
}
