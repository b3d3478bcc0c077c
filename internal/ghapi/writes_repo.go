package ghapi

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// CreateIssue files an issue. Only labels that the repository has are set; the rest is left out.
func (w *BoundedWriter) CreateIssue(ctx context.Context, purpose string, draft IssueDraft) (Issue, error) {
	k, err := key("issue", 0, purpose)
	if err != nil {
		return Issue{}, err
	}
	if draft.Marker == "" || !strings.Contains(draft.Body, draft.Marker) {
		return Issue{}, errMarker
	}
	labels, _, err := w.c.knownLabels(ctx, draft.Labels)
	if err != nil {
		return Issue{}, &WriteError{WriteResult: WriteResult{Key: k, Verdict: VerdictFailed}, cause: err}
	}
	var made Issue
	since := w.c.transport.now().Add(-lookBack)
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			request := &github.IssueRequest{Title: &draft.Title, Body: &draft.Body}
			if len(labels) > 0 {
				request.Labels = &labels
			}
			got, _, err := w.c.rest.Issues.Create(ctx, w.c.owner, w.c.name, request)
			op := w.c.op(http.MethodPost, "/issues")
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetNumber() == 0 {
				return unconfirmed(op)
			}
			made = issueOf(got)
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			for i, err := range w.c.IssuesSince(ctx, since) {
				if err != nil {
					return false, err
				}
				mine := strings.Contains(i.Body, draft.Marker) && (sameWords(i.Body, draft.Body) || i.Author.IsBot())
				if mine && !i.CreatedAt.Before(since) {
					made = i
					return true, nil
				}
			}
			return false, nil
		},
	})
	return made, err
}

// EditIssueBody replaces the body of an issue.
func (w *BoundedWriter) EditIssueBody(ctx context.Context, issue int, purpose, body string) error {
	k, err := key("issue-body", issue, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			return w.patchIssue(ctx, issue, map[string]any{"body": body},
				func(i *github.Issue) bool { return sameWords(i.GetBody(), body) })
		},
		found: func(ctx context.Context) (bool, error) {
			got, err := w.c.Issue(ctx, issue)
			return err == nil && sameWords(got.Body, body), err
		},
	})
}

// SetMilestone puts an issue into a milestone.
func (w *BoundedWriter) SetMilestone(ctx context.Context, issue int, purpose string, milestone int) error {
	k, err := key("milestone", issue, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			return w.patchIssue(ctx, issue, map[string]any{"milestone": milestone},
				func(i *github.Issue) bool { return i.GetMilestone().GetNumber() == milestone })
		},
		found: func(ctx context.Context) (bool, error) {
			got, err := w.c.Issue(ctx, issue)
			return err == nil && got.MilestoneNumber == milestone, err
		},
	})
}

// CreateMilestone creates a milestone, or returns the one of that title.
func (w *BoundedWriter) CreateMilestone(ctx context.Context, purpose string, m Milestone) (Milestone, error) {
	k, err := key("new-milestone", 0, purpose)
	if err != nil {
		return Milestone{}, err
	}
	made := Milestone{}
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			request := &github.Milestone{Title: &m.Title, Description: &m.Description}
			if m.State != "" {
				request.State = &m.State
			}
			if !m.DueOn.IsZero() {
				request.DueOn = &github.Timestamp{Time: m.DueOn}
			}
			got, _, err := w.c.rest.Issues.CreateMilestone(ctx, w.c.owner, w.c.name, request)
			op := w.c.op(http.MethodPost, "/milestones")
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetNumber() == 0 {
				return unconfirmed(op)
			}
			made = milestoneOf(got)
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			list, err := w.c.Milestones(ctx)
			for _, have := range list {
				if have.Title == m.Title {
					made = have
					return true, nil
				}
			}
			return false, err
		},
		mayBeDone: []int{http.StatusUnprocessableEntity},
	})
	return made, err
}

// CreateLabel creates a label; one of that name is a success.
func (w *BoundedWriter) CreateLabel(ctx context.Context, purpose string, l Label) error {
	return w.label(ctx, "new-label", purpose, http.MethodPost, w.c.path("/labels"),
		map[string]any{"name": l.Name, "color": l.Color, "description": l.Description}, l)
}

// EditLabel changes the label called name into l.
func (w *BoundedWriter) EditLabel(ctx context.Context, purpose, name string, l Label) error {
	escaped, err := segment("a label", name)
	if err != nil {
		return err
	}
	return w.label(ctx, "edit-label", purpose, http.MethodPatch, w.c.path("/labels/"+escaped),
		map[string]any{"new_name": l.Name, "color": l.Color, "description": l.Description}, l)
}

