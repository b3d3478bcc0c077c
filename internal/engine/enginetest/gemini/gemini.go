// Package gemini is a scripted, loopback-only stand-in for the Gemini API.
package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
)

// New starts a server. Its URL is without a version, as GOOGLE_GEMINI_BASE_URL has it. Prices of nil are Prices().
func New(script standin.Script) *standin.Server {
	if script.Prices == nil {
		script.Prices = Prices()
	}
	return standin.New(dialect{}, script, "")
}

// Prices are list prices, kept here apart from the meter's table on purpose.
func Prices() map[string]standin.Price {
	return map[string]standin.Price{
		"gemini-3.1-pro-preview": {Input: 2e6, Cached: 2e5, Output: 12e6, Above: 200_000, Long: &standin.Price{Input: 4e6, Cached: 4e5, Output: 18e6}},
		"gemini-2.5-flash":       {Input: 3e5, Cached: 3e4, Output: 25e5},
	}
}

type dialect struct{}

var call = regexp.MustCompile(`^/v1beta/models/([^:/]+):(generateContent|streamGenerateContent|countTokens)$`)

func (dialect) Kind(path string) standin.Kind {
	m := call.FindStringSubmatch(path)
	switch {
	case m == nil:
		return standin.Unknown
	case m[2] == "countTokens":
		return standin.Count
	}
	return standin.Call
}

func (dialect) Counted(tokens int64) any { return map[string]any{"totalTokens": tokens} }

func (dialect) Failure(status int, message string) any {
	word, ok := map[int]string{
		http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusInternalServerError: "INTERNAL",
	}[status]
	if !ok {
		word = "INVALID_ARGUMENT"
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}}
}

func (dialect) Own(p standin.Part) string {
	if p.Kind == "text" {
		return "text\x00" + p.Text
	}
	return p.Kind + "\x00" + p.Tool.Name + p.Text
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response json.RawMessage `json:"functionResponse"`
}

// Parse fills the request from its body.
func (d dialect) Parse(r *standin.Request) error {
	m := call.FindStringSubmatch(r.Path)
	raw := r.Body
	if m[2] == "countTokens" {
		var outer struct {
			Request json.RawMessage `json:"generateContentRequest"`
		}
		if err := json.Unmarshal(raw, &outer); err != nil || outer.Request == nil {
			return errors.New("generateContentRequest is needed")
		}
		raw = outer.Request
	}
	type content struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}
	var body struct {
		Contents []content `json:"contents"`
		System   content   `json:"systemInstruction"`
		Tools    []struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		} `json:"tools"`
		ToolConfig struct {
			Calling struct {
				Mode string `json:"mode"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Config struct {
			Max    int64           `json:"maxOutputTokens"`
			Schema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if len(body.Contents) == 0 {
		return errors.New("contents is not specified")
	}
	r.Model, r.Stream, r.MaxTokens = m[1], m[2] == "streamGenerateContent", body.Config.Max
	r.NoTools, r.Schema = body.ToolConfig.Calling.Mode == "NONE", len(body.Config.Schema) > 0
	if r.Schema {
		r.Blocks = append(r.Blocks, standin.Block{Key: string(body.Config.Schema), Text: string(body.Config.Schema)})
	}
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			var named struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(f, &named); err != nil {
				return err
			}
			r.Tools = append(r.Tools, named.Name)
			r.Blocks = append(r.Blocks, standin.Block{Key: string(f), Text: string(f)})
		}
	}
	for i, c := range append([]content{body.System}, body.Contents...) {
		for _, raw := range c.Parts {
			if err := d.part(r, raw, c.Role, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d dialect) part(r *standin.Request, raw json.RawMessage, role string, system bool) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	b := standin.Block{Key: role + "\x00" + string(raw), Text: p.Text}
	switch {
	case p.Call != nil:
		b.Text = string(raw)
		b.Own = "tool\x00" + p.Call.Name + string(p.Call.Args)
	case p.Response != nil:
		b.Text = string(p.Response)
		r.Results = append(r.Results, b.Text)
		r.Last = b.Text
	case system:
		r.System += p.Text + "\n"
	case role == "model":
		b.Own = "text\x00" + p.Text
		r.Last = p.Text
	default:
		r.User += p.Text + "\n"
		r.Last = p.Text
	}
	r.Blocks = append(r.Blocks, b)
	return nil
}

func usage(u standin.Usage) map[string]any {
	m := map[string]any{
		"promptTokenCount": u.Prompt(), "candidatesTokenCount": u.Output - u.Thinking, "totalTokenCount": u.Prompt() + u.Output,
	}
	if u.CachedInput > 0 {
		m["cachedContentTokenCount"] = u.CachedInput
	}
	if u.Thinking > 0 {
		m["thoughtsTokenCount"] = u.Thinking
	}
	return m
}

func output(p standin.Part) map[string]any {
	switch p.Kind {
	case "thinking":
		return map[string]any{"text": p.Text, "thought": true}
	case "tool":
		return map[string]any{"functionCall": map[string]any{"name": p.Tool.Name, "args": json.RawMessage(p.Text)}}
	}
	return map[string]any{"text": p.Text}
}

func piece(a standin.Answer, parts []any, last bool) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	m := map[string]any{"candidates": []any{candidate}, "modelVersion": a.Model, "responseId": fmt.Sprintf("resp_%05d", a.N)}
	if !last {
		return m
	}
	candidate["finishReason"] = "STOP"
	switch {
	case a.Cut:
		candidate["finishReason"] = "MAX_TOKENS"
	case a.Blocked:
		candidate["finishReason"] = "SAFETY"
	}
	if a.Usage != nil {
		m["usageMetadata"] = usage(*a.Usage)
	}
	return m
}

// Plain is the whole answer.
func (dialect) Plain(_ *standin.Request, a standin.Answer) any {
	parts := []any{}
	for _, p := range a.Parts {
		if !p.Broken {
			parts = append(parts, output(p))
		}
	}
	return piece(a, parts, true)
}

// Events are the pieces of a stream: texts come in several.
func (dialect) Events(_ *standin.Request, a standin.Answer) []string {
	var parts []any
	for _, p := range a.Parts {
		if p.Broken {
			continue
		}
		const chunk = 400
		text := []rune(p.Text)
		for p.Kind == "text" && len(text) > chunk {
			parts = append(parts, map[string]any{"text": string(text[:chunk])})
			text = text[chunk:]
		}
		if p.Kind == "text" {
			p.Text = string(text)
		}
		parts = append(parts, output(p))
	}
	if len(parts) == 0 {
		return []string{event(piece(a, []any{}, true))}
	}
	var events []string
	for i, p := range parts {
		events = append(events, event(piece(a, []any{p}, i == len(parts)-1)))
	}
	return events
}

func event(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return "data: " + strings.ReplaceAll(string(raw), "\n", " ") + "\r\n\r\n"
}
