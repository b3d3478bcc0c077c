package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// flow is a workflow as the properties see it: the nodes with their comments, and the same as plain values.
type flow struct {
	path string
	text string
	node *yaml.Node
	top  map[string]any
	jobs map[string]map[string]any
}

func parseFlow(t testing.TB, path, text string) flow {
	t.Helper()
	f := flow{path: path, text: text, node: &yaml.Node{}, jobs: map[string]map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), f.node); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := f.node.Decode(&f.top); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for name, job := range object(f.top["jobs"]) {
		f.jobs[name] = object(job)
	}
	if len(f.jobs) == 0 {
		t.Fatalf("%s has no jobs", path)
	}
	return f
}

func (f flow) name() string {
	return strings.TrimSuffix(f.path[strings.LastIndexByte(f.path, '/')+1:], ".yml")
}

// task is the task of a task's workflow, else empty.
func (f flow) task() string {
	for _, t := range tasks {
		if f.name() == "issue-assistant-"+string(t.Name) {
			return string(t.Name)
		}
	}
	return ""
}

func (f flow) triggers() map[string]any {
	switch on := f.top["on"].(type) {
	case map[string]any:
		return on
	case []any:
		out := map[string]any{}
		for _, v := range on {
			out[fmt.Sprint(v)] = nil
		}
		return out
	default:
		return map[string]any{fmt.Sprint(on): nil}
	}
}

// eachJob visits the jobs in a fixed order.
func (f flow) eachJob(visit func(name string, job map[string]any)) {
	for _, name := range slices.Sorted(maps.Keys(f.jobs)) {
		visit(name, f.jobs[name])
	}
}

func (f flow) eachStep(visit func(job, name string, step map[string]any)) {
	f.eachJob(func(job string, j map[string]any) {
		for _, s := range list(j["steps"]) {
			step := object(s)
			visit(job, text(step["name"]), step)
		}
	})
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// command is the command that a step gives to our action, else empty.
func command(step map[string]any) string { return text(object(step["with"])["command"]) }

// walkValues visits every scalar of a value with its path.
func walkValues(path string, v any, visit func(path, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walkValues(path+"."+k, v[k], visit)
		}
	case []any:
		for i, e := range v {
			walkValues(fmt.Sprintf("%s.%d", path, i), e, visit)
		}
	default:
		visit(path, text(v))
	}
}

// walkNodes visits each mapping pair.
func walkNodes(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			visit(n.Content[i], n.Content[i+1])
		}
	}
	for _, c := range n.Content {
		walkNodes(c, visit)
	}
}
