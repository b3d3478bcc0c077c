package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// startRun starts the program itself with the real Claude Code against a stand-in that never answers, and returns when
// the first request is there.
func startRun(t *testing.T) (cmd *exec.Cmd, dir string, output *bytes.Buffer, engines []int) {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	program := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	server := anthropic.New(anthropic.Script{Steps: []anthropic.Step{{Hang: true}}})
	t.Cleanup(server.Close)
	dir = t.TempDir()
	for name, text := range map[string]string{
		"prompt.md": "look at issue 12", "schema.json": `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`,
	} {
		path := filepath.Join(dir, ".issue-assistant", "material", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The copy that testscript put on PATH: by its name it is the program and never the tests.
	self, err := exec.LookPath("issue-assistant")
	if err != nil || filepath.Base(self) != "issue-assistant" {
		t.Fatal(self, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	output = &bytes.Buffer{}
	cmd = exec.CommandContext(ctx, self, "run", "--task", "triage", "--issue", "12", "--cli", program, "--execution-file", "execution.jsonl")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "out"), "GITHUB_ACTIONS=true",
		"ANTHROPIC_API_KEY=sk-ant-api03-TESTKEY0000", "ANTHROPIC_BASE_URL=" + server.URL, "GOCOVERDIR=" + dir,
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(server.MainRequests()) == 0 {
		if ctx.Err() != nil {
			t.Fatal("no request came")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if engines = childrenOf(cmd.Process.Pid); len(engines) == 0 {
		t.Fatal("the engine is no child of the run")
	}
	return cmd, dir, output, engines
}

func childrenOf(pid int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var child, parent int
		var state string
		_, rest, _ := strings.Cut(string(data), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != pid {
			continue
		}
		if _, err := fmt.Sscan(string(data), &child); err == nil {
			found = append(found, child)
		}
	}
	return found
}

// TestRunEndsWhateverHappens sends what the runner sends, and what a machine without memory does. The runner waits 7.5 s
// after INT and 2.5 s after TERM.
func TestRunEndsWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		act   func(run int, engine int) error
		ended string
		words string
	}{
		{name: "INT", act: func(run, _ int) error { return killProcess(run, syscall.SIGINT) }, ended: "interrupted", words: "::error::The run was interrupted"},
		{name: "TERM", act: func(run, _ int) error { return killProcess(run, syscall.SIGTERM) }, ended: "interrupted", words: "::error::The run was interrupted"},
		{name: "KILL of the engine", act: func(_, engine int) error { return killProcess(engine, syscall.SIGKILL) }, ended: "unfinished", words: "::error::The engine ended without saying why"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd, dir, output, engines := startRun(t)
			sent := time.Now()
			if err := test.act(cmd.Process.Pid, engines[0]); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			took := time.Since(sent)
			t.Logf("ended after %s", took.Round(time.Millisecond))
			if code := cmd.ProcessState.ExitCode(); code != ExitFailure {
				t.Errorf("exit code %d (%v): %s", code, err, output)
			}
			if took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if !strings.Contains(output.String(), test.words) {
				t.Errorf("output: %s", output)
			}
			events, err := os.ReadFile(filepath.Join(dir, "execution.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(events), "\n"), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"type":"issue_assistant.end","ended":"`+test.ended+`"`) || !strings.Contains(last, `"calls":1`) {
				t.Errorf("last line: %s", last)
			}
			outputs, err := os.ReadFile(filepath.Join(dir, "out"))
			if err != nil || !strings.Contains(string(outputs), test.ended) {
				t.Errorf("outputs: %s %v", outputs, err)
			}
			for _, pid := range engines {
				if err := killProcess(pid, 0); err == nil {
					t.Errorf("the engine %d is still there", pid)
				}
			}
			if all := string(events) + output.String() + string(outputs); strings.Contains(all, "TESTKEY0000") {
				t.Error("the key stands in what the run wrote")
			}
		})
	}
}
