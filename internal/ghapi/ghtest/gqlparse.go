package ghtest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A parser for the part of GraphQL that clients send: operations, fragments, variables, aliases, arguments.
// Directives are refused: nothing here uses them, and to skip one would answer the wrong thing.

type gqlDocument struct {
	kind, name string // of the one operation
	defaults   map[string]any
	fields     []gqlField
	fragments  map[string]gqlFragment
}

type gqlFragment struct {
	on     string
	fields []gqlField
}

// gqlField is a field, or a fragment when spread or on is set.
type gqlField struct {
	alias, name string
	args        map[string]any
	fields      []gqlField
	spread      string
	inline      bool
	on          string
}

// gqlVariable stands for the value of a variable.
type gqlVariable string

// gqlEnum is an enum's value.
type gqlEnum string

type gqlParser struct {
	src string
	tok string
	str bool // tok is a string's value
	err error
}

// maxDepth bounds the nesting of a query.
const maxDepth = 40

// operationOf names the operation of a GraphQL request.
func operationOf(body []byte) (name string, mutation bool) {
	var in struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(body, &in) != nil {
		return "", false
	}
	doc, err := parseGraphQL(in.Query)
	if err != nil {
		return "", false
	}
	return doc.name, doc.kind == "mutation"
}

func parseGraphQL(src string) (*gqlDocument, error) {
	p := &gqlParser{src: src}
	p.next()
	doc := &gqlDocument{fragments: map[string]gqlFragment{}, defaults: map[string]any{}}
	for p.tok != "" && p.err == nil {
		switch p.tok {
		case "{":
			doc.kind, doc.fields = "query", p.selection(0)
		case "query", "mutation":
			doc.kind = p.tok
			p.next()
			if p.tok != "(" && p.tok != "{" {
				doc.name = p.word()
			}
			if p.tok == "(" {
				p.variables(doc)
			}
			doc.fields = p.selection(0)
		case "fragment":
			p.next()
			name := p.word()
			p.want("on")
			doc.fragments[name] = gqlFragment{on: p.word(), fields: p.selection(0)}
		default:
			p.fail("unexpected %q", p.tok)
		}
	}
	if p.err == nil && doc.kind == "" {
		p.fail("no operation")
	}
	return doc, p.err
}

func (p *gqlParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.tok, p.src = "", ""
}

// next reads a token: a name, a number, a punctuation mark, a string, or nothing at the end.
func (p *gqlParser) next() {
	p.str = false
	p.src = strings.TrimLeft(p.src, " \t\r\n,\ufeff")
	for strings.HasPrefix(p.src, "#") {
		_, rest, _ := strings.Cut(p.src, "\n")
		p.src = strings.TrimLeft(rest, " \t\r\n,")
	}
	if p.src == "" {
		p.tok = ""
		return
	}
	n := 0
	for n < len(p.src) && (isWord(p.src[n]) || (n == 0 && p.src[n] == '-') || (n > 0 && p.src[n] == '.' && (isDigit(p.src[0]) || p.src[0] == '-'))) {
		n++
	}
	switch {
	case n > 0:
	case strings.HasPrefix(p.src, "..."):
		n = 3
	case p.src[0] == '"':
		p.quoted()
		return
	default:
		_, n = utf8.DecodeRuneInString(p.src)
	}
	p.tok, p.src = p.src[:n], p.src[n:]
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool {
	return b == '_' || isDigit(b) || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')
}

// quoted reads a string. Its escapes are those of JSON.
func (p *gqlParser) quoted() {
	for n := 1; n < len(p.src); n++ {
		switch p.src[n] {
		case '\\':
			n++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.src[:n+1]), &s); err != nil {
				p.fail("bad string")
				return
			}
			p.tok, p.str, p.src = s, true, p.src[n+1:]
			return
		}
	}
	p.fail("string without an end")
}

func (p *gqlParser) want(tok string) {
	if p.tok != tok || p.str {
		p.fail("want %q, have %q", tok, p.tok)
		return
	}
	p.next()
}

func (p *gqlParser) word() string {
	w := p.tok
	if p.str || w == "" || !isWord(w[0]) || isDigit(w[0]) {
		p.fail("want a name, have %q", w)
		return ""
	}
	p.next()
	return w
}

func (p *gqlParser) variables(doc *gqlDocument) {
	p.want("(")
	for p.tok == "$" && p.err == nil {
		p.next()
		name := p.word()
		p.want(":")
		p.kind()
		if p.tok == "=" {
			p.next()
			doc.defaults[name] = p.value(0)
		}
	}
	p.want(")")
}

// kind skips a type.
func (p *gqlParser) kind() {
	if p.tok == "[" {
		p.next()
		p.kind()
		p.want("]")
	} else {
		p.word()
	}
	if p.tok == "!" {
		p.next()
	}
}

func (p *gqlParser) selection(depth int) []gqlField {
	if depth > maxDepth {
		p.fail("too deep")
		return nil
	}
	var fields []gqlField
	p.want("{")
	for p.tok != "}" && p.err == nil {
		if p.tok == "" {
			p.fail("selection without an end")
			break
		}
		if p.tok == "..." {
			p.next()
			f := gqlField{inline: true}
			switch p.tok {
			case "on":
				p.next()
				f.on = p.word()
				f.fields = p.selection(depth + 1)
			case "{":
				f.fields = p.selection(depth + 1)
			default:
				f.spread = p.word()
			}
			fields = append(fields, f)
			continue
		}
		f := gqlField{name: p.word()}
		f.alias = f.name
		if p.tok == ":" {
			p.next()
			f.name = p.word()
		}
		if p.tok == "(" {
			f.args = p.arguments(depth)
		}
		if p.tok == "{" {
			f.fields = p.selection(depth + 1)
		}
		fields = append(fields, f)
	}
	p.want("}")
	return fields
}

func (p *gqlParser) arguments(depth int) map[string]any {
	args := map[string]any{}
	p.want("(")
	for p.tok != ")" && p.err == nil {
		name := p.word()
		p.want(":")
		args[name] = p.value(depth)
	}
	p.want(")")
	return args
}

func (p *gqlParser) value(depth int) any {
	if depth > maxDepth {
		p.fail("too deep")
		return nil
	}
	tok := p.tok
	if p.str {
		p.next()
		return tok
	}
	switch {
	case tok == "$":
		p.next()
		return gqlVariable(p.word())
	case tok == "[":
		p.next()
		list := []any{}
		for p.tok != "]" && p.err == nil {
			if p.tok == "" && !p.str {
				p.fail("list without an end")
			}
			list = append(list, p.value(depth+1))
		}
		p.want("]")
		return list
	case tok == "{":
		p.next()
		fields := map[string]any{}
		for p.tok != "}" && p.err == nil {
			name := p.word()
			p.want(":")
			fields[name] = p.value(depth + 1)
		}
		p.want("}")
		return fields
	case tok == "true", tok == "false":
		p.next()
		return tok == "true"
	case tok == "null":
		p.next()
		return nil
	case tok != "" && (isDigit(tok[0]) || tok[0] == '-'):
		p.next()
		n, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			p.fail("bad number %q", tok)
		}
		return n
	default:
		return gqlEnum(p.word())
	}
}
