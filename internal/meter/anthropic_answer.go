package meter

import (
	"maps"
	"strings"
)

// anthropicReader follows a response of the Messages API, streamed or plain.
type anthropicReader struct {
	follower
	start, end anthropicUsage
	model      string
	stop       string
	stopped    bool // message_stop was seen, or the plain message was whole
	failed     bool // an error event
	cleared    bool
	visible    int64 // bytes of text, thinking and tool input
	parts      map[int64]*anthropicPart
	order      []int64
}

type anthropicPart struct {
	kind, id, name, signature string
	text                      strings.Builder
}

// anthropicUsage is one usage object: which counters it names, and their values.
type anthropicUsage struct {
	has      bool
	bad      bool // a counter is not a whole number of at least 0
	values   map[string]int64
	fast, us bool
	repeated bool // several model calls stand behind the answer
}

func (a anthropicAPI) reader(_ *request, contentType string) answerReader {
	r := &anthropicReader{follower: newFollower(a.hash, contentType), parts: map[int64]*anthropicPart{}}
	r.sse.event = r.event
	return r
}

// event reads the data of one event of a stream.
func (r *anthropicReader) event(data []byte) {
	if r.stopped { // nothing may follow; what does is not trusted
		if text(field(data, "type")) != "ping" {
			r.broken = true
		}
		return
	}
	switch text(field(data, "type")) {
	case "message_start":
		m := field(data, "message")
		r.model = word(text(field(m, "model")), 200)
		if r.start.has { // a second one would hide the first
			r.broken = true
		}
		r.start = readAnthropicUsage(field(m, "usage"))
	case "content_block_start":
		r.blockStart(data)
	case "content_block_delta":
		r.blockDelta(data)
	case "message_delta":
		if s := field(field(data, "delta"), "stop_reason"); s != nil {
			r.stop = word(text(s), 40)
		}
		if u := field(data, "usage"); u != nil {
			r.end.merge(readAnthropicUsage(u))
		}
		r.contextEdits(field(data, "context_management"))
	case "message_stop":
		r.stopped = true
	case "error":
		r.failed = true
	}
}

func (r *anthropicReader) contextEdits(raw []byte) {
	if raw != nil && !empty(raw) {
		if edits := field(raw, "applied_edits"); edits == nil || !empty(edits) {
			r.cleared = true
		}
	}
}

func (r *anthropicReader) part(index []byte) *anthropicPart {
	n, ok := number(index)
	if !ok {
		return nil
	}
	p := r.parts[n]
	if p == nil && len(r.order) < 1000 {
		p = &anthropicPart{}
		r.parts[n] = p
		r.order = append(r.order, n)
	}
	return p
}

func (r *anthropicReader) blockStart(data []byte) {
	p := r.part(field(data, "index"))
	if p == nil {
		return
	}
	p.begin(r, field(data, "content_block"))
}

// begin takes what a content block says of itself.
func (p *anthropicPart) begin(r *anthropicReader, b []byte) {
	p.kind, p.id, p.name = text(field(b, "type")), text(field(b, "id")), text(field(b, "name"))
	for _, name := range []string{"text", "thinking", "data"} {
		p.add(r, text(field(b, name)))
	}
	p.signature = text(field(b, "signature"))
}

func (r *anthropicReader) blockDelta(data []byte) {
	p := r.part(field(data, "index"))
	if p == nil {
		return
	}
	d := field(data, "delta")
	switch text(field(d, "type")) {
	case "text_delta":
		p.add(r, text(field(d, "text")))
	case "thinking_delta":
		p.add(r, text(field(d, "thinking")))
	case "input_json_delta":
		p.add(r, text(field(d, "partial_json")))
	case "signature_delta":
		p.signature += text(field(d, "signature"))
	}
}

func (p *anthropicPart) add(r *anthropicReader, s string) {
	r.visible += int64(len(s))
	p.text.WriteString(s)
}

// block is the part as the engine will send it back.
func (r *anthropicReader) block(p *anthropicPart) (block, bool) {
	b := block{bound: int64(p.text.Len())}
	r.hash.add(&b.key, "type", jsString(p.kind))
	switch p.kind {
	case "text":
		r.hash.add(&b.key, "text", jsString(p.text.String()))
	case "redacted_thinking":
		b.hidden = true
		r.hash.add(&b.key, "data", jsString(p.text.String()))
	case "thinking":
		b.hidden = true
		r.hash.add(&b.key, "thinking", jsString(p.text.String()))
		r.hash.add(&b.key, "signature", jsString(p.signature))
	case "tool_use":
		input := compact(p.text.String())
		if p.text.Len() == 0 {
			input = []byte("{}")
		}
		r.hash.add(&b.key, "id", jsString(p.id))
		r.hash.add(&b.key, "name", jsString(p.name))
		r.hash.add(&b.key, "input", input)
		return b, input != nil
	default:
		return b, false
	}
	return b, true
}