func (w *BoundedWriter) label(ctx context.Context, operation, purpose, method, path string, change map[string]any, l Label) error {
	k, err := key(operation, 0, purpose)
	if err != nil {
		return err
	}
	// One key for each label; its name is not repeated as it is.
	k += "/" + slug(l.Name)
	escaped, err := segment("a label", l.Name)
	if err != nil {
		return err
	}
	defer w.c.forgetLabels()
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			var got github.Label
			if _, err := w.c.send(ctx, method, path, change, &got); err != nil {
				return err
			}
			if !strings.EqualFold(got.GetName(), l.Name) {
				return unconfirmed(method + " /" + path)
			}
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			got, _, err := w.c.rest.Issues.GetLabel(ctx, w.c.owner, w.c.name, escaped)
			if err != nil {
				return false, ignoreNotFound(fromTransport(w.c.op(http.MethodGet, "/labels/"+escaped), err))
			}
			if method == http.MethodPost {
				return strings.EqualFold(got.GetName(), l.Name), nil
			}
			return got.GetName() == l.Name && strings.EqualFold(got.GetColor(), l.Color) && got.GetDescription() == l.Description, nil
		},
		mayBeDone: []int{http.StatusUnprocessableEntity},
	})
}

func (c *Client) forgetLabels() {
	c.mu.Lock()
	c.labels = nil
	c.mu.Unlock()
}

// slug names a label in a key: letters and digits of ASCII, and a hash that tells labels apart.
func slug(name string) string {
	safe := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, name), "-")
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(name)))
	return fmt.Sprintf("%.30s-%08x", safe, h.Sum32())
}

// Dispatch starts a workflow. When the answer is lost, a run of the workflow that nobody here accounts for counts as
// the one that was asked for: a run too few is mended later, a run too many costs money.
func (w *BoundedWriter) Dispatch(ctx context.Context, purpose, file, branch string, inputs map[string]string) error {
	k, err := key("dispatch", 0, purpose)
	if err != nil {
		return err
	}
	name, err := segment("a workflow file", file)
	if err != nil {
		return err
	}
	err = w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			values := make(map[string]any, len(inputs))
			for n, v := range inputs {
				values[n] = v
			}
			_, err := w.c.rest.Actions.CreateWorkflowDispatchEventByFileName(ctx, w.c.owner, w.c.name, name,
				github.CreateWorkflowDispatchEventRequest{Ref: branch, Inputs: values})
			return fromTransport(w.c.op(http.MethodPost, "/actions/workflows/"+name+"/dispatches"), err)
		},
		found: func(ctx context.Context) (bool, error) {
			runs, err := w.c.Runs(ctx, RunFilter{
				Workflow: file, Event: "workflow_dispatch", Branch: branch, Since: w.start.Add(-5*time.Second - w.c.transport.behind()), Max: perPage,
			})
			return len(runs) > w.dispatched[file], err
		},
	})
	if err == nil {
		w.mu.Lock()
		w.dispatched[file]++
		w.mu.Unlock()
	}
	return err
}

// EnableWorkflow lets a workflow's triggers work.
func (w *BoundedWriter) EnableWorkflow(ctx context.Context, purpose, file string) error {
	return w.workflow(ctx, "enable", purpose, file)
}

// DisableWorkflow ends a workflow's triggers.
func (w *BoundedWriter) DisableWorkflow(ctx context.Context, purpose, file string) error {
	return w.workflow(ctx, "disable", purpose, file)
}

// workflow sends and then looks: a poll that stays armed costs money every half hour.
func (w *BoundedWriter) workflow(ctx context.Context, verb, purpose, file string) error {
	k, err := key(verb, 0, purpose)
	if err != nil {
		return err
	}
	name, err := segment("a workflow file", file)
	if err != nil {
		return err
	}
	found := func(ctx context.Context) (bool, error) {
		got, err := w.c.Workflow(ctx, file)
		return err == nil && (got.State == "active") == (verb == "enable"), err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			rest := "/actions/workflows/" + name + "/" + verb
			_, err := w.c.send(ctx, http.MethodPut, w.c.path(rest), nil, nil)
			return err
		},
		found:     found,
		mayBeDone: []int{http.StatusConflict, http.StatusUnprocessableEntity}, // already so
	})
}

// DismissAlert dismisses a code-scanning alert with a reason (false positive, won't fix, used in tests).
func (w *BoundedWriter) DismissAlert(ctx context.Context, purpose string, alert int, reason, comment string) error {
	k, err := key("dismiss", alert, purpose)
	if err != nil {
		return err
	}
	return w.do(ctx, write{
		key: k,
		send: func(ctx context.Context) error {
			state := &github.CodeScanningAlertState{State: "dismissed", DismissedReason: &reason, DismissedComment: &comment}
			got, _, err := w.c.rest.CodeScanning.UpdateAlert(ctx, w.c.owner, w.c.name, int64(alert), state)
			op := w.c.op(http.MethodPatch, "/code-scanning/alerts/"+itoa(alert))
			if err != nil {
				return fromTransport(op, err)
			}
			if got.GetState() != "dismissed" {
				return unconfirmed(op)
			}
			return nil
		},
		found: func(ctx context.Context) (bool, error) {
			got, _, err := w.c.rest.CodeScanning.GetAlert(ctx, w.c.owner, w.c.name, int64(alert))
			return got.GetState() == "dismissed", fromTransport(w.c.op(http.MethodGet, "/code-scanning/alerts/"+itoa(alert)), err)
		},
	})
}
