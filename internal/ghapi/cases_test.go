package ghapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// Cases made from public bug reports: testdata/cases/bugs.

func readCase(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", "bugs", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// B21: the issue is locked. The comment is refused once, labels may still be set, nobody unlocks.
func TestB21LockedIssue(t *testing.T) {
	t.Parallel()
	var in struct {
		Event struct {
			Issue json.RawMessage `json:"issue"`
		} `json:"event"`
		API []struct {
			Status int `json:"status"`
			Body   struct {
				Message string `json:"message"`
			} `json:"body"`
		} `json:"api"`
	}
	readCase(t, "B21-locked-issue.json", &in)
	s, c := fake(t)
	n := must[int](t)(s.LoadIssue(in.Event.Issue))
	s.AddLabel(ghapi.Label{Name: "bug"})
	w := ghapi.NewWriter(c)
	_, err := w.CreateComment(bg(t), n, "triage", body, marker)
	if e := wantKind(t, err, ghapi.KindForbidden); e.Status != in.API[0].Status || e.Message != in.API[0].Body.Message {
		t.Errorf("%v", e)
	}
	if err := w.AddLabels(bg(t), n, "kind", "bug"); err != nil {
		t.Error(err)
	}
	if i, _ := s.Issue(n); !i.Locked || !i.HasLabel("bug") || len(s.Comments(n)) != 0 {
		t.Errorf("%+v", i)
	}
	if got := requests(s, "POST", fmt.Sprintf("/repos/octo/demo/issues/%d/comments", n)); got != 1 {
		t.Errorf("%d posts", got)
	}
}

// B22: the issue was deleted, never there, or transferred: nothing is written into another repository.
func TestB22IssueGone(t *testing.T) {
	t.Parallel()
	var in struct {
		API []struct {
			Get     string            `json:"GET"`
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
			Body    json.RawMessage   `json:"body"`
		} `json:"api"`
	}
	readCase(t, "B22-issue-gone.json", &in)
	kinds := map[int]ghapi.Kind{410: ghapi.KindGone, 404: ghapi.KindNotFound, 301: ghapi.KindMoved}
	for _, row := range in.API {
		s, c := fake(t)
		h := http.Header{}
		for k, v := range row.Headers {
			h.Set(k, v)
		}
		s.AddFault(ghtest.Fault{
			Match:  func(r ghtest.Request) bool { return strings.HasPrefix(r.Path, row.Get) },
			Status: row.Status, Header: h, Body: string(row.Body), Times: -1,
		})
		var number int
		if _, err := fmt.Sscanf(row.Get, "/repos/octo/demo/issues/%d", &number); err != nil {
			t.Fatal(err)
		}
		_, err := c.Issue(bg(t), number)
		_ = wantKind(t, err, kinds[row.Status])
		w := ghapi.NewWriter(c)
		_, posted := w.CreateComment(bg(t), number, "triage", body, marker)
		for _, err := range []error{posted, w.Close(bg(t), number, "x", "completed", 0)} {
			if !ghapi.IsGone(err) {
				t.Errorf("%d: %v", row.Status, err)
			}
		}
		for _, r := range s.Log() {
			if !strings.HasPrefix(r.Path, row.Get) {
				t.Errorf("%d: sent %s %s", row.Status, r.Method, r.Path)
			}
		}
	}
}

// The fake's own transferred issue; and a read that may follow, because the repository was only renamed.
func TestTransferAndRename(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{})
	s.TransferIssue(n, "https://api.github.com/repositories/77/issues/1")
	_, err := c.Issue(bg(t), n)
	if e := wantKind(t, err, ghapi.KindMoved); e.Location != "https://api.github.com/repositories/77/issues/1" {
		t.Errorf("%+v", e)
	}
	for location, follows := range map[string]bool{
		"/repositories/42/releases/latest":                           true,
		"https://api.github.com/repositories/42/releases/latest":     true,
		"https://api.github.com/repositories/42/actions/runs":        false,
		"https://evil.example.com/repositories/42/releases/latest":   false,
		"http://api.github.com/repositories/42/releases/latest":      false,
		"https://api.github.com:444/repositories/42/releases/latest": false,
		"https://api.github.com/repos/a/b/releases/latest":           false,
		"":   false,
		"::": false,
	} {
		var hosts []string
		o := ghapi.Options{Repo: "octo/demo", Token: "t"}
		newClock().onClock(&o)
		o.HTTP = tripper(func(r *http.Request) (*http.Response, error) {
			hosts = append(hosts, r.URL.Host)
			if strings.HasPrefix(r.URL.Path, "/repos/") {
				return answer(r, 301, http.Header{"Location": {location}}, "{}"), nil
			}
			return answer(r, 200, nil, `{"tag_name":"v1"}`), nil
		})
		_, _, err := newClient(t, o).LatestRelease(bg(t))
		if follows != (err == nil) || (!follows && len(hosts) != 1) {
			t.Errorf("%q: %v, hosts %v", location, err, hosts)
		}
	}
}

