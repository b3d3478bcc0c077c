package meter

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

const imageBound = 5000 // tokens of an image at most; the provider scales larger ones down

// anthropicParser reads one request of the Messages API.
type anthropicParser struct {
	parser
	e     *anthropicEdits
	think string // thinking.type
	fast  bool
	us    bool
}

func (a anthropicAPI) parse(path string, _ http.Header, body []byte) (*request, error) {
	p := &anthropicParser{parser: newParser(a.hash, path, body, write5m), e: &anthropicEdits{noMessages: true}}
	r := p.r
	r.api = p.e
	if err := p.document(p.counting(p.member, "model", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
		"output_format", "context_management")); err != nil {
		return nil, err
	}
	if r.asked == 0 {
		p.e.maxTokens = span{p.first, p.first}
	}
	if r.model == "" {
		return nil, errors.New("model: field required")
	}
	r.thinking = p.think == "enabled"
	if p.fast {
		r.num *= 2
	}
	if p.us {
		r.num, r.den = r.num*11, r.den*10
	}
	return r, nil
}

// member reads one member of the request itself.
func (p *anthropicParser) member(name string) error {
	switch name {
	case "messages":
		return p.messages()
	case "system":
		return p.contents(nil)
	case "tools":
		if p.peek() != '[' {
			return p.plain(name)
		}
		return p.array(func() error { return p.item(true) })
	case "cache_control":
		return p.cacheControl()
	case "thinking":
		return p.thinkingValue()
	case "context_management":
		return p.contextManagement()
	case "max_tokens":
		var err error
		p.e.maxTokens, err = p.limit(name)
		return err
	case "model", "stream", "speed", "inference_geo":
		return p.setting(name)
	case "metadata":
		return p.pass()
	}
	if strings.HasPrefix(name, "fallback") {
		return p.forbidden(name)
	}
	switch name {
	case "mcp_servers", "container", "previous_response_id", "conversation", "background", "cachedContent", "fileData", "fileIds", "advisor":
		return p.forbidden(name)
	}
	return p.plain(name)
}

func (p *anthropicParser) setting(name string) error {
	raw, err := p.skip()
	if err != nil {
		return err
	}
	switch name {
	case "model":
		p.r.model = text(raw)
	case "stream":
		p.r.stream = string(raw) == "true"
	case "speed":
		p.fast = !empty(raw) && text(raw) != "standard"
	case "inference_geo":
		p.us = !empty(raw) && text(raw) != "global"
	}
	return nil
}

func (p *anthropicParser) thinkingValue() error {
	if p.peek() != '{' {
		return p.plain("thinking")
	}
	return p.object(func(name string) error {
		from := p.i
		raw, err := p.skip()
		if err != nil {
			return err
		}
		switch name {
		case "type":
			p.think = text(raw)
		case "budget_tokens":
			n, ok := number(raw)
			if !ok {
				return errors.New("thinking.budget_tokens: it must be a whole number")
			}
			p.e.budget, p.e.budgetValue = span{from, p.i}, n
		}
		return nil
	})
}

// contextManagement accepts edits that only leave parts of the prompt out; compaction makes calls of its own.
func (p *anthropicParser) contextManagement() error {
	if p.peek() != '{' {
		return p.plain("context_management")
	}
	return p.object(func(name string) error {
		if name != "edits" || p.peek() != '[' {
			return p.forbidden("context_management." + name)
		}
		return p.array(func() error {
			raw, err := p.skip()
			if err == nil && !strings.HasPrefix(text(field(raw, "type")), "clear_") {
				return unbounded("a context edit")
			}
			return err
		})
	})
}

func (p *anthropicParser) cacheControl() error {
	raw, err := p.skip()
	if err != nil {
		return err
	}
	if t := field(raw, "ttl"); t != nil && text(t) != "5m" {
		p.r.writes = write1h
	}
	return nil
}

