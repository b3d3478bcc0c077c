package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

const baseID = "https://raw.githubusercontent.com/issue-assistant/issue-assistant/main/schema/"

func configSchema() *jsonschema.Schema {
	root := closed()
	root.Version, root.ID = jsonschema.Version, baseID+"config.schema.json"
	root.Title = "Settings of the issue assistant"
	root.Description = config.Path
	for _, t := range config.Tables() {
		table := tableSchema(t.Rules)
		if t.Named {
			table = &jsonschema.Schema{
				Type: "object", MaxProperties: count(t.MaxNames), PropertyNames: textSchema(t.Names),
				AdditionalProperties: table,
			}
		}
		table.Description = t.Doc
		root.Properties.Set(t.Name, table)
	}
	return root
}

func labelsSchema() *jsonschema.Schema {
	root := closed()
	root.Version, root.ID = jsonschema.Version, baseID+"labels.schema.json"
	root.Title = "Labels of the issue assistant"
	root.Description = config.LabelsPath
	root.Properties.Set("label", &jsonschema.Schema{Type: "array", MaxItems: count(config.MaxLabels), Items: tableSchema(config.LabelRules())})
	return root
}

func findingsSchema() *jsonschema.Schema {
	root := closed()
	root.Version, root.ID = jsonschema.Version, baseID+"findings.schema.json"
	root.Title = "Accepted findings of code scanning"
	root.Description = config.FindingsPath
	entry := tableSchema(config.FindingRules())
	glob, _ := entry.Properties.Get("path")
	glob.Not = &jsonschema.Schema{}
	// From the root of the repository, folders separated by /, brackets closed.
	for _, never := range []string{`^/`, `(^|/)\.\.?(/|$)`, `\\`, `\[[^\]/]*(/|$)`} {
		glob.Not.AnyOf = append(glob.Not.AnyOf, &jsonschema.Schema{Pattern: never})
	}
	// An editor sees a date of TOML as a text.
	entry.Properties.Set("expires", &jsonschema.Schema{
		Type: "string", Format: "date", Pattern: `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`,
		Description: "the last day on which it counts; without it: for ever, such as 2027-01-31",
	})
	root.Properties.Set("accept", &jsonschema.Schema{Type: "array", MaxItems: count(config.MaxAccepts), Items: entry})
	return root
}

// closed is an object without further properties.
func closed() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

func tableSchema(rules []config.Rule) *jsonschema.Schema {
	table := closed()
	for _, r := range rules {
		s := valueSchema(r)
		s.Description = r.Doc
		s.Default = r.Default
		if r.Example != "" {
			s.Description += ", such as " + r.Example
		}
		table.Properties.Set(r.Key, s)
		if r.Required {
			table.Required = append(table.Required, r.Key)
		}
	}
	return table
}

func valueSchema(r config.Rule) *jsonschema.Schema {
	switch r.Kind {
	case config.KindWhole:
		return &jsonschema.Schema{Type: "integer", Minimum: number(r.Min), Maximum: number(r.Max)}
	case config.KindNumber:
		s := &jsonschema.Schema{Type: "number", Maximum: number(r.Max)}
		if r.Above {
			s.ExclusiveMinimum = number(r.Min)
		} else {
			s.Minimum = number(r.Min)
		}
		return s
	case config.KindSwitch:
		return &jsonschema.Schema{Type: "boolean"}
	case config.KindTexts:
		return &jsonschema.Schema{Type: "array", MaxItems: count(r.MaxItems), Items: textSchema(r)}
	case config.KindText:
	}
	return textSchema(r)
}

func textSchema(r config.Rule) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: r.Pattern}
	if r.MaxLen > 0 {
		s.MaxLength = count(r.MaxLen)
	}
	for _, e := range r.Enum {
		s.Enum = append(s.Enum, e)
	}
	if r.Never != "" || len(r.Refused) > 0 {
		refused := &jsonschema.Schema{}
		if r.Never != "" {
			refused.AnyOf = append(refused.AnyOf, &jsonschema.Schema{Pattern: r.Never})
		}
		if len(r.Refused) > 0 {
			words := &jsonschema.Schema{}
			for _, w := range r.Refused {
				words.Enum = append(words.Enum, w)
			}
			refused.AnyOf = append(refused.AnyOf, words)
		}
		s.Not = refused
	}
	if r.Empty && len(r.Enum) == 0 {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Enum: []any{""}}, s}}
	}
	return s
}

func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

func count(n int) *uint64 {
	u := uint64(max(n, 0))
	return &u
}

func encode(schema any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		return nil, fmt.Errorf("encode a schema: %w", err)
	}
	return b.Bytes(), nil
}
