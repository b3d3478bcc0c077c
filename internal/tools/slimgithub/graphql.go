package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// objects are the types whose fields are kept. A field of another object type is dropped.
func objects() map[string]bool {
	return words(`
Query Repository RepositoryOwner Actor User Bot Mannequin Organization EnterpriseUserAccount
Issue IssueConnection IssueEdge IssueTimelineItems IssueTimelineItemsConnection
LabeledEvent UnlabeledEvent ClosedEvent ReopenedEvent IssueComment IssueCommentConnection Label LabelConnection Milestone UserConnection
PullRequest PullRequestConnection PullRequestReview PullRequestReviewConnection PullRequestReviewThread PullRequestReviewThreadConnection
Discussion DiscussionConnection DiscussionCategory DiscussionComment Commit Ref PageInfo
`)
}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		out[w] = true
	}
	return out
}

func slimGraphQL(src string) ([]byte, error) {
	doc, err := parser.ParseSchema(&ast.Source{Name: "schema.graphql", Input: src})
	if err != nil {
		return nil, err
	}
	objects, rootFields := objects(), words("viewer repository")
	byName := map[string]*ast.Definition{}
	for _, d := range doc.Definitions {
		byName[d.Name] = d
	}
	keep := map[string]bool{}
	var need func(name string)
	need = func(name string) {
		d := byName[name]
		if d == nil || keep[name] {
			return
		}
		keep[name] = true
		d.Description, d.Directives = "", nil
		var fields ast.FieldList
		for _, f := range d.Fields {
			to := byName[f.Type.Name()]
			switch {
			case name == "Query" && !rootFields[f.Name]:
				continue
			case to != nil && (to.Kind == ast.Object || to.Kind == ast.Interface || to.Kind == ast.Union) && !objects[to.Name]:
				continue
			case fields.ForName(f.Name) != nil: // the published schema defines some twice
				continue
			}
			f.Description, f.Directives = "", nil
			for _, a := range f.Arguments {
				a.Description, a.Directives = "", nil
				need(a.Type.Name())
			}
			fields = append(fields, f)
			need(f.Type.Name())
		}
		d.Fields = fields
		d.Types = slices.DeleteFunc(d.Types, func(member string) bool { return !objects[member] })
		for _, member := range d.Types {
			need(member)
		}
		for _, v := range d.EnumValues {
			v.Description, v.Directives = "", nil
		}
		var interfaces []string
		for _, i := range d.Interfaces {
			if objects[i] {
				interfaces = append(interfaces, i)
				need(i)
			}
		}
		d.Interfaces = interfaces
	}
	need("Query")
	// Types that only a fragment names.
	for name := range objects {
		need(name)
	}
	slim := &ast.SchemaDocument{}
	for _, d := range doc.Definitions {
		if keep[d.Name] && (d.Kind != ast.Object || len(d.Fields) > 0) {
			slim.Definitions = append(slim.Definitions, d)
			keep[d.Name] = false // once
		}
	}
	var out bytes.Buffer
	formatter.NewFormatter(&out).FormatSchemaDocument(slim)
	return out.Bytes(), nil
}
