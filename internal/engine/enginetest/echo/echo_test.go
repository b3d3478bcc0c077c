package echo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/echo"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/openai"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestMain lets the test binary be the engine's command line, and never the tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--model" {
		if err := ask(os.Args[2], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ask is all that the example's command line does: one call of the model.
func ask(model, rulesFile string) error {
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		return err
	}
	task, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"model": model, "instructions": string(rules), "input": []any{
		map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": string(task)}}},
	}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, os.Getenv("OPENAI_BASE_URL")+"/responses", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Output []struct {
			Content []struct{ Text string } `json:"content"`
		} `json:"output"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Output) == 0 {
		return fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	fmt.Printf("{\"session\":\"s1\"}\n{\"answer\":%s}\n", answer.Output[0].Content[0].Text)
	return nil
}

// TestExampleRuns holds the example of docs/engines.md to what it promises: it runs behind the meter.
func TestExampleRuns(t *testing.T) {
	t.Parallel()
	prices, err := meter.Prices(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cli, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		usd  float64
		want engine.Ended
	}{{`{"verdict":"ok"}`, 1, engine.Finished}, {`{"verdict":7}`, 1, engine.BadAnswer}, {`{"verdict":"ok"}`, 0.001, engine.Budget}} {
		server := openai.New(standin.Script{Steps: []standin.Step{{Text: c.text}}})
		t.Cleanup(server.Close)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "rules.md"), []byte("RULESWORD"), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := run.Run(t.Context(), run.Options{
			Task: "triage", Driver: echo.New(), CLI: cli, Checkout: dir, RulesFile: filepath.Join(dir, "rules.md"), Prompt: []byte("TASKWORD"),
			Limits:        run.Limits{Model: "gpt-5.5", MaxTurns: 4, MaxBudgetUSD: c.usd, TimeoutMinutes: 1},
			Schema:        []byte(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`),
			ExecutionFile: filepath.Join(dir, "execution.jsonl"), Temp: dir, Key: echo.New().Credentials()[0], KeyValue: "sk-real-key-0123456789",
			Upstream: server.URL, StartMeter: run.WithMeter(prices, time.Now, nil, nil), Now: time.Now,
		})
		if err != nil || res.Ended != c.want {
			t.Errorf("%s: %+v %v", c.text, res, err)
		}
		for _, call := range server.Calls() {
			if call.System != "RULESWORD" || !strings.Contains(call.User, "TASKWORD") || call.Header.Get("Authorization") != "Bearer sk-real-key-0123456789" {
				t.Errorf("system %q, user %q", call.System, call.User)
			}
		}
	}
}

// TestPageShowsTheExample keeps the page and the code the same.
func TestPageShowsTheExample(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("echo.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(testtool.NeedFile(t, "docs", "engines.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(code, []byte("\n")); n > 60 {
		t.Errorf("the example has %d lines, at most 60 are wanted", n)
	}
	if !bytes.Contains(page, append([]byte("```go\n"), append(code, "```\n"...)...)) {
		t.Error("docs/engines.md does not show echo.go as it is")
	}
}
