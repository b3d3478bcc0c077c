package calls_test

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
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk/calls"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestClaudeCodesOwnTranscripts lets the real Claude Code work behind the meter, keeping its transcripts: both must come
// to the same calls and the same dollars.
func TestClaudeCodesOwnTranscripts(t *testing.T) {
	t.Parallel()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	bin := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	s := anthropic.New(anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
		if r.Main > 7 {
			return anthropic.Step{Text: "Done."}
		}
		return anthropic.Step{Text: "Next.", Thinking: "hm", HiddenTokens: 100, Tools: []anthropic.Tool{{Name: "Read", Input: map[string]any{"file_path": fmt.Sprintf("f%d.txt", r.Main)}}}}
	}})
	defer s.Close()
	var mu sync.Mutex
	var records []engine.CallRecord
	m, err := meter.Start(t.Context(), meter.Options{
		Provider: "anthropic", Upstream: s.URL, Key: "sk-ant-test-0123456789", Model: "claude-opus-5-5", BudgetUSD: 50, MaxTurns: 100,
		Prices: table(t), Now: time.Now, Held: func(engine.HeldRecord) {},
		Record: func(r engine.CallRecord) { mu.Lock(); records = append(records, r); mu.Unlock() },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	home := t.TempDir()
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(work, fmt.Sprintf("f%d.txt", i)), []byte(strings.Repeat("some words of a file\n", 200)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	began := time.Now().Add(-time.Second)
	cmd := exec.CommandContext(ctx, bin, "-p", "--output-format", "json", "--tools", "Read", "--permission-mode", "dontAsk", "--strict-mcp-config",
		"--setting-sources", "", "--model", "claude-opus-5-5", "--max-turns", "50")
	cmd.Dir, cmd.Stdin = work, strings.NewReader("Read the files.")
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "ANTHROPIC_API_KEY=" + m.DummyKey(), "ANTHROPIC_BASE_URL=" + m.BaseURL(),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "MAX_THINKING_TOKENS=4096",
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errs.String())
	}
	got, err := calls.Transcripts(os.DirFS(filepath.Join(home, ".claude", "projects")), began, table(t).Cost)
	if err != nil {
		t.Fatal(err)
	}
	n, usd := sum(&got)
	want, turns := 0.0, int64(0)
	var last int64
	mu.Lock()
	defer mu.Unlock()
	for _, r := range records {
		want += r.CostUSD
		if r.Turn {
			turns++
			last = r.Input + r.CachedInput + r.CacheWrite5m + r.CacheWrite1h
		}
	}
	var result struct {
		Cost float64 `json:"total_cost_usd"`
	}
	_ = json.Unmarshal(out, &result) // only for the message
	t.Logf("meter $%.4f in %d calls, transcripts $%.4f in %d, Claude Code says $%.4f", want, turns, usd, n, result.Cost)
	if n != turns || n < 8 || math.Abs(usd-want) > 0.005 || got.Last() == nil || *got.Last() != last {
		t.Errorf("transcripts: %d calls, $%.4f, last context %v; meter: %d calls, $%.4f, %d", n, usd, got.Last(), turns, want, last)
	}
}
