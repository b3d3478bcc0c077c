package ghapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// lookBack is how far clocks may differ when a comment is looked for that was just posted.
const lookBack = 2 * time.Minute

var errMarker = errors.New("the body does not hold its marker: it could not be found again")

// CreateComment posts a comment.
func (w *BoundedWriter) CreateComment(ctx context.Context, issue int, purpose, body, marker string) (Comment, error) {
	k, err := key("comment", issue, purpose)
	if err != nil {
		return Comment{}, err
	}
	if marker == "" || !strings.Contains(body, marker) {
		return Comment{}, errMarker
	}
	var made Comment
	since := w.c.transport.now().Add(-lookBack)
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			got, _, err := w.c.rest.Issues.CreateComment(ctx, w.c.owner, w.c.name, issue, &github.IssueComment{Body: &body})
			op := w.c.op(http.MethodPost, "/issues/"+itoa(issue)+"/comments")
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetID() == 0 || got.Body == nil {
				return unconfirmed(op)
			}
			made = commentOf(got)
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			list, err := w.c.CommentsSince(ctx, issue, since)
			for _, c := range list {
				if strings.Contains(c.Body, marker) && isPosted(c, body, since) {
					made = c
					return true, nil
				}
			}
			return false, err
		},
	})
	return made, err
}

// isPosted tells our comment from one that only repeats our marker: the same words, or an app's comment of just now
// (GitHub may have changed white space, and no person can write as an app).
func isPosted(c Comment, body string, since time.Time) bool {
	return !c.CreatedAt.Before(since) && (sameWords(c.Body, body) || c.Author.IsBot())
}

func sameWords(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// EditComment replaces the body of a comment.
func (w *BoundedWriter) EditComment(ctx context.Context, issue int, comment int64, purpose, body string) (Comment, error) {
	k, err := key("edit", issue, purpose)
	if err != nil {
		return Comment{}, err
	}
	var made Comment
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			got, _, err := w.c.rest.Issues.EditComment(ctx, w.c.owner, w.c.name, comment, &github.IssueComment{Body: &body})
			op := w.c.op(http.MethodPatch, "/issues/comments/"+itoa64(comment))
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetID() != comment {
				return unconfirmed(op)
			}
			made = commentOf(got)
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			got, err := w.c.Comment(ctx, comment)
			made = got
			return err == nil && sameWords(got.Body, body), err
		},
	})
	return made, err
}

// DeleteComment deletes a comment; one that is gone is a success.
func (w *BoundedWriter) DeleteComment(ctx context.Context, issue int, comment int64, purpose string) error {
	k, err := key("delete", issue, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			_, err := w.c.rest.Issues.DeleteComment(ctx, w.c.owner, w.c.name, comment)
			return fromTransport(w.c.op(http.MethodDelete, "/issues/comments/"+itoa64(comment)), err)
		},
		found: func(ctx context.Context) (bool, error) {
			_, err := w.c.Comment(ctx, comment)
			return KindOf(err) == KindNotFound, ignoreNotFound(err)
		},
		mayBeDone: []int{http.StatusNotFound},
	})
}

// AddLabels adds labels that the repository has.
func (w *BoundedWriter) AddLabels(ctx context.Context, issue int, purpose string, names ...string) error {
	return w.AddLabelsBecause(ctx, issue, purpose, "", names...)
}

// AddLabelsBecause adds labels with a reason that GitHub shows beside them.
func (w *BoundedWriter) AddLabelsBecause(ctx context.Context, issue int, purpose, why string, names ...string) error {
	k, err := key("label", issue, purpose)
	if err != nil || len(names) == 0 {
		return err
	}
	known, unknown, err := w.c.knownLabels(ctx, names)
	if err != nil {
		return &WriteError{WriteResult: WriteResult{Key: k, Verdict: VerdictFailed}, cause: err}
	}
	var missing error
	if len(unknown) > 0 {
		missing = &UnknownLabels{Names: unknown}
	}
	if len(known) == 0 {
		return missing
	}
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			rest := "/issues/" + itoa(issue) + "/labels"
			var got []*github.Label
			if _, err := w.c.send(ctx, http.MethodPost, w.c.path(rest), labelsBody(known, why), &got); err != nil {
				return err
			}
			if !carries(convert(got, labelOf), known) {
				return unconfirmed(w.c.op(http.MethodPost, rest))
			}
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			got, err := w.c.IssueLabels(ctx, issue)
			return carries(got, known), err
		},
	})
	return errors.Join(err, missing)
}

// labelsBody names the labels, or gives each its reason: the longer form is newer than some Enterprise Servers.
func labelsBody(names []string, why string) any {
	if why == "" {
		return map[string]any{"labels": names}
	}
	list := make([]map[string]string, len(names))
	for i, n := range names {
		list[i] = map[string]string{"name": n, "rationale": why}
	}
	return map[string]any{"labels": list}
}

