package meter

import (
	"errors"
	"net/http"
)

// openaiParser reads one request of the Responses API.
type openaiParser struct {
	parser
	e *openaiEdits
}

func (a openaiAPI) parse(_ string, _ http.Header, body []byte) (*request, error) {
	p := &openaiParser{parser: newParser(a.hash, openaiPath, body, write5m), e: &openaiEdits{}}
	r := p.r
	r.api = p.e
	if err := p.document(p.counting(p.member, "model", "input", "instructions", "tools", "tool_choice", "text", "reasoning",
		"parallel_tool_calls")); err != nil {
		return nil, err
	}
	p.e.first = p.first
	switch {
	case r.model == "":
		return nil, errors.New("model: field required")
	case p.e.input.to == 0:
		return nil, errors.New("input: field required")
	}
	return r, nil
}

// member reads one member of the request itself.
func (p *openaiParser) member(name string) error {
	switch name {
	case "input":
		return p.input()
	case "tools":
		if p.peek() != '[' {
			return p.plain(name)
		}
		return p.array(func() error {
			p.e.hasTools = true
			return p.tool()
		})
	case "max_output_tokens":
		if p.peek() == 'n' {
			return errors.New("max_output_tokens: leave it out instead of null")
		}
		var err error
		p.e.maxTokens, err = p.limit(name)
		return err
	case "model", "stream", "tool_choice", "service_tier":
		return p.setting(name)
	case "previous_response_id", "conversation", "background", "prompt", "context_management", "multi_agent", "moderation":
		return p.forbidden(name)
	case "metadata", "client_metadata", "include", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
		"safety_identifier", "store", "stream_options", "temperature", "top_p", "top_logprobs", "truncation", "user",
		"max_tool_calls", "parallel_tool_calls":
		return p.pass()
	}
	return p.plain(name)
}

func (p *openaiParser) setting(name string) error {
	from := p.i
	raw, err := p.skip()
	if err != nil {
		return err
	}
	switch name {
	case "model":
		p.r.model = text(raw)
	case "stream":
		p.r.stream = string(raw) == "true"
	case "service_tier":
		switch tier := text(raw); {
		case empty(raw), tier == "auto", tier == "default", tier == "flex":
		default:
			return notSent("the request asks for the service tier %.40q", tier)
		}
	case "tool_choice":
		p.e.toolChoice = span{from, p.i}
	}
	return nil
}

// tool reads one tool. Those that the provider runs itself are refused.
func (p *openaiParser) tool() error {
	raw, err := p.skip()
	if err != nil {
		return err
	}
	p.block("tool", raw)
	return clientTool(raw, 0)
}

func clientTool(raw []byte, nested int) error {
	if raw[0] != '{' || nested > 2 {
		return errors.New("each tool must be an object")
	}
	switch kind := text(field(raw, "type")); {
	case kind == "function", kind == "custom":
		return nil
	case kind == "tool_search" && text(field(raw, "execution")) == "client":
		return nil
	case kind == "namespace":
		list := field(raw, "tools")
		if list == nil || list[0] != '[' {
			return errors.New("each namespace needs a list of tools")
		}
		return each(list, func(inner []byte) error { return clientTool(inner, nested+1) })
	default:
		return notSent("the request has a tool of type %.40q", kind)
	}
}

// input reads a string (one message) or a list of items.
func (p *openaiParser) input() error {
	first, count := p.peek(), 0
	from := p.i
	var err error
	switch first {
	case '"':
		var raw []byte
		if raw, err = p.str(); err == nil {
			p.r.blocks = append(p.r.blocks, p.hash.message("user", []string{text(raw)}))
		}
	case '[':
		err = p.array(func() error {
			count++
			raw, err := p.skip()
			if err != nil {
				return err
			}
			b, err := p.hash.openaiItem(raw)
			p.r.blocks = append(p.r.blocks, b)
			return err
		})
	default:
		return errors.New("input: it must be a text or a list")
	}
	p.e.input, p.e.inputText, p.e.inputEmpty = span{from, p.i}, first == '"', count == 0
	return err
}

// message is the block of a message: its role and its texts.
func (h hasher) message(role string, texts []string) block {
	b := block{bound: int64(len(role))}
	h.add(&b.key, "role", []byte(role))
	for i, t := range texts {
		b.bound += int64(len(t)) + perBlock
		h.add(&b.key, "text"+string(rune('0'+i)), []byte(t))
	}
	return b
}

// openaiItem is the block of one item of a prompt or of an answer: the same content gives the same block, whatever id
// and status it has. Items that the provider itself fills are refused.
func (h hasher) openaiItem(raw []byte) (block, error) {
	if raw[0] != '{' {
		return block{}, errors.New("input: each item must be an object")
	}
	switch kind := text(field(raw, "type")); kind {
	case "", "message":
		texts, err := openaiTexts(field(raw, "content"))
		return h.message(text(field(raw, "role")), texts), err
	case "function_call", "custom_tool_call", "tool_search_call":
		return h.members(raw, kind, "call_id", "name", "namespace", "arguments", "input"), nil
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		if out := field(raw, "output"); out != nil && out[0] == '[' {
			if _, err := openaiTexts(out); err != nil {
				return block{}, err
			}
		}
		return h.members(raw, kind, "call_id", "output", "tools"), nil
	case "reasoning":
		b := h.members(raw, kind, "summary", "content", "encrypted_content")
		b.hidden = true
		return b, nil
	default:
		return block{}, notSent("the request has an item of type %.40q", kind)
	}
}

// members makes a block of some members of an item.
func (h hasher) members(raw []byte, kind string, names ...string) block {
	b := block{bound: int64(len(kind))}
	h.add(&b.key, "type", []byte(kind))
	for _, name := range names {
		v := field(raw, name)
		if v == nil || empty(v) {
			continue
		}
		bound := int64(len(v))
		if v[0] == '"' {
			bound = textLen(v)
			v = []byte(text(v)) // Codex and the provider escape differently
		}
		b.bound += bound + int64(len(name))
		h.add(&b.key, name, v)
	}
	return b
}

// openaiTexts are the texts of a content: a string or a list of parts. Images and files have no bound.
func openaiTexts(raw []byte) ([]string, error) {
	if raw == nil || raw[0] == '"' {
		return []string{text(raw)}, nil
	}
	if raw[0] != '[' {
		return nil, errors.New("content: it must be a text or a list")
	}
	var texts []string
	err := each(raw, func(part []byte) error {
		if part[0] != '{' {
			return errors.New("content: each part must be an object")
		}
		switch kind := text(field(part, "type")); kind {
		case "input_text", "output_text", "text", "summary_text", "reasoning_text":
			texts = append(texts, text(field(part, "text")))
		case "refusal":
			texts = append(texts, text(field(part, "refusal")))
		default:
			return notSent("the request has a part of type %.40q", kind)
		}
		return nil
	})
	return texts, err
}
