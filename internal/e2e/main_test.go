// Package e2e runs the generated workflows by act, in host mode: the workflows that install writes, this repository's
// action.yml and action.sh, the real command lines of the three engines, a GitHub in memory behind a loopback port, and
// stand-ins of the providers.
//
// What is not as on GitHub, and why:
//   - `deployment: false` is taken out of the copy of the workflows, act refuses it.
//   - A job's output that holds a secret is dropped by an expression in the copy: GitHub drops it, act does not.
//   - act copies the work tree instead of running actions/checkout; one test fetches it from a git server, as that does.
//   - actions/upload-artifact is a composite of ten lines that copies files: act's server does not speak to v7 of it.
//   - The action's dist/ holds a script instead of the program. It notes the environment that the step was given and
//     becomes the program by exec, as the wrapper became the script.
//   - npm is a script that links the engine which `make tools-engines` installed by the same lockfile; it compares them.
//   - act is built with tools/act.patch, see there: without it, it loses the last words of a step that fails.
//   - act ignores `permissions`: the script in dist/ gives each job a token of its own, and a door before the fake GitHub
//     refuses what the job was not granted (permissions_door_test.go).
//   - Environments do not exist: act ignores `environment`.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// built is the folder of the program under test, made when the first test asks for it.
type built struct {
	once sync.Once
	dir  string
	err  error
}

var binary built

func TestMain(m *testing.M) {
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}

// program builds the product as a release does and returns its path.
func program(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "issue-assistant-e2e-"); binary.err != nil { //nolint:usetesting // all tests share it
			return
		}
		if binary.err = os.Chmod(binary.dir, 0o755); binary.err != nil { // the engine's user comes through here
			return
		}
		cmd := exec.Command("go", "build", "-trimpath", "-tags=nethttpomithttp2", "-o", filepath.Join(binary.dir, "issue-assistant"), "./cmd/issue-assistant")
		cmd.Dir = testtool.Root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return filepath.Join(binary.dir, "issue-assistant")
}
