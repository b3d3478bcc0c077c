package ghaction

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestOutputsOnAFullDisk fills the disk in the middle of an output and of a summary: what stood there stays as it was.
func TestOutputsOnAFullDisk(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		testtool.Unmet(t, "needs a machine where root may mount: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	r := Runner{OutputFile: filepath.Join(dir, "output"), SummaryFile: filepath.Join(dir, "summary")}
	if err := errors.Join(r.SetOutputs(Output{"task", "triage"}), r.AddSummary("first\n")); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 100<<10)
	for name, err := range map[string]error{"output": r.SetOutputs(Output{"answer", large + "\nb"}), "summary": r.AddSummary(large)} {
		data, read := os.ReadFile(filepath.Join(dir, name))
		if !errors.Is(err, syscall.ENOSPC) || read != nil || bytes.ContainsRune(data, 'x') {
			t.Errorf("%s: %v, %v, %d bytes stand there", name, err, read, len(data))
		}
	}
	if err := r.SetOutputs(Output{"reason", "no disk"}); err != nil {
		t.Errorf("there is space again: %v", err)
	}
}

// A device is no file that could be cut.
func TestOutputsToAFullDevice(t *testing.T) {
	t.Parallel()
	r := Runner{OutputFile: "/dev/full", SummaryFile: "/dev/full"}
	for what, err := range map[string]error{"output": r.SetOutputs(Output{"a", "b"}), "summary": r.AddSummary("x")} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
