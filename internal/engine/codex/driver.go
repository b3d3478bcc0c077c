package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
)

// How often Codex repeats a request that failed. Its own defaults make up to 30 of one.
const maxRetries = 2

// contextWindow is what Codex is told of the model, in tokens. Beyond it Codex would shorten its own history by further
// calls; the budget of a run ends long before.
const contextWindow = 272_000

// Names of files in Codex's home.
const (
	schemaFile  = ".codex/schema.json"
	catalogFile = ".codex/catalog.json"
)

// off are features that give tools, programs or texts to the model that a reading run has no use for.
var off = [...]string{
	"shell_tool", "goals", "view_image", "apps", "plugins", "multi_agent", "tool_suggest", "skill_search", "image_generation",
	"memories", "hooks", "sleep_tool", "worktrees", "browser_use", "computer_use", "tool_call_mcp_elicitation",
	"enable_request_compression", // the meter reads what it counts
}

// Driver is Codex as an engine. Facts: Codex 0.171 against a stand-in of the Responses API.
type Driver struct{}

var _ engine.Driver = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Name is the engine's name in settings.
func (Driver) Name() engine.Name { return engine.Codex }

// Provider is the meter's word for the Responses API.
func (Driver) Provider() string { return "openai" }

// DefaultUpstream is the provider's base URL.
func (Driver) DefaultUpstream() string { return "https://api.openai.com/v1" }

// UpstreamVar names another base URL, as OpenAI's own libraries read it: with the version at its end.
func (Driver) UpstreamVar() string { return "OPENAI_BASE_URL" }

// Credentials lists the variables of a key.
func (Driver) Credentials() []engine.CredentialVar {
	return []engine.CredentialVar{
		{Name: "OPENAI_API_KEY", Bearer: true, Dummy: "sk-the-real-key-is-held-by-the-meter"},
		{Name: "CODEX_API_KEY", Bearer: true, Dummy: "sk-the-real-key-is-held-by-the-meter"},
	}
}

// Refuses has nothing to refuse: settings of other providers never reach Codex.
func (Driver) Refuses(func(string) string) string { return "" }

// Binary is the native program in a folder that `npm ci --ignore-scripts` filled.
func (Driver) Binary(dir, goos, goarch string) (string, error) {
	arch, triple := map[string]string{"amd64": "x64", "arm64": "arm64"}[goarch], map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	system := map[string]string{"linux": "unknown-linux-musl", "darwin": "apple-darwin"}[goos]
	if arch == "" || system == "" {
		return "", fmt.Errorf("there is no Codex for %s/%s: use linux or darwin on amd64 or arm64", goos, goarch)
	}
	path := filepath.Join(dir, "node_modules", "@openai", "codex-"+goos+"-"+arch, "vendor", triple+"-"+system, "bin", "codex")
	return engine.Installed("Codex", path)
}

// Version reads the version from the package that holds the program: 0.171.0-linux-x64 is 0.171.0.
func (Driver) Version(path string) string {
	const levels = 4 // bin, the platform, vendor, the package
	version, _, _ := strings.Cut(engine.PackageVersion(path, "@openai/codex", levels), "-")
	return version
}

