package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

// Request is one request as the server saw it.
type Request struct {
	N      int // from 1, all requests
	Main   int // from 1, among the main ones; 0: answered in another way
	Time   time.Time
	Method string
	Path   string // without the query
	Query  string
	Header http.Header
	Body   []byte

	Model          string
	MaxTokens      int64
	Stream         bool
	ThinkingBudget int64
	System         string   // text of the system blocks, joined by blank lines
	User           string   // text of all text blocks of user messages
	LastUser       string   // of the last user message
	Notes          []string // messages of the role system
	Results        []string // contents of tool results
	Tools          []string // names
	Messages       int

	Status   int  // as answered; 0: none
	Canceled bool // the client went before the answer was whole
	Cut      bool // the script broke the connection
	Billed   Bill

	blocks   []standin.Block
	fast, us bool
}

// HasTool reports whether the request offers the tool.
func (r *Request) HasTool(name string) bool { return slices.Contains(r.Tools, name) }

// Says reports whether a text stands in the last user message or in a system message at the end.
func (r *Request) Says(text string) bool {
	return strings.Contains(r.LastUser, text) || len(r.Notes) > 0 && strings.Contains(r.Notes[len(r.Notes)-1], text)
}

// parse fills the request from its body. The error is the one the provider would give.
func (r *Request) parse() error {
	var body struct {
		Model     string           `json:"model"`
		MaxTokens *int64           `json:"max_tokens"`
		Stream    bool             `json:"stream"`
		System    any              `json:"system"`
		Tools     []map[string]any `json:"tools"`
		Messages  []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
		Thinking struct {
			Type   string `json:"type"`
			Budget int64  `json:"budget_tokens"`
		} `json:"thinking"`
		Speed string `json:"speed"`
		Geo   string `json:"inference_geo"`
		Other any    `json:"output_config"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	r.Model, r.Stream, r.ThinkingBudget = body.Model, body.Stream, body.Thinking.Budget
	r.fast, r.us, r.Messages = body.Speed == "fast", body.Geo == "us", len(body.Messages)
	if body.MaxTokens != nil {
		r.MaxTokens = *body.MaxTokens
	}
	if body.Model == "" || len(body.Messages) == 0 {
		return fmt.Errorf("model and messages: field required")
	}
	if body.MaxTokens == nil && !strings.HasSuffix(r.Path, "/count_tokens") {
		return fmt.Errorf("max_tokens: field required")
	}
	if body.Thinking.Type == "enabled" && body.MaxTokens != nil && (r.ThinkingBudget < 1024 || r.ThinkingBudget >= r.MaxTokens) {
		return fmt.Errorf("max_tokens must be greater than thinking.budget_tokens")
	}
	if len(body.Tools) > 0 {
		r.blocks = append(r.blocks, standin.Block{Key: "tools", Fixed: toolTokens})
	}
	for _, tool := range body.Tools {
		name, _ := tool["name"].(string)
		r.Tools = append(r.Tools, name)
		r.blocks = append(r.blocks, newBlock("tool", tool))
	}
	r.System = strings.Join(r.content("system", body.System), "\n\n")
	for _, m := range body.Messages {
		texts := r.content(m.Role, m.Content)
		switch m.Role {
		case "user":
			r.User += strings.Join(texts, "\n") + "\n"
			r.LastUser = strings.Join(texts, "\n")
		case "system":
			r.Notes = append(r.Notes, strings.Join(texts, "\n"))
		}
	}
	if body.Other != nil {
		r.blocks = append(r.blocks, newBlock("config", map[string]any{"output_config": body.Other}))
	}
	return nil
}

// content adds the blocks of one message and returns its texts.
func (r *Request) content(role string, content any) (texts []string) {
	switch c := content.(type) {
	case string:
		r.blocks = append(r.blocks, newBlock(role, map[string]any{"type": "text", "text": c}))
		return []string{c}
	case []any:
		for _, item := range c {
			m, ok := item.(map[string]any)
			if !ok {
				continue
			}
			r.blocks = append(r.blocks, newBlock(role, m))
			if text, ok := m["text"].(string); ok {
				texts = append(texts, text)
			}
			if m["type"] == "tool_result" {
				r.Results = append(r.Results, textOf(m["content"], nil))
			}
		}
	}
	return texts
}

func newBlock(role string, m map[string]any) standin.Block {
	b := standin.Block{}
	if c, ok := m["cache_control"].(map[string]any); ok {
		b.Mark = "5m"
		if ttl, ok := c["ttl"].(string); ok && ttl != "5m" {
			b.Mark = "1h"
		}
		rest := make(map[string]any, len(m))
		for k, v := range m {
			if k != "cache_control" {
				rest[k] = v
			}
		}
		m = rest
	}
	raw, _ := json.Marshal(m)
	b.Key = role + "\x00" + string(raw)
	switch m["type"] {
	case "text":
		b.Text, _ = m["text"].(string)
		b.Own = "text\x00" + b.Text
	case "tool_use":
		b.Own, _ = m["id"].(string)
		b.Text = string(raw)
	case "thinking":
		b.Own, _ = m["signature"].(string)
		b.Text, _ = m["thinking"].(string)
	case "tool_result":
		images := int64(0)
		b.Text = textOf(m["content"], &images)
		b.More = images * imageTokens
	case "image":
		b.More = imageTokens
	case "document":
		b.Fixed = 2000 + int64(len(raw))/8
	default:
		b.Text = string(raw)
	}
	return b
}

// textOf joins the texts of a tool result; images are counted where the counter is given.
func textOf(content any, images *int64) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var texts []string
		for _, item := range c {
			m, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if text, ok := m["text"].(string); ok {
				texts = append(texts, text)
			} else if m["type"] == "image" && images != nil {
				*images++
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}
