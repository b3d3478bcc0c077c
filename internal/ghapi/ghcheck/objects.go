package ghcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// Objects names the types of which a GraphQL request reads a field, sorted. GitHub documents no permission for a query;
// the kinds of objects in it are the nearest to one.
func (c *Checker) Objects(body []byte) ([]string, error) {
	var in struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("GraphQL body: %w", err)
	}
	doc, err := gqlparser.LoadQueryWithRules(c.schema, in.Query, nil)
	if err != nil {
		return nil, fmt.Errorf("GraphQL query: %w", err)
	}
	found := map[string]bool{}
	var walk func(of string, set ast.SelectionSet)
	walk = func(of string, set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if s.Name != "__typename" {
					found[of] = true
				}
				if s.Definition != nil {
					walk(s.Definition.Type.Name(), s.SelectionSet)
				}
			case *ast.InlineFragment:
				walk(orSame(s.TypeCondition, of), s.SelectionSet)
			case *ast.FragmentSpread:
				walk(orSame(s.Definition.TypeCondition, of), s.Definition.SelectionSet)
			}
		}
	}
	for _, o := range doc.Operations {
		set := o.SelectionSet
		for _, s := range set {
			if f, is := s.(*ast.Field); is && f.Definition != nil {
				walk(f.Definition.Type.Name(), f.SelectionSet)
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func orSame(condition, of string) string {
	if condition == "" {
		return of
	}
	return condition
}
