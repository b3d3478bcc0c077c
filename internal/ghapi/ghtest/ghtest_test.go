package ghtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// got is an answer whose body was read. Nil: there was none.
type got struct {
	StatusCode int
	Header     http.Header
}

func do(t *testing.T, client *http.Client, method, url, body string) (*got, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err.Error()
	}
	return &got{resp.StatusCode, resp.Header}, string(text)
}

func TestLoopbackServer(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{Token: "good"})
	n := s.AddIssue(ghapi.Issue{Title: "t"})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client := server.Client()

	resp, body := do(t, client, "GET", server.URL+"/repos/octo/demo/issues/1", "")
	etag := resp.Header.Get("Etag")
	if resp.StatusCode != 200 || etag == "" || resp.Header.Get("X-Ratelimit-Limit") != "5000" || !strings.Contains(body, `"url":"`+server.URL+"/repos/octo/demo/issues/1") {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/repos/octo/demo/issues/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", etag)
	again, err := client.Do(req)
	if err != nil || again.StatusCode != http.StatusNotModified {
		t.Errorf("%v %v", again, err)
	}
	_ = again.Body.Close()
	if resp, _ = do(t, client, "POST", server.URL+"/repos/octo/demo/issues/1/comments", `{"body":"b"}`); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("write without a token: %d", resp.StatusCode)
	}
	if resp, _ = do(t, client, "GET", server.URL+"/repos/other/repo/issues/1", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another repository: %d", resp.StatusCode)
	}
	// Faults reach a real connection.
	for _, f := range []ghtest.Fault{{Lost: true}, {Cut: true}} {
		s.AddFault(f)
		s.AddFault(f) // net/http tries a read again when a kept connection is closed before an answer
		if resp, body := do(t, client, "GET", server.URL+"/repos/octo/demo/issues/1", ""); resp != nil {
			t.Errorf("%+v: %d %s", f, resp.StatusCode, body)
		}
		s.Calm()
	}
	s.AddFault(ghtest.Fault{Delay: 20 * time.Millisecond})
	start := time.Now()
	if resp, _ := do(t, client, "GET", server.URL+"/repos/octo/demo/issues/1", ""); resp == nil || time.Since(start) < 20*time.Millisecond {
		t.Error("no delay")
	}
	if last := s.Log()[len(s.Log())-1]; last.Fault != "delay" || last.Status != 200 || last.Write() {
		t.Errorf("log %+v", last)
	}
	s.DisableIssues()
	if resp, _ := do(t, client, "GET", server.URL+"/repos/octo/demo/issues/1", ""); resp.StatusCode != http.StatusGone {
		t.Errorf("issues off: %d", resp.StatusCode)
	}
	_ = n
}

// The same seed and the same requests give the same faults.
func TestChaosIsRepeatable(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) string {
		s := ghtest.New(ghtest.Options{})
		s.AddIssue(ghapi.Issue{})
		s.Chaos(seed, 0.5)
		client := &http.Client{Transport: s.Transport()}
		for range 50 {
			do(t, client, "POST", "https://api.github.com/repos/octo/demo/issues/1/comments", `{"body":"b"}`)
		}
		var faults []string
		for _, r := range s.Log() {
			faults = append(faults, r.Fault)
		}
		return strings.Join(faults, ",")
	}
	if a, b := run(1), run(1); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if run(1) == run(2) {
		t.Error("another seed, the same faults")
	}
	for _, kind := range []string{"status 500", "status 429", "lost 0", "lost 502", "cut", "empty"} {
		if !strings.Contains(run(1)+run(2)+run(3), kind) {
			t.Errorf("never %s", kind)
		}
	}
}

