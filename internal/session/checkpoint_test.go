package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func plainFence(s string) string { return "~~~~text\n" + s + "\n~~~~\n" }

func TestCheckpointHasItsHeadings(t *testing.T) {
	t.Parallel()
	c := Checkpoint{Task: "follow-up", Issue: 7, Done: "DONE", Decisions: []string{"one", "two"}, Questions: "ASKED", Files: "FILES", Next: "NEXT", Through: 31}
	last := -1
	s := c.Markdown(plainFence)
	for _, part := range []string{
		"# Checkpoint", "## Objective\n\nfollow-up of issue #7\n", "## Done\n\n~~~~text\nDONE\n", "## Decisions\n\n- one\n- two\n", "## Open questions\n\n~~~~text\nASKED\n",
		"## Files looked at\n\n~~~~text\nFILES\n", "## Next action\n\n~~~~text\nNEXT\n", "## Covered through\n\ncomment 31;",
	} {
		i := strings.Index(s, part)
		if i <= last {
			t.Errorf("%q is not in its place:\n%s", part, s)
		}
		last = i
	}
	empty := Checkpoint{Task: "triage", Issue: 1}.Markdown(plainFence)
	if strings.Count(empty, "\nnone\n") != 5 || !strings.Contains(empty, "no comment: only the issue itself was read") {
		t.Errorf("empty:\n%s", empty)
	}
}

// TestCheckpointIsBounded: whatever the texts are and however the fence grows, 6 KB of valid UTF-8 with all headings.
func TestCheckpointIsBounded(t *testing.T) {
	t.Parallel()
	grows := func(s string) string { return plainFence(s) + strings.Repeat("~", strings.Count(s, "~")) + "\n" }
	for _, text := range []string{strings.Repeat("word ", 4000), strings.Repeat("日本語", 3000), strings.Repeat("~", 20_000), strings.Repeat("👩‍🚒", 2000), "\xff" + strings.Repeat("x", 7000)} {
		c := Checkpoint{Task: "triage", Issue: 7, Done: text, Questions: text, Files: text, Next: text}
		s := c.Markdown(grows)
		if len(s) > MaxCheckpoint || len(s) < MaxCheckpoint/3 {
			t.Errorf("%.10q: %d bytes", text, len(s))
		}
		if utf8.ValidString(text) && !utf8.ValidString(s) {
			t.Errorf("%.10q: a character was cut", text)
		}
		for _, h := range []string{"## Objective", "## Done", "## Open questions", "## Files looked at", "## Next action", "## Covered through"} {
			if !strings.Contains(s, h) {
				t.Errorf("%.10q: %s is gone", text, h)
			}
		}
	}
	for n := range 40 {
		if got := cutBytes("日本語日本語日本語", n); len(got) > n || !utf8.ValidString(got) {
			t.Errorf("%d: %q", n, got)
		}
	}
}
