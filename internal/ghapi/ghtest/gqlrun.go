package ghtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// node is an object of the graph: scalars, nodes, lists, or a resolver for fields with arguments.
type node map[string]any

// resolver answers a field by its arguments.
type resolver func(args map[string]any) any

// gqlFail is an entry of errors[] that a resolver returns instead of a value.
type gqlFail struct{ kind, message string }

// graphql answers a query. Errors come with status 200, as GitHub sends them.
func (c *call) graphql() reply {
	var in struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	doc, err := parseGraphQL(in.Query)
	if err != nil {
		return gqlErrors(gqlFail{"", "Parse error: " + err.Error()})
	}
	run := &gqlRun{doc: doc, vars: in.Variables}
	root := c.queryRoot()
	if doc.kind == "mutation" {
		root = c.mutationRoot()
	}
	data := run.object(root, doc.fields)
	if len(run.fails) == 0 {
		return ok(object{"data": data})
	}
	rep := gqlErrors(run.fails...)
	rep.body.(object)["data"] = data
	return rep
}

func gqlErrors(fails ...gqlFail) reply {
	list := []any{}
	for _, f := range fails {
		e := object{"message": f.message}
		if f.kind != "" {
			e["type"] = f.kind
		}
		list = append(list, e)
	}
	return reply{status: http.StatusOK, body: object{"errors": list}}
}

type gqlRun struct {
	doc   *gqlDocument
	vars  map[string]any
	fails []gqlFail
}

// orderedObject keeps the order of the selection.
type orderedObject struct {
	keys   []string
	values map[string]any
}

// MarshalJSON writes the fields in their order.
func (o *orderedObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[k])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (r *gqlRun) object(n node, fields []gqlField) any {
	out := &orderedObject{values: map[string]any{}}
	r.into(out, n, fields, 0)
	return out
}

func (r *gqlRun) into(out *orderedObject, n node, fields []gqlField, depth int) {
	if depth > maxDepth {
		r.fails = append(r.fails, gqlFail{"", "fragments nested too deeply"})
		return
	}
	for _, f := range fields {
		if f.inline {
			on, sub := f.on, f.fields
			if f.spread != "" {
				frag, known := r.doc.fragments[f.spread]
				if !known {
					r.fails = append(r.fails, gqlFail{"", "Fragment " + f.spread + " was used, but not defined"})
					continue
				}
				on, sub = frag.on, frag.fields
			}
			if on == "" || on == n["__typename"] || slices.Contains(interfacesOf(n), on) {
				r.into(out, n, sub, depth+1)
			}
			continue
		}
		value, known := n[f.name]
		if !known {
			r.fails = append(r.fails, gqlFail{"", fmt.Sprintf("Field '%s' doesn't exist on type '%v'", f.name, n["__typename"])})
			continue
		}
		if fn, is := value.(resolver); is {
			value = fn(r.arguments(f.args))
		}
		if _, seen := out.values[f.alias]; !seen {
			out.keys = append(out.keys, f.alias)
		}
		out.values[f.alias] = r.value(value, f)
	}
}

func interfacesOf(n node) []string {
	list, _ := n["__interfaces"].([]string) // most have none
	return list
}

func (r *gqlRun) value(v any, f gqlField) any {
	switch v := v.(type) {
	case gqlFail:
		r.fails = append(r.fails, v)
		return nil
	case node:
		if v == nil {
			return nil
		}
		if len(f.fields) == 0 {
			r.fails = append(r.fails, gqlFail{"", fmt.Sprintf("Field '%s' must have selections", f.name)})
			return nil
		}
		return r.object(v, f.fields)
	case []node:
		list := []any{}
		for _, n := range v {
			list = append(list, r.value(n, f))
		}
		return list
	default:
		return v
	}
}

// arguments puts the variables in. A variable without a value counts as not given.
func (r *gqlRun) arguments(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		if value := r.argument(v); value != nil {
			out[k] = value
		}
	}
	return out
}

func (r *gqlRun) argument(v any) any {
	switch v := v.(type) {
	case gqlVariable:
		if value, given := r.vars[string(v)]; given {
			return value
		}
		return r.argument(r.doc.defaults[string(v)])
	case gqlEnum:
		return string(v)
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, r.argument(e))
		}
		return list
	case map[string]any:
		return r.arguments(v)
	default:
		return v
	}
}

func argInt(args map[string]any, name string) int {
	n, _ := args[name].(float64) // absent or of another type: 0, which no valid number is
	return int(n)
}

func argString(args map[string]any, name string) string {
	s, _ := args[name].(string) // absent or of another type: empty
	return s
}

func argMap(args map[string]any, name string) map[string]any {
	m, _ := args[name].(map[string]any) // absent or of another type: nil
	return m
}

// argStrings takes a list, or one value in its place, as GraphQL does.
func argStrings(args map[string]any, name string) []string {
	var out []string
	switch v := args[name].(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			if s, is := e.(string); is {
				out = append(out, s)
			}
		}
	}
	return out
}

// connection answers first, last and after over a list of a length; only the page that is asked for is built.
func connection(name string, all func(args map[string]any) (int, func(int) node)) resolver {
	return func(args map[string]any) any {
		length, at := all(args)
		first, last := argInt(args, "first"), argInt(args, "last")
		if first == 0 && last == 0 {
			return gqlFail{"MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)}
		}
		if max(first, last) > 100 {
			return gqlFail{"EXCESSIVE_PAGINATION", fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.", max(first, last), name)}
		}
		from := 0
		if after := argString(args, "after"); after != "" {
			n, err := strconv.Atoi(strings.TrimPrefix(after, "cursor:"))
			if err != nil {
				return gqlFail{"INVALID_CURSOR_ARGUMENTS", "`" + after + "` does not appear to be a valid cursor."}
			}
			from = min(n, length)
		}
		to := length
		if first > 0 {
			to = min(from+first, length)
		} else {
			from = max(length-last, 0)
		}
		var end any
		if to > from {
			end = fmt.Sprintf("cursor:%d", to)
		}
		page := []node{}
		for i := from; i < to; i++ {
			page = append(page, at(i))
		}
		return node{
			"__typename": name, "totalCount": length, "nodes": page,
			"pageInfo": node{"__typename": "PageInfo", "hasNextPage": to < length, "hasPreviousPage": from > 0, "endCursor": end, "startCursor": nil},
		}
	}
}

// fixed is a connection without filters.
func fixed(name string, items []node) resolver {
	return connection(name, func(map[string]any) (int, func(int) node) {
		return len(items), func(i int) node { return items[i] }
	})
}
