package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
)

// Names in Gemini's home.
const (
	settingsFile = ".gemini/settings.json"
	policyFile   = "policy.toml"
	emptyFolder  = "empty/"
)

// serverName is what our own tools stand under: Gemini calls them mcp_files_view_file and so on.
const serverName = "files"

// maxAttempts is how often one request is sent; the CLI's own ten take minutes.
const maxAttempts = 3

// Driver is the Gemini CLI as an engine. Facts: version 0.61 against a stand-in of the Gemini API.
type Driver struct{}

var _ engine.Driver = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Name is the engine's name in settings.
func (Driver) Name() engine.Name { return engine.Gemini }

// Provider is the meter's word for the Gemini API.
func (Driver) Provider() string { return "gemini" }

// DefaultUpstream is the provider's base URL.
func (Driver) DefaultUpstream() string { return "https://generativelanguage.googleapis.com" }

// UpstreamVar names another base URL, as Google's own libraries read it: without a version.
func (Driver) UpstreamVar() string { return "GOOGLE_GEMINI_BASE_URL" }

// Credentials lists the variables of a key.
func (Driver) Credentials() []engine.CredentialVar {
	return []engine.CredentialVar{
		{Name: "GEMINI_API_KEY", Dummy: "the-real-key-is-held-by-the-meter"},
		{Name: "GOOGLE_API_KEY", Dummy: "the-real-key-is-held-by-the-meter"},
	}
}

// Refuses names the ways to sign in that the meter cannot stand behind.
func (Driver) Refuses(getenv func(string) string) string {
	name := engine.SwitchedOn(getenv, "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA")
	if name == "" {
		return ""
	}
	return name + " is set: this provider is signed in to in a way of its own, so no budget can be held there; " +
		"remove it and use GEMINI_API_KEY"
}

// Binary is the program in a folder that `npm ci --ignore-scripts` filled. It is JavaScript and starts Node.js from PATH.
func (Driver) Binary(dir, goos, goarch string) (string, error) {
	if goos != "linux" && goos != "darwin" {
		return "", fmt.Errorf("there is no Gemini CLI for %s/%s: use linux or darwin", goos, goarch)
	}
	path := filepath.Join(dir, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
	return engine.Installed("Gemini CLI", path)
}

// Version reads the version from the package that holds the program.
func (Driver) Version(path string) string {
	const levels = 2 // bundle, the package
	return engine.PackageVersion(path, "@google/gemini-cli", levels)
}

// Command builds the command line of one run.
//
// The CLI takes settings, servers and instructions from its working folder and from every folder that it may read, so it
// gets an empty one and no other: a GEMINI.md of the checkout would stand in the first message, and one that is a
// symbolic link would bring any file of the machine there. It reads through our own tools, and the policy, which no
// settings outrank, leaves it those alone.
func (d Driver) Command(s engine.Setup) (engine.Command, error) {
	if err := s.Limited(); err != nil {
		return engine.Command{}, err
	}
	if s.Self == "" {
		return engine.Command{}, errors.New("the path of this program is unknown, and Gemini reads files through it")
	}
	if len(s.Schema) > 0 && !json.Valid(s.Schema) {
		return engine.Command{}, errors.New("the schema of the answer is no JSON")
	}
	settings, err := json.Marshal(d.settings(s))
	if err != nil {
		return engine.Command{}, fmt.Errorf("write Gemini's settings: %w", err)
	}
	return engine.Command{
		Path: s.CLI,
		Args: []string{
			"-m", s.Model, "-o", "stream-json", "--admin-policy", filepath.Join(s.Home, policyFile),
			"--allowed-mcp-server-names", serverName, "--extensions", "none",
		},
		Env: []string{
			"GEMINI_CLI_HOME=" + s.Home,
			"GEMINI_API_KEY=" + s.Credential.Dummy,
			"GOOGLE_GEMINI_BASE_URL=" + s.BaseURL,
			"GEMINI_SYSTEM_MD=" + s.RulesFile,
			"GEMINI_CLI_TRUST_WORKSPACE=true", // of the empty folder: it does nothing at all in another
			"GEMINI_CLI_NO_RELAUNCH=true",     // else a child of its own outlives signals to the parent
			"NO_COLOR=1",
		},
		Dir: filepath.Join(s.Home, emptyFolder), Stdin: d.prompt(s), Reads: []string{s.Self},
		Files: map[string][]byte{settingsFile: settings, policyFile: policy(), emptyFolder: nil},
	}, nil
}

// takesSchema reports whether the model answers by a schema while it may call tools; older ones refuse both together.
func takesSchema(model string) bool { return strings.HasPrefix(model, "gemini-3") }

// settings are the CLI's own.
func (Driver) settings(s engine.Setup) map[string]any {
	generate := map[string]any{}
	if len(s.Schema) > 0 && takesSchema(s.Model) {
		generate["responseMimeType"] = "application/json"
		generate["responseJsonSchema"] = json.RawMessage(s.Schema)
	}
	if level := thinkingLevel(s.Effort); level != "" && takesSchema(s.Model) {
		generate["thinkingConfig"] = map[string]any{"thinkingLevel": level}
	}
	settings := map[string]any{
		"security":   map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":    map[string]any{"usageStatisticsEnabled": false},
		"general":    map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": maxAttempts},
		"model":      map[string]any{"maxSessionTurns": s.MaxTurns},
		"context":    map[string]any{"includeDirectoryTree": false, "discoveryMaxDirs": 0},
		"mcpServers": map[string]any{serverName: map[string]any{"command": s.Self, "args": mcpfiles.Args(s.Checkout, s.Material)}},
	}
	if len(generate) > 0 {
		settings["modelConfigs"] = map[string]any{"overrides": []any{map[string]any{
			"match":       map[string]any{"overrideScope": "core"},
			"modelConfig": map[string]any{"generateContentConfig": generate},
		}}}
	}
	return settings
}

// thinkingLevel translates an effort; the CLI's own default stands between the two levels that every model has.
func thinkingLevel(effort string) string {
	switch effort {
	case "low":
		return "LOW"
	case "high", "xhigh", "max":
		return "HIGH"
	}
	return ""
}

// policy denies everything but our own tools. A tool of ours must not have the name of a built-in one: a rule that
// denies the one takes the other away.
func policy() []byte {
	names := make([]string, 0, 4)
	for _, tool := range mcpfiles.Tools() {
		names = append(names, fmt.Sprintf("%q", "mcp_"+serverName+"_"+tool))
	}
	return fmt.Appendf(nil, "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n\n"+
		"[[rule]]\ntoolName = [%s]\ndecision = \"allow\"\npriority = 950\n", strings.Join(names, ", "))
}

// prompt is the task, with the schema where the model takes it in no other way.
func (Driver) prompt(s engine.Setup) []byte {
	task := s.Task("/!?#")
	if len(s.Schema) == 0 || takesSchema(s.Model) {
		return task
	}
	return fmt.Appendf(bytes.Clone(task), "\n\nYour last message must be one JSON object that fits this JSON schema, and nothing else:\n%s\n", s.Schema)
}
