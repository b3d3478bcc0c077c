package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestColorsOnATerminalOnly starts the program on a terminal of its own, made by script(1), and off one.
func TestColorsOnATerminalOnly(t *testing.T) {
	t.Parallel()
	script := testtool.Need(t, "script")
	dir := t.TempDir()
	program := filepath.Join(dir, "issue-assistant")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/issue-assistant")
	build.Dir = testtool.Root(t)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	repo := filepath.Join(dir, "repo")
	if err := os.MkdirAll(filepath.Join(repo, ".issue-assistant"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, ".issue-assistant", "config.toml"), []byte("[engine]\nmax_turns = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = repo
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh"}, env...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // check exits with 2: the setting is wrong
		if !strings.Contains(out.String(), "config.toml:2:") {
			t.Fatalf("no finding: %s", out.String())
		}
		return out.String()
	}
	const red = "\x1b[1;31merror\x1b[0m"
	on := func(env ...string) string { return run(env, script, "-qec", program+" check", "/dev/null") }
	if out := on("TERM=xterm"); !strings.Contains(out, red) {
		t.Errorf("no color on a terminal: %q", out)
	}
	for name, out := range map[string]string{
		"NO_COLOR": on("TERM=xterm", "NO_COLOR=1"), "a dumb terminal": on("TERM=dumb"), "a pipe": run([]string{"TERM=xterm"}, program, "check"),
	} {
		if strings.Contains(out, "\x1b[") {
			t.Errorf("%s: %q", name, out)
		}
	}
	if out := on("TERM=xterm", "NO_COLOR="); !strings.Contains(out, red) {
		t.Errorf("an empty NO_COLOR is none: %q", out)
	}
}

// TestCompletions: the shells' own scripts, and the words that they ask for.
func TestCompletions(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, out, errs := runMain(t, "", "completion", shell)
		if code != ExitOK || errs != "" || !strings.Contains(out, "issue-assistant") || len(out) < 2000 {
			t.Errorf("%s: exit %d, %d bytes, %s", shell, code, len(out), errs)
		}
		if shell != "bash" {
			continue
		}
		check := exec.CommandContext(t.Context(), "bash", "-n")
		check.Stdin = strings.NewReader(out)
		if text, err := check.CombinedOutput(); err != nil {
			t.Errorf("bash does not read it: %v %s", err, text)
		}
	}
	for args, want := range map[string]string{
		"ch": "check\tCheck the settings", "chunk po": "poll\t", "check --fo": "--format\t", "session d": "decide\t", "run --max-b": "--max-budget-usd\t",
	} {
		code, out, _ := runMain(t, "", append([]string{"__complete"}, strings.Fields(args)...)...)
		if code != ExitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %q", args, code, out)
		}
	}
}
