package run

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/codex"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest"
	standgemini "github.com/issue-assistant/issue-assistant/internal/engine/enginetest/gemini"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/openai"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/engine/gemini"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// serveFiles makes the test binary what Codex reads files through.
func serveFiles(args []string) int {
	var roots []string
	for i := 0; i+1 < len(args); i += 2 {
		roots = append(roots, args[i+1])
	}
	if err := mcpfiles.Serve(context.Background(), mcpfiles.Options{Roots: roots, Version: "test", Now: time.Now}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// realEngine is one real command line with its stand-in.
type realEngine struct {
	driver  engine.Driver
	folder  string // below engines/
	model   string
	serve   func(standin.Script) *standin.Server
	read    func(o Options, path string) standin.Tool // a call that reads a file
	tools   []string                                  // all that are offered
	version string
	key     string // header that brings the key
	say     func(key string) string
}

func codexCLI() realEngine {
	files := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, "mcp__files/"+n)
		}
		return all
	}
	return realEngine{
		driver: codex.New(), folder: "codex", model: "gpt-5.5", serve: openai.New, version: "0.171.0",
		read: func(_ Options, path string) standin.Tool {
			return standin.Tool{Namespace: "mcp__files", Name: mcpfiles.ToolRead, Input: map[string]any{"path": path}}
		},
		// The first three are Codex's own words for reading from its servers; ours has no resources.
		tools: append([]string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}, files(mcpfiles.Tools()...)...),
		key:   "Authorization", say: func(key string) string { return "Bearer " + key },
	}
}

func geminiCLI() realEngine {
	var tools []string
	for _, n := range mcpfiles.Tools() {
		tools = append(tools, "mcp_files_"+n)
	}
	return realEngine{
		driver: gemini.New(), folder: "gemini", model: "gemini-3.1-pro-preview", serve: standgemini.New, version: "0.61.0",
		read: func(_ Options, path string) standin.Tool {
			return standin.Tool{Name: "mcp_files_" + mcpfiles.ToolRead, Input: map[string]any{"path": path}}
		},
		tools: tools, key: "X-Goog-Api-Key", say: func(key string) string { return key },
	}
}

// program is the engine's command line as `make tools` installed it.
func (e realEngine) program(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(testtool.Root(t), "engines", e.folder)
	path, err := e.driver.Binary(dir, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		testtool.Missing(t, "engines/"+e.folder)
	}
	return path
}

