package cli

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/apply"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// inTime runs a command and fails the test when it does not end.
func (s *stage) inTime(t *testing.T, args ...string) (code int) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = s.run(t, args...)
	}()
	select {
	case <-done:
		return code
	case <-time.After(time.Minute):
		t.Fatalf("%v hangs", args)
		return -1
	}
}

// TestSettingsThatAreNoFiles puts what waits for ever, never ends or cannot be read where settings are read.
func TestSettingsThatAreNoFiles(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(path string) error{
		"pipe":            func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"endless device":  func(p string) error { return os.Symlink("/dev/zero", p) },
		"link to a pipe":  func(p string) error { return os.Symlink("p", p) },
		"circle of links": func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"folder":          func(p string) error { return os.Mkdir(p, 0o755) },
	}
	commands := hostileCommands()
	for _, file := range []string{"config.toml", "labels.toml", "findings.toml", "texts.toml", "rules.md"} {
		for kind, lay := range kinds {
			t.Run(file+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := hostileStage(t)
				path := filepath.Join(s.dir, ".issue-assistant", file)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if err := syscall.Mkfifo(filepath.Join(s.dir, ".issue-assistant", "p"), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := lay(path); err != nil {
					t.Fatal(err)
				}
				used := map[string][]string{"findings.toml": {"findings"}, "rules.md": {"context"}}[file]
				if used == nil {
					used = []string{"apply", "context", "sweep"}
				}
				for _, name := range used {
					if code := s.inTime(t, commands[name]...); code != ExitFailure && code != ExitUsage || !strings.Contains(s.err, file) {
						t.Errorf("%s: exit %d: %q", name, code, s.err)
					}
					s.clean(t, name)
				}
				if code := s.inTime(t, "check"); code == ExitOK || code == ExitFailure {
					t.Errorf("check: exit %d: %q", code, s.err)
				}
				for _, r := range s.Log() {
					if r.Write() {
						t.Errorf("written: %s %s", r.Method, r.Path)
					}
				}
			})
		}
	}
}

// TestOddCheckout analyzes a working copy whose tracked files became pipes, devices and links, with names that hold
// lines and commands, and a submodule.
func TestOddCheckout(t *testing.T) {
	t.Parallel()
	git := testtool.Need(t, "git")
	dir := filepath.Join(t.TempDir(), "with a\nline ::error::x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"plain", "pipe", "zero", "a\n::error::b", "\u202ex", strings.Repeat("n", 200), "-rf"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a\nb\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"update-index", "--add", "--cacheinfo", "160000," + strings.Repeat("a", 40) + ",module"}} {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, name := range []string{"pipe", "zero"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	c, err := apply.OpenCheckout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.Tracked("module") {
		t.Error("a submodule is a file")
	}
	for _, name := range names {
		type result struct {
			data []byte
			err  error
		}
		read := make(chan result, 1)
		go func() {
			data, err := c.Read(name, 100)
			read <- result{data, err}
		}()
		select {
		case got := <-read:
			if odd := name == "pipe" || name == "zero"; odd != (got.err != nil) || !c.Tracked(name) {
				t.Errorf("%q: %q %v", name, got.data, got.err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q hangs", name)
		}
	}
}

// TestWithoutRights runs the program as nobody, in a checkout and with folders that it may not write: what it could not
// do is said, what GitHub was told is told once.
func TestWithoutRights(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // it is closed to others
		t.Fatal(err)
	}
	program := filepath.Join(dir, "issue-assistant")
	copyProgram(t, program)
	s := hostileStage(t)
	server := httptest.NewServer(s.Server)
	t.Cleanup(server.Close)
	checkout := filepath.Join(dir, "checkout")
	if err := os.CopyFS(checkout, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(env []string, args ...string) (code int, out string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = checkout
		cmd.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "TEST_NOW=2026-01-01T12:00:00Z", "GITHUB_REPOSITORY=octo/demo", "GITHUB_TOKEN=" + hostileToken,
			"GITHUB_API_URL=" + server.URL, "GITHUB_GRAPHQL_URL=" + server.URL + "/graphql", "GITHUB_REF=refs/heads/main", "GITHUB_ACTIONS=true",
		}, env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		var both bytes.Buffer
		cmd.Stdout, cmd.Stderr = &both, &both
		err := cmd.Run()
		if cmd.ProcessState == nil || ctx.Err() != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if strings.Contains(both.String(), "goroutine ") || strings.Contains(both.String(), hostileToken) {
			t.Errorf("%v: %s", args, both.String())
		}
		return cmd.ProcessState.ExitCode(), both.String()
	}
	commands := hostileCommands()
	no := []string{"HOME=", "TMPDIR=" + closed, "RUNNER_TEMP=" + closed, "GITHUB_STEP_SUMMARY=" + closed + "/s", "GITHUB_OUTPUT=" + closed + "/o"}
	for name, want := range map[string]struct {
		code int
		word string
	}{
		"context":  {ExitFailure, "permission denied"},
		"apply":    {ExitFailure, "write the summary"},
		"labels":   {ExitFailure, "summary"},
		"sweep":    {ExitFailure, "denied"},
		"findings": {ExitFailure, "summary"},
		"cost":     {ExitFailure, "summary"},
		"engine":   {ExitUsage, "GITHUB_EVENT_PATH"},
		"similar":  {ExitOK, ""},
		"check":    {ExitProblem, ""},
		"try":      {ExitFailure, "denied"},
	} {
		code, out := run(no, commands[name]...)
		if code != want.code || !strings.Contains(out, want.word) {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
	}
	for range 2 { // the job is run again
		if code, out := run(no, commands["apply"]...); code != ExitFailure {
			t.Errorf("apply: exit %d: %s", code, out)
		}
	}
	if got := len(s.Comments(7)); got != 2 {
		t.Errorf("%d comments, want alice's and one answer", got)
	}
	// Devices in place of files.
	if code, out := run([]string{"GITHUB_STEP_SUMMARY=/dev/full", "GITHUB_OUTPUT=/dev/full"}, commands["labels"]...); code != ExitFailure || !strings.Contains(out, "no space left") {
		t.Errorf("labels on a full disk: exit %d: %s", code, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
