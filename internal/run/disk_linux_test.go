package run

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestRealFullDisk runs an engine that writes more than its disk holds.
func TestRealFullDisk(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		testtool.Unmet(t, "no small disk can be mounted here: "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ops := []string{"call"}
	for range 80 {
		ops = append(ops, `print={"type":"user","text":"`+strings.Repeat("x", 10_000)+`"}`)
	}
	o := options(t, append(ops, "call", "print="+success(okAnswer))...)
	o.ExecutionFile = filepath.Join(dir, "execution.jsonl")
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished || !res.LogCut || res.Calls != 2 {
		t.Fatalf("%+v %v", res, err)
	}
	framed(t, o.ExecutionFile)
	if info, err := os.Stat(o.ExecutionFile); err != nil || info.Size() > 512<<10 || info.Size() < 200<<10 {
		t.Errorf("%v %v", info, err)
	}
}