func (p *anthropicParser) messages() error {
	if p.peek() != '[' {
		return errors.New("messages: it must be a list")
	}
	err := p.array(func() error {
		p.e.noMessages = false
		p.e.lastRole, p.e.lastContent, p.e.lastIsText, p.e.lastEmpty = "", span{}, false, false
		if p.peek() != '{' {
			return errors.New("messages: each must be an object")
		}
		return p.object(func(name string) error {
			switch name {
			case "role":
				raw, err := p.skip()
				p.e.lastRole = text(raw)
				p.e.systemRole = p.e.systemRole || p.e.lastRole == "system"
				return err
			case "content":
				return p.contents(p.e)
			}
			return p.plain("message." + name)
		})
	})
	p.e.messagesEnd = p.i - 1
	if err == nil && p.e.noMessages {
		return errors.New("messages: at least one is needed")
	}
	return err
}

// contents reads a string (one block) or a list of blocks. e notes where it stands; nil: it need not be known.
func (p *anthropicParser) contents(e *anthropicEdits) error {
	first := p.peek()
	from, count := p.i, 0
	var err error
	switch first {
	case '"':
		var raw []byte
		if raw, err = p.str(); err == nil {
			b := block{bound: textLen(raw)}
			p.hash.add(&b.key, "type", []byte(`"text"`))
			p.hash.add(&b.key, "text", raw)
			p.r.blocks = append(p.r.blocks, b)
		}
	case '[':
		err = p.array(func() error { count++; return p.item(false) })
	default:
		err = p.plain("content")
	}
	if e != nil {
		e.lastContent, e.lastIsText, e.lastEmpty = span{from, p.i}, first == '"', count == 0
	}
	return err
}

// item reads one block or one tool.
func (p *anthropicParser) item(tool bool) error {
	if p.peek() != '{' {
		return errors.New("each block and each tool must be an object")
	}
	var b block
	if err := p.blockObject(&b, tool, 0); err != nil {
		return err
	}
	p.r.blocks = append(p.r.blocks, b)
	return nil
}

func (p *anthropicParser) blockObject(b *block, tool bool, nested int) error {
	if nested > 4 {
		return errDepth
	}
	var kind, source string
	var data int64 // bytes that are not text: an image's
	err := p.object(func(name string) error {
		if name == "cache_control" {
			return p.cacheControl()
		}
		p.peek()
		from := p.i
		bound, err := p.value(name, nested)
		if err != nil {
			return err
		}
		raw := p.b[from:p.i]
		b.bound += int64(len(name)) + bound
		switch name {
		case "type":
			kind = text(raw)
		case "source":
			source, data = text(field(raw, "type")), bound
		}
		if nested == 0 {
			p.hash.add(&b.key, name, raw)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case tool:
		return hostedTool(kind)
	case kind == "image":
		b.bound += imageBound - data
	case kind == "document" && source != "text" && source != "content":
		b.bound -= data
		p.r.uncounted = true
	case !textKind(kind):
		return unbounded(fmt.Sprintf("a block of type %.40q", kind))
	}
	return nil
}

// value reads a member of a block and returns its bound.
func (p *anthropicParser) value(name string, nested int) (int64, error) {
	if p.peek() == '[' && name == "content" {
		var inner block
		err := p.array(func() error {
			if p.peek() != '{' {
				_, err := p.skip()
				return err
			}
			inner.bound += perBlock
			return p.blockObject(&inner, false, nested+1)
		})
		return inner.bound, err
	}
	raw, err := p.skip()
	if err != nil {
		return 0, err
	}
	if raw[0] == '"' {
		return textLen(raw), nil
	}
	return int64(len(raw)), nil
}

// hostedTool refuses tools that the provider runs itself, and those whose description it adds.
func hostedTool(kind string) error {
	if kind == "" || kind == "custom" {
		return nil
	}
	return unbounded(fmt.Sprintf("a tool of type %.40q", kind))
}

func textKind(kind string) bool {
	switch kind {
	case "", "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result", "tool_reference":
		return true
	}
	return false
}
