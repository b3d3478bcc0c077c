package ghcheck

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

// parseGraphQL checks the query and its variables.
func (c *Checker) parseGraphQL(r *http.Request, body []byte) (*ast.QueryDocument, error) {
	var in struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
		Name      string         `json:"operationName"`
	}
	if r.Method != http.MethodPost {
		return nil, fmt.Errorf("GraphQL by %s", r.Method)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil, fmt.Errorf("GraphQL with content type %q", r.Header.Get("Content-Type"))
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("GraphQL body: %w", err)
	}
	doc, err := gqlparser.LoadQueryWithRules(c.schema, in.Query, nil)
	if err != nil {
		return nil, fmt.Errorf("GraphQL query: %w", err)
	}
	if len(doc.Operations) != 1 {
		return nil, fmt.Errorf("GraphQL: %d operations", len(doc.Operations))
	}
	if in.Variables == nil {
		in.Variables = map[string]any{}
	}
	if _, err := validator.VariableValues(c.schema, doc.Operations[0], in.Variables); err != nil {
		return nil, fmt.Errorf("GraphQL variables: %w", err)
	}
	return doc, nil
}

func (c *Checker) checkGraphQLAnswer(r *http.Request, body []byte, status int, answer []byte) error {
	if status != http.StatusOK {
		return nil
	}
	doc, err := c.parseGraphQL(r, body)
	if err != nil {
		return err
	}
	var out struct {
		Data   map[string]any `json:"data"`
		Errors []any          `json:"errors"`
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	if len(out.Errors) > 0 {
		return nil // null may stand anywhere then
	}
	return c.selection(out.Data, doc.Operations[0].SelectionSet, doc.Operations[0].Name)
}

// selection compares an object of the answer with what was asked for.
func (c *Checker) selection(have map[string]any, set ast.SelectionSet, at string) error {
	asked := map[string]bool{}
	if err := c.fields(have, set, at, asked); err != nil {
		return err
	}
	for k := range have {
		if !asked[k] {
			return fmt.Errorf("%w: %s.%s was not asked for", errAnswer, at, k)
		}
	}
	return nil
}

func (c *Checker) fields(have map[string]any, set ast.SelectionSet, at string, asked map[string]bool) error {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			asked[s.Alias] = true
			value, given := have[s.Alias]
			if !given {
				return fmt.Errorf("%w: %s.%s is missing", errAnswer, at, s.Alias)
			}
			if err := c.value(value, s.Definition.Type, s, at+"."+s.Alias); err != nil {
				return err
			}
		case *ast.InlineFragment:
			if err := c.fragment(have, s.TypeCondition, s.SelectionSet, at, asked); err != nil {
				return err
			}
		case *ast.FragmentSpread:
			if err := c.fragment(have, s.Definition.TypeCondition, s.Definition.SelectionSet, at, asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// fragment applies when the object says that it is of the type, or when nothing else is known.
func (c *Checker) fragment(have map[string]any, on string, set ast.SelectionSet, at string, asked map[string]bool) error {
	if name, said := have["__typename"].(string); said && on != "" && name != on {
		return nil
	}
	return c.fields(have, set, at, asked)
}

func (c *Checker) value(v any, t *ast.Type, f *ast.Field, at string) error {
	if v == nil {
		if t.NonNull {
			return fmt.Errorf("%w: %s is null", errAnswer, at)
		}
		return nil
	}
	if t.Elem != nil {
		list, is := v.([]any)
		if !is {
			return fmt.Errorf("%w: %s is no list", errAnswer, at)
		}
		for i, e := range list {
			if err := c.value(e, t.Elem, f, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	}
	ok := true
	switch def := c.schema.Types[t.NamedType]; {
	case def == nil:
	case def.Kind == ast.Object || def.Kind == ast.Interface || def.Kind == ast.Union:
		o, is := v.(map[string]any)
		if !is {
			return fmt.Errorf("%w: %s is no object", errAnswer, at)
		}
		return c.selection(o, f.SelectionSet, at)
	case def.Kind == ast.Enum:
		s, is := v.(string)
		ok = is && def.EnumValues.ForName(s) != nil
	case def.Name == "Int":
		n, is := v.(float64)
		ok = is && n == float64(int32(n))
	case def.Name == "Boolean":
		_, ok = v.(bool)
	default:
		_, ok = v.(string)
	}
	if !ok {
		return fmt.Errorf("%w: %s is %v, which is no %s", errAnswer, at, v, t.NamedType)
	}
	return nil
}