// Command builds the command line of one run.
//
// Codex keeps a shell and its own way to edit files unless the model's entry in the catalog has neither, so it gets a
// catalog of one. --ignore-user-config and the missing trust keep the checkout's .codex out, project_doc_max_bytes its
// AGENTS.md. --strict-config turns an option that a later version renames into an error.
func (d Driver) Command(s engine.Setup) (engine.Command, error) {
	if err := s.Limited(); err != nil {
		return engine.Command{}, err
	}
	if s.Self == "" {
		return engine.Command{}, errors.New("the path of this program is unknown, and Codex reads files through it")
	}
	effort := s.Effort
	if effort == "max" {
		effort = "xhigh" // the highest that Codex knows for every model
	}
	catalog, err := catalogOf(s.Model)
	if err != nil {
		return engine.Command{}, err
	}
	files := map[string][]byte{catalogFile: catalog}
	args := []string{
		"exec", "--json", "--strict-config", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check", "--ephemeral",
		"-C", s.Checkout, "-m", s.Model,
	}
	if len(s.Schema) > 0 {
		if !json.Valid(s.Schema) {
			return engine.Command{}, errors.New("the schema of the answer is no JSON")
		}
		files[schemaFile] = s.Schema
		args = append(args, "--output-schema", filepath.Join(s.Home, schemaFile))
	}
	for _, feature := range off {
		args = append(args, "--disable", feature)
	}
	for _, o := range d.config(s, effort) {
		args = append(args, "-c", o)
	}
	return engine.Command{
		Path: s.CLI, Args: append(args, "-"), Dir: s.Checkout, Stdin: s.Prompt, Files: files, Reads: []string{s.Self},
		Env: []string{"CODEX_HOME=" + filepath.Join(s.Home, ".codex"), s.Credential.Name + "=" + s.Credential.Dummy},
	}, nil
}

// config are the values of -c, as TOML.
func (Driver) config(s engine.Setup, effort string) []string {
	options := []string{
		"model_provider=" + quote("meter"),
		fmt.Sprintf("model_providers.meter={name=%s,base_url=%s,env_key=%s,wire_api=%s,request_max_retries=%d,stream_max_retries=%d}",
			quote("meter"), quote(s.BaseURL+"/v1"), quote(s.Credential.Name), quote("responses"), maxRetries, maxRetries),
		"model_instructions_file=" + quote(s.RulesFile),
		"model_catalog_json=" + quote(filepath.Join(s.Home, catalogFile)),
		"mcp_servers.files={command=" + quote(s.Self) + ",args=" + quoteAll(mcpfiles.Args(s.Checkout, s.Material)) + ",required=true}",
		"project_doc_max_bytes=0",
		"skills.include_instructions=false",
		"include_environment_context=false",
		"include_permissions_instructions=false",
		"default_permissions=" + quote(":read-only"),
		"web_search=" + quote("disabled"),
		"analytics.enabled=false",
		"check_for_update_on_startup=false",
		"shell_environment_policy.inherit=" + quote("none"),
		"tools.experimental_request_user_input.enabled=false",
	}
	if effort != "" {
		options = append(options, "model_reasoning_effort="+quote(effort))
	}
	return options
}

// catalogOf is a catalog with the one model of the run: it reads text, and has neither a shell nor tools to edit or to
// search for further tools.
func catalogOf(model string) ([]byte, error) {
	var efforts []any
	for _, e := range []string{"low", "medium", "high", "xhigh"} {
		efforts = append(efforts, map[string]any{"effort": e, "description": e})
	}
	data, err := json.Marshal(map[string]any{"models": []any{map[string]any{
		"slug": model, "display_name": model, "description": "", "base_instructions": "",
		"default_reasoning_level": "medium", "supported_reasoning_levels": efforts, "default_reasoning_summary": "none",
		"supports_reasoning_summaries": true, "support_verbosity": false, "default_verbosity": nil,
		"shell_type": "disabled", "apply_patch_tool_type": nil, "supports_search_tool": false,
		"experimental_supported_tools": []string{}, "supports_parallel_tool_calls": true, "input_modalities": []string{"text"},
		"visibility": "list", "supported_in_api": true, "priority": 1, "availability_nux": nil, "upgrade": nil,
		"truncation_policy": map[string]any{"mode": "tokens", "limit": 10_000}, "context_window": contextWindow,
	}}})
	if err != nil {
		return nil, fmt.Errorf("write Codex's catalog: %w", err)
	}
	return data, nil
}

// quote writes a TOML string. TOML knows the escapes that JSON needs; DEL is the one character that only TOML escapes.
func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil { // strings always marshal
		return `""`
	}
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
