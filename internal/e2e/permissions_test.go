package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// complaints collects what a door reports.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper() {}

func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}
func (c *complaints) Error(args ...any) { c.said = append(c.said, fmt.Sprint(args...)) }

// TestDoor: the door that the other tests rely on refuses what a job was not granted, and a token of no job.
func TestDoor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, ".github/workflows/issue-assistant.yml", `jobs:
  event: {permissions: {issues: read}}
  call: {uses: ./.github/workflows/issue-assistant-triage.yml, permissions: {issues: read, contents: read}}
`)
	put(t, dir, ".github/workflows/issue-assistant-triage.yml", "jobs:\n  analyze: {permissions: {issues: read}}\n  apply: {permissions: {issues: read}}\n")
	query := func(q string) string {
		return `{"query": "query X { repository(owner: \"o\", name: \"r\") { ` + q + ` } }"}`
	}
	pull := `{"number": 1, "pull_request": {}}`
	for name, test := range map[string]struct {
		token, method, path, body, answer string // token: what stands behind the one that act hands out
		want                              string // a complaint; empty: none
		code                              int
	}{
		"read":              {token: "..event", method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, code: 200},
		"write":             {token: "..event", method: "POST", path: "/repos/o/r/issues/1/comments", want: `event needs issues: write`, code: 403},
		"of a task":         {token: ".triage.apply", method: "PATCH", path: "/repos/o/r/issues/1", want: `triage.yml/apply needs issues: write`, code: 403},
		"another scope":     {token: "..event", method: "GET", path: "/repos/o/r/actions/runs", want: "needs actions: read", code: 403},
		"metadata":          {token: "..event", method: "GET", path: "/repos/o/r/collaborators/x/permission", answer: "{}", code: 200},
		"a pull request":    {token: "..event", method: "GET", path: "/repos/o/r/issues/1", answer: pull, want: "needs pull-requests: read", code: 403},
		"unknown address":   {token: "..event", method: "DELETE", path: "/repos/o/r", want: "stands in no row", answer: "{}", code: 200},
		"a query":           {token: "..event", method: "POST", path: "/graphql", body: query("issue(number: 1) { title }"), answer: "{}", code: 200},
		"another query":     {token: "..event", method: "POST", path: "/graphql", body: query("discussion(number: 1) { title }"), want: "needs discussions: read", code: 403},
		"the whole token":   {token: "", method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, want: "token of no job", code: 200},
		"a job of no file":  {token: "..analyse", method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, want: "token of no job", code: 200},
		"token to the blob": {token: "..event", method: "GET", path: "/_blob/1", answer: "zip", want: "went to the blob host", code: 200},
	} {
		c := &complaints{TB: t}
		d := newDoor(c, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.answer) }))
		d.read(t, dir)
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		r.Header.Set("Authorization", "Bearer "+theToken+test.token)
		answer := httptest.NewRecorder()
		d.ServeHTTP(answer, r)
		if answer.Code != test.code || (len(c.said) == 0) != (test.want == "") || !strings.Contains(strings.Join(c.said, "\n"), test.want) {
			t.Errorf("%s: %d, %q", name, answer.Code, c.said)
		}
	}
	// A caller that grants less than the called file asks for stops the whole caller.
	text, err := os.ReadFile(filepath.Join(dir, ".github/workflows/issue-assistant-triage.yml"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, ".github/workflows/issue-assistant-triage.yml", once(t, "triage", string(text), "apply: {permissions: {issues: read}}", "apply: {permissions: {issues: write}}"))
	c := &complaints{TB: t}
	readGrants(c, dir)
	if len(c.said) != 1 || !strings.Contains(c.said[0], "GitHub would not load the caller") {
		t.Errorf("%q", c.said)
	}
}

// TestEveryAddressHasItsPermission: the fake answers nothing that the table does not know.
func TestEveryAddressHasItsPermission(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "internal", "ghapi", "ghtest", "route.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(data)) {
		call, found := strings.CutPrefix(strings.TrimSpace(line), "add(")
		if !found || !strings.Contains(call, "(*call)") {
			continue
		}
		method, rest, _ := strings.Cut(call, ", ")
		path, _, _ := strings.Cut(rest, ",")
		path = strings.Trim(strings.Replace(path, "repo", "/repos/{owner}/{repo}", 1), `+"`)
		path = strings.Replace(path, `"`, "", 1) // repo+"/issues"
		path = strings.Replace(path, "+", "", 1)
		method = map[string]string{"get": "GET", "post": "POST", "patch": "PATCH", "put": "PUT", "del": "DELETE"}[method]
		// What check --online reads, with a maintainer's own token.
		if strings.Contains(path, "/actions/permissions") || strings.Contains(path, "/variables/") || strings.Contains(path, "/secrets/") || strings.Contains(path, "/environments/") {
			continue
		}
		seen++
		r := httptest.NewRequest(method, "/", nil)
		if path != "/graphql" {
			if _, err := needed(r, path, nil); err != nil {
				t.Error(err)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d addresses were read", seen)
	}
}
