package mcpfiles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// The tools. All of them only read.
const (
	ToolList   = "list_files"
	ToolRead   = "view_file" // not read_file: Gemini CLI has a tool of this name, and refuses both together
	ToolSearch = "search_files"
)

// Tools lists the names of all tools.
func Tools() []string { return []string{ToolList, ToolRead, ToolSearch} }

type arguments struct {
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Pattern string `json:"pattern"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
}

func toolList() []any {
	text := func(about string) any { return map[string]any{"type": "string", "description": about} }
	number := func(about string) any { return map[string]any{"type": "integer", "minimum": 1, "description": about} }
	tool := func(name, about string, required []string, properties map[string]any) any {
		return map[string]any{
			"name": name, "description": about,
			"inputSchema": map[string]any{
				"type": "object", "properties": properties, "required": required, "additionalProperties": false,
			},
			// Codex asks nobody for leave to call a tool that says this, and calls no other one.
			"annotations": map[string]any{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
		}
	}
	glob := "only files whose path, or name where it holds no slash, fits: * and ? within a name, ** across folders"
	return []any{
		tool(ToolList, fmt.Sprintf("List the files below a folder of the checkout or of the material, at most %d.", maxEntries),
			[]string{}, map[string]any{"path": text("a folder; empty: the whole checkout"), "glob": text(glob)}),
		tool(ToolRead, fmt.Sprintf("Read a text file of the checkout or of the material, with line numbers: at most %d lines and %d bytes.", maxLines, maxRead),
			[]string{"path"}, map[string]any{
				"path": text("a path, absolute or from the root of the checkout"), "offset": number("the first line; default 1"),
				"limit": number("how many lines"),
			}),
		tool(ToolSearch, fmt.Sprintf("Find the lines of files that a regular expression (RE2) fits: at most %d.", maxMatches),
			[]string{"pattern"}, map[string]any{
				"pattern": text("the regular expression; (?i) ignores case"), "path": text("a folder or a file; empty: the whole checkout"), "glob": text(glob),
			}),
	}
}

// tool calls one tool. What goes wrong inside of it is a result for the model to read.
func (s *server) tool(ctx context.Context, name string, raw json.RawMessage) (any, *rpcError) {
	var a arguments
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if len(raw) > 0 && string(raw) != "null" {
		if err := dec.Decode(&a); err != nil {
			return result("the arguments do not fit the tool's schema", true), nil
		}
	}
	var text string
	var err error
	switch name {
	case ToolList:
		text, err = s.folders.list(ctx, a)
	case ToolRead:
		text, err = s.folders.read(a)
	case ToolSearch:
		text, err = s.folders.search(ctx, a)
	default:
		return nil, &rpcError{codeParams, "there is no such tool"}
	}
	if err != nil {
		var own *problem
		if !errors.As(err, &own) {
			err = errors.New("this cannot be read")
		}
		return result(err.Error(), true), nil
	}
	return result(text, false), nil
}

func result(text string, failed bool) any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": failed}
}

// problem is an error whose words are ours: the system's own would name paths outside.
type problem struct{ text string }

func (p *problem) Error() string { return p.text }
