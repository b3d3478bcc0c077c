package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// sealedWord makes the test binary a program that runs the fake engine with a key from its own environment, as the
// command does: `bare` keeps the key in the environment, `sealed` hands it to a second life, `sudo` is bare and starts the
// engine through the launcher.
const sealedWord = "sealed-run"

func sealedRun(args []string) int {
	mode, dir, ops := args[0], args[1], args[2:]
	d := claude.New()
	var s Secrets
	var err error
	if fd := os.Getenv(SealVar); fd != "" {
		if s, err = Unseal(fd); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 96
		}
	} else {
		s = Collect(os.Environ(), d.Credentials())
		if mode == "sealed" {
			if !HeldByKernel(s.Key) {
				return 95
			}
			self, err := os.Executable()
			if err == nil {
				err = Reexec(self, os.Args[1:], OpenEnvironment(os.Environ(), d.UpstreamVar()), s)
			}
			fmt.Fprintln(os.Stderr, err)
			return 94
		}
	}
	exe, _ := os.Executable()
	o := Options{
		Task: "triage", Driver: fakeDriver{ops: ops}, CLI: exe,
		Limits:   Limits{Model: "claude-opus-5-5", MaxTurns: 40, MaxBudgetUSD: 1, TimeoutMinutes: 1},
		Checkout: dir, RulesFile: filepath.Join(dir, "rules.md"), Prompt: []byte("x"), Schema: []byte(schema),
		ExecutionFile: filepath.Join(dir, "execution.jsonl"), Temp: dir,
		Key: d.Credentials()[0], KeyValue: s.Key, Secrets: s.Others,
		StartMeter: func(_ context.Context, o MeterOptions) (Meter, error) { // it holds the key, as the real one does
			m := &fakeMeter{record: o.Record}
			m.Server = httptest.NewServer(m)
			return m, nil
		},
		Now: time.Now,
	}
	if mode == "sudo" {
		o.Isolation = Isolation{Other: true, EUID: 1000, Sudo: []string{"/usr/bin/env"}, Self: exe}
	}
	res, err := Run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 93
	}
	line, _ := json.Marshal(res)
	fmt.Println(string(line))
	return 0
}

// openFolder is a temporary folder that every user can enter, with a copy of the test binary and rules in it.
func openFolder(t *testing.T) (dir, exe string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "open-") //nolint:usetesting // t.TempDir belongs to one user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	exe = filepath.Join(dir, "program")
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rules.md"), "be brief")
	return dir, exe
}

// someUser is neither root nor anybody.
const someUser = 54321

// TestKeyIsOutOfReach runs the whole as an ordinary user, and lets an engine of the same user look for the key
// everywhere. Without the seal it must find it, or the search proves nothing.
func TestKeyIsOutOfReach(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"bare", "sealed"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir, exe := openFolder(t)
			search := "search=sk-ant-api03-TOP+SECRET+KEY" + mode + "@" + strconv.Itoa(os.Getpid())
			cmd := exec.CommandContext(t.Context(), exe, sealedWord, mode, dir, "pid", search, "call", "print="+success(okAnswer))
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=sk-ant-api03-TOPSECRETKEY" + mode, "OTHER_TOKEN=another-secret",
				"GOCOVERDIR=" + dir,
			}
			cmd.Stderr = os.Stderr
			if os.Geteuid() == 0 {
				if err := os.Chown(dir, someUser, someUser); err != nil {
					t.Fatal(err)
				}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: someUser, Gid: someUser}}
			}
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			all := records(t, filepath.Join(dir, "execution.jsonl"))
			hits, ok := find(all, "search")["found"].([]any)
			if !ok {
				t.Fatalf("the engine did not search: %v", all)
			}
			if uid := find(all, "pid")["uid"]; uid == float64(0) {
				t.Fatal("the engine ran as root")
			}
			if mode == "bare" && len(hits) == 0 {
				t.Error("the search does not find a key that is there")
			}
			if mode == "sealed" && len(hits) > 0 {
				t.Errorf("the key stands in %v", hits)
			}
		})
	}
}

