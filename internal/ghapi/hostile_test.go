package ghapi_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

type handler func(w http.ResponseWriter, r *http.Request)

func says(status int, body string, header ...string) handler {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func repeated(before, text string, n int, after string) handler {
	return says(200, before+strings.Repeat(text, n)+after)
}

// zipped sends n bytes of blanks, a thousandth of them on the wire.
func zipped(n int) handler {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		blank := make([]byte, 64<<10)
		for i := range blank {
			blank[i] = ' '
		}
		for i := 0; i < n; i += len(blank) {
			if _, err := z.Write(blank); err != nil {
				return
			}
		}
		_ = z.Close()
	}
}

// endless sends a body without an end, as fast as it is read.
func endless(status int) handler {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, err := io.WriteString(w, `[{"body":"`)
		for chunk := strings.Repeat("x", 64<<10); err == nil && r.Context().Err() == nil; {
			_, err = io.WriteString(w, chunk)
		}
	}
}

// drips sends a byte now and then.
func drips(w http.ResponseWriter, r *http.Request) {
	for i := 0; ; i++ {
		if _, err := io.WriteString(w, "["); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func lies(length int, body string) handler {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = io.WriteString(w, body)
	}
}

const limitWords = `{"message":"You have exceeded a secondary rate limit."}`

// hostileReplies are answers to the read of a list of comments, each with the kind of error that it must end in; "" is
// an answer that can be used.
func hostileReplies() map[string]struct {
	reply handler
	kind  ghapi.Kind
} {
	type row = struct {
		reply handler
		kind  ghapi.Kind
	}
	return map[string]row{
		"HTML with 200":                      {says(200, "<!doctype html><p>sign in", "Content-Type", "text/html"), ghapi.KindUnreadable},
		"HTML with 404":                      {says(404, "<html>no such page", "Content-Type", "text/html"), ghapi.KindServer},
		"HTML with 410":                      {says(410, "<html>gone", "Content-Type", "text/html"), ghapi.KindServer},
		"HTML with 502":                      {says(502, "<html>bad gateway"), ghapi.KindServer},
		"nothing with 200":                   {says(200, ""), ghapi.KindUnreadable},
		"white space with 200":               {says(200, " \n\t "), ghapi.KindUnreadable},
		"null":                               {says(200, "null"), ghapi.KindUnreadable},
		"a number":                           {says(200, "7"), ghapi.KindUnreadable},
		"a text":                             {says(200, `"[]"`), ghapi.KindUnreadable},
		"an object instead of a list":        {says(200, `{"message":"hello"}`), ghapi.KindUnreadable},
		"cut JSON":                           {says(200, `[{"id":1,"body":"x"`), ghapi.KindUnreadable},
		"cut JSON that ends well":            {says(200, `[{"id":1},{"user":{"login":"a"}`), ghapi.KindUnreadable},
		"cut inside of an entry":             {says(200, `[{"id":1},{"id":]`), ghapi.KindUnreadable},
		"two answers in one":                 {says(200, `[]<html>`), ghapi.KindUnreadable},
		"a number as a text":                 {says(200, `[{"id":"1"}]`), ghapi.KindUnreadable},
		"a text as a number":                 {says(200, `[{"id":1,"body":7}]`), ghapi.KindUnreadable},
		"an id with a fraction":              {says(200, `[{"id":1.5}]`), ghapi.KindUnreadable},
		"an id above 2^63":                   {says(200, `[{"id":9223372036854775808}]`), ghapi.KindUnreadable},
		"an id above 2^53":                   {says(200, `[{"id":9007199254740993}]`), ""},
		"a negative id":                      {says(200, `[{"id":-7}]`), ""},
		"null entries":                       {says(200, `[null,null]`), ""},
		"null members":                       {says(200, `[{"id":1,"user":null,"body":null,"created_at":null}]`), ""},
		"keys twice":                         {says(200, `[{"id":1,"id":2,"user":{"login":"a"},"user":null}]`), ""},
		"a time that is none":                {says(200, `[{"id":1,"created_at":"yesterday"}]`), ghapi.KindUnreadable},
		"a time in the year 10000":           {says(200, `[{"id":1,"created_at":"10000-01-01T00:00:00Z"}]`), ghapi.KindUnreadable},
		"a time in the year 9999":            {says(200, `[{"id":1,"created_at":"9999-12-31T23:59:59Z"}]`), ""},
		"a time as a huge number":            {says(200, `[{"id":1,"created_at":9223372036854775807}]`), ""},
		"100,000 brackets":                   {repeated("", "[", 100_000, strings.Repeat("]", 100_000)), ghapi.KindTooLarge},
		"100,000 open objects":               {repeated(`[`, `{"a":`, 100_000, "]"), ghapi.KindTooLarge},
		"a million empty objects":            {repeated("[", "{},", 1_000_000, "{}]"), ghapi.KindTooLarge},
		"a million numbers":                  {repeated("[", "1,", 1_000_000, "1]"), ghapi.KindTooLarge},
		"two million members":                {repeated("[{", `"a":1,`, 2_000_000, `"b":2}]`), ghapi.KindTooLarge},
		"text of brackets":                   {repeated(`[{"id":1,"body":"`, `[{,\"`, 300_000, `"}]`), ""},
		"no UTF-8":                           {says(200, "[{\"id\":1,\"body\":\"\xff\xfe\xc3(\"}]"), ""},
		"a NUL byte in a text":               {says(200, "[{\"id\":1,\"body\":\"a\x00b\"}]"), ghapi.KindUnreadable},
		"NUL bytes instead of JSON":          {says(200, "\x00\x00\x00"), ghapi.KindUnreadable},
		"half of a surrogate pair":           {says(200, `[{"id":1,"body":"\ud800"}]`), ""},
		"a byte order mark":                  {says(200, "\ufeff[]"), ghapi.KindUnreadable},
		"a gigabyte of blanks, packed":       {zipped(1 << 30), ghapi.KindTooLarge},
		"gzip that is none":                  {says(200, "[]", "Content-Encoding", "gzip"), ghapi.KindNetwork},
		"a body without an end":              {endless(200), ghapi.KindTooLarge},
		"an error's body without an end":     {endless(422), ghapi.KindInvalid},
		"a byte now and then":                {drips, ghapi.KindTimeout},
		"less than announced":                {lies(1000, "[]"), ghapi.KindNetwork},
		"to itself":                          {func(w http.ResponseWriter, r *http.Request) { says(301, "", "Location", r.URL.String())(w, r) }, ghapi.KindMoved},
		"to another host":                    {says(302, "", "Location", "https://evil.example.com/repos/o/r/issues/7"), ghapi.KindForeignHost},
		"to another host without a scheme":   {says(307, "", "Location", "//evil.example.com/x"), ghapi.KindForeignHost},
		"to another host's port":             {says(308, "", "Location", "http://127.0.0.1:1/repositories/1/issues/7/comments"), ghapi.KindForeignHost},
		"to a file":                          {says(301, "", "Location", "file:///etc/passwd"), ghapi.KindForeignHost},
		"to a place above":                   {says(301, "", "Location", "/api/v3/repositories/1/../../user"), ghapi.KindMoved},
		"to a place that is none":            {says(301, "", "Location", "http://[::1"), ghapi.KindForeignHost},
		"to nowhere":                         {says(302, ""), ghapi.KindForeignHost},
		"not modified, and never asked":      {says(304, ""), ghapi.KindForeignHost},
		"accepted":                           {says(202, "{}"), ghapi.KindNotReady},
		"no content":                         {says(204, ""), ghapi.KindUnreadable},
		"a limit for 31 years":               {says(403, limitWords, "Retry-After", "999999999"), ghapi.KindRateLimited},
		"a limit of more digits than a word": {says(429, "", "Retry-After", strings.Repeat("9", 400)), ghapi.KindRateLimited},
		"a negative limit":                   {says(429, "", "Retry-After", "-5"), ghapi.KindRateLimited},
		"a limit until the year 9999":        {says(429, "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), ghapi.KindRateLimited},
		"a limit until 1970":                 {says(429, "", "Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"), ghapi.KindRateLimited},
		"a reset in the past":                {says(403, "{}", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"), ghapi.KindRateLimited},
		"a reset that is no number":          {says(403, "{}", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "NaN"), ghapi.KindRateLimited},
		"a reset at the end of time":         {says(403, "{}", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "9223372036854775807"), ghapi.KindRateLimited},
		"a secondary limit for ever":         {says(403, limitWords), ghapi.KindRateLimited},
		"500 for ever":                       {says(500, `{"message":"x"}`), ghapi.KindServer},
		"a status that is none":              {says(999, "{}"), ghapi.KindServer},
		"words that act on a terminal":       {says(422, `{"message":"\u001b]0;x\u0007\n::set-output name=a::b\r\u202e%0A","errors":[{"message":"\u0000"}]}`), ghapi.KindInvalid},
		"a megabyte of words":                {says(422, `{"message":"`+strings.Repeat("w", 60_000)+`"}`), ghapi.KindInvalid},
		"errors that are texts":              {says(422, `{"message":"no","errors":["a","b"]}`), ghapi.KindInvalid},
		"401 of a proxy":                     {says(401, "<html>"), ghapi.KindUnauthorized},
		"407":                                {says(407, "<html>"), ghapi.KindInvalid},
		"451":                                {says(451, `{"message":"Repository access blocked","block":{"reason":"dmca"}}`), ghapi.KindInvalid},
		"the next page is this one":          {says(200, "[]", "Link", `<https://api.github.com/x?page=1>; rel="next"`), ""},
		"the next page is before this one":   {says(200, "[]", "Link", `<https://api.github.com/x?page=-3>; rel="next"`), ""},
		"the next page is elsewhere":         {says(200, "[]", "Link", `<http://evil.example.com/../x?page=1>; rel="next"`), ""},
		"the next page is no number":         {says(200, "[]", "Link", `<x?page=99999999999999999999>; rel="next", <;;>, ,`), ""},
		"there is always a next page": {func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("page"))
			says(200, `[{"id":1,"body":"x"}]`, "Link", fmt.Sprintf(`<https://evil.example.com/x?page=%d>; rel="next"`, n+1))(w, r)
		}, ghapi.KindTooLarge},
		"there is always an empty next page": {func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("page"))
			says(200, `[]`, "Link", fmt.Sprintf(`<x?page=%d>; rel="next"`, n+1))(w, r)
		}, ghapi.KindTooLarge},
	}
}

// TestHostileReplies reads a list from servers that lie, break off, never end, or send what only looks like an answer.
func TestHostileReplies(t *testing.T) {
	t.Parallel()
	for name, row := range hostileReplies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) { row.reply(w, r) })
			c := s.ours(t, func(o *ghapi.Options) {
				o.MaxAnswer, o.MaxRequests = 16<<20, 200
				if name == "a byte now and then" {
					o.AttemptTimeout = 300 * time.Millisecond
				}
			})
			_, err := c.Comments(t.Context(), 7)
			if row.kind == "" {
				if err != nil {
					t.Error(err)
				}
			} else {
				_ = wantKind(t, err, row.kind)
			}
			if len(s.requests()) > 200 {
				t.Errorf("%d requests", len(s.requests()))
			}
		})
	}
}

