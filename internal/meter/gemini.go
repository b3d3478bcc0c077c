package meter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// geminiAPI is the Gemini API.
// Facts: https://ai.google.dev/api/generate-content, and what the Gemini CLI 0.61 sends and acts on.
type geminiAPI struct {
	hash hasher
}

// geminiPath is a call of a model, with the model's name and the method.
var geminiPath = lazy.Regexp(`^/v1(?:beta|alpha)?/models/([A-Za-z0-9._-]{1,200}):(generateContent|streamGenerateContent)$`)

func (geminiAPI) home() string { return "https://generativelanguage.googleapis.com" }

func (geminiAPI) dummyKey(_ bool, random string) string { return "meter-" + random }

func (geminiAPI) serves(path string) bool { return geminiPath().MatchString(path) }

// authorize sets the key in its header; one in the query would stand in logs on the way.
func (geminiAPI) authorize(h http.Header, q url.Values, key string, _ bool) {
	q.Del("key")
	h.Del("Authorization")
	h.Set("X-Goog-Api-Key", key)
}

// refusal answers 400 FAILED_PRECONDITION, which ends the Gemini CLI with one request and leaves the text in its log.
func (geminiAPI) refusal(f refusal) (int, http.Header, []byte) {
	status, word := f.status, "FAILED_PRECONDITION"
	switch status {
	case 0, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		status = http.StatusBadRequest
	case http.StatusNotFound:
		word = "NOT_FOUND"
	case http.StatusBadGateway:
		word = "UNAVAILABLE"
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": status, "message": "issue-assistant: " + f.reason, "status": word,
	}})
	if err != nil {
		body = []byte(`{"error":{"code":400,"message":"issue-assistant: refused","status":"FAILED_PRECONDITION"}}`)
	}
	return status, http.Header{"Content-Type": {"application/json"}}, body
}

// geminiEdits are the places where a request is changed. A span that ends at 0 is not there.
type geminiEdits struct {
	first       int  // behind the opening bracket
	config      span // generationConfig
	configEmpty bool
	maxTokens   span // of the number
	toolConfig  span // the value
	hasTools    bool
	contents    span // the value
	lastRole    string
	lastParts   span // of the last content
	partsEmpty  bool
}

func (geminiAPI) body(r *request, maxOutput int64, last bool) []byte {
	e := r.api.(*geminiEdits)
	var edits []edit
	var added strings.Builder
	limit := fmt.Sprintf(`"maxOutputTokens":%d`, maxOutput)
	switch {
	case r.asked > 0 && maxOutput != r.asked:
		edits = append(edits, edit{e.maxTokens, fmt.Sprint(maxOutput)})
	case r.asked > 0:
	case e.config.to == 0:
		added.WriteString(`"generationConfig":{` + limit + `},`)
	default:
		if !e.configEmpty {
			limit += ","
		}
		edits = append(edits, edit{span{e.config.from + 1, e.config.from + 1}, limit})
	}
	if last {
		edits = append(edits, e.note())
		const none = `{"functionCallingConfig":{"mode":"NONE"}}`
		switch {
		case e.toolConfig.to > 0:
			edits = append(edits, edit{e.toolConfig, none})
		case e.hasTools:
			added.WriteString(`"toolConfig":` + none + `,`)
		}
	}
	if added.Len() > 0 {
		edits = append(edits, edit{span{e.first, e.first}, added.String()})
	}
	return apply(r.raw, edits)
}

// note adds LastNote behind everything else, where it leaves the provider's cache intact.
func (e *geminiEdits) note() edit {
	part := `{"text":` + string(jsString(LastNote)) + `}`
	if e.lastRole != "user" && e.lastRole != "" || e.lastParts.to == 0 {
		end := e.contents.to - 1
		return edit{span{end, end}, `,{"role":"user","parts":[` + part + `]}`}
	}
	if !e.partsEmpty {
		part = "," + part
	}
	end := e.lastParts.to - 1
	return edit{span{end, end}, part}
}

// count asks the provider's free counter for the whole request.
func (geminiAPI) count(r *request) *countRequest {
	path, _, _ := strings.Cut(r.path, ":")
	model, err := json.Marshal("models/" + r.model)
	if err != nil {
		return nil
	}
	body := append([]byte(`{"generateContentRequest":{"model":`), model...)
	body = append(append(append(body, ','), r.raw[r.api.(*geminiEdits).first:]...), '}')
	return &countRequest{path: path + ":countTokens", body: body, answer: "totalTokens"}
}
