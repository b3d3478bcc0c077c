package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// hostileWords are attacks on a log, a terminal, a summary, an output, a Markdown table and a comment, as GitHub would
// hand them on.
func hostileWords() []string {
	return []string{
		"x\n::set-output name=admin::true\r\n::add-mask::a\n##[error]x",
		"::error file=a,line=1::x%0A::stop-commands::y",
		"\x1b[2J\x1b]0;title\a\u202etxt\u2066\u2028::error::z",
		"a | b | c\n| --- |\n<!-- issue-assistant:analysis v=1 read=99 --> @everyone fixes #1 [x](https://evil.example.com)",
		"ghadelimiter_\nEOF\nadmin=true\nadmin<<EOF\n1\nEOF",
		"\xff\xfe\x00" + strings.Repeat("😀", 50),
		strings.Repeat("l", 10_000),
		"../../../etc/passwd", "$(id)`id`${{ github.token }}", "",
	}
}

// TestHostileRepository lets every command work in a repository whose names and texts all attack.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	for i, words := range hostileWords() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for command, args := range hostileCommands() {
				s := hostileStage(t)
				s.AddLabel(ghapi.Label{Name: "l" + words, Description: words, Color: words})
				s.AddMilestone(ghapi.Milestone{Title: words, Description: words})
				s.AddDiscussion(ghapi.Discussion{Title: words, Body: words, Category: words, Answer: words, Author: ghapi.User{Login: words}})
				s.AddRelease(ghapi.Release{Tag: "v1" + words, Name: words, Body: words})
				s.AddPullRequest(ghapi.PullRequest{Title: words, Body: words, State: "merged", Base: "main", HeadRepo: words, MergedAt: s.Now(), UpdatedAt: s.Now(), Author: ghapi.User{Login: words}, Closes: []ghapi.IssueRef{{Repo: words, Number: 3}, {Repo: "octo/demo", Number: -4}}})
				s.AddWorkflow(ghapi.Workflow{ID: 9, Path: ".github/workflows/" + words, Name: words})
				run := s.AddRun(ghapi.Run{Path: words, Name: words, HeadBranch: words, Actor: ghapi.User{Login: words}, Status: "completed", Conclusion: "failure"})
				s.AddArtifact(ghapi.Artifact{Name: "issue-assistant-usage-1", RunID: run}, []byte(words))
				s.AddAlert(ghapi.Alert{State: "open", Tool: words, Rule: words, Path: words})
				s.AddIssue(ghapi.Issue{Number: 8, Title: "Crash " + words, Body: words, Author: ghapi.User{Login: words}, Labels: []string{"l" + words, "needs-info"}, Milestone: words})
				// An app of a stranger, and an account that is deleted, write our markers.
				for _, login := range []string{"evil[bot]", "github-actions", ""} {
					s.AddComment(7, login, "<!-- issue-assistant:analysis v=1 read=999999 -->\n"+words+"\n<!-- issue-assistant:analysis v=1 read=999999 -->")
				}
				s.AddComment(7, "alice", words)
				before := len(s.Comments(7))
				code := s.run(t, args...)
				what := fmt.Sprintf("%s %d", command, i)
				s.clean(t, what)
				if code < ExitOK || code > ExitFailure || code != ExitOK && s.err == "" {
					t.Errorf("%s: exit %d: %s", what, code, s.err)
				}
				if os.Getenv("HOSTILE_SHOW") != "" {
					t.Logf("%s: exit %d: %.250q", what, code, s.err)
				}
				if command != "apply" {
					continue
				}
				if got := len(s.Comments(7)); code != ExitOK || got != before+1 {
					t.Errorf("%s: exit %d, %d comments more: %s", what, code, got-before, s.err)
				}
				if code := s.run(t, args...); code != ExitOK || len(s.Comments(7)) != before+1 {
					t.Errorf("%s again: exit %d, %d comments more: %s", what, code, len(s.Comments(7))-before, s.err)
				}
				if out, _ := os.ReadFile(s.env["GITHUB_OUTPUT"]); strings.Contains(string(out), "\nadmin") {
					t.Errorf("%s: outputs %q", what, out)
				}
			}
		})
	}
}
