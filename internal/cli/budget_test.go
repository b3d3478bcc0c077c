package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
	"github.com/issue-assistant/issue-assistant/internal/tools/buildflags"
)

// The budget of the program: bytes of a released build, and the start-up of `version` beside that of an empty Go
// program on the same machine at the same moment.
const (
	maxStartFactor = 15
	maxStart       = 15 * time.Millisecond
)

func TestSizeAndStartUpStayInTheirBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := func(name, source string, env ...string) string {
		out := filepath.Join(dir, name)
		cmd := exec.CommandContext(t.Context(), "go", append(buildflags.Args(), "-o", out, source)...)
		cmd.Dir = testtool.Root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		cmd.Env = append(cmd.Env, env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, text)
		}
		return out
	}
	empty := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, nothing := build("issue-assistant", "./cmd/issue-assistant"), build("empty", empty)
	sizes := map[string]string{"this system": program}
	if os.Getenv("CI") == "true" { // the largest of all; to build it takes minutes where nothing is cached
		sizes["windows"] = build("issue-assistant.exe", "./cmd/issue-assistant", "GOOS=windows", "GOARCH=amd64")
	}
	for system, name := range sizes {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > buildflags.MaxBytes {
			t.Errorf("the program for %s has %d bytes, more than %d", system, info.Size(), buildflags.MaxBytes)
		}
		t.Logf("%s: %.2f MB", system, float64(info.Size())/1e6)
	}
	// The fastest of many starts: whatever else the machine does can only slow one down. A busy one gets more tries.
	fits := func(ours, floor time.Duration) bool { return ours <= maxStart || ours <= maxStartFactor*floor }
	fastest, floor := time.Hour, time.Hour
	for try := 0; try < 25 || try < 400 && !fits(fastest, floor); try++ {
		fastest, floor = min(fastest, startTime(t, program, "version")), min(floor, startTime(t, nothing))
	}
	t.Logf("version %v, an empty program %v", fastest, floor)
	if !fits(fastest, floor) {
		t.Errorf("version takes %v, more than %v and than %d times an empty program's %v", fastest, maxStart, maxStartFactor, floor)
	}
}

func startTime(t *testing.T, program string, args ...string) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := exec.CommandContext(t.Context(), program, args...).Run(); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}
