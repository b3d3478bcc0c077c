// Package openai is a scripted, loopback-only stand-in for OpenAI's Responses API.
package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

// New starts a server. Its URL ends in /v1, as OPENAI_BASE_URL has it. Prices of nil are Prices().
func New(script standin.Script) *standin.Server {
	if script.Prices == nil {
		script.Prices = Prices()
	}
	return standin.New(dialect{}, script, "/v1")
}

// Prices are list prices, kept here apart from the meter's table on purpose.
func Prices() map[string]standin.Price {
	return map[string]standin.Price{
		"gpt-5.5":      {Input: 5e6, Cached: 5e5, Output: 30e6, Above: 271_999, Long: &standin.Price{Input: 10e6, Cached: 1e6, Output: 45e6}},
		"gpt-5.4-mini": {Input: 7.5e5, Cached: 7.5e4, Output: 4.5e6},
		"gpt-6-sol":    {Input: 2e6, Cached: 2e5, Write: 2.5e6, Output: 10e6, Above: 272_000, Long: &standin.Price{Input: 4e6, Cached: 4e5, Write: 5e6, Output: 15e6}},
	}
}

type dialect struct{}

func (dialect) Kind(path string) standin.Kind {
	switch path {
	case "/v1/responses":
		return standin.Call
	case "/v1/responses/input_tokens":
		return standin.Count
	}
	return standin.Unknown
}

func (dialect) Counted(tokens int64) any {
	return map[string]any{"object": "response.input_tokens", "input_tokens": tokens}
}

func (dialect) Failure(status int, message string) any {
	kinds := map[int][2]string{
		http.StatusUnauthorized:    {"invalid_request_error", "invalid_api_key"},
		http.StatusNotFound:        {"invalid_request_error", "model_not_found"},
		http.StatusTooManyRequests: {"tokens", "rate_limit_exceeded"},
	}
	kind, ok := kinds[status]
	if !ok {
		kind = [2]string{"invalid_request_error", ""}
		if status >= http.StatusInternalServerError {
			kind = [2]string{"server_error", ""}
		}
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind[0], "code": kind[1]}}
}

func (dialect) Own(p standin.Part) string {
	if p.Kind == "text" {
		return "text\x00" + p.Text
	}
	return p.Kind + "\x00" + p.ID
}

// Parse fills the request from its body.
func (dialect) Parse(r *standin.Request) error {
	var body struct {
		Model        string            `json:"model"`
		Instructions string            `json:"instructions"`
		Input        []json.RawMessage `json:"input"`
		Tools        []map[string]any  `json:"tools"`
		ToolChoice   any               `json:"tool_choice"`
		Max          *int64            `json:"max_output_tokens"`
		Stream       bool              `json:"stream"`
		Text         struct {
			Format json.RawMessage `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if body.Model == "" || len(body.Input) == 0 {
		return errors.New("missing required parameter: model or input")
	}
	if body.Max != nil {
		if *body.Max < 16 {
			return errors.New("max_output_tokens: minimum value is 16")
		}
		r.MaxTokens = *body.Max
	}
	r.Model, r.Stream, r.System = body.Model, body.Stream, body.Instructions
	r.NoTools, r.Schema = body.ToolChoice == "none", len(body.Text.Format) > 0
	for _, tool := range body.Tools {
		r.Tools = append(r.Tools, names(tool, "")...)
		raw, err := json.Marshal(tool)
		if err != nil {
			return err
		}
		r.Blocks = append(r.Blocks, standin.Block{Key: string(raw), Text: string(raw)})
	}
	if r.Schema {
		r.Blocks = append(r.Blocks, standin.Block{Key: string(body.Text.Format), Text: string(body.Text.Format)})
	}
	if body.Instructions != "" {
		r.Blocks = append(r.Blocks, standin.Block{Key: body.Instructions, Text: body.Instructions})
	}
	for _, raw := range body.Input {
		if err := item(r, raw); err != nil {
			return err
		}
	}
	return nil
}

// names are those of a tool, with its namespace before them.
func names(tool map[string]any, space string) []string {
	name, _ := tool["name"].(string)
	if list, ok := tool["tools"].([]any); ok {
		var all []string
		for _, inner := range list {
			if m, ok := inner.(map[string]any); ok {
				all = append(all, names(m, name+"/")...)
			}
		}
		return all
	}
	if name == "" {
		name, _ = tool["type"].(string)
	}
	return []string{space + name}
}

func item(r *standin.Request, raw json.RawMessage) error {
	var it struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		ID        string          `json:"id"`
		CallID    string          `json:"call_id"`
		Arguments string          `json:"arguments"`
		Encrypted string          `json:"encrypted_content"`
		Content   json.RawMessage `json:"content"`
		Output    json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(raw, &it); err != nil {
		return err
	}
	b := standin.Block{Key: string(raw), Text: string(raw)}
	switch it.Type {
	case "message", "":
		text := texts(it.Content)
		b.Text, b.Key = text, it.Role+"\x00"+text
		r.Last = text
		switch it.Role {
		case "assistant":
			b.Own = "text\x00" + text
		case "user":
			r.User += text + "\n"
		default:
			r.System += text + "\n"
		}
	case "function_call":
		b.Own = "tool\x00" + strings.TrimPrefix(it.CallID, "call_")
	case "reasoning":
		b.Own = "thinking\x00" + strings.TrimPrefix(it.Encrypted, "c2VjcmV0")
	case "function_call_output":
		b.Text = texts(it.Output)
		r.Results = append(r.Results, b.Text)
		r.Last = b.Text
	}
	r.Blocks = append(r.Blocks, b)
	return nil
}

func texts(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}
