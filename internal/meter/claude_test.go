package meter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// cliResult is the closing line of Claude Code.
type cliResult struct {
	Subtype string          `json:"subtype"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Cost    float64         `json:"total_cost_usd"`
	Answer  json.RawMessage `json:"structured_output"`
	Status  int             `json:"api_error_status"`
}

// cli runs the real Claude Code behind the meter, with budgets of its own that never end it first.
func cli(t *testing.T, r *rig, model, prompt, key string) cliResult {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	bin := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	if err := os.MkdirAll(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		var b strings.Builder
		for line := range 400 {
			fmt.Fprintf(&b, "func f%dx%d() int { return %d }\n", i, line, i*line)
		}
		if err := os.WriteFile(filepath.Join(repo, fmt.Sprintf("f%d.go", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-p", "--output-format", "stream-json", "--verbose", "--restricted", "--tools", "Read,Grep,Glob",
		"--permission-mode", "dontAsk", "--permission-prompts", "none", "--strict-mcp-config", "--setting-sources", "",
		"--disable-slash-commands", "--no-session-persistence", "--json-schema", `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`,
		"--model", model, "--max-turns", "100", "--max-budget-usd", "90")
	cmd.Dir = repo
	cmd.Stdin = strings.NewReader(prompt)
	name := "ANTHROPIC_API_KEY="
	if strings.HasPrefix(key, "sk-ant-oat") {
		name = "CLAUDE_CODE_OAUTH_TOKEN="
	}
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", name + key, "ANTHROPIC_BASE_URL=" + r.BaseURL(),
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=4", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=16000", "MAX_THINKING_TOKENS=4096",
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var last cliResult
	for line := range bytes.Lines(out) {
		var typed struct{ Type string }
		if json.Unmarshal(line, &typed) == nil && typed.Type == "result" {
			if err := json.Unmarshal(line, &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	if last.Subtype == "" {
		t.Fatalf("no result: %v\n%s", err, errs.String())
	}
	return last
}

// readAll reads file after file; asked for its answer it gives one, unless it is stubborn.
func readAll(stubborn bool) func(*anthropic.Request) anthropic.Step {
	return func(r *anthropic.Request) anthropic.Step {
		if r.Says("This is the last call") && !stubborn || r.Main > 60 {
			return anthropic.Step{Answer: map[string]string{"verdict": "asked"}}
		}
		return anthropic.Step{
			Text: "Next file.", Thinking: "hm", HiddenTokens: 100,
			Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": fmt.Sprintf("f%d.go", r.Main%20)}}},
		}
	}
}

func TestClaudeCodeBehindTheMeter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		script anthropic.Script
		budget float64
		turns  int
		bearer bool
		model  string
		check  func(t *testing.T, r *rig, got cliResult, s meter.Summary)
	}{
		{
			name: "an answer within the budget", budget: 1, turns: 40,
			script: anthropic.Script{Steps: []anthropic.Step{readAll(true)(&anthropic.Request{Main: 1}), {Text: "So.", Answer: map[string]string{"verdict": "ok"}}}},
			check: func(t *testing.T, _ *rig, got cliResult, s meter.Summary) {
				t.Helper()
				if string(got.Answer) != `{"verdict":"ok"}` || s.Turns != 2 || s.Refused != "" || s.LastAsked {
					t.Errorf("%+v, %+v", got, s)
				}
			},
		},
		{
			name: "asked for its answer it answers", budget: 0.5, turns: 100,
			script: anthropic.Script{Next: readAll(false)},
			check: func(t *testing.T, _ *rig, got cliResult, s meter.Summary) {
				t.Helper()
				if string(got.Answer) != `{"verdict":"asked"}` || s.Refused != "" || !s.LastAsked || s.SpentUSD < 0.2 {
					t.Errorf("%+v, %+v", got, s)
				}
			},
		},
		{
			name: "a stubborn model is refused with one request", budget: 0.5, turns: 100,
			script: anthropic.Script{Next: readAll(true)},
			check: func(t *testing.T, r *rig, got cliResult, s meter.Summary) {
				t.Helper()
				last := r.records[len(r.records)-1]
				if !got.IsError || got.Status != 402 || !strings.Contains(got.Result, "issue-assistant:") || s.Refused != engine.Budget ||
					last.Refused != engine.Budget || s.Calls != s.Turns+1 || s.SpentUSD < 0.45*0.5 {
					t.Errorf("%+v, %+v", got, s)
				}
			},
		},
		{
			name: "the last turn", budget: 5, turns: 4,
			script: anthropic.Script{Next: readAll(false)},
			check: func(t *testing.T, r *rig, got cliResult, s meter.Summary) {
				t.Helper()
				if string(got.Answer) != `{"verdict":"asked"}` || s.Turns != 4 || !r.records[3].Last || r.records[2].Last {
					t.Errorf("%+v, %+v", got, s)
				}
			},
		},
		{
			name: "a model of 4.5 with a fixed share of thinking", budget: 0.2, turns: 100, model: "claude-haiku-4-5",
			script: anthropic.Script{Next: readAll(false)},
			check: func(t *testing.T, r *rig, got cliResult, s meter.Summary) {
				t.Helper()
				if string(got.Answer) != `{"verdict":"asked"}` || s.Refused != "" {
					t.Errorf("%+v, %+v", got, s)
				}
				for _, q := range r.api.MainRequests() {
					if q.ThinkingBudget >= q.MaxTokens {
						t.Errorf("max_tokens %d, budget_tokens %d", q.MaxTokens, q.ThinkingBudget)
					}
				}
			},
		},
		{
			name: "a subscription token", budget: 1, turns: 40, bearer: true,
			script: anthropic.Script{Steps: []anthropic.Step{{Answer: map[string]string{"verdict": "ok"}}}},
			check: func(t *testing.T, r *rig, got cliResult, s meter.Summary) {
				t.Helper()
				for _, q := range r.api.Requests() {
					if q.Header.Get("Authorization") != "Bearer "+realToken || q.Header.Get("X-Api-Key") != "" {
						t.Errorf("headers %v", q.Header)
					}
				}
				if string(got.Answer) != `{"verdict":"ok"}` || !s.ListPrice {
					t.Errorf("%+v, %+v", got, s)
				}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.script.Counter = anthropic.Counter{Min: 0.2, Max: 0.4}
			if tt.model == "" {
				tt.model = "claude-opus-5-5"
			}
			r := start(t, tt.script, func(o *meter.Options) {
				o.BudgetUSD, o.MaxTurns, o.Model = tt.budget, tt.turns, tt.model
				if tt.bearer {
					o.Key, o.Bearer = realToken, true
				}
			})
			got := cli(t, r, tt.model, "Read all the source and say what it is.", r.DummyKey())
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			s, billed := r.Summary(), r.api.Bill().USD()
			tt.check(t, r, got, s)
			if billed > tt.budget || math.Abs(s.SpentUSD-billed) > 1e-9 || math.Abs(s.SpentUSD-got.Cost) > 0.005 {
				t.Errorf("billed %v, spent %v, total_cost_usd %v", billed, s.SpentUSD, got.Cost)
			}
			t.Logf("billed $%.4f of $%.2f, total_cost_usd $%.4f, %d turns", billed, tt.budget, got.Cost, s.Turns)
		})
	}
}

const realToken = "sk-ant-oat01-the-real-token-0123456789"
