package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// gh takes the asset of an extension's release whose name ends with the system and the architecture
// (cli/cli, pkg/cmd/extension/manager.go), and starts the program with the words after the extension's name.
func TestWorksAsAnExtensionOfGh(t *testing.T) {
	t.Parallel()
	gh := testtool.Need(t, "gh")
	home := t.TempDir()
	folder := filepath.Join(home, "gh-issue-assistant")
	if err := os.Mkdir(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "gh-issue-assistant"), "./cmd/issue-assistant")
	build.Dir = testtool.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), gh, args...)
		cmd.Dir = folder
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GH_CONFIG_DIR=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"), "GH_NO_UPDATE_NOTIFIER=1", "GH_TOKEN=none"} // gh wants one before it reads a local folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("gh %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("extension", "install", ".")
	if out := run("issue-assistant", "version"); !strings.HasPrefix(out, "issue-assistant ") {
		t.Errorf("gh issue-assistant version said %q", out)
	}
	for _, p := range platforms {
		name := p.binary()
		if !strings.HasSuffix(strings.TrimSuffix(name, ".exe"), p.os+"-"+p.arch) {
			t.Errorf("gh does not find %s for %s-%s", name, p.os, p.arch)
		}
	}
}
