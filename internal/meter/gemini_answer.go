package meter

import (
	"strings"
)

// geminiReader follows a response of the Gemini API, streamed or plain. A stream has no end of its own but that of the
// connection, and the usage stands in every piece: only the last one is final.
type geminiReader struct {
	follower
	model   string
	stop    string
	blocked bool
	has     bool // a usage came
	usage   Usage
	unsound bool
	visible int64
	text    strings.Builder // of neighboring texts: the CLI sends them back as one
	blocks  []block
}

func (a geminiAPI) reader(r *request, contentType string) answerReader {
	g := &geminiReader{follower: newFollower(a.hash, contentType)}
	g.stream = g.stream && r.stream
	g.sse.event = g.event
	return g
}

// event reads one piece of an answer.
func (r *geminiReader) event(data []byte) {
	if !valid(data) || field(data, "error") != nil {
		r.broken = true
		return
	}
	if m := word(text(field(data, "modelVersion")), 200); m != "" {
		r.model = m
	}
	if raw := field(data, "usageMetadata"); raw != nil {
		u, sound := geminiUsage(raw)
		if r.has && (u.Prompt() < r.usage.Prompt() || u.Output < r.usage.Output) {
			sound = false
		}
		r.usage, r.unsound, r.has = u, r.unsound || !sound, true
	}
	if text(field(field(data, "promptFeedback"), "blockReason")) != "" {
		r.blocked = true
	}
	n := 0
	_ = each(field(data, "candidates"), func(raw []byte) error { // read once already: it is valid
		if n++; n > 1 { // more than was asked for
			r.broken = true
			return nil
		}
		if f := text(field(raw, "finishReason")); f != "" {
			r.stop = word(f, 40)
		}
		r.parts(field(field(raw, "content"), "parts"))
		return nil
	})
}

func (r *geminiReader) parts(list []byte) {
	_ = each(list, func(raw []byte) error { // read once already: it is valid
		if raw[0] != '{' {
			return nil
		}
		b, perr := r.hash.geminiPart(raw, "model")
		switch {
		case perr != nil: // of a kind that would be refused if it came back
		case string(field(raw, "thought")) == "true":
			r.blocks = append(r.blocks, b)
		case field(raw, "functionCall") == nil && field(raw, "thoughtSignature") == nil:
			t := text(field(raw, "text"))
			r.visible += int64(len(t))
			r.text.WriteString(t)
		default:
			r.flush()
			if !b.hidden {
				r.visible += b.bound
			}
			r.blocks = append(r.blocks, b)
		}
		return nil
	})
}

// flush ends a row of texts.
func (r *geminiReader) flush() {
	if r.text.Len() == 0 {
		return
	}
	b, err := r.hash.geminiPart([]byte(`{"text":`+string(jsString(r.text.String()))+`}`), "model")
	if err == nil {
		r.blocks = append(r.blocks, b)
	}
	r.text.Reset()
}

func (r *geminiReader) done() bool { return false }

func (r *geminiReader) answer(whole bool) answer {
	if !r.stream && whole {
		r.event(r.body)
	}
	r.flush()
	a := answer{model: r.model, usage: r.usage, blocks: r.blocks}
	if r.broken || !whole {
		return a
	}
	switch {
	case r.stop == "MAX_TOKENS":
		a.stop, a.cut = "max_tokens", true
	case r.stop != "":
		a.stop = strings.ToLower(r.stop)
	case r.blocked:
		a.stop = "blocked"
	}
	a.turn = a.stop != ""
	a.final = a.turn && r.has && !r.unsound && (r.usage.Output > 0 || r.visible == 0) && r.usage.Output >= r.visible/outputBytes
	return a
}

// geminiUsage reads a usage object. promptTokenCount includes what came from the cache; thoughts are billed as output
// and are not in candidatesTokenCount. sound is false when a counter is wrong or they contradict each other.
func geminiUsage(raw []byte) (u Usage, sound bool) {
	sound = true
	get := func(name string) int64 {
		n, ok := optional(field(raw, name))
		sound = sound && ok
		return n
	}
	prompt, cached, tools := get("promptTokenCount"), get("cachedContentTokenCount"), get("toolUsePromptTokenCount")
	output := get("candidatesTokenCount") + get("thoughtsTokenCount")
	total := get("totalTokenCount")
	if rest := total - prompt - tools; rest > output { // a kind of output that is not named here
		output = rest
	}
	sound = sound && prompt > 0 && cached <= prompt
	return Usage{Input: prompt + tools - min(cached, prompt), CachedInput: min(cached, prompt), Output: output}, sound
}
