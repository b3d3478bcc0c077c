package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	spending "github.com/issue-assistant/issue-assistant/internal/usage"
)

// TestTheRunItselfIsKilled: nobody can catch KILL. What the call in flight can cost at most stands in the execution file
// already, so that the line and the record bound the bill.
func TestTheRunItselfIsKilled(t *testing.T) {
	t.Parallel()
	cmd, dir, output, engines := startRun(t)
	if err := killProcess(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("KILL did not end it")
	}
	usage := exec.CommandContext(t.Context(), cmd.Path, "usage", "--record", "record.json", "--execution-file", "execution.jsonl")
	usage.Dir = dir
	usage.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "out"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"), "GOCOVERDIR=" + dir,
	}
	if out, err := usage.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", summary)
	line := regexp.MustCompile(`^\*\*triage\*\* of #12 · claude-opus-5-5 · did not finish · 0 of 40 turns · \$0\.[0-9]{2} of \$1\.00 \(at most\)\n$`)
	if !line.Match(summary) {
		t.Errorf("%s\n%s", summary, output)
	}
	data, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rec spending.Record
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	// 16,000 tokens of answer alone are $0.32.
	if rec.CostUSD == nil || *rec.CostUSD < 0.32 || *rec.CostUSD > 1 || rec.CostBasis != spending.BasisMeter || rec.Ended != "unfinished" {
		t.Errorf("%s", data)
	}
	for _, pid := range engines {
		for n := 0; killProcess(pid, 0) == nil; n++ {
			if n == 200 {
				t.Fatalf("the engine %d is still there", pid)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}
