package meter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// anthropicAPI is the Messages API.
// Facts: https://docs.anthropic.com/en/api/messages, and how Claude Code 2.1.332 acts on answers.
type anthropicAPI struct {
	hash hasher
}

const (
	anthropicPath = "/v1/messages"
	// LastNote is what the model is told with the last call. It is added to what the engine sent.
	LastNote = "This is the last call that fits into the limits of this run. Read nothing more. " +
		"Call StructuredOutput now with what you have; where there is no such tool, give your answer now."
)

func (anthropicAPI) home() string { return "https://api.anthropic.com" }

func (anthropicAPI) dummyKey(bearer bool, random string) string {
	if bearer {
		return "sk-ant-oat01-meter-" + random
	}
	return "sk-ant-api03-meter-" + random
}

func (anthropicAPI) serves(path string) bool { return path == anthropicPath }

func (anthropicAPI) authorize(h http.Header, _ url.Values, key string, bearer bool) {
	h.Del("X-Api-Key")
	h.Del("Authorization")
	if bearer {
		h.Set("Authorization", "Bearer "+key)
		return
	}
	h.Set("X-Api-Key", key)
}

// refusal answers 402 with x-should-retry: false: Claude Code then sends one request and shows the text. On the words
// "credit balance" and "prompt is too long" it would act in ways of its own.
func (anthropicAPI) refusal(f refusal) (int, http.Header, []byte) {
	status, kind := f.status, "invalid_request_error"
	switch status {
	case 0:
		status, kind = http.StatusPaymentRequired, "billing_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusBadGateway:
		kind = "api_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	}
	body, err := json.Marshal(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": "issue-assistant: " + f.reason},
	})
	if err != nil {
		body = []byte(`{"type":"error","error":{"type":"billing_error","message":"issue-assistant: refused"}}`)
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if status != http.StatusBadGateway {
		h.Set("X-Should-Retry", "false")
	}
	return status, h, body
}

// anthropicEdits are the places where a request is changed.
type anthropicEdits struct {
	maxTokens   span // of the number; empty at the place where it is put in when it is missing
	budget      span // of thinking.budget_tokens
	budgetValue int64
	lastRole    string
	lastContent span // of the last message's content
	lastIsText  bool // it is a string
	lastEmpty   bool // it is an empty array
	messagesEnd int  // before the closing bracket
	noMessages  bool
	systemRole  bool // the engine itself sends messages of the role system
}

func (a anthropicAPI) body(r *request, maxOutput int64, last bool) []byte {
	e := r.api.(*anthropicEdits)
	var edits []edit
	if maxOutput != r.asked {
		edits = append(edits, edit{e.maxTokens, fmt.Sprint(maxOutput)})
		if r.asked == 0 {
			edits[0].text = fmt.Sprintf(`"max_tokens":%d,`, maxOutput)
		}
	}
	if e.budgetValue > 0 && e.budgetValue >= maxOutput || e.budgetValue > 0 && maxOutput < r.asked && e.budgetValue > maxOutput/2 {
		edits = append(edits, edit{e.budget, fmt.Sprint(max(maxOutput/2, 1024))})
	}
	if last && !e.noMessages {
		edits = append(edits, e.note(r.raw)...)
	}
	return apply(r.raw, edits)
}

// note adds LastNote where it leaves the provider's cache intact: behind everything else.
func (e *anthropicEdits) note(raw []byte) []edit {
	note := `{"type":"text","text":` + string(jsString(LastNote)) + `}`
	switch {
	case e.systemRole:
		return []edit{{span{e.messagesEnd, e.messagesEnd}, `,{"role":"system","content":` + string(jsString(LastNote)) + `}`}}
	case e.lastRole != "user":
		return []edit{{span{e.messagesEnd, e.messagesEnd}, `,{"role":"user","content":[` + note + `]}`}}
	case e.lastIsText:
		old := string(raw[e.lastContent.from:e.lastContent.to])
		return []edit{{e.lastContent, `[{"type":"text","text":` + old + `},` + note + `]`}}
	}
	if !e.lastEmpty {
		note = "," + note
	}
	end := e.lastContent.to - 1
	return []edit{{span{end, end}, note}}
}

type edit struct {
	span
	text string
}

// apply returns raw with the edits made; raw itself stays as it is.
func apply(raw []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return raw
	}
	for i := 1; i < len(edits); i++ { // a handful, in any order
		for j := i; j > 0 && edits[j].from < edits[j-1].from; j-- {
			edits[j], edits[j-1] = edits[j-1], edits[j]
		}
	}
	out := make([]byte, 0, len(raw)+1024)
	at := 0
	for _, e := range edits {
		out = append(append(out, raw[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, raw[at:]...)
}

// count asks the provider's free counter for the prompt alone.
func (anthropicAPI) count(r *request) *countRequest {
	return &countRequest{path: anthropicPath + "/count_tokens", body: r.counter(), answer: "input_tokens"}
}
