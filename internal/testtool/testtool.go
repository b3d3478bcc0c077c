// Package testtool finds the programs that tests need beside Go.
//
// What is missing is a named skip on a developer's machine and a failure when CI=true. Tests skip through this package
// only, which a test of it holds: a skip that nobody sees is a check that nobody makes.
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
	Unmet(t, name+" is not installed: `make tools` installs it")
}

// Unmet ends the test because the machine lacks something: a skip that says what, a failure when CI=true.
func Unmet(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
		return
	}
	t.Skip(what)
}

// NeedRoot ends the test without root. With ROOT_TESTS=later, as .ci/run has it for a user who may become root, the same
// test runs once more as root, so it is a skip on CI too.
func NeedRoot(t testing.TB) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("ROOT_TESTS") == "later":
		t.Skip("needs root; .ci/run runs it as root afterwards")
	default:
		Unmet(t, "needs root")
	}
}

// Asked ends what is no check of go test, unless the variable is set: the long form of a test whose short form always
// runs, a measurement, or a generator of files. How names the command that runs it.
func Asked(t testing.TB, variable, how string) {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skipf("runs when %s is set: %s", variable, how)
	}
}