func answer(r *http.Request, status int, h http.Header, body string) *http.Response {
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// B25: limits of content creation, with and without Retry-After, and a missing permission that looks like one.
func TestB25SecondaryRateLimit(t *testing.T) {
	t.Parallel()
	var in []struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}
	readCase(t, "B25-secondary-rate-limit.json", &in)
	waits := []time.Duration{time.Minute, 7 * time.Second, time.Second, 0} // the third's reset is past
	for n, row := range in {
		b := newBench(t)
		b.clock.at = time.Unix(1790000100, 0)
		b.w = ghapi.NewWriter(b.c)
		f := postFault(row.Status)
		for k, v := range row.Headers {
			f.Header.Set(k, v)
		}
		f.Body = string(row.Body)
		once := f
		b.s.AddFault(once)
		_, err := b.comment(t)
		if n == 3 {
			_ = wantVerdict(t, err, "failed", 1, 403)
			_ = wantKind(t, err, ghapi.KindForbidden)
		} else if err != nil || len(b.s.Comments(b.issue)) != 1 {
			t.Errorf("%d: %v", n, err)
		}
		if b.clock.total() != waits[n] {
			t.Errorf("%d: waited %v, want %v", n, b.clock.slept, waits[n])
		}
		if n == 3 {
			continue
		}
		// For good: a few tries, then a clear end, and nothing posted.
		b = newBench(t)
		b.clock.at = time.Unix(1790000100, 0)
		f.Times = -1
		b.s.AddFault(f)
		_, err = b.comment(t)
		_ = wantVerdict(t, err, "failed", 2, row.Status)
		_ = wantKind(t, err, ghapi.KindRateLimited)
	}
}

// Reads wait two minutes in sum, longer each time GitHub does not say, and then say when to come back.
func TestWaitBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	limit := ghtest.Fault{Status: 403, Body: `{"message":"You have exceeded a secondary rate limit"}`, Times: -1}
	b.s.AddFault(limit)
	_, err := b.c.Issue(t.Context(), b.issue)
	e := wantKind(t, err, ghapi.KindRateLimited)
	if b.clock.total() != time.Minute || len(b.s.Log()) != 2 || !e.RetryAt.Equal(b.clock.now().Add(2*time.Minute)) {
		t.Errorf("waited %v, %d requests, come back at %v", b.clock.slept, len(b.s.Log()), e.RetryAt)
	}
	if !strings.Contains(err.Error(), "try again after 2026-03-01 10:03:00 UTC") {
		t.Errorf("%v", err)
	}
	// What is left is shared by all requests.
	_, err = b.c.Labels(t.Context())
	_ = wantKind(t, err, ghapi.KindRateLimited)
	_, err = b.c.Repository(t.Context())
	_ = wantKind(t, err, ghapi.KindRateLimited)
	if b.clock.total() > 2*time.Minute {
		t.Errorf("waited %v", b.clock.slept)
	}
}