func (r *anthropicReader) done() bool { return r.stream && r.stopped }

// answer needs no whole connection: an answer ends with message_stop, or with the last bracket of its JSON.
func (r *anthropicReader) answer(bool) answer {
	if !r.stream {
		r.plain()
	}
	a := answer{model: r.model, stop: r.stop, cut: r.stop == "max_tokens", cleared: r.cleared}
	a.turn = r.stopped && !r.failed && !r.broken && r.stop != ""
	usage, sound := r.usage()
	a.usage = usage
	a.fast, a.us = r.start.fast || r.end.fast, r.start.us || r.end.us
	a.final = a.turn && sound
	for _, n := range r.order {
		if b, ok := r.block(r.parts[n]); ok {
			a.blocks = append(a.blocks, b)
		}
	}
	return a
}

// plain reads the whole body of an answer that was not streamed.
func (r *anthropicReader) plain() {
	if !r.whole("type", "message") {
		return
	}
	r.model, r.stop = word(text(field(r.body, "model")), 200), word(text(field(r.body, "stop_reason")), 40)
	r.end = readAnthropicUsage(field(r.body, "usage"))
	r.contextEdits(field(r.body, "context_management"))
	r.stopped = true
	_ = each(field(r.body, "content"), func(raw []byte) error { // it was read once already: it is valid
		n := int64(len(r.order))
		p := &anthropicPart{}
		p.begin(r, raw)
		p.add(r, string(field(raw, "input")))
		r.parts[n] = p
		r.order = append(r.order, n)
		return nil
	})
}

var anthropicCounters = []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"}

func readAnthropicUsage(raw []byte) anthropicUsage {
	u := anthropicUsage{values: map[string]int64{}}
	if raw == nil || raw[0] != '{' {
		return u
	}
	u.has = true
	read := func(name string, v []byte) {
		if v == nil || string(v) == "null" {
			return
		}
		n, ok := number(v)
		if !ok {
			u.bad = true
			return
		}
		u.values[name] = n
	}
	for _, name := range anthropicCounters {
		read(name, field(raw, name))
	}
	split := field(raw, "cache_creation")
	read("5m", field(split, "ephemeral_5m_input_tokens"))
	read("1h", field(split, "ephemeral_1h_input_tokens"))
	read("searches", field(field(raw, "server_tool_use"), "web_search_requests"))
	u.fast = text(field(raw, "speed")) == "fast"
	u.us = text(field(raw, "inference_geo")) == "us"
	n := 0
	_ = each(field(raw, "iterations"), func([]byte) error { n++; return nil }) // valid: field read it
	u.repeated = n > 1
	return u
}

// merge takes the counters of a later usage object; one that falls makes both untrusted.
func (u *anthropicUsage) merge(later anthropicUsage) {
	if !u.has {
		*u = later
		return
	}
	for name, n := range u.values {
		if m, ok := later.values[name]; ok && m < n {
			u.bad = true
		}
	}
	maps.Copy(u.values, later.values)
	u.bad = u.bad || later.bad
	u.fast, u.us, u.repeated = u.fast || later.fast, u.us || later.us, u.repeated || later.repeated
}

// usage joins what was said at the start and at the end. sound is false when a counter is missing, falls, or says less
// than what was seen.
func (r *anthropicReader) usage() (u Usage, sound bool) {
	_, ended := r.end.values["output_tokens"]
	all := r.start
	if all.has {
		all.values = maps.Clone(r.start.values)
	}
	if r.end.has {
		all.merge(r.end)
	}
	v := all.values
	_, input := v["input_tokens"]
	u = Usage{
		Input: v["input_tokens"], CachedInput: v["cache_read_input_tokens"], CacheWrite5m: v["5m"], CacheWrite1h: v["1h"],
		Output: v["output_tokens"], Searches: v["searches"],
	}
	// The split says how long; the sum says how much. What the split leaves out is taken as the dearer kind it names.
	if rest := v["cache_creation_input_tokens"] - u.CacheWrite5m - u.CacheWrite1h; rest > 0 {
		if u.CacheWrite1h > 0 {
			u.CacheWrite1h += rest
		} else {
			u.CacheWrite5m += rest
		}
	}
	sound = ended && input && !all.bad && !all.repeated && u.Prompt() > 0 && u.Output > 0 &&
		u.Output >= r.visible/outputBytes
	return u, sound
}

// word keeps a fixed word of the provider; anything else is dropped, so that no free text gets into records.
func word(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("._:/@-[]", c) < 0 {
			return ""
		}
	}
	return s
}
