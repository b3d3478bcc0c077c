package attack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/codex"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	standgemini "github.com/issue-assistant/issue-assistant/internal/engine/enginetest/gemini"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/openai"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/engine/gemini"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestMain lets the test binary be what the engines read files through, and never the tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		if os.Args[1] != mcpfiles.Command {
			os.Exit(92)
		}
		var roots []string
		for i := 3; i < len(os.Args); i += 2 {
			roots = append(roots, os.Args[i])
		}
		if err := mcpfiles.Serve(context.Background(), mcpfiles.Options{Roots: roots, Version: "test", Now: time.Now}, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// api is a stand-in of a provider, whichever.
type api interface {
	billed() (usd float64, answers int)
	url() string
	Close()
}

type common struct{ *standin.Server }

func (c common) billed() (float64, int) { return c.Bill().USD(), c.Bill().Calls }
func (c common) url() string            { return c.URL }

type messages struct{ *anthropic.Server }

func (m messages) billed() (float64, int) { return m.Bill().USD(), m.Bill().Calls }
func (m messages) url() string            { return m.URL }

// subject is an engine under attack.
type subject struct {
	driver engine.Driver
	model  string
	serve  func(a attack, seed uint64) api
}

func subjects() []subject {
	read := func(space, name string) func(path string, line int) standin.Tool {
		return func(path string, line int) standin.Tool {
			return standin.Tool{Namespace: space, Name: name, Input: map[string]any{"path": path, "offset": line}}
		}
	}
	stand := func(open func(standin.Script) *standin.Server, reader func(string, int) standin.Tool) func(attack, uint64) api {
		return func(a attack, seed uint64) api {
			return common{open(standin.Script{
				Next:    func(r *standin.Request) standin.Step { return a.step(r.Main, reader) },
				Counter: standin.Counter{Seed: seed, Min: a.min, Max: a.max, MissRate: a.miss},
			})}
		}
	}
	return []subject{
		{driver: claude.New(), model: "claude-opus-5-5", serve: func(a attack, seed uint64) api {
			reader := func(path string, line int) standin.Tool {
				return standin.Tool{Name: "Read", Input: map[string]any{"file_path": path, "offset": line, "limit": 1000}}
			}
			return messages{anthropic.New(anthropic.Script{
				Next:    func(r *anthropic.Request) anthropic.Step { return messagesStep(a.step(r.Main, reader)) },
				Counter: anthropic.Counter{Seed: seed, Min: a.min, Max: a.max, MissRate: a.miss},
			})}
		}},
		{driver: codex.New(), model: "gpt-5.5", serve: stand(openai.New, read("mcp__files", mcpfiles.ToolRead))},
		{driver: gemini.New(), model: "gemini-3.1-pro-preview", serve: stand(standgemini.New, read("", "mcp_files_"+mcpfiles.ToolRead))},
	}
}

// messagesStep translates a step for the stand-in of the Messages API.
func messagesStep(s standin.Step) anthropic.Step {
	out := anthropic.Step{
		Text: s.Text, Thinking: s.Thinking, HiddenTokens: s.HiddenTokens, Status: s.Status, Header: s.Header,
		Hang: s.Hang, Cut: s.Cut, CutAfter: s.CutAfter, IgnoreMax: s.IgnoreMax,
	}
	for _, tool := range s.Tools {
		out.Tools = append(out.Tools, anthropic.Tool{Name: tool.Name, Input: tool.Input})
	}
	if s.Usage != nil {
		out.Usage = func(truth anthropic.Usage) (start, final *anthropic.Usage) {
			u := s.Usage(standin.Usage{Input: truth.Input, CachedInput: truth.CachedInput, CacheWrite: truth.CacheWrite5m, Output: truth.Output})
			if u == nil {
				return nil, nil
			}
			given := anthropic.Usage{Input: u.Input, CachedInput: u.CachedInput, CacheWrite5m: u.CacheWrite, Output: u.Output}
			return &given, &given
		}
	}
	return out
}

// attack is what a model and its provider do, call by call.
type attack struct {
	name     string
	min, max float64 // tokens per byte
	miss     float64 // how often the provider's cache misses
	minutes  int     // of a run, where the engine waits for long; 0: as usual
	step     func(n int, read func(path string, line int) standin.Tool) standin.Step
}

func attacks() []attack {
	forever := func(n int, read func(string, int) standin.Tool) standin.Step {
		return standin.Step{Tools: []standin.Tool{read("f"+fmt.Sprint(n%20)+".go", 1+n/20)}}
	}
	with := func(change func(s *standin.Step, n int)) func(int, func(string, int) standin.Tool) standin.Step {
		return func(n int, read func(string, int) standin.Tool) standin.Step {
			s := forever(n, read)
			change(&s, n)
			return s
		}
	}
	return []attack{
		{name: "tools for ever", min: 0.2, max: 0.4, step: forever},
		{name: "dense tokens, no cache", min: 0.6, max: 1, miss: 1, step: forever},
		{name: "huge answers", min: 0.2, max: 0.4, step: with(func(s *standin.Step, n int) { s.Text = enginetest.Words(n, 8000) })},
		{name: "hidden thinking", min: 0.2, max: 0.4, step: with(func(s *standin.Step, n int) { s.Thinking, s.HiddenTokens = "hm", int64(500*n) })},
		{name: "many calls at once", min: 0.2, max: 0.4, step: func(n int, read func(string, int) standin.Tool) standin.Step {
			var s standin.Step
			for i := range 8 {
				s.Tools = append(s.Tools, read(fmt.Sprintf("f%d.go", (8*n+i)%20), 1+n))
			}
			return s
		}},
		{name: "usage missing", min: 0.2, max: 0.4, step: with(func(s *standin.Step, _ int) { s.Usage = func(standin.Usage) *standin.Usage { return nil } })},
		{name: "usage is a lie", min: 0.2, max: 0.4, step: with(func(s *standin.Step, n int) {
			s.Text = enginetest.Words(n, 500)
			s.Usage = func(standin.Usage) *standin.Usage { return &standin.Usage{Input: 1, Output: 1} }
		})},
		{name: "streams cut", min: 0.2, max: 0.4, step: with(func(s *standin.Step, n int) { s.Text, s.Cut, s.CutAfter = enginetest.Words(n, 300), n%3 != 0, 40*n })},
		{name: "storm of 429 and 500", minutes: 1, min: 0.2, max: 0.4, step: with(func(s *standin.Step, n int) {
			if n%3 != 0 {
				s.Status, s.Header = []int{429, 500, 503}[n%3], map[string]string{"Retry-After": "0"}
			}
		})},
		{name: "blank answers", min: 0.2, max: 0.4, step: func(int, func(string, int) standin.Tool) standin.Step { return standin.Step{Text: " "} }},
	}
}

// limit is what one run may use.
type limit struct {
	usd     float64
	turns   int
	minutes int
}

// row is what came of one run.
type row struct {
	engine, attack string
	limit          limit
	billed         float64
	result         run.Result
	took           time.Duration
	left           []string // processes
}

// holds returns what is wrong with a row.
func (r row) holds() (wrong []string) {
	if r.billed > r.limit.usd {
		wrong = append(wrong, fmt.Sprintf("billed $%.6f of $%.2f", r.billed, r.limit.usd))
	}
	if r.result.CostUSD > r.limit.usd || r.result.CostUSD+1e-9 < r.billed {
		wrong = append(wrong, fmt.Sprintf("the record says $%.6f, billed were $%.6f", r.result.CostUSD, r.billed))
	}
	if r.result.Turns > r.limit.turns {
		wrong = append(wrong, fmt.Sprintf("%d of %d turns", r.result.Turns, r.limit.turns))
	}
	if most := time.Duration(r.limit.minutes)*time.Minute + 20*time.Second; r.took > most {
		wrong = append(wrong, fmt.Sprintf("took %s", r.took))
	}
	if len(r.left) > 0 {
		wrong = append(wrong, fmt.Sprintf("left %v", r.left))
	}
	if r.result.Ended == engine.NotStarted || r.result.Ended == engine.Finished {
		wrong = append(wrong, fmt.Sprintf("ended %s (%s): that was no attack", r.result.Ended, r.result.Reason))
	}
	return wrong
}

// play runs one engine under one attack. during is called once the provider was asked, with the run's folder.
func (s subject) play(t *testing.T, a attack, l limit, during func(temp string)) row {
	t.Helper()
	cli, err := s.driver.Binary(filepath.Join(testtool.Root(t), "engines", string(s.driver.Name())), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		testtool.Missing(t, "engines/"+string(s.driver.Name()))
	}
	prices, err := meter.Prices(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	checkout := filepath.Join(temp, "checkout")
	fill(t, temp, checkout)
	provider := s.serve(a, 7)
	defer provider.Close()
	o := run.Options{
		Task: "triage", Issue: 12, Driver: s.driver, CLI: cli,
		Limits:   run.Limits{Model: s.model, MaxTurns: l.turns, MaxBudgetUSD: l.usd, TimeoutMinutes: l.minutes},
		Checkout: checkout, RulesFile: filepath.Join(temp, "rules.md"), Prompt: []byte("Read all the source and say what it is."),
		Schema:        []byte(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}`),
		ExecutionFile: filepath.Join(temp, "execution.jsonl"), Temp: temp,
		Key: s.driver.Credentials()[0], KeyValue: "REALKEY-of-the-provider-0123456789", Upstream: provider.url(),
		Path: os.Getenv("PATH"), Lang: "C.UTF-8", Isolation: run.Isolation{Self: self},
		StartMeter: run.WithMeter(prices, time.Now, nil, nil), Now: time.Now,
	}
	begin := time.Now()
	if during != nil {
		go during(temp)
	}
	res, err := run.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := row{engine: string(s.driver.Name()), attack: a.name, limit: l, result: res, took: time.Since(begin)}
	r.billed, _ = provider.billed()
	r.left = processes(temp)
	return r
}

func fill(t *testing.T, temp, checkout string) {
	t.Helper()
	if err := os.MkdirAll(checkout, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{filepath.Join(temp, "rules.md"): "Be brief.\n"}
	for i := range 20 {
		var b strings.Builder
		for line := range 400 {
			fmt.Fprintf(&b, "func f%dx%d() int { return %d }\n", i, line, i*line)
		}
		files[filepath.Join(checkout, fmt.Sprintf("f%d.go", i))] = b.String()
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// processes lists what still runs with the run's folder in its environment or on its command line, but zombies.
func processes(temp string) (left []string) {
	for range 50 {
		left = nil
		for _, pid := range pids(temp) {
			left = append(left, fmt.Sprint(pid))
		}
		if len(left) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

func pids(temp string) (found []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "%d", &pid); err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(environ)+string(cmdline), temp) {
			found = append(found, pid)
		}
	}
	return found
}
