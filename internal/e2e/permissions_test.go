package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// seenUse is what the jobs of all worlds were granted and used.
type seenUse struct {
	mu      sync.Mutex
	granted map[string]grants
	used    map[string]map[string]string
	example map[string]string
}

// withChunk stands before the names of jobs in a repository with [chunk], where some are granted more.
const withChunk = "[chunk] "

func (s *seenUse) add(d *door) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	variant := ""
	if d.granted["issue-assistant-poll.yml/gate"] != nil {
		variant = withChunk
	}
	for job, g := range d.granted {
		s.granted[variant+job] = g
	}
	for request, example := range d.example {
		s.example[variant+request] = example
	}
	for job, scopes := range d.used {
		job = variant + job
		if s.used[job] == nil {
			s.used[job] = map[string]string{}
		}
		for scope, l := range scopes {
			if level(s.used[job][scope]) < level(l) {
				s.used[job][scope] = l
			}
		}
	}
}

// unused says why a job is granted what it did not use on the fake GitHub. "*" stands for every job.
var unused = map[string]string{
	"* contents: read": "actions/checkout, which is no request of ours",
}

// compare holds what was granted against what was used, both ways. Too little was said by the door when it happened.
func (s *seenUse) compare(t *testing.T) {
	t.Helper()
	excused := map[string]bool{}
	var rows []string
	for _, job := range slices.Sorted(maps.Keys(s.granted)) {
		if plain, is := strings.CutPrefix(job, withChunk); is && maps.Equal(s.granted[job], s.granted[plain]) {
			continue // compared without it
		}
		for _, scope := range slices.Sorted(maps.Keys(s.granted[job])) {
			want, got := s.granted[job][scope], s.used[job][scope]
			if plain := s.used[strings.TrimPrefix(job, withChunk)][scope]; level(plain) > level(got) {
				got = plain // the same command, in more situations
			}
			row := fmt.Sprintf("%-55s %-16s %-6s %-6s %s", job, scope, want, got, s.example[job+" "+scope+" "+got])
			if want != got {
				why := ""
				for _, key := range []string{job + " " + scope + ": " + want, "* " + scope + ": " + want} {
					if why == "" && unused[key] != "" {
						why, excused[key] = unused[key], true
					}
				}
				if row += "not used: " + why; why == "" {
					t.Errorf("%s is granted %s: %s and used %q", job, scope, want, got)
				}
			}
			rows = append(rows, row)
		}
	}
	t.Logf("job, scope, granted, used, a request:\n%s", strings.Join(rows, "\n"))
	for key := range unused {
		if !excused[key] {
			t.Errorf("the excuse for %s is not needed", key)
		}
	}
}

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
		job, method, path, body, answer string // job: the task and the job
		want                            string // a complaint; empty: none
		code                            int
	}{
		"read":              {job: "/event", method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, code: 200},
		"write":             {job: "/event", method: "POST", path: "/repos/o/r/issues/1/comments", want: `event needs issues: write`, code: 403},
		"of a task":         {job: "triage/apply", method: "PATCH", path: "/repos/o/r/issues/1", want: `triage.yml/apply needs issues: write`, code: 403},
		"another scope":     {job: "/event", method: "GET", path: "/repos/o/r/actions/runs", want: "needs actions: read", code: 403},
		"metadata":          {job: "/event", method: "GET", path: "/repos/o/r/collaborators/x/permission", answer: "{}", code: 200},
		"a pull request":    {job: "/event", method: "GET", path: "/repos/o/r/issues/1", answer: pull, want: "needs pull-requests: read", code: 403},
		"unknown address":   {job: "/event", method: "DELETE", path: "/repos/o/r", want: "stands in no row", answer: "{}", code: 200},
		"a query":           {job: "/event", method: "POST", path: "/graphql", body: query("issue(number: 1) { title }"), answer: "{}", code: 200},
		"another query":     {job: "/event", method: "POST", path: "/graphql", body: query("discussion(number: 1) { title }"), want: "needs discussions: read", code: 403},
		"the whole token":   {method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, want: "token of no job", code: 200},
		"a job of no file":  {job: "/analyze", method: "GET", path: "/repos/o/r/issues/1", answer: `{"number": 1}`, want: "token of no job", code: 200},
		"token to the blob": {job: "/event", method: "GET", path: "/_blob/1", answer: "zip", want: "went to the blob host", code: 200},
	} {
		c := &complaints{TB: t}
		d := newDoor(c, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.answer) }))
		d.read(t, dir)
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		token := theToken
		if task, job, found := strings.Cut(test.job, "/"); found {
			token = tokenOf(task, job)
		}
		r.Header.Set("Authorization", "Bearer "+token)
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
