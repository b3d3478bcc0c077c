package meter

import (
	"errors"
	"net/http"
)

// geminiParser reads one request of the Gemini API.
type geminiParser struct {
	parser
	e *geminiEdits
}

func (a geminiAPI) parse(path string, _ http.Header, body []byte) (*request, error) {
	m := geminiPath().FindStringSubmatch(path)
	if m == nil {
		return nil, errors.New("the path names no model")
	}
	p := &geminiParser{parser: newParser(a.hash, path, body, noWrite), e: &geminiEdits{}}
	r := p.r
	r.api, r.model, r.stream = p.e, m[1], m[2] == "streamGenerateContent"
	if err := p.document(p.member); err != nil {
		return nil, err
	}
	p.e.first = p.first
	if p.e.contents.to == 0 {
		return nil, errors.New("contents: field required")
	}
	return r, nil
}

// member reads one member of the request itself. Google also takes names with underscores: those would pass unread, so
// only known names pass.
func (p *geminiParser) member(name string) error {
	switch name {
	case "contents":
		return p.contents()
	case "systemInstruction":
		raw, err := p.skip()
		if err != nil || empty(raw) {
			return err
		}
		return p.parts(field(raw, "parts"), "system")
	case "tools":
		return p.tools()
	case "toolConfig":
		from := p.i
		_, err := p.skip()
		p.e.toolConfig = span{from, p.i}
		return err
	case "generationConfig":
		return p.config()
	case "safetySettings", "labels":
		return p.pass()
	default:
		raw, err := p.skip()
		if err == nil && !empty(raw) {
			return notSent("the request has a field %.40q", name)
		}
		return err
	}
}

func (p *geminiParser) config() error {
	from, count := p.i, 0
	if p.peek() != '{' {
		return errors.New("generationConfig: it must be an object")
	}
	err := p.object(func(name string) error {
		if count++; name == "maxOutputTokens" {
			var err error
			p.e.maxTokens, err = p.limit(name)
			return err
		}
		raw, err := p.skip()
		if err != nil {
			return err
		}
		switch name {
		case "candidateCount":
			if n, ok := number(raw); !ok || n > 1 {
				return notSent("the request asks for several answers")
			}
		case "responseModalities", "speechConfig", "imageConfig", "max_output_tokens", "candidate_count":
			return notSent("the request sets %s", name)
		case "responseJsonSchema", "responseSchema":
			p.block("schema", raw)
		}
		return nil
	})
	p.e.config, p.e.configEmpty = span{from, p.i}, count == 0
	return err
}

// tools accepts functions of the engine; all others are run by the provider.
func (p *geminiParser) tools() error {
	if p.peek() != '[' {
		return errors.New("tools: it must be a list")
	}
	return p.array(func() error {
		if p.peek() != '{' {
			return errors.New("tools: each must be an object")
		}
		return p.object(func(name string) error {
			if name != "functionDeclarations" || p.peek() != '[' {
				raw, err := p.skip()
				if err == nil && raw[0] != 'n' && raw[0] != 'f' { // an empty object switches a tool on
					return notSent("the request has a tool %.40q", name)
				}
				return err
			}
			return p.array(func() error {
				raw, err := p.skip()
				if err == nil {
					p.e.hasTools = true
					p.block("tool", raw)
				}
				return err
			})
		})
	})
}

func (p *geminiParser) contents() error {
	from := p.i
	if p.peek() != '[' {
		return errors.New("contents: it must be a list")
	}
	count := 0
	err := p.array(func() error {
		count++
		if p.peek() != '{' {
			return errors.New("contents: each must be an object")
		}
		p.e.lastRole, p.e.lastParts, p.e.partsEmpty = "", span{}, false
		var parts []byte
		if err := p.object(func(name string) error {
			at := p.i
			raw, err := p.skip()
			switch name {
			case "role":
				p.e.lastRole = text(raw)
			case "parts":
				if err == nil && raw[0] != '[' {
					return errors.New("parts: it must be a list")
				}
				if parts = raw; err == nil {
					p.e.lastParts, p.e.partsEmpty = span{at, p.i}, empty(raw)
				}
			default:
				return notSent("a content has a field %.40q", name)
			}
			return err
		}); err != nil {
			return err
		}
		return p.parts(parts, p.e.lastRole)
	})
	p.e.contents = span{from, p.i}
	if err == nil && count == 0 {
		return errors.New("contents: at least one is needed")
	}
	return err
}

// parts adds a block for each part.
func (p *geminiParser) parts(list []byte, role string) error {
	if list == nil {
		return nil
	}
	if list[0] != '[' {
		return errors.New("parts: it must be a list")
	}
	return each(list, func(raw []byte) error {
		b, err := p.hash.geminiPart(raw, role)
		p.r.blocks = append(p.r.blocks, b)
		return err
	})
}

// geminiPart is the block of one part of a prompt or of an answer. Images, files and what the provider's own tools left
// have no bound.
func (h hasher) geminiPart(raw []byte, role string) (block, error) {
	if raw[0] != '{' {
		return block{}, errors.New("parts: each must be an object")
	}
	b := block{bound: int64(len(role))}
	h.add(&b.key, "role", []byte(role))
	s := scan{b: raw}
	err := s.object(func(name string) error {
		v, err := s.skip()
		if err != nil {
			return err
		}
		switch name {
		case "text":
			b.bound += textLen(v)
			h.add(&b.key, name, []byte(text(v)))
		case "functionCall", "functionResponse":
			b.bound += int64(len(v))
			h.add(&b.key, name, compact(string(v)))
		case "thought":
			b.hidden = b.hidden || string(v) == "true"
		case "thoughtSignature":
			b.hidden = true // it stands for thinking
			b.bound += textLen(v)
			h.add(&b.key, name, v)
		default:
			if !empty(v) {
				return notSent("a part has a field %.40q", name)
			}
		}
		return nil
	})
	return b, err
}
