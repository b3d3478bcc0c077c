package check

import (
	"iter"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// yamlLine is how the parser names a place; it knows no columns.
var yamlLine = lazy.Regexp(`^line (\d{1,9}): ((?s).*)$`)

// yaml reads the file's first document; nil, with a finding, when it is no YAML.
func (f *file) yaml(severity diag.Severity, code string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.text), &doc); err != nil {
		line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine().FindStringSubmatch(message); m != nil {
			message = m[2]
			line, _ = strconv.Atoi(m[1]) // digits by the pattern
			if strings.HasPrefix(message, "did not find expected ") {
				line++ // the parser counts its own errors from 0, those of the scanner from 1
			}
		}
		line = min(max(line, 1), len(f.lines))
		col := 1 + len(f.lines[line-1]) - len(strings.TrimLeft(f.lines[line-1], " \t"))
		f.say(severity, line, col, code, "this is not YAML: "+shorten.Quoted(message), "mend the syntax; GitHub leaves such a file out")
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil
	}
	f.repeatedKeys(doc.Content[0], severity, code)
	return doc.Content[0]
}

// repeatedKeys names keys that stand twice in one table: GitHub takes one of the two or refuses the file.
func (f *file) repeatedKeys(n *yaml.Node, severity diag.Severity, code string) {
	if f.full() {
		return
	}
	seen := map[string]bool{}
	for i, e := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && e.Kind == yaml.ScalarNode && e.Tag != "!!merge" {
			if seen[e.Value] {
				f.say(severity, e.Line, e.Column, code, "the key "+shorten.Quoted(e.Value)+" stands a second time in its table", "leave one of the two out")
			}
			seen[e.Value] = true
		}
		f.repeatedKeys(e, severity, code) // an alias has no content of its own
	}
}

// deref follows one alias. An alias of an alias cannot be written.
func deref(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// pairs walks through the keys of a mapping; of anything else, through nothing.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		n = deref(n)
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], deref(n.Content[i+1])) {
				return
			}
		}
	}
}

// get goes down by keys; nil where one is missing.
func get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var found *yaml.Node
		for k, v := range pairs(n) {
			if k.Value == key {
				found = v
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return deref(n)
}

// items are the elements of a sequence, or the one scalar in its place.
func items(n *yaml.Node) []*yaml.Node {
	switch n = deref(n); {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode:
		return nil
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for _, e := range n.Content {
		if e = deref(e); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// scalars are all texts below a node, keys left out. Each node is visited once, however often aliases name it.
func scalars(n *yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	seen := map[*yaml.Node]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		n = deref(n)
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		switch n.Kind {
		case yaml.ScalarNode:
			out = append(out, n)
		case yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				walk(n.Content[i])
			}
		default:
			for _, e := range n.Content {
				walk(e)
			}
		}
	}
	walk(n)
	return out
}

func value(n *yaml.Node) string {
	if n = deref(n); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

func (f *file) warn(at *yaml.Node, text, code, message, hint string) {
	if f.full() {
		return
	}
	line, col := at.Line, at.Column
	if text != "" {
		line, col = f.find(at.Line, at.Column, text)
	}
	f.say(diag.Warning, line, col, code, message, hint)
}