func TestLoadIssue(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{})
	n, err := s.LoadIssue([]byte(`{"number":12,"title":"t","body":null,"state":"closed","user":{"login":"alice"},"labels":[{"name":"bug"}],
		"created_at":"2026-02-01T00:00:00Z","comments_list":[{"user":null,"body":"c","created_at":"2026-02-02T00:00:00Z"},{"user":{"login":"bob"},"body":"d"}]}`))
	if err != nil || n != 12 {
		t.Fatal(n, err)
	}
	i, _ := s.Issue(12)
	c := s.Comments(12)
	if i.Author.Login != "alice" || i.State != "closed" || i.Labels[0] != "bug" || len(c) != 2 || c[0].Author.Login != "ghost" || c[1].CreatedAt.IsZero() {
		t.Errorf("%+v %+v", i, c)
	}
	if _, err := s.LoadIssue([]byte(`[`)); err == nil {
		t.Error("no JSON: no error")
	}
	if _, err := s.LoadIssue([]byte(`{"number":"x"}`)); err == nil {
		t.Error("wrong type: no error")
	}
}

func TestAsksForWhatGitHubAsksFor(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{})
	s.AddIssue(ghapi.Issue{Title: "t"})
	s.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/a.yml", State: "disabled_manually"})
	s.AddAlert(ghapi.Alert{})
	id := s.AddComment(1, "bob", "x")
	client := &http.Client{Transport: s.Transport()}
	const base = "https://api.github.com/repos/octo/demo"
	long := strings.Repeat("x", 65537)
	for _, row := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/issues/1/comments", `{"body":" "}`, 422},
		{"POST", "/issues/1/comments", `{"body":"` + long + `"}`, 422},
		{"POST", "/issues/1/comments", `{`, 400},
		{"PATCH", "/issues/comments/1", `{"body":"x"}`, 404},
		{"PATCH", "/issues/1", `{"state":"done"}`, 422},
		{"PATCH", "/issues/1", `{"milestone":7}`, 422},
		{"PATCH", "/issues/1", `{"duplicate_issue_id":7}`, 422},
		{"PATCH", "/issues/1", `{"title":"new","labels":["a"]}`, 200},
		{"POST", "/issues", `{"title":""}`, 422},
		{"POST", "/issues", `{"title":"t","body":"` + long + `"}`, 422},
		{"POST", "/issues/1/labels", `["plain"]`, 200},
		{"POST", "/issues/1/labels", `{"labels":[{"name":"made","rationale":"r"}]}`, 200},
		{"POST", "/issues/1/labels", `{"labels":[""]}`, 422},
		{"POST", "/issues/1/reactions", `{"content":"no"}`, 422},
		{"POST", "/labels", `{"name":"made"}`, 422},
		{"POST", "/labels", `{}`, 422},
		{"PATCH", "/labels/made", `{"new_name":"plain"}`, 422},
		{"PATCH", "/labels/none", `{}`, 404},
		{"POST", "/milestones", `{}`, 422},
		{"POST", "/actions/workflows/a.yml/dispatches", `{"ref":"main"}`, 422},
		{"PUT", "/actions/workflows/a.yml/enable", "", 204},
		{"POST", "/actions/workflows/a.yml/dispatches", `{"ref":"none"}`, 422},
		{"POST", "/actions/workflows/none.yml/dispatches", `{"ref":"main"}`, 404},
		{"PATCH", "/code-scanning/alerts/1", `{"state":"dismissed"}`, 422},
		{"GET", "/issues?since=yesterday", "", 422},
		{"GET", "/issues?labels=plain,made&creator=REPORTER", "", 200},
		{"GET", "/commits/abc", "", 422},
		{"GET", "/commits?sha=none", "", 404},
		{"GET", "/compare/a", "", 404},
		{"GET", "/git/trees/x", "", 404},
		{"GET", "/nothing", "", 404},
	} {
		resp, body := do(t, client, row.method, base+row.path, row.body)
		if resp == nil {
			t.Errorf("%s %s: %s", row.method, row.path, body)
			continue
		}
		if resp.StatusCode != row.status {
			t.Errorf("%s %s %.40s: %d, want %d: %.200s", row.method, row.path, row.body, resp.StatusCode, row.status, body)
		}
		if body != "" && !json.Valid([]byte(body)) {
			t.Errorf("%s %s: no JSON", row.method, row.path)
		}
	}
	if resp, _ := do(t, client, "GET", "https://api.github.com/rate_limit", ""); resp.StatusCode != 200 {
		t.Errorf("rate limit: %d", resp.StatusCode)
	}
	if resp, _ := do(t, client, "DELETE", base+"/issues/comments/"+jsonNumber(id), ""); resp.StatusCode != 204 {
		t.Errorf("delete: %d", resp.StatusCode)
	}
}

