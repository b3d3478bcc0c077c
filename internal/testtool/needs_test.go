package testtool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noted also notes what it skips in words with values.
type noted struct {
	recorded
}

func (n *noted) Skipf(format string, _ ...any) { n.skipped = format }

func TestNeedFindsProgramsAndFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(Root(t), "go.mod")); err != nil {
		t.Error(err)
	}
	if path := Need(t, "go"); filepath.Base(path) != "go" {
		t.Errorf("go is %s", path)
	}
	if path := NeedFile(t, "docs", "engines.md"); path != filepath.Join(Root(t), "docs", "engines.md") {
		t.Errorf("the page is %s", path)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Setenv("CI", "")
	for _, need := range []func(testing.TB){
		func(tb testing.TB) { tb.Helper(); Need(tb, "no-such-thing") },
		func(tb testing.TB) { tb.Helper(); NeedFile(tb, "no-such-thing") },
	} {
		n := &noted{recorded{TB: t}}
		need(n)
		if !strings.Contains(n.skipped, "no-such-thing") {
			t.Errorf("skipped %q", n.skipped)
		}
	}
}

func TestRootTests(t *testing.T) {
	t.Setenv("CI", "true")
	t.Setenv("ROOT_TESTS", "later")
	n := &noted{recorded{TB: t}}
	NeedRoot(n)
	if n.failed != "" || (os.Geteuid() == 0) != (n.skipped == "") {
		t.Errorf("with a second run as root: failed %q, skipped %q", n.failed, n.skipped)
	}
	t.Setenv("ROOT_TESTS", "")
	n = &noted{recorded{TB: t}}
	NeedRoot(n)
	if n.skipped != "" || (os.Geteuid() == 0) != (n.failed == "") {
		t.Errorf("on CI: failed %q, skipped %q", n.failed, n.skipped)
	}
}

func TestLongFormsAreAskedFor(t *testing.T) {
	t.Setenv("LONG_FORM_OF_A_TEST", "")
	n := &noted{recorded{TB: t}}
	if Asked(n, "LONG_FORM_OF_A_TEST", "make long"); n.skipped == "" {
		t.Error("it ran without being asked for")
	}
	t.Setenv("LONG_FORM_OF_A_TEST", "1")
	n = &noted{recorded{TB: t}}
	if Asked(n, "LONG_FORM_OF_A_TEST", "make long"); n.skipped != "" {
		t.Error(n.skipped)
	}
}
