package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// scriptGitHub is the GitHub of one script.
type scriptGitHub struct{ *ghtest.Server }

type scriptGitHubKey struct{}

const scriptToken = "script-token-0123456789abcdef"

// setupGitHub makes a GitHub that nobody serves yet.
func setupGitHub(env *testscript.Env) error {
	env.Values[scriptGitHubKey{}] = &scriptGitHub{ghtest.New(ghtest.Options{Token: scriptToken})}
	return nil
}

func gitHubOf(ts *testscript.TestScript) *scriptGitHub {
	g, ok := ts.Value(scriptGitHubKey{}).(*scriptGitHub)
	if !ok {
		ts.Fatalf("there is no GitHub")
	}
	return g
}

// cmdGitHub serves octo/demo with the issues of the files (as GitHub writes one, with "comments_list") and the starter's
// labels; mona may write. `github issue.json`.
func cmdGitHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: github [ISSUE.json...]")
	}
	g := gitHubOf(ts)
	g.SetPermission("mona", "write")
	labels, _, err := config.LoadLabels(os.DirFS(ts.Getenv("REPO")))
	ts.Check(err)
	for _, l := range labels.Labels {
		g.AddLabel(ghapi.Label{Name: l.Name, Color: l.Color, Description: l.Description})
	}
	for _, file := range args {
		_, err := g.LoadIssue([]byte(ts.ReadFile(file)))
		ts.Check(err)
	}
	server := httptest.NewServer(g)
	ts.Defer(server.Close)
	for name, value := range map[string]string{
		"GITHUB_API_URL": server.URL, "GITHUB_GRAPHQL_URL": server.URL + "/graphql", "GITHUB_REPOSITORY": "octo/demo",
		"GITHUB_TOKEN": scriptToken, "GITHUB_REF": "refs/heads/main",
	} {
		ts.Setenv(name, value)
	}
}

// cmdGitHubIssue prints an issue as it stands: state, labels and comments with their ids. `ghissue 7`.
func cmdGitHubIssue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ghissue NUMBER")
	}
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	g := gitHubOf(ts)
	i, ok := g.Issue(number)
	if !ok {
		ts.Fatalf("there is no issue #%d", number)
	}
	slices.Sort(i.Labels)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", i.State, strings.Join(i.Labels, ", "))
	for _, c := range g.Comments(number) {
		fmt.Fprintf(&b, "-- %d, %s\n%s\n", c.ID, c.Author.Login, strings.TrimRight(c.Body, "\n"))
	}
	_, err = ts.Stdout().Write([]byte(b.String()))
	ts.Check(err)
}

// cmdGitHubWrites prints what was written since the last time it was asked, oldest first. `ghwrites`, then `stdout`.
func cmdGitHubWrites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: ghwrites")
	}
	g := gitHubOf(ts)
	var b strings.Builder
	for _, r := range g.Log() {
		if r.Write() {
			fmt.Fprintf(&b, "%s %s\n", r.Method, strings.TrimPrefix(r.Path, "/repos/octo/demo"))
		}
	}
	g.ClearLog()
	_, err := ts.Stdout().Write([]byte(b.String()))
	ts.Check(err)
}

// cmdGitHubFails lets the next requests of a method and a path fail: `ghfails POST /issues/7/comments 502 lost`. lost:
// GitHub does it and the answer never arrives; always: each time.
func cmdGitHubFails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: ghfails METHOD PATH STATUS [lost] [always]")
	}
	status, err := strconv.Atoi(args[2])
	ts.Check(err)
	f := ghtest.Fault{Method: args[0], Path: "/repos/octo/demo" + args[1], Status: status, Times: 1}
	f.Lost = slices.Contains(args[3:], "lost")
	if slices.Contains(args[3:], "always") {
		f.Times = -1
	}
	gitHubOf(ts).AddFault(f)
}

// cmdGitHubCalm ends the faults. `ghcalm`.
func cmdGitHubCalm(ts *testscript.TestScript, _ bool, _ []string) { gitHubOf(ts).Calm() }
