package meter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// openaiAPI is the Responses API. The base URL of the provider ends in its version, as OpenAI's own libraries have it;
// the engine is told BaseURL + "/v1".
// Facts: https://platform.openai.com/docs/api-reference/responses, and what Codex 0.171 sends and acts on.
type openaiAPI struct {
	hash hasher
}

const (
	openaiServed = "/v1/responses" // below the run's token
	openaiPath   = "/responses"    // below the provider's base URL
)

func (openaiAPI) home() string { return "https://api.openai.com/v1" }

func (openaiAPI) dummyKey(_ bool, random string) string { return "sk-meter-" + random }

func (openaiAPI) serves(path string) bool { return path == openaiServed }

func (openaiAPI) authorize(h http.Header, _ url.Values, key string, _ bool) {
	h.Set("Authorization", "Bearer "+key)
}

// refusal answers 400, which ends Codex with one request and leaves the text in its log. On 401, 402, 403, 413, 422 and
// 429 it would try again.
func (openaiAPI) refusal(f refusal) (int, http.Header, []byte) {
	status := f.status
	kind := "invalid_request_error"
	switch status {
	case 0, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		status = http.StatusBadRequest
	case http.StatusBadGateway:
		kind = "server_error"
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": "issue-assistant: " + f.reason, "type": kind, "code": "issue_assistant", "param": nil,
	}})
	if err != nil {
		body = []byte(`{"error":{"message":"issue-assistant: refused","type":"invalid_request_error","code":"issue_assistant"}}`)
	}
	return status, http.Header{"Content-Type": {"application/json"}}, body
}

// openaiEdits are the places where a request is changed.
type openaiEdits struct {
	first      int  // behind the opening bracket
	maxTokens  span // of the number; empty when there is none
	toolChoice span // of the value; empty when there is none
	hasTools   bool
	input      span // of the value
	inputText  bool // it is a string
	inputEmpty bool
}

func (openaiAPI) body(r *request, maxOutput int64, last bool) []byte {
	e := r.api.(*openaiEdits)
	var edits []edit
	var added strings.Builder
	switch {
	case r.asked == 0:
		fmt.Fprintf(&added, `"max_output_tokens":%d,`, maxOutput)
	case maxOutput != r.asked:
		edits = append(edits, edit{e.maxTokens, fmt.Sprint(maxOutput)})
	}
	if last {
		edits = append(edits, e.note(r.raw))
		switch {
		case e.toolChoice.to > 0:
			edits = append(edits, edit{e.toolChoice, `"none"`})
		case e.hasTools:
			added.WriteString(`"tool_choice":"none",`)
		}
	}
	if added.Len() > 0 {
		edits = append(edits, edit{span{e.first, e.first}, added.String()})
	}
	return apply(r.raw, edits)
}

// note adds LastNote behind everything else, where it leaves the provider's cache intact.
func (e *openaiEdits) note(raw []byte) edit {
	item := func(role string, text []byte) string {
		return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":` + string(text) + `}]}`
	}
	note := item("developer", jsString(LastNote))
	if e.inputText {
		return edit{e.input, "[" + item("user", raw[e.input.from:e.input.to]) + "," + note + "]"}
	}
	if !e.inputEmpty {
		note = "," + note
	}
	end := e.input.to - 1
	return edit{span{end, end}, note}
}

// count asks the provider's free counter for the prompt alone.
func (openaiAPI) count(r *request) *countRequest {
	return &countRequest{path: openaiPath + "/input_tokens", body: r.counter(), answer: "input_tokens"}
}