// knownLabels splits names into those that the repository has, in its spelling, and the rest. The list is read once.
func (c *Client) knownLabels(ctx context.Context, names []string) (known, unknown []string, err error) {
	c.mu.Lock()
	list := c.labels
	c.mu.Unlock()
	if list == nil {
		if list, err = c.Labels(ctx); err != nil {
			return nil, nil, err
		}
		c.mu.Lock()
		c.labels = list
		c.mu.Unlock()
	}
	known, unknown = splitLabels(list, names)
	return known, unknown, nil
}

func splitLabels(list []Label, names []string) (known, unknown []string) {
next:
	for _, n := range names {
		for _, l := range list {
			if strings.EqualFold(l.Name, n) {
				known = append(known, l.Name)
				continue next
			}
		}
		unknown = append(unknown, n)
	}
	return known, unknown
}

func carries(list []Label, names []string) bool {
next:
	for _, n := range names {
		for _, l := range list {
			if strings.EqualFold(l.Name, n) {
				continue next
			}
		}
		return false
	}
	return true
}

// RemoveLabel takes a label off an issue.
func (w *BoundedWriter) RemoveLabel(ctx context.Context, issue int, purpose, name string) error {
	k, err := key("unlabel", issue, purpose)
	if err != nil {
		return err
	}
	escaped, err := segment("a label", name)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			_, err := w.c.rest.Issues.RemoveLabelForIssue(ctx, w.c.owner, w.c.name, issue, escaped)
			return fromTransport(w.c.op(http.MethodDelete, "/issues/"+itoa(issue)+"/labels/"+escaped), err)
		},
		found: func(ctx context.Context) (bool, error) {
			got, err := w.c.IssueLabels(ctx, issue)
			return err == nil && !carries(got, []string{name}), err
		},
		mayBeDone: []int{http.StatusNotFound},
	})
}

// Close closes an issue.
func (w *BoundedWriter) Close(ctx context.Context, issue int, purpose, reason string, duplicateOf int) error {
	k, err := key("close", issue, purpose)
	if err != nil {
		return err
	}
	change := map[string]any{"state": "closed", "state_reason": reason}
	if duplicateOf != 0 {
		original, err := w.c.Issue(ctx, duplicateOf)
		if err != nil {
			return &WriteError{WriteResult: WriteResult{Key: k, Verdict: VerdictFailed}, cause: err}
		}
		change["state_reason"], change["duplicate_issue_id"] = "duplicate", original.ID
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			return w.patchIssue(ctx, issue, change, func(i *github.Issue) bool { return i.GetState() == "closed" })
		},
		found: w.stateIs(issue, "closed"),
	})
}

func (w *BoundedWriter) stateIs(issue int, state string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		got, err := w.c.Issue(ctx, issue)
		return err == nil && got.State == state, err
	}
}

// Reopen opens a closed issue again.
func (w *BoundedWriter) Reopen(ctx context.Context, issue int, purpose string) error {
	k, err := key("reopen", issue, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			return w.patchIssue(ctx, issue, map[string]any{"state": "open", "state_reason": "reopened"},
				func(i *github.Issue) bool { return i.GetState() == "open" })
		},
		found: w.stateIs(issue, "open"),
	})
}

// patchIssue changes an issue; shows tells whether the answer shows the change.
func (w *BoundedWriter) patchIssue(ctx context.Context, issue int, change map[string]any, shows func(*github.Issue) bool) error {
	rest := "/issues/" + itoa(issue)
	var got github.Issue
	if _, err := w.c.send(ctx, http.MethodPatch, w.c.path(rest), change, &got); err != nil {
		return err
	}
	if got.GetNumber() != issue || !shows(&got) {
		return unconfirmed(w.c.op(http.MethodPatch, rest))
	}
	return nil
}

// AddReaction reacts to a comment or an issue. GitHub keeps one reaction of a kind per account, so twice does no harm.
func (w *BoundedWriter) AddReaction(ctx context.Context, issue int, comment int64, purpose, content string) error {
	k, err := key("reaction", issue, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			var got *github.Reaction
			var err error
			if comment == 0 {
				got, _, err = w.c.rest.Reactions.CreateIssueReaction(ctx, w.c.owner, w.c.name, issue, content)
			} else {
				got, _, err = w.c.rest.Reactions.CreateIssueCommentReaction(ctx, w.c.owner, w.c.name, comment, content)
			}
			op := w.c.op(http.MethodPost, "/issues/"+itoa(issue)+" reaction")
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetContent() != content {
				return unconfirmed(op)
			}
			return nil
		},
	})
}
