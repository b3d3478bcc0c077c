package comment

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Comments without any word of the AI. Page needs a marker of the right kind, a policy and whom to mention.

// ReleaseReply says that the issue is open again because the problem is still there.
func (c Catalog) ReleaseReply(page Page) Comment {
	return c.compose(page, func(w *writer) { w.greet("release_reply") })
}

// Reopened answers a reporter who came back with an answer.
func (c Catalog) Reopened(page Page) Comment {
	return c.compose(page, func(w *writer) { w.greet("reopened") })
}

// Reminder names the day on which the issue is closed.
func (c Catalog) Reminder(page Page, closes time.Time) Comment {
	return c.compose(page, func(w *writer) {
		w.paragraph(w.mentioned(w.text("reminder", "date", closes.UTC().Format(time.DateOnly))))
	})
}

// ClosedUnanswered says why the issue is closed and how it opens again.
func (c Catalog) ClosedUnanswered(page Page) Comment {
	return c.compose(page, func(w *writer) { w.paragraph(w.text("closed_unanswered")) })
}

// ClosedDuplicate names the original, which the policy must allow.
func (c Catalog) ClosedDuplicate(page Page, number int) Comment {
	return c.compose(page, func(w *writer) {
		w.paragraph(w.text("closed_duplicate", "number", strconv.Itoa(number)))
	})
}

// Fixed names the pull request, which the policy must allow as a number, and the branch.
func (c Catalog) Fixed(page Page, pull int, branch string) Comment {
	return c.compose(page, func(w *writer) {
		w.paragraph(w.text("fixed", "pull", strconv.Itoa(pull), "branch", Code(branch)))
	})
}

// Released links the release's page.
func (c Catalog) Released(page Page, tag, url string) Comment {
	return c.compose(page, func(w *writer) {
		w.template(url)
		w.paragraph(w.mentioned(w.text("released", "release", fmt.Sprintf("[%s](%s)", Code(tag), url))))
	})
}

func (w *writer) mentioned(s string) string {
	if m := w.page.Mention; m != "" && m == w.page.Policy.Reporter {
		return "@" + m + " " + s
	}
	return s
}

// Language is the language for texts without AI: that of the assistant's last answer, else what the reporter's words
// look like.
func Language(own []Own, words string) string {
	for _, o := range slices.Backward(own) {
		if m := o.Marker; m.Language != "" && (m.Kind == task.MarkAnalysis || m.Kind == task.MarkFollowUp) {
			return m.Language
		}
	}
	return guess(words)
}
