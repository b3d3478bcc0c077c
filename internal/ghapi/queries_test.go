package ghapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// operations are the GraphQL operations that stand in the source of the product.
func operations(t *testing.T) []string {
	t.Helper()
	// Errors name an operation by a format, such as "query Discussion " + number.
	start := regexp.MustCompile(`(?:^|\n)\s*(?:query|mutation|subscription)\s+([A-Za-z_]\w*)\s*[({]`)
	var found []string
	root := os.DirFS(testtool.Root(t))
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(root, top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := fs.ReadFile(root, path)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				for _, m := range start.FindAllStringSubmatch(text, -1) {
					if !strings.HasPrefix(path, "internal/ghapi/") || strings.Count(path, "/") > 2 {
						t.Errorf("%s: the operation %s stands outside of internal/ghapi, where nothing holds it against the schema", path, m[1])
					}
					found = append(found, m[1])
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestEveryQueryFitsTheSchema sends each GraphQL operation of the product through the checker, which holds the query, its
// variables and the answer against GitHub's schema. An operation that is new in the source fails until it is sent here.
func TestEveryQueryFitsTheSchema(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{Title: "x", Body: "y", Labels: []string{"bug"}, Assignees: []string{"mona"}})
	s.AddComment(n, "mona", "And?")
	s.LabelAs(n, "mona", true, "needs-info")
	s.LabelAs(n, "mona", false, "needs-info")
	s.SetStateAs(n, "mona", "closed", "completed")
	s.SetStateAs(n, "mona", "open", "reopened")
	s.EditIssue(n, "reporter", "z")
	d := s.AddDiscussion(ghapi.Discussion{Title: "d", Body: "b", Answer: "a"})
	p := s.AddPullRequest(ghapi.PullRequest{Title: "p", State: "merged", MergeCommit: strings.Repeat("a", 40), Closes: []ghapi.IssueRef{{Number: n}}})
	s.SetReviewThreads(p, true, false)

	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := c.Viewer(bg(t))
	check("viewer", err)
	issues, err := ghapi.Collect(c.Issues(bg(t), ghapi.IssueFilter{State: "open", Labels: []string{"bug"}, Since: s.Now().AddDate(-1, 0, 0), UpdatedAtSort: true}), -1)
	check("issues", err)
	discussions, err := c.Discussions(bg(t), 10)
	check("discussions", err)
	_, err = c.Discussion(bg(t), d)
	check("discussion", err)
	pulls, err := ghapi.Collect(c.PullRequests(bg(t), "merged"), -1)
	check("pull requests", err)
	closers, err := c.ClosingPullRequests(bg(t), n)
	check("closers", err)
	_, err = c.OpenReviewThreads(bg(t), p)
	check("threads", err)
	news, err := c.News(bg(t), s.Now().AddDate(-1, 0, 0))
	check("news", err)
	histories, failed := c.Histories(bg(t), []int{n})
	if h := histories[n]; len(failed) > 0 || len(h.Events) != 4 || len(h.Comments) != 1 || len(h.Closers) != 1 || h.EditedAt.IsZero() {
		t.Errorf("%+v, %v", h, failed)
	}
	_, err = c.Feedback(bg(t), p)
	check("feedback", err)
	if len(issues) != 1 || len(discussions) != 1 || len(pulls) != 1 || len(closers) != 1 || len(news.Issues) != 1 || len(news.Discussions) != 1 || len(news.Pulls) != 0 {
		t.Errorf("%d issues, %d discussions, %d pull requests, %d closers, news %+v", len(issues), len(discussions), len(pulls), len(closers), news)
	}

	sent := map[string]bool{}
	for _, r := range s.Log() {
		if r.Operation != "" {
			sent[r.Operation] = true
		}
	}
	all := operations(t)
	if len(all) < 10 {
		t.Errorf("the source holds only %v: the test reads it wrong", all)
	}
	for _, name := range all {
		if !sent[name] {
			t.Errorf("the operation %s is never sent by this test: nothing holds it against GitHub's schema", name)
		}
	}
}
