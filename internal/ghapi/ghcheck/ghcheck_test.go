package ghcheck_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
)

func load(t *testing.T) *ghcheck.Checker {
	t.Helper()
	c, err := ghcheck.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What GitHub would refuse is refused here: a checker that lets everything pass would prove nothing.
func TestRequests(t *testing.T) {
	t.Parallel()
	const issue, graphql = "/repos/o/r/issues/7", "/graphql"
	for name, row := range map[string]struct {
		method, path, body string
		wrong              string // part of the complaint; empty: none
	}{
		"issue":                   {"GET", issue, "", ""},
		"Enterprise Server":       {"GET", "/api/v3" + issue, "", ""},
		"page":                    {"GET", issue + "/comments?per_page=100&page=2&since=2026-01-01T00:00:00Z", "", ""},
		"comment":                 {"POST", issue + "/comments", `{"body":"b"}`, ""},
		"label with a slash":      {"DELETE", issue + "/labels/a%2Fb", "", ""},
		"reference":               {"GET", "/repos/o/r/git/ref/heads/feature/x", "", ""},
		"another host's file":     {"GET", "/_blob/7", "", ""},
		"query":                   {"POST", graphql, `{"query":"query V { viewer { login } }"}`, ""},
		"no such path":            {"GET", issue + "/nothing", "", "no such address"},
		"no such method":          {"PUT", issue, `{}`, "no such address"},
		"label that splits":       {"DELETE", issue + "/labels/a/b", "", "no such address"},
		"parameter":               {"GET", issue + "?expand=1", "", `"expand"`},
		"page of the wrong type":  {"GET", "/repos/o/r/issues?page=x", "", "page"},
		"state of the wrong word": {"GET", "/repos/o/r/issues?state=opened", "", "state"},
		"comment without body":    {"POST", issue + "/comments", `{"text":"b"}`, "body"},
		"body of the wrong type":  {"POST", issue + "/comments", `{"body":7}`, "body"},
		"reaction":                {"POST", issue + "/reactions", `{"content":"thumbs"}`, "content"},
		"state":                   {"PATCH", issue, `{"state":"done"}`, "state"},
		"reason":                  {"PATCH", issue, `{"state":"closed","state_reason":"why"}`, "state_reason"},
		"issue that is no number": {"GET", "/repos/o/r/issues/x", "", "issue_number"},
		"GraphQL by GET":          {"GET", graphql, "", "GET"},
		"field":                   {"POST", graphql, `{"query":"query V { viewer { loginn } }"}`, "loginn"},
		"variable":                {"POST", graphql, `{"query":"query R($o: String!) { repository(owner: $o, name: \"r\") { name } }"}`, "variable"},
		"enum":                    {"POST", graphql, `{"query":"query R($s: [IssueState!]) { repository(owner: \"o\", name: \"r\") { issues(first: 1, states: $s) { totalCount } } }","variables":{"s":["opened"]}}`, "IssueState"},
		"syntax":                  {"POST", graphql, `{"query":"query {"}`, "GraphQL"},
		"two operations":          {"POST", graphql, `{"query":"query A { viewer { login } } query B { viewer { login } }"}`, "2 operations"},
		"no JSON":                 {"POST", graphql, `x`, "GraphQL body"},
	} {
		r := httptest.NewRequest(row.method, row.path, strings.NewReader(row.body))
		if row.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		err := load(t).CheckRequest(r, []byte(row.body))
		if (err == nil) != (row.wrong == "") || (err != nil && !strings.Contains(err.Error(), row.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, row.wrong)
		}
	}
	form := httptest.NewRequest("POST", issue+"/comments", strings.NewReader("body=b"))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := load(t).CheckRequest(form, []byte("body=b")); err == nil {
		t.Error("a form: no complaint")
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const label = `{"id":1,"node_id":"n","url":"https://x/y","name":"bug","color":"ededed","default":false,"description":null}`
	viewer := `{"query":"query V { viewer { login databaseId } }"}`
	list := `{"query":"query L { repository(owner: \"o\", name: \"r\") { issues(first: 1) { nodes { state author { __typename login ... on User { databaseId } } } } } }"}`
	json := http.Header{"Content-Type": {"application/json"}}
	for name, row := range map[string]struct {
		method, path, body string
		status             int
		answer             string
		wrong              string
	}{
		"labels":            {"GET", "/repos/o/r/labels", "", 200, "[" + label + "]", ""},
		"missing field":     {"GET", "/repos/o/r/labels", "", 200, `[{"id":1}]`, "node_id"},
		"wrong type":        {"GET", "/repos/o/r/labels/bug", "", 200, strings.Replace(label, "1", `"1"`, 1), "id"},
		"status":            {"GET", "/repos/o/r/labels", "", 201, "[]", "never answers 201"},
		"server error":      {"GET", "/repos/o/r/labels", "", 502, "<html>", ""},
		"not found":         {"GET", "/repos/o/r/labels/bug", "", 404, `{"message":"Not Found","documentation_url":"x"}`, ""},
		"viewer":            {"POST", "/graphql", viewer, 200, `{"data":{"viewer":{"login":"x","databaseId":1}}}`, ""},
		"errors":            {"POST", "/graphql", viewer, 200, `{"data":null,"errors":[{}]}`, ""},
		"missing":           {"POST", "/graphql", viewer, 200, `{"data":{"viewer":{"login":"x"}}}`, "databaseId is missing"},
		"not asked for":     {"POST", "/graphql", viewer, 200, `{"data":{"viewer":{"login":"x","databaseId":1,"name":"n"}}}`, "not asked for"},
		"null":              {"POST", "/graphql", viewer, 200, `{"data":{"viewer":{"login":null,"databaseId":1}}}`, "is null"},
		"type":              {"POST", "/graphql", viewer, 200, `{"data":{"viewer":{"login":"x","databaseId":1.5}}}`, "no Int"},
		"fragment":          {"POST", "/graphql", list, 200, `{"data":{"repository":{"issues":{"nodes":[{"state":"OPEN","author":{"__typename":"Bot","login":"x"}}]}}}}`, ""},
		"enum":              {"POST", "/graphql", list, 200, `{"data":{"repository":{"issues":{"nodes":[{"state":"open","author":null}]}}}}`, "no IssueState"},
		"list":              {"POST", "/graphql", list, 200, `{"data":{"repository":{"issues":{"nodes":{}}}}}`, "no list"},
		"object":            {"POST", "/graphql", list, 200, `{"data":{"repository":{"issues":7}}}`, "no object"},
		"answer is no JSON": {"POST", "/graphql", viewer, 200, `<html>`, "does not fit"},
	} {
		r := httptest.NewRequest(row.method, row.path, nil)
		r.Header.Set("Content-Type", "application/json")
		err := load(t).Check(r, []byte(row.body), row.status, json, []byte(row.answer))
		if (err == nil) != (row.wrong == "") || (err != nil && !strings.Contains(err.Error(), row.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, row.wrong)
		}
	}
}

// The handler and the transport report to the test and change nothing.
func TestWrappers(t *testing.T) {
	t.Parallel()
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write(body)
	})
	probe := &recorder{TB: t}
	server := httptest.NewServer(ghcheck.Handler(probe, next))
	defer server.Close()
	client := &http.Client{Transport: ghcheck.Transport(probe, http.DefaultTransport)}
	resp, err := client.Post(server.URL+"/repos/o/r/issues/7/comments", "application/json", strings.NewReader(`{"body":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != `{"body":"b"}` || resp.StatusCode != http.StatusAccepted {
		t.Errorf("%q %v", got, err)
	}
	if len(probe.errors) != 2 {
		t.Errorf("complaints %v, want one of each wrapper", probe.errors)
	}
}

type recorder struct {
	testing.TB
	errors []any
}

// Helper does nothing.
func (r *recorder) Helper() {}

// Error keeps a complaint.
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, args...) }
