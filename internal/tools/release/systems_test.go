package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestEverySystemCompiles: what is written on one system easily uses what another lacks. It takes a minute without a
// build cache, so only CI does it.
func TestEverySystemCompiles(t *testing.T) {
	t.Parallel()
	testtool.Asked(t, "CI", "CI=true go test ./internal/tools/release")
	for _, p := range platforms {
		if p.os == "linux" || p.os == "darwin" && p.arch == "amd64" {
			continue // built anyway, and the same files as the other darwin
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "./cmd/issue-assistant")
		cmd.Dir = testtool.Root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", p.binary(), err, out)
		}
	}
}
