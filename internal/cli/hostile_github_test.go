package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// reply is an answer of a GitHub, or of a proxy before it, that lies or is broken.
type reply struct {
	status int
	header string // "Name: value" lines
	body   string
	cut    bool // the connection ends with the body
}

func (p reply) response(r *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {"application/json"}}
	for line := range strings.Lines(p.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(name, value)
	}
	var body io.Reader = strings.NewReader(p.body)
	if p.cut {
		body = io.MultiReader(body, failingReader{})
	}
	return &http.Response{
		Status: "x", StatusCode: p.status, Header: h, Body: io.NopCloser(body), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// attack is words that act on a log, a terminal, a summary or an output.
const attack = `x\n::set-output name=admin::true\r\n::add-mask::a\n%0A::stop-commands::x\u001b[2J\u001b]0;x\u0007\u202etxt\u2066\u0000`

func hostileAnswers() map[string]reply {
	issue := func(change string) string {
		return `{"number":7,"id":9007199254740993,"state":"open","title":"t","body":"b","user":{"login":"alice","type":"User"},` + change + `"x":null}`
	}
	deep := strings.Repeat(`[`, 100_000)
	return map[string]reply{
		"HTML":                       {200, "Content-Type: text/html", "<!doctype html><title>Sign in</title>", false},
		"empty":                      {200, "", "", false},
		"null":                       {200, "", "null", false},
		"true":                       {200, "", "true", false},
		"empty object":               {200, "", "{}", false},
		"empty list":                 {200, "", "[]", false},
		"cut JSON":                   {200, "", `{"number":7,"state":"op`, false},
		"cut connection":             {200, "", `[{"id":1`, true},
		"brackets":                   {200, "", deep, false},
		"closed brackets":            {200, "", deep + strings.Repeat("]", 100_000), false},
		"a million objects":          {200, "", "[" + strings.Repeat("{},", 1<<20) + "{}]", false},
		"33 MB":                      {200, "", `[{"body":"` + strings.Repeat("x", 33<<20) + `"}]`, false},
		"no UTF-8":                   {200, "", "[{\"body\":\"\xff\xfe\"}]", false},
		"NUL":                        {200, "", "\x00\x00", false},
		"numbers as texts":           {200, "", `{"number":"7","id":"1"}`, false},
		"another issue":              {200, "", `{"number":8,"state":"open","title":"t"}`, false},
		"a negative issue":           {200, "", `{"number":-7,"state":"open"}`, false},
		"a ghost":                    {200, "", issue(`"user":null,`), false},
		"null everywhere":            {200, "", issue(`"labels":[null],"assignees":null,"milestone":null,"created_at":null,"body":null,"title":null,`), false},
		"hostile names":              {200, "", issue(`"title":"` + attack + `","user":{"login":"` + attack + `"},"labels":[{"name":"` + attack + `"}],"milestone":{"title":"` + attack + `"},`), false},
		"a label of 10 kB":           {200, "", issue(`"labels":[{"name":"` + strings.Repeat("l", 10_000) + `"}],`), false},
		"a list of hostile labels":   {200, "", `[{"id":1,"name":"` + attack + `","body":"` + attack + `","user":{"login":"` + attack + `"},"event":"` + attack + `"}]`, false},
		"keys twice":                 {200, "", issue(`"number":8,"number":7,"locked":false,"locked":true,`), false},
		"year 10000":                 {200, "", issue(`"created_at":"10000-01-01T00:00:00Z",`), false},
		"redirect to another host":   {301, "Location: https://evil.example.com/repositories/1/issues/7", "", false},
		"redirect to plain http":     {302, "Location: http://api.github.com/repositories/1", "", false},
		"redirect to itself":         {301, "Location: /repositories/1", "", false},
		"redirect to nowhere":        {307, "", "", false},
		"not modified":               {304, "", "", false},
		"accepted for ever":          {202, "", "{}", false},
		"no content":                 {204, "", "", false},
		"401":                        {401, "", `{"message":"` + attack + `"}`, false},
		"403":                        {403, "", `{"message":"Resource not accessible by integration"}`, false},
		"404 of a proxy":             {404, "", "<html>nginx", false},
		"410 of a proxy":             {410, "", "<html>nginx", false},
		"422 that attacks":           {422, "", `{"message":"` + attack + `","errors":[{"message":"` + attack + `"},{"field":"` + attack + `"}]}`, false},
		"secondary limit for ever":   {403, "", `{"message":"You have exceeded a secondary rate limit."}`, false},
		"limit for 31 years":         {429, "Retry-After: 999999999", "", false},
		"limit until 9999":           {429, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", "", false},
		"a negative limit":           {429, "Retry-After: -1", "", false},
		"a reset that is no number":  {403, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: NaN", "{}", false},
		"a reset in the past":        {403, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1", "{}", false},
		"500 for ever":               {500, "", "", false},
		"502 with a page":            {502, "", "<html>::error::x", false},
		"status 999":                 {999, "", "{}", false},
		"GraphQL: null":              {200, "", `{"data":null}`, false},
		"GraphQL: no repository":     {200, "", `{"data":{"repository":null,"viewer":null}}`, false},
		"GraphQL: errors":            {200, "", `{"errors":[{"type":"` + attack + `","message":"` + attack + `"}]}`, false},
		"GraphQL: data and errors":   {200, "", `{"data":{"repository":{"issues":{"nodes":[{"number":1}]}}},"errors":[{"type":"NOT_FOUND","message":"x"}]}`, false},
		"GraphQL: limit for ever":    {200, "", `{"errors":[{"type":"RATE_LIMITED","message":"x"}]}`, false},
		"GraphQL: always a page":     {200, "", `{"data":{"repository":{"issues":{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"nodes":[null]}}}}`, false},
		"always the same page":       {200, "Link: <https://api.github.com/x?page=1>; rel=\"next\"", "[]", false},
		"page 2 for ever, elsewhere": {200, "Link: <http://evil.example.com/../x?page=2>; rel=\"next\"", "[]", false},
		"a clock in 9999":            {200, "Date: Fri, 31 Dec 9999 23:59:59 GMT", "{}", false},
		"words instead of JSON":      {418, "", strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\u001b`, "\x1b", `\u0007`, "\a", `\u202e`, "\u202e", `\u2066`, "\u2066", `\u0000`, "\x00").Replace(attack), false},
	}
}

// hostile sends what strikes to a liar, and keeps the hosts and tokens of all requests.
type hostile struct {
	real    http.RoundTripper
	strikes func(n int, r *http.Request) bool
	reply   reply
	after   bool // GitHub does it first

	mu    sync.Mutex
	n     int
	hosts []string
}

func (h *hostile) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.n++
	n := h.n
	h.hosts = append(h.hosts, r.URL.Host)
	h.mu.Unlock()
	if !h.strikes(n, r) {
		return h.real.RoundTrip(r)
	}
	if h.after {
		if resp, err := h.real.RoundTrip(r); err == nil {
			_ = resp.Body.Close()
		}
	}
	return h.reply.response(r)
}

const hostileToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// hostileStage is a repository with something for each command to do.
func hostileStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.env["GITHUB_TOKEN"] = hostileToken
	s.env["GITHUB_ACTIONS"] = "true"
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(t.TempDir(), "summary.md")
	s.env["GITHUB_OUTPUT"] = filepath.Join(t.TempDir(), "output")
	s.env["RUNNER_TEMP"] = t.TempDir()
	s.env["GITHUB_RUN_ID"], s.env["GITHUB_RUN_ATTEMPT"] = "1", "1"
	s.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
	s.env["GITHUB_EVENT_PATH"] = s.write(t, "event.json", `{"repository":{"full_name":"octo/demo","default_branch":"main"},"sender":{"login":"mona","type":"User"}}`)
	s.write(t, "answer.json", flowTriage)
	for n, title := range map[int]string{3: "An older crash", 4: "Another crash"} {
		s.AddIssue(ghapi.Issue{Number: n, Title: title, Author: ghapi.User{Login: "bob"}, Labels: []string{"needs-info"}, CreatedAt: s.Now().AddDate(0, 0, -20)})
	}
	s.AddIssue(ghapi.Issue{Number: 7, Title: "Crash", Body: "It crashes.", Author: ghapi.User{Login: "alice"}, Labels: []string{"needs-triage"}})
	s.AddComment(7, "alice", "More words.")
	s.AddAlert(ghapi.Alert{State: "open", Tool: "CodeQL", Rule: "go/x", Path: "testdata/x.go"})
	s.write(t, ".issue-assistant/findings.toml", "[[accept]]\ntool = \"CodeQL\"\nrule = \"go/x\"\nreason = \"used in tests\"\ncomment = \"x\"\npath = \"testdata/**\"\n")
	return s
}

// hostileCommands are the commands that speak to GitHub.
func hostileCommands() map[string][]string {
	return map[string][]string{
		"context":      {"context", "--task", "triage", "--issue", "7"},
		"apply":        {"apply", "--task", "triage", "--issue", "7", "--answer", flowTriage},
		"sweep":        {"sweep"},
		"labels":       {"labels"},
		"findings":     {"findings"},
		"cost":         {"cost"},
		"engine":       {"engine", "--task", "triage", "--issue", "7", "--ready-engines", "claude"},
		"similar":      {"similar", "7"},
		"similar json": {"similar", "7", "--json", "--newer"},
		"check":        {"check", "--online"},
		"chunk start":  {"chunk", "start"},
		"chunk poll":   {"chunk", "poll"},
		"chunk claim":  {"chunk", "claim", "--chunk", "3", "7"},
		"try":          {"try", "7", "--repo", "octo/demo", "--answer-file", "answer.json"},
	}
}

var (
	workflowCommand = regexp.MustCompile(`(?m)^::(error|warning|notice)[ :]`)
	anyCommand      = regexp.MustCompile(`(?m)^::|##\[`)
)

// clean holds what a command wrote against what may stand in a log.
func (s *stage) clean(t *testing.T, what string) {
	t.Helper()
	for name, text := range map[string]string{"stdout": s.out, "stderr": s.err} {
		if strings.Contains(text, hostileToken) {
			t.Errorf("%s: the token on %s", what, name)
		}
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e' || r == '\u2066')
		}); i >= 0 {
			t.Errorf("%s: %s holds %q", what, name, text[max(0, i-20):min(len(text), i+20)])
		}
		if len(anyCommand.FindAllString(text, -1)) != len(workflowCommand.FindAllString(text, -1)) {
			t.Errorf("%s: %s holds a command: %.300q", what, name, text)
		}
	}
	for line := range strings.Lines(s.err) {
		if !strings.HasPrefix(line, "issue-assistant: ") && !strings.Contains(line, ": notice: ") && !strings.HasPrefix(line, "  ") {
			t.Errorf("%s: stderr says %q", what, line)
		}
	}
	summary, _ := os.ReadFile(s.env["GITHUB_STEP_SUMMARY"])
	outputs, _ := os.ReadFile(s.env["GITHUB_OUTPUT"])
	if strings.Contains(string(summary)+string(outputs), hostileToken) || strings.Contains(string(summary), "\x1b") || strings.Contains(string(outputs), "\nadmin") {
		t.Errorf("%s: the summary or the outputs hold what they must not: %.300q %.300q", what, summary, outputs)
	}
}

// TestHostileGitHub answers every command with nothing but lies: each ends soon, with a code of the table of exit codes
// and a message, and nothing of it reaches the log as it is.
func TestHostileGitHub(t *testing.T) {
	t.Parallel()
	for name, lie := range hostileAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for command, args := range hostileCommands() {
				if len(lie.body) > 1<<20 && command != "context" && command != "cost" { // the bytes, not the commands, take the time
					continue
				}
				s := hostileStage(t)
				h := &hostile{real: s.Transport(), reply: lie, strikes: func(int, *http.Request) bool { return true }}
				s.http = h
				start := time.Now()
				code := s.run(t, args...)
				what := command + " " + name
				s.clean(t, what)
				if code < ExitOK || code > ExitFailure {
					t.Errorf("%s: exit %d", what, code)
				}
				if code != ExitOK && s.err == "" || code == ExitFailure && !strings.Contains(s.err, "hint: ") {
					t.Errorf("%s: exit %d without what to do: %q", what, code, s.err)
				}
				if h.n > 500 || time.Since(start) > time.Minute {
					t.Errorf("%s: %d requests in %v", what, h.n, time.Since(start))
				}
				if hosts := slices.Compact(h.hosts); len(hosts) > 1 {
					t.Errorf("%s: asked %q", what, hosts)
				}
				if os.Getenv("HOSTILE_SHOW") != "" {
					t.Logf("%s: exit %d, %d requests: %.300q", what, code, h.n, s.err)
				}
			}
		})
	}
}

// TestOneHostileAnswer lets one request after another of apply, sweep and labels be answered by a lie, after GitHub did
// what it was asked for, and runs the command again: nothing is posted twice and nothing is missing.
func TestOneHostileAnswer(t *testing.T) {
	t.Parallel()
	commands := [][]string{{"apply", "--task", "triage", "--issue", "7", "--answer", flowTriage}, {"sweep"}, {"labels"}}
	answers := hostileAnswers()
	for name, which := range map[string][][]string{
		"HTML": commands[:1], "empty": commands[:1], "null": commands[:1], "empty object": commands, "empty list": commands[:1], "cut JSON": commands[:1],
		"cut connection": commands[:1], "null everywhere": commands[:1], "hostile names": commands[:1], "another issue": commands[:1],
		"no content": commands[:1], "500 for ever": commands[:1], "secondary limit for ever": commands[1:], "a negative limit": commands[:1],
		"redirect to another host": commands[:1], "GraphQL: data and errors": commands[1:2], "a clock in 9999": commands[:1],
	} {
		lie, ok := answers[name]
		if !ok {
			t.Fatalf("no such lie: %s", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range which {
				want := hostileStage(t)
				if code := want.run(t, args...); code != ExitOK {
					t.Fatalf("%v: exit %d\n%s", args, code, want.err)
				}
				for n := 1; ; n++ {
					s := hostileStage(t)
					h := &hostile{real: s.Transport(), reply: lie, after: true, strikes: func(i int, _ *http.Request) bool { return i == n }}
					s.http = h
					_ = s.run(t, args...)
					what := fmt.Sprintf("%v, %s at request %d", args[0], name, n)
					s.clean(t, what)
					s.http = nil
					if code := s.run(t, args...); code != ExitOK {
						t.Errorf("%s: the second run: exit %d\n%s", what, code, s.err)
					}
					for _, issue := range []int{3, 4, 7} {
						if got, w := len(s.Comments(issue)), len(want.Comments(issue)); got != w {
							t.Errorf("%s: #%d has %d comments, want %d", what, issue, got, w)
						}
						got, _ := s.Issue(issue)
						w, _ := want.Issue(issue)
						slices.Sort(got.Labels)
						slices.Sort(w.Labels)
						if got.State != w.State || !slices.Equal(got.Labels, w.Labels) {
							t.Errorf("%s: #%d is %s %q, want %s %q", what, issue, got.State, got.Labels, w.State, w.Labels)
						}
					}
					if h.n < n {
						break
					}
				}
			}
		})
	}
}
