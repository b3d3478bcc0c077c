package meter

import (
	"strings"
)

// openaiReader follows a response of the Responses API, streamed or plain.
type openaiReader struct {
	follower
	last    []byte // the closing response object
	deltas  int64  // bytes of text and arguments as they came
	visible int64  // and of the items when they were whole
	blocks  []block
	refused bool
}

func (a openaiAPI) reader(_ *request, contentType string) answerReader {
	r := &openaiReader{follower: newFollower(a.hash, contentType)}
	r.sse.event = r.event
	return r
}

// event reads the data of one event of a stream.
func (r *openaiReader) event(data []byte) {
	kind := text(field(data, "type"))
	switch {
	case r.last != nil: // nothing may follow
		r.broken = r.broken || string(data) != "[DONE]"
	case kind == "response.output_item.done":
		r.item(field(data, "item"))
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed":
		r.last = append([]byte{}, field(data, "response")...)
	case kind == "error":
		r.broken = true
	case strings.HasSuffix(kind, ".delta"):
		r.deltas += int64(len(text(field(data, "delta"))))
	}
}

// item takes one whole item of the answer.
func (r *openaiReader) item(raw []byte) {
	if raw == nil || raw[0] != '{' || len(r.blocks) > 1000 {
		return
	}
	b, err := r.hash.openaiItem(raw)
	if err != nil { // of a kind that would be refused if it came back
		return
	}
	if !b.hidden { // what thinking shows is not what it was billed at
		r.visible += b.bound
	}
	r.refused = r.refused || text(field(raw, "type")) == "message" && strings.Contains(string(field(raw, "content")), `"type":"refusal"`)
	r.blocks = append(r.blocks, b)
}

func (r *openaiReader) done() bool { return r.stream && r.last != nil }

// answer needs no whole connection: an answer ends with its closing event, or with the last bracket of its JSON.
func (r *openaiReader) answer(bool) answer {
	if !r.stream {
		r.plain()
	}
	a := answer{blocks: r.blocks}
	if r.broken || len(r.last) == 0 {
		return a
	}
	a.model = word(text(field(r.last, "model")), 200)
	a.fast = text(field(r.last, "service_tier")) == "priority" // a project's own default: about twice the price
	switch text(field(r.last, "status")) {
	case "completed":
		a.stop = "stop"
		if r.refused {
			a.stop = "refusal"
		}
	case "incomplete":
		a.stop = word(text(field(field(r.last, "incomplete_details"), "reason")), 40)
		if a.stop == "max_output_tokens" {
			a.stop, a.cut = "max_tokens", true
		}
	}
	a.turn = a.stop != ""
	var sound bool
	a.usage, sound = openaiUsage(field(r.last, "usage"))
	a.final = a.turn && sound && a.usage.Output >= max(r.visible, r.deltas)/outputBytes
	return a
}

// plain reads the whole body of an answer that was not streamed.
func (r *openaiReader) plain() {
	if !r.whole("object", "response") {
		return
	}
	r.last = r.body
	_ = each(field(r.body, "output"), func(raw []byte) error { r.item(raw); return nil }) // it was read once already: it is valid
}

// openaiUsage reads a usage object. input_tokens include what came from the cache and what was written to it,
// output_tokens include reasoning. sound is false when a counter is missing or they contradict each other.
func openaiUsage(raw []byte) (u Usage, sound bool) {
	input, okIn := number(field(raw, "input_tokens"))
	output, okOut := number(field(raw, "output_tokens"))
	details := field(raw, "input_tokens_details")
	cached, okCached := optional(field(details, "cached_tokens"))
	written, okWritten := optional(field(details, "cache_write_tokens"))
	reasoning, okReasoning := optional(field(field(raw, "output_tokens_details"), "reasoning_tokens"))
	if total, ok := optional(field(raw, "total_tokens")); !ok || total > 0 && total != input+output {
		return Usage{}, false
	}
	sound = okIn && okOut && okCached && okWritten && okReasoning && input > 0 && output > 0 && cached+written <= input && reasoning <= output
	return Usage{Input: input - cached - written, CachedInput: cached, CacheWrite5m: written, Output: output}, sound
}

// optional reads a counter that may be missing.
func optional(raw []byte) (int64, bool) {
	if raw == nil || string(raw) == "null" {
		return 0, true
	}
	return number(raw)
}