// options are those of a run against a stand-in. script gets them, since it names folders of the run.
func (e realEngine) options(t *testing.T, script func(Options) standin.Script) (Options, *standin.Server) {
	t.Helper()
	cli := e.program(t)
	oneCLI <- struct{}{}
	t.Cleanup(func() { <-oneCLI })
	prices, err := meter.Prices(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Driver, o.CLI = e.driver, cli
	o.StartMeter = WithMeter(prices, time.Now, nil, nil)
	o.Limits.Model = e.model
	o.Key, o.KeyValue = e.driver.Credentials()[0], "REALKEY-of-the-provider-0123456789"
	if o.Isolation.Self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	o.Checkout = filepath.Join(o.Temp, "checkout")
	o.Material = filepath.Join(o.Checkout, ".issue-assistant", "material")
	write(t, filepath.Join(o.Checkout, "main.go"), "package main\n")
	write(t, filepath.Join(o.Checkout, "long.txt"), strings.Repeat("a line of this file\n", 100))
	write(t, filepath.Join(o.Checkout, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(o.Checkout, ".gitignore"), "/.issue-assistant/material/\n")
	write(t, filepath.Join(o.Material, "issue.md"), "# It crashes\n\nSECRETWORD-OF-THE-ISSUE\n")
	o.Prompt = []byte("TASKWORD: read " + o.Material + "/issue.md and say what it is.")
	write(t, o.RulesFile, "RULESWORD: be brief.\n")
	server := e.serve(script(o))
	t.Cleanup(server.Close)
	o.Upstream = server.URL
	return o, server
}

func steps(list ...standin.Step) standin.Script { return standin.Script{Steps: list} }

var okStep = standin.Step{Text: okAnswer}

func (e realEngine) rulesAndTask(t *testing.T) {
	t.Helper()
	o, server := e.options(t, func(o Options) standin.Script {
		return steps(standin.Step{Text: "I read it.", Tools: []standin.Tool{e.read(o, filepath.Join(o.Material, "issue.md"))}}, okStep)
	})
	var progress strings.Builder
	o.Progress = &progress
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished || res.Answer != okAnswer || res.Turns != 2 || res.SessionID == "" {
		data, _ := os.ReadFile(o.ExecutionFile)
		t.Fatalf("%+v %v\n%.3000s", res, err, data)
	}
	if !strings.HasPrefix(progress.String(), "turn 1 of 40 · $0.0") {
		t.Errorf("progress: %q", progress.String())
	}
	calls := server.Calls()
	first := calls[0]
	for _, c := range []struct {
		what, text, hay string
		want            bool
	}{
		{"rules in system", "RULESWORD", first.System, true},
		{"rules in the prompt", "RULESWORD", first.User, false},
		{"task in the prompt", "TASKWORD", first.User, true},
		{"task in system", "TASKWORD", first.System, false},
		{"issue in the first request", "SECRETWORD", string(first.Body), false},
		{"issue once it was read", "SECRETWORD", strings.Join(calls[1].Results, "\n"), true},
	} {
		if strings.Contains(c.hay, c.text) != c.want {
			t.Errorf("%s: want %t in %.500q", c.what, c.want, c.hay)
		}
	}
	slices.Sort(first.Tools)
	slices.Sort(e.tools)
	if diff := cmp.Diff(e.tools, first.Tools); diff != "" {
		t.Errorf("tools: %s", diff)
	}
	if !first.Schema {
		t.Error("no schema of the answer was asked for")
	}
	for _, r := range server.Requests() {
		if got := r.Header.Get(e.key); got != e.say(o.KeyValue) {
			t.Errorf("%s %s came with key %q", r.Method, r.Path, got)
		}
	}
	framed(t, o.ExecutionFile)
	data, err := os.ReadFile(o.ExecutionFile)
	if err != nil || strings.Contains(string(data), o.KeyValue) {
		t.Errorf("the execution file holds the key (%v)", err)
	}
	if run := records(t, o.ExecutionFile)[0]; run["engine_version"] != e.version {
		t.Errorf("engine version %v", run["engine_version"])
	}
}

func TestCodexIsToldItsRulesAndItsTask(t *testing.T) {
	t.Parallel()
	codexCLI().rulesAndTask(t)
}

// ending is a script and how a run with it must end.
type ending struct {
	name   string
	script standin.Script
	change func(*Options)
	want   engine.Ended
	turns  int // -1: any
	slow   bool
}

func (e realEngine) endings(t *testing.T) []ending {
	t.Helper()
	again := standin.Step{Tools: []standin.Tool{e.read(Options{}, "main.go")}}
	fail := func(status int) standin.Script { return steps(standin.Step{Status: status}) }
	return []ending{
		{name: "tools for ever, 4 turns", script: standin.Script{Next: e.readsForEver}, change: func(o *Options) { o.Limits.MaxTurns = 4 }, want: engine.Turns, turns: 4},
		{name: "tools for ever, 40 turns", script: standin.Script{Next: e.readsForEver}, slow: e.folder == "gemini", want: engine.Turns, turns: 40},
		{name: "answers when the meter asks for it", script: standin.Script{Next: func(r *standin.Request) standin.Step {
			if r.Asked() && r.NoTools {
				return okStep
			}
			return e.readsForEver(r)
		}}, change: func(o *Options) { o.Limits.MaxTurns = 5 }, want: engine.Finished, turns: 5},
		{name: "answer in a fence", script: steps(standin.Step{Text: "```json\n" + okAnswer + "\n```\n"}), slow: e.folder == "gemini", want: engine.Finished, turns: 1},
		{name: "answer cut", script: steps(standin.Step{Text: enginetest.Words(1, 40_000)}), want: engine.Budget, turns: -1},
		{name: "prose", script: steps(standin.Step{Text: "it is fine"}), want: engine.BadAnswer, turns: 1},
		{name: "answer off its schema", script: steps(standin.Step{Text: `{"verdict":7}`}), slow: e.folder == "gemini", want: engine.BadAnswer, turns: 1},
		{name: "answer holds the key", script: steps(standin.Step{Text: `{"verdict":"REALKEY-of-the-provider-0123456789"}`}), slow: e.folder == "gemini", want: engine.BadAnswer, turns: 1},
		{name: "an answer before a call is none", script: steps(standin.Step{Text: okAnswer, Tools: again.Tools}), change: func(o *Options) { o.Limits.MaxTurns = 4 }, want: engine.Turns, turns: 4},
		{name: "provider hangs", script: steps(standin.Step{Hang: true}), change: func(o *Options) { o.timing = short(); o.timing.minute = 4 * time.Second; o.Limits.TimeoutMinutes = 1 }, want: engine.Time},
		{name: "bad key", script: fail(401), slow: e.folder == "gemini", want: engine.NotSignedIn},
		{name: "unknown to the provider", script: fail(404), want: engine.UnknownModel},
		{name: "overloaded", script: fail(500), want: engine.ProviderError, slow: e.folder == "gemini"},
		{name: "small budget", script: standin.Script{Next: func(r *standin.Request) standin.Step {
			s := e.readsForEver(r)
			s.Text = enginetest.Words(r.Main, 3000) // Gemini ends a run that says the same again
			return s
		}}, change: func(o *Options) { o.Limits.MaxBudgetUSD = 0.4 }, slow: e.folder == "gemini", want: engine.Budget, turns: -1},
		{name: "no price", change: func(o *Options) { o.Limits.Model = e.model + "-unknown" }, want: engine.NotStarted},
	}
}

// readsForEver reads one file after the other; engines end a run that calls the same thing again and again.
func (e realEngine) readsForEver(r *standin.Request) standin.Step {
	tool := e.read(Options{}, "long.txt")
	input, _ := tool.Input.(map[string]any)
	more := maps.Clone(input)
	more["offset"] = r.Main
	tool.Input = more
	return standin.Step{Tools: []standin.Tool{tool}}
}

func (e realEngine) testEndings(t *testing.T) {
	t.Helper()
	for _, test := range e.endings(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.slow { // the Gemini CLI takes seconds to start, and waits for 15 between its attempts
				testtool.Asked(t, "ENGINES_LONG", "ENGINES_LONG=1 go test ./internal/run")
			}
			o, server := e.options(t, func(Options) standin.Script { return test.script })
			if test.change != nil {
				test.change(&o)
			}
			res, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			checkEnd(t, o, res, server.Bill().USD(), test.want, test.turns)
		})
	}
}

func TestCodexEndings(t *testing.T) {
	t.Parallel()
	codexCLI().testEndings(t)
}

func TestGeminiIsToldItsRulesAndItsTask(t *testing.T) {
	t.Parallel()
	geminiCLI().rulesAndTask(t)
}

func TestGeminiEndings(t *testing.T) {
	t.Parallel()
	geminiCLI().testEndings(t)
}
