package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// runningEngine waits until the engine has asked the provider, and returns the process of `run`.
func (w *world) runningEngine(t *testing.T) int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(w.cli.calls()) == 0 {
			continue
		}
		for _, s := range w.spies(t) {
			if s.command == "run" {
				return s.pid
			}
		}
	}
	t.Error("the engine never asked the provider")
	return 0
}

// TestAStepIsEnded: the runner sends INT to the step's own process, which `exec` at every hop makes `run`; and act, when
// it is interrupted, kills that process outright. Both leave the record and the line, and no engine.
func TestAStepIsEnded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		send  func(t *testing.T, w *world, act *exec.Cmd)
		ended string
		line  string
	}{
		{"INT to the step", func(t *testing.T, w *world, _ *exec.Cmd) {
			t.Helper()
			if pid := w.runningEngine(t); pid > 0 {
				if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
					t.Error(err)
				}
			}
		}, "interrupted", "interrupted"},
		{"INT to act", func(t *testing.T, w *world, act *exec.Cmd) {
			t.Helper()
			if w.runningEngine(t) > 0 {
				if err := act.Process.Signal(syscall.SIGINT); err != nil {
					t.Error(err)
				}
			}
		}, "", ""},
		{"KILL of the engine", func(t *testing.T, w *world, _ *exec.Cmd) {
			t.Helper()
			if w.runningEngine(t) > 0 {
				for _, pid := range w.engines(t) {
					if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
						t.Error(err)
					}
				}
			}
		}, "unfinished", ""},
	} {
		for _, engine := range engineNames {
			if engine != "claude" && test.name == "INT to act" && os.Getenv("E2E_ALL") == "" {
				continue
			}
			t.Run(engine+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				c := engineOf(t, engine, func(call) move { return move{hang: true} })
				w := newWorldOf(t, c, c.settings(""))
				if test.name == "INT to act" {
					// act takes success() inside an action for the state of the job, which is canceled; GitHub takes it for
					// the state of the action, and runs the steps of one that is used with always().
					data, err := os.ReadFile(w.path("action", "action.yml"))
					if err != nil {
						t.Fatal(err)
					}
					put(t, w.path("action"), "action.yml", once(t, "action.yml", string(data), "      id: run\n", "      id: run\n      if: always()\n"))
				}
				r := w.run(t, start{event: "issues", payload: w.opened(), during: func(act *exec.Cmd) { test.send(t, w, act) }})
				if len(c.calls()) == 0 {
					t.Fatal("nothing ran")
				}
				if r.code == 0 || r.jobs["Apply"] != "" || len(w.gh.Comments(number)) != 0 {
					t.Errorf("rc %d, jobs %v, %d comments", r.code, r.jobs, len(w.gh.Comments(number)))
				}
				if got := w.commands(t); got != "event engine context run usage" {
					t.Errorf("commands: %s", got)
				}
				if got := r.outputs["run.ended"]; got != test.ended {
					t.Errorf("ended %q, want %q", got, test.ended)
				}
				if lines := r.lines("Analyze"); len(lines) != 1 || !usageLine(regexp.QuoteMeta(c.model), ".*").MatchString(lines[0]) || !strings.Contains(lines[0], test.line) {
					t.Errorf("summary of analyze: %q", lines)
				} else {
					t.Log(lines[0])
				}
				if files := w.artifact(t, 4711, "issue-assistant-usage-1"); !strings.Contains(string(files[ledger.RecordFile]), `"ended"`) {
					t.Errorf("record: %s", files[ledger.RecordFile])
				}
				for end := time.Now().Add(10 * time.Second); len(w.engines(t)) > 0 && time.Now().Before(end); {
					time.Sleep(50 * time.Millisecond)
				}
				if left := w.engines(t); len(left) > 0 {
					t.Errorf("engines still run: %v", left)
				}
			})
		}
	}
}
