// Package claude knows Claude Code's command line, version 2.1.332: how it is told its rules, limits and tools, what its
// environment must hold and must not, and how its log is read.
//
// The facts behind each flag were found by running the program against a stand-in of the Messages API.
package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// Tools are the only tools that are offered: they read files of the working folder.
const Tools = "Read,Grep,Glob"

// First limits of one response, in tokens. The meter lowers them when the budget needs it.
const (
	maxOutputTokens   = 16000
	maxThinkingTokens = 4096 // for models with a fixed thinking budget
)

// maxRetries is how often the program repeats a failed request; its own default of 10 waits for three minutes.
const maxRetries = 4

// maxSchema bounds the schema in bytes: it travels as one argument, and Linux allows 128 KiB for one.
const maxSchema = 100_000

// Driver is Claude Code as an engine.
type Driver struct{}

var _ engine.Resumer = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Name is the engine's name in settings.
func (Driver) Name() engine.Name { return engine.Claude }

// Provider is the meter's word for the Messages API.
func (Driver) Provider() string { return "anthropic" }

// DefaultUpstream is the provider's base URL.
func (Driver) DefaultUpstream() string { return "https://api.anthropic.com" }

// UpstreamVar names another base URL, in the environment of the run.
func (Driver) UpstreamVar() string { return "ANTHROPIC_BASE_URL" }

// Credentials lists the variables of a key: an API key first, then a gateway's token, then a subscription's token.
func (Driver) Credentials() []engine.CredentialVar {
	return []engine.CredentialVar{
		{Name: "ANTHROPIC_API_KEY", Dummy: "sk-ant-api03-the-real-key-is-held-by-the-meter"},
		{Name: "ANTHROPIC_AUTH_TOKEN", Bearer: true, Dummy: "the-real-token-is-held-by-the-meter"},
		{
			Name: "CLAUDE_CODE_OAUTH_TOKEN", Bearer: true, ListPrice: true,
			Dummy: "sk-ant-oat01-the-real-token-is-held-by-the-meter",
		},
	}
}

// Refuses names a provider that signs its own requests: nothing could stand between it and the engine.
func (Driver) Refuses(getenv func(string) string) string {
	name := engine.SwitchedOn(getenv, "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
	if name == "" {
		return ""
	}
	return name + " is set: this provider signs its own requests, so no budget can be held there; " +
		"remove it and use ANTHROPIC_API_KEY"
}

// Command builds the command line of one run.
//
// --restricted, --setting-sources "" and --strict-mcp-config keep the checkout's settings, hooks and servers out;
// --tools without --allowed-tools keeps reading inside the working folder; DISABLE_ATTACHMENTS keeps `@path` in a text
// from being replaced by a file.
func (Driver) Command(s engine.Setup) (engine.Command, error) {
	if err := s.Limited(); err != nil {
		return engine.Command{}, err
	}
	args := []string{
		"-p",
		"--output-format", "stream-json",
		"--verbose",
		"--restricted",
		"--tools", Tools,
		"--permission-mode", "dontAsk",
		"--permission-prompts", "none",
		"--strict-mcp-config",
		"--setting-sources", "",
		"--disable-slash-commands",
	}
	args = append(args, conversation(s)...)
	args = append(args,
		"--append-system-prompt-file", s.RulesFile,
		"--model", s.Model,
		"--max-turns", strconv.Itoa(s.MaxTurns),
		"--max-budget-usd", strconv.FormatFloat(s.MaxBudgetUSD, 'f', -1, 64),
	)
	if s.Effort != "" {
		args = append(args, "--effort", s.Effort)
	}
	if len(s.Schema) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, s.Schema); err != nil {
			return engine.Command{}, fmt.Errorf("read the schema of the answer: %w", err)
		}
		if compact.Len() > maxSchema {
			return engine.Command{}, fmt.Errorf("the schema of the answer has %d bytes; at most %d fit on a command line",
				compact.Len(), maxSchema)
		}
		args = append(args, "--json-schema", compact.String())
	}
	if s.Material != "" && !inside(s.Checkout, s.Material) {
		args = append(args, "--add-dir", s.Material)
	}
	return engine.Command{Path: s.CLI, Args: args, Env: environment(s), Dir: s.Checkout, Stdin: s.Task("/!#")}, nil
}

// conversation says what becomes of the conversation. Without the snapshot switched off, a resumed run would keep the
// rules of its first one and ignore new ones without a word.
func conversation(s engine.Setup) []string {
	switch {
	case s.Resume != "":
		return []string{"--resume", s.Resume, "--system-prompt-snapshot", "off"}
	case s.Keep:
		return nil
	}
	return []string{"--no-session-persistence"}
}

// Transcript is where the program keeps a conversation: below a folder that is named for the checkout.
func (Driver) Transcript(id string) string { return ".claude/projects/*/" + id + ".jsonl" }

func environment(s engine.Setup) []string {
	env := []string{
		"ANTHROPIC_BASE_URL=" + s.BaseURL,
		s.Credential.Name + "=" + s.Credential.Dummy,
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=" + strconv.Itoa(maxRetries),
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS=" + strconv.Itoa(maxOutputTokens),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(s.Home, ".claude"),
		"DISABLE_AUTOUPDATER=1",
	}
	if strings.Contains(s.Model, "-4-5") {
		env = append(env, "MAX_THINKING_TOKENS="+strconv.Itoa(maxThinkingTokens))
	}
	return env
}

// inside reports whether path is root or below it. Both are absolute.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
