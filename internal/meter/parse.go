package meter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// parser reads one request; what is special to an API embeds it.
type parser struct {
	scan
	hash  hasher
	r     *request
	first int // behind the opening bracket
}

// span is a part of a request's bytes.
type span struct{ from, to int }

func newParser(h hasher, path string, body []byte, writes ttl) parser {
	return parser{scan: scan{b: body}, hash: h, r: &request{path: path, raw: body, num: 1, den: 1, writes: writes}}
}

// document reads the whole request; member reads one member of its object.
func (p *parser) document(member func(name string) error) error {
	if !utf8.Valid(p.b) {
		return errors.New("the request body is not UTF-8")
	}
	if p.peek() != '{' {
		return errJSON
	}
	p.first = p.i + 1
	if err := p.object(member); err != nil {
		return err
	}
	return p.end()
}

// counting is member, and keeps the bytes of the members that the provider's counter takes.
func (p *parser) counting(member func(string) error, names ...string) func(string) error {
	return func(name string) error {
		from := p.keyAt
		err := member(name)
		if slices.Contains(names, name) {
			p.r.counted = append(p.r.counted, span{from, p.i})
		}
		return err
	}
}

// counter is the body of a request to the provider's counter: the prompt alone.
func (r *request) counter() []byte {
	var parts [][]byte
	for _, s := range r.counted {
		parts = append(parts, r.raw[s.from:s.to])
	}
	return slices.Concat([]byte{'{'}, bytes.Join(parts, []byte{','}), []byte{'}'})
}

// block counts a value by its bytes.
func (p *parser) block(name string, raw []byte) {
	b := block{bound: int64(len(raw))}
	p.hash.add(&b.key, name, raw)
	p.r.blocks = append(p.r.blocks, b)
}

// plain counts a value that may reach the prompt (instructions, a schema) by its bytes.
func (p *parser) plain(name string) error {
	raw, err := p.skip()
	if err == nil && (raw[0] == '{' || raw[0] == '[' || raw[0] == '"') {
		p.block(name, raw)
	}
	return err
}

// forbidden passes over a feature that is not used, and refuses it otherwise.
func (p *parser) forbidden(name string) error {
	raw, err := p.skip()
	if err == nil && !empty(raw) {
		err = unbounded(name)
	}
	return err
}

// pass passes over a value that is not in the prompt.
func (p *parser) pass() error {
	_, err := p.skip()
	return err
}

// limit reads how many tokens of answer are asked for, and returns where the number stands.
func (p *parser) limit(name string) (span, error) {
	from := p.i
	raw, err := p.skip()
	if err != nil {
		return span{}, err
	}
	n, ok := number(raw)
	if !ok || n == 0 {
		return span{}, errors.New(name + ": it must be a whole number above 0")
	}
	p.r.asked = n
	return span{from, p.i}, nil
}

// unbounded is the refusal of a request whose cost no reservation can cover.
func unbounded(feature string) error {
	return &refusal{ended: engine.ProviderError, reason: "the request uses " + feature + ", whose cost has no bound: it is not sent"}
}

// notSent is the refusal of a request that this meter cannot bound, in words that name it.
func notSent(format string, args ...any) error {
	return &refusal{ended: engine.ProviderError, reason: fmt.Sprintf(format, args...) + ": its cost has no bound, it is not sent"}
}
