package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

// TestSamplesAreSafe holds the comment of every sample against the checker, with a policy of its own.
func TestSamplesAreSafe(t *testing.T) {
	t.Parallel()
	names := sampleNames()
	if len(names) != 10 {
		t.Errorf("%d samples: %v", len(names), names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := System()
			env.Stdout, env.Stderr, env.Dir = io.Discard, io.Discard, t.TempDir()
			env.Now = func() time.Time { return time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC) }
			f := tryFlags{engine: engineReplay, task: "triage"}
			s, err := (&app{Env: env}).newTrial(t.Context(), name, f)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			s.task = "triage"
			if err := s.play(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if s.ended != "finished" {
				t.Errorf("ended: %s", s.ended)
			}
			if own := s.ours(); len(own) > 1 || len(own) == 0 && name != "spam" {
				t.Errorf("%d comments", len(own))
			}
			issue, _ := s.server.Issue(s.issue)
			for _, body := range s.ours() {
				m, ok := comment.ParseMarker(body)
				if !ok {
					t.Fatalf("no marker: %s", body)
				}
				p := sanitize.Policy{
					Owner: "example", Repo: "tidybox", Reporter: issue.Author.Login, SHAs: []string{sampleCommit},
					Issues: map[int]bool{17: true, 31: true, 38: true}, Template: []string{m.String()},
				}
				// Each heading of the template once: one that the AI imitates is a problem.
				seen := map[string]bool{}
				for line := range strings.Lines(body) {
					line = strings.TrimRight(line, "\n")
					if (strings.HasPrefix(line, "### ") || strings.HasPrefix(line, "> [!")) && !seen[line] {
						seen[line] = true
						p.Template = append(p.Template, line)
					}
				}
				if problems := sanitize.CheckComment(body, p); len(problems) > 0 {
					t.Errorf("%v in %s", problems, body)
				}
			}
		})
	}
}
