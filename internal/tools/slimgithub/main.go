// Command slimgithub cuts GitHub's OpenAPI description and GraphQL schema down to what the product uses.
//
//	slimgithub OPENAPI.json SCHEMA.graphql OUTDIR
//
// The inputs are generated/api.github.com.json of the npm package @octokit/openapi and schema.graphql of
// @octokit/graphql-schema; `make slim-openapi` gets them. The outputs are compressed and the same for the same inputs.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "slimgithub:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("want OPENAPI.json SCHEMA.graphql OUTDIR")
	}
	spec, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	slimSpec, err := slimOpenAPI(spec)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	schema, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	slimSchema, err := slimGraphQL(string(schema))
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	for name, data := range map[string][]byte{"openapi.json.gz": slimSpec, "schema.graphql.gz": slimSchema} {
		packed, err := pack(data)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[2], name), packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack compresses without a name and a time.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// paths are the addresses that the product uses, as GitHub writes them.
func paths() []string {
	return strings.Fields(`
/rate_limit
/search/issues
/repos/{owner}/{repo}
/repos/{owner}/{repo}/issues
/repos/{owner}/{repo}/issues/comments/{comment_id}
/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
/repos/{owner}/{repo}/issues/{issue_number}
/repos/{owner}/{repo}/issues/{issue_number}/comments
/repos/{owner}/{repo}/issues/{issue_number}/labels
/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}
/repos/{owner}/{repo}/issues/{issue_number}/events
/repos/{owner}/{repo}/issues/{issue_number}/timeline
/repos/{owner}/{repo}/issues/{issue_number}/reactions
/repos/{owner}/{repo}/labels
/repos/{owner}/{repo}/labels/{name}
/repos/{owner}/{repo}/milestones
/repos/{owner}/{repo}/collaborators/{username}/permission
/repos/{owner}/{repo}/releases
/repos/{owner}/{repo}/releases/latest
/repos/{owner}/{repo}/commits
/repos/{owner}/{repo}/commits/{ref}
/repos/{owner}/{repo}/compare/{basehead}
/repos/{owner}/{repo}/git/ref/{ref}
/repos/{owner}/{repo}/git/trees/{tree_sha}
/repos/{owner}/{repo}/actions/workflows
/repos/{owner}/{repo}/actions/workflows/{workflow_id}
/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs
/repos/{owner}/{repo}/actions/workflows/{workflow_id}/enable
/repos/{owner}/{repo}/actions/workflows/{workflow_id}/disable
/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches
/repos/{owner}/{repo}/actions/runs
/repos/{owner}/{repo}/actions/runs/{run_id}
/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts
/repos/{owner}/{repo}/actions/runs/{run_id}/jobs
/repos/{owner}/{repo}/actions/artifacts
/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}
/repos/{owner}/{repo}/actions/permissions
/repos/{owner}/{repo}/actions/permissions/selected-actions
/repos/{owner}/{repo}/actions/permissions/workflow
/repos/{owner}/{repo}/actions/permissions/artifact-and-log-retention
/repos/{owner}/{repo}/actions/variables/{name}
/repos/{owner}/{repo}/actions/secrets/{secret_name}
/repos/{owner}/{repo}/environments/{environment_name}
/repos/{owner}/{repo}/environments/{environment_name}/secrets/{secret_name}
/repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies
/repos/{owner}/{repo}/code-scanning/alerts
/repos/{owner}/{repo}/code-scanning/alerts/{alert_number}
`)
}

// prose tells keys that say nothing about what is valid.
func prose(key string) bool {
	return slices.Contains([]string{"description", "summary", "example", "examples", "externalDocs", "x-github", "tags"}, key)
}

func slimOpenAPI(data []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	all, _ := doc["paths"].(map[string]any) // another type leaves every path missing, which is reported
	kept := map[string]any{}
	for _, p := range paths() {
		item, known := all[p]
		if !known {
			return nil, fmt.Errorf("no path %s", p)
		}
		kept[p] = strip(item, false)
	}
	components, _ := doc["components"].(map[string]any) // another type leaves every reference open, which is reported
	used := map[string]map[string]any{}
	if err := follow(kept, components, used); err != nil {
		return nil, err
	}
	info, _ := doc["info"].(map[string]any) // only the version is taken
	slim := map[string]any{
		"openapi": doc["openapi"], "paths": kept, "components": used,
		"info": map[string]any{"title": "GitHub REST API, the part that is used here", "version": fmt.Sprint(info["version"])},
	}
	return json.Marshal(slim)
}

// strip takes out prose. Names of properties are not keys of a schema: a property may be called "description".
func strip(v any, names bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if !names && prose(k) {
				continue
			}
			out[k] = strip(e, !names && (k == "properties" || k == "patternProperties"))
		}
		// GitHub's description demands one for each answer.
		if _, isResponse := v["content"]; isResponse && !names && v["description"] != nil {
			out["description"] = ""
		}
		if _, isResponse := v["headers"]; isResponse && !names && v["description"] != nil {
			out["description"] = ""
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = strip(e, false)
		}
		return out
	default:
		return v
	}
}

// follow copies what is referred to.
func follow(v any, components map[string]any, used map[string]map[string]any) error {
	switch v := v.(type) {
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
			if len(parts) != 2 {
				return fmt.Errorf("reference %s", ref)
			}
			if used[parts[0]][parts[1]] != nil {
				return nil
			}
			group, _ := components[parts[0]].(map[string]any) // a missing group is reported below
			target, known := group[parts[1]]
			if !known {
				return fmt.Errorf("reference %s leads nowhere", ref)
			}
			if used[parts[0]] == nil {
				used[parts[0]] = map[string]any{}
			}
			target = strip(target, false)
			used[parts[0]][parts[1]] = target
			return follow(target, components, used)
		}
		for _, e := range v {
			if err := follow(e, components, used); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := follow(e, components, used); err != nil {
				return err
			}
		}
	}
	return nil
}