// Whatever page a search, a list of runs, artifacts, commits or changed issues says is next, reading ends.
func TestNoListIsEndless(t *testing.T) {
	t.Parallel()
	s := newServer(t, false, func(n int, w http.ResponseWriter, r *http.Request) {
		body := `{"items":[],"workflow_runs":[],"artifacts":[],"workflows":[],"jobs":[]}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/graphql"):
			body = fmt.Sprintf(`{"data":{"repository":{"issues":{"pageInfo":{"hasNextPage":true,"endCursor":"c%d"},"nodes":[null]}}}}`, n)
		case strings.HasSuffix(r.URL.Path, "/commits"), strings.HasSuffix(r.URL.Path, "/issues") && !strings.Contains(r.URL.Path, "search"):
			body = `[]`
		}
		says(200, body, "Link", fmt.Sprintf(`<x?page=%d>; rel="next"`, n+1))(w, r)
	})
	for name, read := range map[string]func(*ghapi.Client) error{
		"search":    func(c *ghapi.Client) error { _, err := c.SearchIssues(t.Context(), "x", 20); return err },
		"runs":      func(c *ghapi.Client) error { _, err := c.Runs(t.Context(), ghapi.RunFilter{}); return err },
		"artifacts": func(c *ghapi.Client) error { _, err := c.Artifacts(t.Context(), "x", 5); return err },
		"commits":   func(c *ghapi.Client) error { _, err := c.Commits(t.Context(), "", time.Time{}, 5); return err },
		"workflows": func(c *ghapi.Client) error { _, err := c.Workflows(t.Context()); return err },
		"jobs":      func(c *ghapi.Client) error { _, err := c.Jobs(t.Context(), 1); return err },
		"changed": func(c *ghapi.Client) error {
			_, err := ghapi.Collect(c.IssuesSince(t.Context(), time.Time{}), -1)
			return err
		},
		"issues": func(c *ghapi.Client) error {
			_, err := ghapi.Collect(c.Issues(t.Context(), ghapi.IssueFilter{}), -1)
			return err
		},
	} {
		c := s.ours(t, func(o *ghapi.Options) { o.MaxRequests, o.GraphQLURL = 50, s.URL+"/graphql" })
		if e := wantKind(t, read(c), ghapi.KindTooLarge); c.Requests() != 50 {
			t.Errorf("%s: %d requests, %v", name, c.Requests(), e)
		}
	}
}

// A clock that says that an hour has passed in requests ends them, and so does a gigabyte of answers.
func TestRequestsEndInTimeAndSpace(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	o := ghapi.Options{Repo: "o/r", Sleep: func(time.Duration) {}, Now: func() time.Time { at = at.Add(20 * time.Second); return at }}
	o.HTTP = tripper(func(r *http.Request) (*http.Response, error) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		return answer(r, 200, http.Header{"Link": {fmt.Sprintf(`<x?page=%d>; rel="next"`, page+1)}}, "[]"), nil
	})
	c := newClient(t, o)
	_, err := c.Comments(t.Context(), 7)
	if e := wantKind(t, err, ghapi.KindTooLarge); !strings.Contains(e.Message, "1h") || c.Requests() > 200 {
		t.Errorf("%d requests: %v", c.Requests(), err)
	}
}

// What is small on the wire may not be large in memory: a page of objects of two bytes each.
func TestAnswersStaySmallInMemory(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	body := "[" + strings.Repeat("{},", 2<<20) + "{}]"
	o := ghapi.Options{Repo: "o/r"}
	newClock().onClock(&o)
	o.HTTP = tripper(func(r *http.Request) (*http.Response, error) { return answer(r, 200, nil, body), nil })
	c := newClient(t, o)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Milestones(t.Context())
	runtime.ReadMemStats(&after)
	_ = wantKind(t, err, ghapi.KindTooLarge)
	if got := after.TotalAlloc - before.TotalAlloc; got > 100<<20 { // 800 MB were decoded of it
		t.Errorf("%d MB allocated for an answer of %d MB", got>>20, len(body)>>20)
	}
}

// A redirect of any kind, of a read, a query or a write, reaches no second host and no second try of a write.
func TestRedirectsOfWrites(t *testing.T) {
	t.Parallel()
	foreign := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, place := range []string{foreign.URL + "/x", "//" + strings.TrimPrefix(foreign.URL, "http://") + "/x", "/api/v3/repositories/1/issues/7/comments", ""} {
			s := newServer(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", place)
				w.WriteHeader(status)
			})
			_, err := ghapi.NewWriter(s.ours(t)).CreateComment(t.Context(), 7, "x", "words m", "m")
			var e *ghapi.WriteError
			if !errors.As(err, &e) || e.Verdict != ghapi.VerdictFailed || len(s.requests()) != 1 {
				t.Errorf("%d to %q: %v after %q", status, place, err, s.requests())
			}
		}
	}
	if got := foreign.requests(); len(got) != 0 {
		t.Errorf("the foreign host got %q", got)
	}
}

// TestClocksApart loses the answer of a write while the two clocks are years apart: it is found and made once.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for _, years := range []int{-30, -1, 0, 1, 30} {
		t.Run(strconv.Itoa(years), func(t *testing.T) {
			t.Parallel()
			s := ghtest.New(ghtest.Options{})
			o := s.ClientOptions()
			o.Now = func() time.Time { return s.Now().AddDate(years, 0, 0) }
			c := newClient(t, o)
			w := ghapi.NewWriter(c)
			n := s.AddIssue(ghapi.Issue{})
			s.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/x.yml", State: "active"})
			_ = must[ghapi.Issue](t)(c.Issue(bg(t), n)) // the first answer tells the time
			for _, path := range []string{fmt.Sprintf("/repos/octo/demo/issues/%d/comments", n), "/repos/octo/demo/issues", "/repos/octo/demo/actions/workflows/x.yml/dispatches"} {
				s.AddFault(ghtest.Fault{Method: "POST", Path: path, Lost: true})
			}
			_ = must[ghapi.Comment](t)(w.CreateComment(bg(t), n, "x", "words <!-- m -->", "<!-- m -->"))
			_ = must[ghapi.Issue](t)(w.CreateIssue(bg(t), "x", ghapi.IssueDraft{Title: "t", Body: "b <!-- i -->", Marker: "<!-- i -->"}))
			if err := w.Dispatch(bg(t), "x", "x.yml", "main", nil); err != nil {
				t.Error(err)
			}
			for _, r := range w.Results() {
				if r.Attempts != 1 || r.Verdict != ghapi.VerdictConfirmed {
					t.Errorf("%+v", r)
				}
			}
			if got := len(s.Comments(n)); got != 1 {
				t.Errorf("%d comments", got)
			}
		})
	}
}

// A clock in an answer that is nonsense moves nothing: what was posted is found all the same.
func TestNonsenseClock(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"Wed, 01 Jan 2200 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"} {
		s := ghtest.New(ghtest.Options{})
		o := s.ClientOptions()
		inner := o.HTTP
		o.HTTP = tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := inner.RoundTrip(r)
			if err == nil {
				resp.Header.Set("Date", date)
			}
			return resp, err
		})
		c := newClient(t, o)
		n := s.AddIssue(ghapi.Issue{})
		_ = must[ghapi.Issue](t)(c.Issue(bg(t), n))
		s.AddFault(ghtest.Fault{Method: "POST", Lost: true})
		_ = must[ghapi.Comment](t)(ghapi.NewWriter(c).CreateComment(bg(t), n, "x", "words m", "m"))
		if got := len(s.Comments(n)); got != 1 {
			t.Errorf("%s: %d comments", date, got)
		}
	}
}

// GraphQL answers that say nothing are no empty lists and no account.
func TestHostileQueries(t *testing.T) {
	t.Parallel()
	for body, kind := range map[string]ghapi.Kind{
		``:                              ghapi.KindUnreadable,
		`null`:                          ghapi.KindUnreadable,
		`[]`:                            ghapi.KindUnreadable,
		`{}`:                            ghapi.KindUnreadable,
		`<html>`:                        ghapi.KindUnreadable,
		`{"data":null}`:                 ghapi.KindUnreadable,
		`{"data":{}}`:                   ghapi.KindUnreadable,
		`{"data":7}`:                    ghapi.KindUnreadable,
		`{"data":{"repository":null}}`:  ghapi.KindUnreadable,
		`{"data":{ "viewer" : null }}`:  ghapi.KindUnreadable,
		`{"data":{"repository":{}`:      ghapi.KindUnreadable,
		`{"data":{"repository":[]}}`:    ghapi.KindUnreadable,
		`{"errors":[null],"data":null}`: ghapi.KindGraphQL,
		`{"errors":"no"}`:               ghapi.KindUnreadable,
		`{"errors":[{"type":7}]}`:       ghapi.KindUnreadable,
		`{"errors":[{"type":"NOT_FOUND","message":"::error::x\n\u001b"}],"data":{"repository":{"issues":{"nodes":[{"number":1}]}}}}`:    ghapi.KindNotFound,
		`{"data":{"repository":{"issues":{"nodes":[{"number":"1"}]}}}}`:                                                                 ghapi.KindUnreadable,
		`{"data":{"repository":{"issues":{"nodes":[{"createdAt":"never"}]}}}}`:                                                          ghapi.KindUnreadable,
		`{"data":{"repository":{"issues":{"nodes":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}}}`:              ghapi.KindTooLarge,
		`{"data":{"repository":{"issues":{"nodes":[` + strings.Repeat("{},", 300_000) + `{}]}}}}`:                                       ghapi.KindTooLarge,
		`{"errors":[{"message":"` + strings.Repeat("w", 1<<20) + `"}]}`:                                                                 ghapi.KindGraphQL,
		`{"data":{"repository":{"issues":{"pageInfo":null,"nodes":null}}}}`:                                                             "",
		`{"data":{"repository":{"issues":{"pageInfo":{"hasNextPage":true,"endCursor":null},"nodes":[null,{"author":null}]}}}}`:          "",
		`{"data":{"repository":{"issues":{"nodes":[{"number":-1,"labels":null,"milestone":null,"assignees":{"nodes":null}}]}}}}`:        "",
		`{"data":{"repository":{"issues":{"pageInfo":{"hasNextPage":true,"endCursor":"same"},"nodes":[{"number":9007199254740993}]}}}}`: "",
	} {
		s := newServer(t, false, func(_ int, w http.ResponseWriter, r *http.Request) { says(200, body)(w, r) })
		c := s.ours(t)
		_, err := ghapi.Collect(c.Issues(t.Context(), ghapi.IssueFilter{}), -1)
		if kind == "" {
			if err != nil {
				t.Errorf("%.80s: %v", body, err)
			}
		} else {
			_ = wantKind(t, err, kind)
		}
		if _, err := c.Viewer(t.Context()); err == nil {
			t.Errorf("%.80s: an account", body)
		}
	}
}
