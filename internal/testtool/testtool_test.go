package testtool

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoOtherSkips: tests skip through this package, where CI=true makes what is missing a failure.
func TestNoOtherSkips(t *testing.T) {
	t.Parallel()
	root := Root(t)
	skip := regexp.MustCompile(`\b(?:t|tb|b|f)\.Skip(?:f|Now)?\(|testing\.Short\(`)
	seen := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || (strings.HasPrefix(d.Name(), ".") && path != root)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || filepath.Dir(path) == filepath.Join(root, "internal", "testtool"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(string(data), "testing.TB") {
			return nil
		}
		seen++
		for i, line := range strings.Split(string(data), "\n") {
			if skip.MatchString(line) {
				t.Errorf("%s:%d skips by itself: use testtool.Need, NeedFile, NeedRoot, Unmet or Asked", path, i+1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d files were read", seen)
	}
}

// recorded is a test that only notes how it ended.
type recorded struct {
	testing.TB
	failed, skipped string
}

func (r *recorded) Helper() {}

func (r *recorded) Fatal(args ...any) { r.failed, _ = args[0].(string) }
func (r *recorded) Skip(args ...any)  { r.skipped, _ = args[0].(string) }

func TestMissingFailsOnCI(t *testing.T) { //nolint:paralleltest // it sets the environment
	for ci, fails := range map[string]bool{"true": true, "": false, "false": false} {
		t.Setenv("CI", ci)
		r := &recorded{TB: t}
		Missing(r, "some-tool")
		if (r.failed != "") != fails || (r.skipped != "") == fails || !strings.Contains(r.failed+r.skipped, "some-tool is not installed") {
			t.Errorf("CI=%q: failed %q, skipped %q", ci, r.failed, r.skipped)
		}
	}
}
