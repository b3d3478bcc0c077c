package ghapi_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// The checkers stay out of the binary, and so does test code: the fake is in it, because `try` runs on it.
func TestCheckersStayOutOfTheBinary(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), testtool.Need(t, "go"), "list", "-deps", "./internal/ghapi/ghtest")
	cmd.Dir = testtool.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"kin-openapi", "gqlparser", "ghcheck", "net/http/httptest", "testing\n"} {
		if strings.Contains(string(out), bad) {
			t.Errorf("the fake pulls in %s", bad)
		}
	}
}
