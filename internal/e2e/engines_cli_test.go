package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	standgemini "github.com/issue-assistant/issue-assistant/internal/engine/enginetest/gemini"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/openai"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
)

// engineNames are the engines of the product.
var engineNames = []string{"claude", "codex", "gemini"}

// cli is the real command line of an engine, its secret, and the stand-in of its provider.
type cli struct {
	engine  string // in settings, and the folder below engines/
	scope   string // of its package below node_modules: there when `make tools-engines` ran
	program string // how the arguments of its processes name it
	model   string
	light   string // for the tasks that read two files
	footer  string // the engine's name in a comment
	secret  string
	key     string
	baseVar string // the variable with the provider's address
	url     func() string
	calls   func() []call
}

// call is one call of the model as the provider saw it.
type call struct {
	model        string
	system, user string
	results      []string // of tools
	body         string
	bearer       bool // it came with the key
}

// move is what a scripted model does: it reads a file, says nothing for ever, or answers.
type move struct {
	read   string
	hang   bool
	answer map[string]any
}

// play is a scripted model. Its calls come one after the other.
type play func(call) move

// answers reads the issue first, as the task says it, then gives the answer.
func answers(answer map[string]any) play {
	return func(c call) move {
		if folder := materialFolder.FindString(c.user); len(c.results) == 0 && folder != "" {
			return move{read: folder + "/issue.md"}
		}
		return move{answer: answer}
	}
}

// claudeCode is Claude Code with a provider that runs already.
func claudeCode(ai *anthropic.Server) cli {
	return cli{
		engine: "claude", scope: "@anthropic-ai", program: "/claude", model: "claude-opus-5-5", light: "claude-haiku-4-5", footer: "Claude",
		secret: "ANTHROPIC_API_KEY", key: theKey, baseVar: "ANTHROPIC_BASE_URL", url: func() string { return ai.URL },
		calls: func() []call {
			var all []call
			for _, r := range ai.MainRequests() {
				all = append(all, call{r.Model, r.System, r.User, r.Results, string(r.Body), r.Header.Get("X-Api-Key") == theKey})
			}
			return all
		},
	}
}

// engineOf starts the provider of an engine.
func engineOf(t *testing.T, name string, p play) cli {
	t.Helper()
	if name == "claude" {
		ai := anthropic.New(anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
			m := p(call{r.Model, r.System, r.User, r.Results, string(r.Body), true})
			if m.read != "" {
				return reading(m.read)
			}
			return anthropic.Step{Answer: m.answer, Hang: m.hang}
		}})
		t.Cleanup(ai.Close)
		return claudeCode(ai)
	}
	c := cli{
		engine: "codex", scope: "@openai", program: "/codex", model: "gpt-5.5", light: "gpt-5.4-mini", footer: "Codex",
		secret: "OPENAI_API_KEY", key: "sk-proj-THE-KEY-OF-THE-ENVIRONMENT-0123456789", baseVar: "OPENAI_BASE_URL",
	}
	tool, header, bearer, serve := standin.Tool{Namespace: "mcp__files", Name: mcpfiles.ToolRead}, "Authorization", "Bearer ", openai.New
	if name == "gemini" {
		c = cli{
			engine: "gemini", scope: "@google", program: "/gemini.js", model: "gemini-3.1-pro-preview", light: "gemini-2.5-flash", footer: "Gemini",
			secret: "GEMINI_API_KEY", key: "AIzaTHE-KEY-OF-THE-ENVIRONMENT-0123456789", baseVar: "GOOGLE_GEMINI_BASE_URL",
		}
		tool, header, bearer, serve = standin.Tool{Name: "mcp_files_" + mcpfiles.ToolRead}, "X-Goog-Api-Key", "", standgemini.New
	}
	server := serve(standin.Script{Next: func(r *standin.Request) standin.Step {
		m := p(call{r.Model, r.System, r.User, r.Results, string(r.Body), true})
		if m.read != "" {
			read := tool
			read.Input = map[string]any{"path": m.read}
			return standin.Step{Tools: []standin.Tool{read}}
		}
		data, err := json.Marshal(m.answer)
		if err != nil {
			panic(err)
		}
		return standin.Step{Text: string(data), Hang: m.hang}
	}})
	t.Cleanup(server.Close)
	c.url = func() string { return server.URL }
	c.calls = func() []call {
		var all []call
		for _, r := range server.Calls() {
			all = append(all, call{r.Model, r.System, r.User, r.Results, string(r.Body), r.Header.Get(header) == bearer+c.key})
		}
		return all
	}
	return c
}

// settings are those of a repository that uses the engine.
func (c cli) settings(more string) string {
	return "[engine]\nname = \"" + c.engine + "\"\nmodel = \"" + c.model + "\"\nlight_model = \"" + c.light + "\"\n" + more
}

// plain is a comment without the names of the engine, which stand in its marker and in its footer.
func (c cli) plain(body string) string {
	return strings.NewReplacer("engine="+c.engine, "engine=ENGINE", "("+c.footer+")", "(ENGINE)").Replace(body)
}
