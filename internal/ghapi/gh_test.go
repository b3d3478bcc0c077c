package ghapi_test

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// GitHub's own client reads and writes the fake: what our client and the fake might get wrong together, it does not.
func TestGHAsAnotherClient(t *testing.T) {
	t.Parallel()
	program := testtool.Need(t, "gh")
	s := ghtest.New(ghtest.Options{Token: "ghs_test"})
	n := s.AddIssue(ghapi.Issue{Title: "Crash on start", Body: "b", Labels: []string{"kind/bug"}, Author: ghapi.User{Login: "alice"}})
	for range 130 {
		s.AddComment(n, "alice", "hello")
	}
	// gh speaks TLS only, and to an Enterprise Server's addresses, which the fake knows.
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	cert := filepath.Join(dir, "cert.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(cert, block, 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	host := "127.0.0.1:" + u.Port()
	gh := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GH_HOST=" + host, "GH_ENTERPRISE_TOKEN=ghs_test", "GH_REPO=" + host + "/octo/demo",
			"SSL_CERT_FILE=" + cert, "GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GH_CONFIG_DIR=" + dir,
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gh %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	issue := "repos/octo/demo/issues/" + strconv.Itoa(n)
	if got := gh("api", issue, "--jq", `.title + " " + .user.login + " " + .labels[0].name`); got != "Crash on start alice kind/bug" {
		t.Errorf("issue: %q", got)
	}
	// Pages by Link.
	if got := strings.Count(gh("api", issue+"/comments?per_page=50", "--paginate", "--jq", ".[].id"), "\n") + 1; got != 130 {
		t.Errorf("%d comments", got)
	}
	gh("api", issue+"/comments", "-f", "body=from gh")
	gh("api", issue+"/labels", "-f", "labels[]=needs info")
	gh("api", "-X", "DELETE", issue+"/labels/kind%2Fbug")
	gh("api", "-X", "PATCH", issue, "-f", "state=closed", "-f", "state_reason=not_planned")
	i, _ := s.Issue(n)
	if i.Comments != 131 || strings.Join(i.Labels, ",") != "needs info" || i.State != "closed" || i.StateReason != "not_planned" {
		t.Errorf("issue %+v", i)
	}
	if got := gh("api", "graphql", "-F", "owner=octo", "-F", "name=demo", "-f",
		`query=query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { issues(first: 5, states: [CLOSED]) { nodes { number title } } } }`,
		"--jq", ".data.repository.issues.nodes[0].title"); got != "Crash on start" {
		t.Errorf("graphql: %q", got)
	}
	for _, r := range s.Log() {
		if r.Status >= http.StatusBadRequest {
			t.Errorf("%s %s: %d", r.Method, r.Path, r.Status)
		}
	}
}