// TestRunIsKilled kills the supervisor itself: nothing of the engine stays, and what was written stays readable.
func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"bare", "sudo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if mode == "sudo" { // only root can start a program as another user
				testtool.NeedRoot(t)
			}
			dir, exe := openFolder(t)
			cmd := exec.CommandContext(t.Context(), exe, sealedWord, mode, dir, "pid", "call", "ignore", "print={\"type\":\"ready\"}", "forever")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=sk-ant-api03-xxxxxxxx", "GOCOVERDIR=" + dir}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "execution.jsonl")
			for !strings.Contains(text(path), `"ready"`) {
				if t.Context().Err() != nil {
					t.Fatal("the engine never started")
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the supervisor ended by itself")
			}
			all := records(t, path)
			if all[0]["type"] != engine.TypeRun || find(all, engine.TypeCall) == nil {
				t.Errorf("what was written is not whole: %v", all)
			}
			if pid := int(find(all, "pid")["pid"].(float64)); !gone(pid) {
				t.Errorf("the engine %d is still there", pid)
			}
		})
	}
}

// text is what a file holds, "" when it is not there.
func text(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func TestCollectAndOpenEnvironment(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PATH=/bin", "HOME=/home/x", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-xxxxxxxx", "ANTHROPIC_API_KEY= sk-ant-api03-yyyyyyyy\n",
		"GITHUB_TOKEN=ghs_12345678", "ACTIONS_RUNTIME_TOKEN=eyJ0eXAiOi", "SHORT_TOKEN=abc", "SSH_KEY_PATH=/home/x/.ssh/id",
		"INPUT_MODEL=claude-opus-5-5", "INPUT_TOKEN=ghs_87654321", "RUNNER_TEMP=/tmp/r", "RUNNER_TRACKING_ID=github_1",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "LD_PRELOAD=/evil.so", "NODE_OPTIONS=--require x", "DB_PASSWORD=hunter2hunter2",
		"GITHUB_OUTPUT=/tmp/o", "BASH_FUNC_x%%=() { :; }",
	}
	s := Collect(environ, claude.New().Credentials())
	want := Secrets{
		Var: "ANTHROPIC_API_KEY", Key: "sk-ant-api03-yyyyyyyy",
		Others: []string{"sk-ant-oat01-xxxxxxxx", "ghs_12345678", "eyJ0eXAiOi", "ghs_87654321", "hunter2hunter2"},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	kept := OpenEnvironment(environ, "ANTHROPIC_BASE_URL")
	wantKept := []string{
		"PATH=/bin", "HOME=/home/x", "INPUT_MODEL=claude-opus-5-5", "RUNNER_TEMP=/tmp/r", "RUNNER_TRACKING_ID=github_1",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "GITHUB_OUTPUT=/tmp/o",
	}
	if diff := cmp.Diff(wantKept, kept); diff != "" {
		t.Error(diff)
	}
}

func TestUnsealRefuses(t *testing.T) {
	t.Parallel()
	for _, fd := range []string{"", "x", "-1", "0", "2", "999999"} {
		if s, err := Unseal(fd); err == nil {
			t.Errorf("Unseal(%q) = %+v", fd, s)
		}
	}
	if err := Reexec("/nonexistent", nil, nil, Secrets{Key: "k"}); err == nil {
		t.Error("a program that is not there was started")
	}
	if err := Reexec("/nonexistent", nil, nil, Secrets{Key: strings.Repeat("k", maxSeal)}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("too much for a pipe: %v", err)
	}
}

// TestAnotherUser needs root, as GitHub's runners give it through sudo.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		iso    Isolation
		close  bool // the checkout belongs to this user alone
		ops    []string
		uid    float64
		words  string
		cancel bool
		want   engine.Ended
	}{
		{name: "root", iso: Isolation{Other: true}, uid: 65534, words: "another user, nobody", want: engine.Finished},
		{name: "sudo", iso: Isolation{Other: true, EUID: 1000, Sudo: []string{env}}, uid: 65534, words: "another user, nobody", want: engine.Finished},
		{name: "root, unreadable", iso: Isolation{Other: true}, close: true, uid: 0, words: "nobody cannot read", want: engine.Finished},
		{name: "sudo, unreadable", iso: Isolation{Other: true, EUID: 1000, Sudo: []string{env}}, close: true, uid: 0, words: "nobody cannot read", want: engine.Finished},
		{name: "no sudo", iso: Isolation{Other: true, EUID: 1000, Sudo: []string{"/nonexistent/sudo", "-n"}}, uid: 0, words: "neither root nor sudo", want: engine.Finished},
		{name: "no such user", iso: Isolation{Other: true, User: "no-such-user"}, uid: 0, words: "no user no-such-user", want: engine.Finished},
		{name: "root is no other user", iso: Isolation{Other: true, User: "root"}, uid: 0, words: "no other user", want: engine.Finished},
		{name: "root, signal", iso: Isolation{Other: true}, uid: 65534, words: "another user", cancel: true, want: engine.Interrupted},
		{name: "sudo, signal", iso: Isolation{Other: true, EUID: 1000, Sudo: []string{env}}, uid: 65534, words: "another user", cancel: true, want: engine.Interrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, exe := openFolder(t)
			ops := []string{"pid", "child=group", "child=session", "call", "print=" + success(okAnswer)}
			if test.cancel {
				ops = []string{"pid", "ignore", "child=group", "child=session", "call", "forever"}
			}
			o := options(t, ops...)
			o.Checkout, o.Temp, o.CLI, o.RulesFile = filepath.Join(dir, "checkout"), dir, exe, filepath.Join(dir, "rules.md")
			write(t, filepath.Join(o.Checkout, "README.md"), "x")
			o.Isolation = test.iso
			o.Isolation.Self = exe
			o.timing = short()
			if test.close {
				o.Checkout = filepath.Join(dir, "closed")
				write(t, filepath.Join(o.Checkout, "main.go"), "package main")
				if err := os.Chmod(filepath.Join(o.Checkout, "main.go"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancel {
				o.StartMeter = func(ctx context.Context, m MeterOptions) (Meter, error) {
					record := m.Record
					m.Record = func(c engine.CallRecord) { record(c); cancel() }
					return fakeMeterOf()(ctx, m)
				}
			}
			res, err := Run(ctx, o)
			if err != nil || res.Ended != test.want {
				t.Fatalf("%+v %v", res, err)
			}
			all := records(t, o.ExecutionFile)
			if got := find(all, "pid")["uid"]; got != test.uid {
				t.Errorf("the engine ran as %v, want %v", got, test.uid)
			}
			if !strings.Contains(res.Protection, test.words) {
				t.Errorf("protection: %s", res.Protection)
			}
			for _, r := range all {
				if pid, ok := r["pid"].(float64); ok && !gone(int(pid)) {
					t.Errorf("%v %d is still there", r["type"], int(pid))
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, "issue-assistant-run-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func TestLauncherRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "x\n", "no user": `{"spec":{"path":"/bin/true"}}` + "\n",
		"root": `{"spec":{"path":"/bin/true","user":{"uid":0,"gid":1}}}` + "\n", "root's group": `{"spec":{"path":"/bin/true","user":{"uid":1,"gid":0}}}` + "\n",
		"no home": `{"spec":{"path":"/bin/true","user":{"uid":1,"gid":1}},"home":"/nonexistent/home"}` + "\n",
		"a file":  `{"spec":{"path":"/bin/true","user":{"uid":1,"gid":1}},"home":"/etc/hostname"}` + "\n",
	} {
		if code, err := Launch(strings.NewReader(text), nil, nil); err == nil {
			t.Errorf("%s: code %d", name, code)
		}
	}
}

func TestReadableBy(t *testing.T) {
	t.Parallel()
	dir, _ := openFolder(t)
	u := user{UID: someUser, GID: someUser, Name: "x"}
	write(t, filepath.Join(dir, "a", "b", "file"), "x")
	check := func(want bool) {
		t.Helper()
		err := readableBy(u, []string{"", filepath.Join(dir, "a")})
		if (err == nil) != want {
			t.Errorf("readable: %v, want %t", err, want)
		}
	}
	check(true)
	for path, modes := range map[string][]os.FileMode{"a/b/file": {0o600, 0o644}, "a/b": {0o744, 0o755}, ".": {0o700, 0o755}, "a": {0o711, 0o755}} {
		for i, mode := range modes {
			if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
				t.Fatal(err)
			}
			check(i == 1)
		}
	}
	write(t, filepath.Join(dir, "a", ".git", "x"), "x")
	if err := os.Chmod(filepath.Join(dir, "a", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(true)
	if list, err := (Isolation{EUID: 1000, EGID: 1001}).candidates(); err != nil || len(list) != 2 || list[1].GID != 1001 {
		t.Errorf("candidates: %v %v", list, err)
	}
	if list, err := (Isolation{EUID: 0, EGID: 0}).candidates(); err != nil || slices.ContainsFunc(list, func(u user) bool { return u.GID == 0 }) {
		t.Errorf("root's group is handed on: %v %v", list, err)
	}
}