func jsonNumber(n int64) string {
	b, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(b)
}

func TestGraphQLErrors(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{})
	s.AddIssue(ghapi.Issue{})
	client := &http.Client{Transport: s.Transport()}
	const repo = `repository(owner: \"octo\", name: \"demo\")`
	for query, want := range map[string]string{
		`{ viewer { login } }`:                                               `{"data":{"viewer":{"login":"github-actions[bot]"}}}`,
		`# c\n{ who: viewer { login, __typename } }`:                         `"who":{"login"`,
		`{ viewer { nothing } }`:                                             `Field 'nothing' doesn't exist on type 'User'`,
		`{ viewer }`:                                                         `must have selections`,
		`{ viewer { ...X } }`:                                                `Fragment X was used, but not defined`,
		`{ ` + repo + ` { issues { totalCount } } }`:                         `You must provide a`,
		`{ ` + repo + ` { issues(first: 101) { totalCount } } }`:             `exceeds the`,
		`{ ` + repo + ` { issues(last: 1) { nodes { number } } } }`:          `"number":1`,
		`{ ` + repo + ` { issues(first: 1, after: \"x\") { totalCount } } }`: `valid cursor`,
		`{ ` + repo + ` { issue(number: 9) { title } } }`:                    `Could not resolve to an Issue`,
		`{ repository(owner: \"a\", name: \"b\") { name } }`:                 `Could not resolve to a Repository`,
		`query X($n: Int = 1, $s: [IssueState!]) { ` + repo + ` { issues(first: $n, states: $s) { totalCount } } }`: `"totalCount":1`,
		`mutation { nothing { x } }`:    `doesn't exist on type 'Mutation'`,
		`{ viewer { login }`:            `Parse error`,
		`{ viewer(x: \"a) { login } }`:  `Parse error`,
		`subscription { x }`:            `Parse error`,
		``:                              `Parse error`,
		strings.Repeat("{ viewer ", 50): `too deep`,
		`{ viewer(x: [[1, -2.5], {a: true, b: null, c: ENUM}]) { login } }`: `"login"`,
	} {
		_, body := do(t, client, "POST", "https://api.github.com/graphql", `{"query":"`+query+`"}`)
		if !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
	if _, body := do(t, client, "POST", "https://api.github.com/graphql", `x`); !strings.Contains(body, "Problems parsing JSON") {
		t.Error(body)
	}
}

// No query makes the parser loop or panic.
func FuzzGraphQL(f *testing.F) {
	for _, q := range []string{
		`{ viewer { login } }`, `query A($x: [Int!]! = [1]) { a: repository(owner: $x, name: "n\"") { ...F ... on X { y } } } fragment F on X { z }`,
		`{`, `"`, `...`, `{a(b:[`, `query(`, "# only", `{ ...F } fragment F on Query { ...F }`,
	} {
		f.Add(q)
	}
	s := ghtest.New(ghtest.Options{RateLimit: 1 << 60})
	f.Fuzz(func(t *testing.T, q string) {
		body, err := json.Marshal(map[string]string{"query": q})
		if err != nil {
			t.Fatal(err)
		}
		resp, got := do(t, &http.Client{Transport: s.Transport()}, "POST", "https://api.github.com/graphql", string(body))
		if resp == nil || resp.StatusCode != 200 || !json.Valid([]byte(got)) {
			t.Fatalf("%q: %s", q, got)
		}
	})
}