// GraphQL says its limit with 200.
func TestGraphQLRateLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s.AddFault(ghtest.Fault{Method: "POST", Path: "/graphql", Status: 200, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`})
	list, err := ghapi.Collect(b.c.Issues(t.Context(), ghapi.IssueFilter{}), -1)
	if err != nil || len(list) != 1 || b.clock.total() != time.Minute {
		t.Errorf("%d, %v, waited %v", len(list), err, b.clock.slept)
	}
	b.s.AddFault(ghtest.Fault{Method: "POST", Path: "/graphql", Status: 200, Body: `{"errors":[{"message":"API rate limit exceeded"}]}`, Times: -1})
	_, err = b.c.Viewer(t.Context())
	if e := wantKind(t, err, ghapi.KindRateLimited); e.RetryAt.IsZero() {
		t.Errorf("%+v", e)
	}
}

// The server's own limit: the primary one, with its reset.
func TestPrimaryRateLimit(t *testing.T) {
	t.Parallel()
	ck := newClock()
	s := ghtest.New(ghtest.Options{Now: ck.now, RateLimit: 3})
	s.AddIssue(ghapi.Issue{})
	o := s.ClientOptions()
	o.Sleep = ck.sleep
	c := newClient(t, o)
	_, err1 := c.Labels(bg(t))
	_, err2 := c.Milestones(bg(t))
	_, err3 := c.Repository(bg(t))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	_, err := c.Issue(bg(t), 1)
	if e := wantKind(t, err, ghapi.KindRateLimited); e.RetryAt.Sub(ck.now()) < 59*time.Minute || ck.total() != 0 {
		t.Errorf("come back at %v, waited %v", e.RetryAt, ck.slept)
	}
}

// B27: a proxy's page is one short line.
func TestB27HTMLErrorBody(t *testing.T) {
	t.Parallel()
	var in struct {
		Status      int    `json:"status"`
		ContentType string `json:"content_type"`
		Body        string `json:"body"`
	}
	readCase(t, "B27-html-error-body.json", &in)
	s, c := fake(t)
	s.AddFault(ghtest.Fault{Status: in.Status, Body: in.Body, Header: http.Header{"Content-Type": {in.ContentType}}, Times: -1})
	_, err := c.Issue(bg(t), 7)
	if e := wantKind(t, err, ghapi.KindServer); e.Status != 503 || err.Error() != "GET /repos/octo/demo/issues/7: 503 server error: an HTML page instead of an answer" {
		t.Errorf("%v", err)
	}
	_, err = c.Viewer(bg(t))
	_ = wantKind(t, err, ghapi.KindServer)
	s.Calm()
	s.AddFault(ghtest.Fault{Status: 200, Body: in.Body, Header: http.Header{"Content-Type": {in.ContentType}}, Times: -1})
	_, err = c.Issue(bg(t), 7)
	_ = wantKind(t, err, ghapi.KindUnreadable)
}

// Words of an error never carry control characters, escapes or a second line.
func TestErrorWords(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	s.AddIssue(ghapi.Issue{})
	for _, words := range []string{
		`{"message":"a\n::error::b\u001b[31m\u202e"}`, `{"message":"` + strings.Repeat("ü", 5000) + `"}`, "\x00\x01::add-mask::x", `["x"]`, `{"message":7}`, "",
		`{"message":"Validation Failed","errors":[{"resource":"Label","field":"name","code":"already_exists"}]}`, `{"message":"m","errors":["plain"]}`,
	} {
		s.AddFault(ghtest.Fault{Status: 422, Body: words + " "})
		_, err := c.Issue(bg(t), 1)
		if _ = wantKind(t, err, ghapi.KindInvalid); strings.ContainsAny(err.Error(), "\x00\u202e") {
			t.Errorf("%q", err)
		}
	}
}

// B28: addresses of Enterprise Server, with ports and slashes at the end; the token goes to no other host.
func TestB28EnterpriseURLs(t *testing.T) {
	t.Parallel()
	var in []map[string]string
	readCase(t, "B28-ghes-urls.json", &in)
	want := [][3]string{
		{"https://ghe.example.com/api/v3/repos/o/r/issues/7", "https://ghe.example.com/api/graphql", "https://ghe.example.com/o/r/issues/7"},
		{"https://ghe.example.com:8443/api/v3/repos/o/r/issues/7", "https://ghe.example.com:8443/api/graphql", "https://ghe.example.com:8443/o/r/issues/7"},
		{"https://api.octo.ghe.com/repos/o/r/issues/7", "https://api.octo.ghe.com/graphql", "https://octo.ghe.com/o/r/issues/7"},
		{"https://api.github.com/repos/o/r/issues/7", "https://api.github.com/graphql", "https://github.com/o/r/issues/7"},
	}
	for n, env := range in {
		var got []string
		o := ghapi.Options{APIURL: env["GITHUB_API_URL"], GraphQLURL: env["GITHUB_GRAPHQL_URL"], ServerURL: env["GITHUB_SERVER_URL"], Repo: "o/r", Token: "secret"}
		newClock().onClock(&o)
		o.HTTP = tripper(func(r *http.Request) (*http.Response, error) {
			got = append(got, r.URL.String())
			if r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("User-Agent") != "issue-assistant" {
				t.Errorf("headers %v", r.Header)
			}
			return answer(r, 200, nil, `{"number":7,"data":{"viewer":{"login":"x"}}}`), nil
		})
		c := newClient(t, o)
		_, err1 := c.Issue(bg(t), 7)
		_, err2 := c.Viewer(bg(t))
		if errors.Join(err1, err2) != nil || len(got) != 2 || got[0] != want[n][0] || got[1] != want[n][1] || c.IssueURL(7) != want[n][2] {
			t.Errorf("%v: %v %v, page %s", env, got, errors.Join(err1, err2), c.IssueURL(7))
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		o    ghapi.Options
		want string // what the error says; empty: none
	}{
		"server only, Enterprise Server": {ghapi.Options{ServerURL: "https://ghe.example.com"}, ""},
		"server only, ghe.com":           {ghapi.Options{ServerURL: "https://octo.ghe.com/"}, ""},
		"this machine":                   {ghapi.Options{APIURL: "http://127.0.0.1:1234", Token: "t"}, ""},
		"localhost":                      {ghapi.Options{APIURL: "http://localhost:1234", Token: "t"}, ""},
		"default port":                   {ghapi.Options{APIURL: "https://x.example/api/v3", GraphQLURL: "https://X.example:443/api/graphql"}, ""},
		"in the clear":                   {ghapi.Options{APIURL: "http://ghe.example.com/api/v3", Token: "t"}, "not https"},
		"no address":                     {ghapi.Options{APIURL: "ghe.example.com"}, "GITHUB_API_URL"},
		"file":                           {ghapi.Options{APIURL: "file:///etc/passwd"}, "GITHUB_API_URL"},
		"user":                           {ghapi.Options{APIURL: "https://u:p@ghe.example.com"}, "GITHUB_API_URL"},
		"query":                          {ghapi.Options{ServerURL: "https://ghe.example.com?x=1"}, "GITHUB_SERVER_URL"},
		"graphql elsewhere":              {ghapi.Options{GraphQLURL: "https://evil.example.com/graphql"}, "one host"},
		"repository without name":        {ghapi.Options{Repo: "octo"}, "owner/name"},
		"repository with three parts":    {ghapi.Options{Repo: "a/b/c"}, "owner/name"},
		"repository that climbs":         {ghapi.Options{Repo: "a/.."}, "owner/name"},
		"repository with a line":         {ghapi.Options{Repo: "a/b\n::error::"}, "owner/name"},
	} {
		if row.o.Repo == "" {
			row.o.Repo = "o/r"
		}
		newClock().onClock(&row.o)
		_, err := ghapi.New(row.o)
		if (err == nil) != (row.want == "") || (err != nil && (!strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n"))) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ghapi.New(ghapi.Options{Repo: "o/r"}); err == nil {
		t.Error("no clock: no error")
	}
}

// A read is tried again once after a failure of the server or the connection, not more.
func TestReadsAreRepeatedOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []ghtest.Fault{{Status: 500}, {Status: 502}, {Lost: true}, {Cut: true}} {
		s, c := fake(t)
		n := s.AddIssue(ghapi.Issue{Title: "t"})
		s.AddFault(f)
		if i, err := c.Issue(bg(t), n); err != nil || i.Title != "t" || len(s.Log()) != 2 {
			t.Errorf("%+v: %v after %d requests", f, err, len(s.Log()))
		}
		f.Times = -1
		s.AddFault(f)
		s.ClearLog()
		if _, err := c.Labels(bg(t)); err == nil || len(s.Log()) != 2 {
			t.Errorf("%+v: %v after %d requests", f, err, len(s.Log()))
		}
		if c.Requests() != 4 {
			t.Errorf("%d requests counted", c.Requests())
		}
	}
}

// 10,000 issues are read in at most 110 requests.
func TestTenThousandIssues(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{})
	for range 10_000 {
		s.AddIssue(ghapi.Issue{Title: "t"})
	}
	c := newClient(t, s.ClientOptions()) // without the checker, which would take a minute
	n := 0
	for _, err := range c.Issues(bg(t), ghapi.IssueFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 10_000 || c.Requests() > 110 {
		t.Errorf("%d issues in %d requests", n, c.Requests())
	}
}
