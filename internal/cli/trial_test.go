package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// TestTryReadsARealIssueAndWritesNothing plays an issue of a repository, read without a token.
func TestTryReadsARealIssueAndWritesNothing(t *testing.T) {
	t.Parallel()
	server := ghtest.New(ghtest.Options{Repo: "octo/demo"})
	server.AddLabel(ghapi.Label{Name: "bug", Color: "d73a4a"})
	server.AddIssue(ghapi.Issue{Number: 7, Title: "It breaks", Body: "Start it.", Author: ghapi.User{Login: "sam"}})
	server.AddComment(7, "sam", "Same with 1.3.")
	dir := t.TempDir()
	answer := filepath.Join(dir, "answer.json")
	text := `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"It does not start.","summary":"It breaks at the start.","analysis":"","next_steps":[],"missing_information":[],"duplicates":[],"related":[],"references":[],"sensitive_data":"none","security_report":false,"spam":false}`
	if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := Main(t.Context(), Env{
			Args: args, Getenv: func(string) string { return "" }, Environ: func() []string { return nil },
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: server.Now, Sleep: server.Advance, Dir: dir, HTTP: server.Transport(),
		})
		return code, out.String(), errs.String()
	}
	code, out, errs := run("try", "7", "--repo", "octo/demo", "--answer-file", answer)
	if code != ExitOK || !strings.Contains(out, "triage of #7: It breaks") || !strings.Contains(out, "Labels: +bug") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, r := range server.Log() {
		if r.Write() || r.Authorization != "" {
			t.Errorf("%s %s with %q", r.Method, r.Path, r.Authorization)
		}
	}
	if code, _, errs := run("try", "8", "--repo", "octo/demo", "--answer-file", answer); code != ExitFailure || !strings.Contains(errs, "404") {
		t.Errorf("an issue that is not there: exit %d\n%s", code, errs)
	}
	if code, _, _ := run("try", "7", "--repo", "no repository", "--answer-file", answer); code != ExitUsage {
		t.Errorf("a wrong repository: exit %d", code)
	}
}
