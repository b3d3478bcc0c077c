// Package testtool finds the programs that tests need beside Go.
//
// A program that is missing is a named skip on a developer's machine and a failure when CI=true.
package testtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Root is the folder of the repository that holds the running test.
func Root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the test binary does not know its source file")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Need returns the path of a program: .tools/bin of the repository first, then PATH.
func Need(t testing.TB, name string) string {
	t.Helper()
	local := filepath.Join(Root(t), ".tools", "bin", name)
	if _, err := os.Stat(local); err == nil {
		return local
	}
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name)
	}
	return path
}

// NeedFile returns the path of a file below the repository that `make tools` installs.
func NeedFile(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Root(t)}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		Missing(t, filepath.Join(elem...))
	}
	return path
}

// Missing ends the test: a skip with the tool's name, a failure when CI=true.
func Missing(t testing.TB, name string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: run `make tools`", name)
	}
	t.Skipf("%s is not installed: `make tools` installs it", name)
}
