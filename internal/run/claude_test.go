package run

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// oneCLI keeps the tests with the real program from running all at once: each takes 300 MB.
var oneCLI = make(chan struct{}, 2)

// realOptions are those of a run of the real Claude Code against a stand-in of the provider.
func realOptions(t *testing.T, script anthropic.Script) (Options, *anthropic.Server) {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	cli := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	oneCLI <- struct{}{}
	t.Cleanup(func() { <-oneCLI })
	server := anthropic.New(script)
	t.Cleanup(server.Close)
	prices, err := meter.Prices(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Driver = claude.New()
	o.CLI = cli
	o.Upstream = server.URL
	o.StartMeter = WithMeter(prices, time.Now, nil, nil)
	o.Checkout = filepath.Join(o.Temp, "checkout")
	o.Material = filepath.Join(o.Checkout, ".issue-assistant", "material")
	write(t, filepath.Join(o.Checkout, "main.go"), "package main\n")
	write(t, filepath.Join(o.Material, "issue.md"), "# It crashes\n\nSECRETWORD-OF-THE-ISSUE\n")
	o.Prompt = []byte("TASKWORD: read " + o.Material + "/issue.md and say what it is.")
	write(t, o.RulesFile, "RULESWORD: be brief.\n")
	return o, server
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func answer() anthropic.Step { return anthropic.Step{Answer: map[string]any{"verdict": "ok"}} }

func read(path string) anthropic.Step {
	return anthropic.Step{Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": path}}}}
}

func TestClaudeIsToldItsRulesAndItsTask(t *testing.T) {
	t.Parallel()
	o, server := realOptions(t, anthropic.Script{})
	server.Close()
	o, server = retarget(t, o, anthropic.Script{Steps: []anthropic.Step{read(filepath.Join(o.Material, "issue.md")), answer()}})
	var progress bytes.Buffer
	o.Progress = &progress
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished || res.Answer != okAnswer || res.Turns != 2 || res.SessionID == "" {
		t.Fatalf("%+v %v", res, err)
	}
	if !strings.HasPrefix(progress.String(), "turn 1 of 40 · $0.0") {
		t.Errorf("progress: %q", progress.String())
	}
	first := server.MainRequests()[0]
	system, messages := parts(t, first.Body)
	for _, c := range []struct {
		what, text string
		hay        string
		want       bool
	}{
		{"rules in system", "RULESWORD", system, true},
		{"rules in the prompt", "RULESWORD", messages, false},
		{"task in the prompt", "TASKWORD", messages, true},
		{"task in system", "TASKWORD", system, false},
		{"issue in system", "SECRETWORD", system, false},
		{"issue in the prompt", "SECRETWORD", messages, false},
	} {
		if strings.Contains(c.hay, c.text) != c.want {
			t.Errorf("%s: want %t", c.what, c.want)
		}
	}
	if got := strings.Join(first.Tools, ","); got != "Glob,Grep,Read,StructuredOutput" {
		t.Errorf("tools: %s", got)
	}
	if _, second := parts(t, server.MainRequests()[1].Body); !strings.Contains(second, "SECRETWORD") {
		t.Error("the material could not be read")
	}
	for _, r := range server.Requests() {
		if got := r.Header.Get("X-Api-Key"); got != o.KeyValue {
			t.Errorf("%s %s came with key %q", r.Method, r.Path, got)
		}
	}
	framed(t, o.ExecutionFile)
	data, err := os.ReadFile(o.ExecutionFile)
	if err != nil || bytes.Contains(data, []byte(o.KeyValue)) {
		t.Errorf("the execution file holds the key (%v)", err)
	}
	if run := records(t, o.ExecutionFile)[0]; run["engine_version"] != "2.1.332" {
		t.Errorf("engine version %v", run["engine_version"])
	}
}

// retarget gives the run another stand-in, for scripts that name the run's folders.
func retarget(t *testing.T, o Options, script anthropic.Script) (Options, *anthropic.Server) {
	t.Helper()
	server := anthropic.New(script)
	t.Cleanup(server.Close)
	o.Upstream = server.URL
	return o, server
}

// parts are the system prompt and the messages of a request.
func parts(t *testing.T, body []byte) (system, messages string) {
	t.Helper()
	var req struct {
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	return string(req.System), string(req.Messages)
}

func TestClaudeEndings(t *testing.T) {
	t.Parallel()
	fail := func(status int) anthropic.Script {
		return anthropic.Script{Steps: []anthropic.Step{{Status: status}}}
	}
	for _, test := range []struct {
		name   string
		script anthropic.Script
		change func(*Options)
		want   engine.Ended
		turns  int
	}{
		{name: "tools for ever, 4 turns", script: anthropic.Script{Steps: []anthropic.Step{read("main.go")}}, change: func(o *Options) { o.Limits.MaxTurns = 4 }, want: engine.Turns, turns: 4},
		{name: "tools for ever, 40 turns", script: anthropic.Script{Steps: []anthropic.Step{read("main.go")}}, want: engine.Turns, turns: 40},
		{name: "answers when the meter asks for it", script: anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
			if r.Says("StructuredOutput") {
				return answer()
			}
			return read("main.go")
		}}, change: func(o *Options) { o.Limits.MaxTurns = 5 }, want: engine.Finished, turns: 5},
		{name: "refusal", script: anthropic.Script{Steps: []anthropic.Step{{Text: "I cannot", StopReason: "refusal"}}}, want: engine.ModelRefused, turns: -1},
		{name: "answer cut again and again", script: anthropic.Script{Steps: []anthropic.Step{{Text: "word", StopReason: "max_tokens"}}}, want: engine.Budget, turns: -1},
		{name: "provider hangs", script: anthropic.Script{Steps: []anthropic.Step{{Hang: true}}}, change: func(o *Options) { o.timing = short(); o.timing.minute = 150 * time.Millisecond }, want: engine.Time},
		{name: "unknown to the provider", script: fail(404), want: engine.UnknownModel},
		{name: "bad key", script: fail(403), want: engine.NotSignedIn},
		{name: "overloaded", script: fail(529), want: engine.ProviderError},
		{name: "text and no answer", script: anthropic.Script{Steps: []anthropic.Step{{Text: "it is fine"}}}, want: engine.NoAnswer, turns: 2},
		{name: "answer holds the key", script: anthropic.Script{Steps: []anthropic.Step{{Answer: map[string]any{"verdict": "sk-ant-api03-REALKEY"}}}}, want: engine.BadAnswer, turns: 1},
		{name: "answer over 100 kB", script: anthropic.Script{Steps: []anthropic.Step{{Answer: map[string]any{"verdict": strings.Repeat("long ", 20_100)}, IgnoreMax: true}}}, change: func(o *Options) { o.Limits.MaxBudgetUSD = 5 }, want: engine.BadAnswer, turns: 1},
		{name: "answer never fits", script: anthropic.Script{Steps: []anthropic.Step{{Answer: map[string]any{"verdict": 7}}}}, want: engine.BadAnswer, turns: 5},
		{name: "small budget", script: anthropic.Script{Steps: []anthropic.Step{{Tools: read("main.go").Tools, Text: strings.Repeat("word ", 3000)}}}, change: func(o *Options) { o.Limits.MaxBudgetUSD = 0.35 }, want: engine.Budget, turns: -1},
		{name: "command for a prompt", script: anthropic.Script{Steps: []anthropic.Step{answer()}}, change: func(o *Options) { o.Prompt = []byte("/cost") }, want: engine.Finished, turns: 1},
		{name: "no price", change: func(o *Options) { o.Limits.Model = "claude-opus-99" }, want: engine.NotStarted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, server := realOptions(t, test.script)
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

// checkEnd compares how a run ended and after how many turns (below 0: any), and holds it to its budget.
func checkEnd(t *testing.T, o Options, res Result, billed float64, want engine.Ended, turns int) {
	t.Helper()
	t.Logf("%+v; the stand-in billed %.4f", res, billed)
	if res.Ended != want || turns >= 0 && res.Turns != turns {
		data, _ := os.ReadFile(o.ExecutionFile)
		t.Errorf("ended %s after %d turns, want %s after %d (%s)\n%.2500s", res.Ended, res.Turns, want, turns, res.Reason, data)
	}
	if billed > o.Limits.MaxBudgetUSD {
		t.Errorf("$%.4f were billed, the budget was $%.2f", billed, o.Limits.MaxBudgetUSD)
	}
	if (res.Answer != "") != (res.Ended == engine.Finished) {
		t.Errorf("ended %s with answer %q", res.Ended, res.Answer)
	}
	framed(t, o.ExecutionFile)
}

// TestClaudeAsAnotherUser needs root: then the engine runs as nobody, and can still read what it must.
func TestClaudeAsAnotherUser(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	o, server := realOptions(t, anthropic.Script{})
	server.Close()
	if err := readableBy(user{UID: 65534, GID: 65534, Name: "nobody"}, []string{o.CLI}); err != nil {
		testtool.Unmet(t, "the engine lies where another user cannot read it: "+err.Error())
	}
	dir, _ := openFolder(t)
	o.Checkout, o.Temp, o.RulesFile = filepath.Join(dir, "checkout"), dir, filepath.Join(dir, "rules.md")
	o.Material = filepath.Join(o.Checkout, "material")
	write(t, filepath.Join(o.Material, "issue.md"), "SECRETWORD")
	o.Isolation = Isolation{Other: true}
	o, server = retarget(t, o, anthropic.Script{Steps: []anthropic.Step{read(filepath.Join(o.Material, "issue.md")), answer()}})
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished || !strings.Contains(res.Protection, "another user") {
		t.Fatalf("%+v %v", res, err)
	}
	if _, messages := parts(t, server.MainRequests()[1].Body); !strings.Contains(messages, "SECRETWORD") {
		t.Error("the material could not be read")
	}
}

// TestClaudeWithASubscription: the engine gets a dummy token, the provider the real one.
func TestClaudeWithASubscription(t *testing.T) {
	t.Parallel()
	o, server := realOptions(t, anthropic.Script{Steps: []anthropic.Step{answer()}})
	o.Key, o.KeyValue = claude.New().Credentials()[2], "sk-ant-oat01-REALTOKEN"
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished {
		t.Fatalf("%+v %v", res, err)
	}
	for _, r := range server.MainRequests() {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-ant-oat01-REALTOKEN" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("the provider saw %q and key %q", got, r.Header.Get("X-Api-Key"))
		}
	}
	if end := framed(t, o.ExecutionFile); end["cost_basis"] != "list_price" {
		t.Errorf("cost basis %v", end["cost_basis"])
	}
}

func TestClaudeIsInterrupted(t *testing.T) {
	t.Parallel()
	o, server := realOptions(t, anthropic.Script{Steps: []anthropic.Step{{Hang: true}}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(server.MainRequests()) == 0 && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	res, err := Run(ctx, o)
	if err != nil || res.Ended != engine.Interrupted {
		t.Fatalf("%+v %v", res, err)
	}
	end := framed(t, o.ExecutionFile)
	if end["calls"] != float64(1) || end["cost_usd"] == float64(0) {
		t.Errorf("the call that was cut is not in the record: %v", end)
	}
}
