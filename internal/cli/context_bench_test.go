package cli

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestMemoryOfContext runs the built program with the kept list of 50,000 issues and writes the most memory that it held
// to docs/benchmarks/context-memory.md: make bench-context.
//
//nolint:paralleltest // it measures a process
func TestMemoryOfContext(t *testing.T) {
	testtool.Asked(t, "CONTEXT_BENCH", "make bench-context")
	const many, allowed = 50_000, 150
	binary := filepath.Join(t.TempDir(), "issue-assistant")
	// The program with a clock of its own: on the first of a month the list is made anew, and that is another case.
	now := time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC)
	main := filepath.Join(testtool.Root(t), "cmd", "issue-assistant", "main.go")
	source := mustRead(t, main)
	clocked := strings.NewReplacer("cli.Main(ctx, cli.System())", fmt.Sprintf("cli.Main(ctx, at(cli.System(), %d))", now.Unix()), "\"syscall\"\n", "\"syscall\"\n\t\"time\"\n").Replace(source) +
		"\nfunc at(e cli.Env, unix int64) cli.Env { e.Now = func() time.Time { return time.Unix(unix, 0) }; return e }\n"
	if clocked == source {
		t.Fatal("main.go has changed: this test cannot set its clock")
	}
	temp := t.TempDir()
	overlay := fmt.Sprintf(`{"Replace":{%q:%q}}`, main, filepath.Join(temp, "main.go"))
	for name, text := range map[string]string{"main.go": clocked, "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(temp, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(temp, "overlay.json"), "-trimpath", "-tags=nethttpomithttp2", "-ldflags=-s -w", "-o", binary, "./cmd/issue-assistant")
	build.Dir = testtool.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := ghtest.New(ghtest.Options{Now: func() time.Time { return now }, RateLimit: 1_000_000})
	lines := make([]lifecycle.Line, many)
	for i := range lines {
		at := now.Add(-time.Duration(many-i) * time.Minute)
		var body strings.Builder
		for k := 0; body.Len() < 1400; k++ {
			fmt.Fprintf(&body, "When I open file%d.go in pane %d it fails with E%05d. ", (i*7+k)%9000, k, (i*31+k*17)%70000)
		}
		lines[i] = lifecycle.Line{Number: i + 1, Title: fmt.Sprintf("Report %d about module%d", i, i%700), Body: body.String(), State: "open", Labels: []string{"bug"}, Created: at, Updated: at}
	}
	keepList(t, s, lines)
	s.AddIssue(ghapi.Issue{Number: many + 1, Title: "It fails with E00017", Body: lines[0].Body, Author: ghapi.User{Login: "alice"}})
	door := httptest.NewServer(s)
	defer door.Close()

	dir := newStage(t).dir
	cmd := exec.CommandContext(t.Context(), binary, "context", "--task", "triage", "--issue", fmt.Sprint(many+1))
	cmd.Dir = dir
	cmd.Env = []string{"GITHUB_REPOSITORY=octo/demo", "GITHUB_API_URL=" + door.URL, "GITHUB_GRAPHQL_URL=" + door.URL + "/graphql", "GITHUB_TOKEN=x", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What the kernel tells at the end of a child counts the memory of its parent before exec, which is this test.
	stop, peaks := make(chan struct{}), make(chan int)
	go func() {
		peak := 0
		for {
			select {
			case <-stop:
				peaks <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, highWater(cmd.Process.Pid))
			}
		}
	}()
	err := cmd.Wait()
	close(stop)
	peak, used := <-peaks, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if peak == 0 {
		testtool.Unmet(t, "the system does not tell the memory of a process")
	}
	if n := strings.Count(mustRead(t, filepath.Join(dir, filepath.FromSlash(materialDir), "issues.jsonl")), "\n"); n != many-1 { // with the issue itself, as many as are kept
		t.Errorf("issues.jsonl holds %d issues", n)
	}
	text := fmt.Sprintf("# Memory of `context`\n\nWritten by `make bench-context`: the program as it is built for a release, with the kept list of %d issues (%d MB unpacked).\n\n"+
		"| | measured | allowed |\n| --- | ---: | ---: |\n| most memory of the process | %d MB | %d MB |\n| processor time | %.1f s | |\n| requests | %d | |\n",
		many, len(lines)*1600>>20, peak, allowed, used.Seconds(), len(s.Log()))
	t.Log(text)
	if peak > allowed {
		t.Errorf("%d MB", peak)
	}
	if err := os.WriteFile(filepath.Join(testtool.Root(t), "docs", "benchmarks", "context-memory.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// highWater is the most memory that a process has held so far, in MB; 0: not known.
func highWater(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return kilobytes >> 10
}

func mustRead(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
