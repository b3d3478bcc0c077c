package install

import (
	"strings"
	"testing"
)

// A tag or a branch can be moved to other code; only a whole commit hash is a pin.
func TestParsePin(t *testing.T) {
	t.Parallel()
	sha := strings.Repeat("0123abcd", 5)
	if p, err := ParsePin("octo-org/demo.action@"+sha, "v1.2.3"); err != nil || p != (Pin{"octo-org/demo.action", sha, "v1.2.3"}) {
		t.Errorf("%+v %v", p, err)
	}
	for _, action := range []string{
		"", "o/r", "o/r@", "o/r@main", "o/r@v1", "o/r@v1.2.3", "o/r@" + sha[:39], "o/r@" + sha + "0", "o/r@" + strings.ToUpper(sha), "o/r@" + sha[:39] + "g",
		"o/r@refs/heads/" + sha, "o/r@" + sha + "\n", "o@" + sha, "o/r/sub@" + sha, "-o/r@" + sha, "o/${{ x }}@" + sha, "docker://x@" + sha, "./local@" + sha,
	} {
		if p, err := ParsePin(action, "v1.2.3"); err == nil {
			t.Errorf("%q is a pin: %v", action, p)
		}
	}
	for _, version := range []string{"", "v1 # x", "v1\n", "$(x)", strings.Repeat("v", 65)} {
		if p, err := ParsePin("o/r@"+sha, version); err == nil {
			t.Errorf("%q is a version: %v", version, p)
		}
	}
}
