package ghapi

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Recorded is one write that a dry run would have made. Fields that do not belong to the operation are empty.
type Recorded struct {
	Key       string
	Operation string // comment, edit, delete, label, unlabel, close, reopen, reaction, issue, issue-body, milestone, …
	Issue     int
	Comment   int64
	Title     string
	Body      string
	Labels    []string
	Reason    string
	Original  int // close: the issue that it is a duplicate of
	File      string
	Branch    string
	Inputs    map[string]string
	Milestone Milestone
	Label     Label
}

// Recorder notes writes down and sends nothing: it has no client and no token. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	known   []Label
	writes  []Recorded
	comment int64
	issue   int
}

var (
	_ Writer = (*Recorder)(nil)
	_ Writer = (*BoundedWriter)(nil)
)

// NewRecorder returns a recorder. Known are the labels of the repository, so that a dry run refuses the same names as
// a real one; nil: every name is taken.
func NewRecorder(known []Label) *Recorder { return &Recorder{known: slices.Clone(known)} }

// Writes lists what was recorded, in order.
func (r *Recorder) Writes() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes)
}

// Results gives one line for each key, as the writer does.
func (r *Recorder) Results() []WriteResult {
	var out []WriteResult
	seen := map[string]bool{}
	for _, w := range r.Writes() {
		if !seen[w.Key] {
			seen[w.Key] = true
			out = append(out, WriteResult{Key: w.Key, Verdict: VerdictRecorded})
		}
	}
	return out
}

func (r *Recorder) note(w Recorded, target int, purpose string) error {
	k, err := key(w.Operation, target, purpose)
	if err != nil {
		return err
	}
	w.Key = k
	r.mu.Lock()
	r.writes = append(r.writes, w)
	r.mu.Unlock()
	return nil
}

// CreateComment records a comment and returns it with an id below zero.
func (r *Recorder) CreateComment(_ context.Context, issue int, purpose, body, marker string) (Comment, error) {
	if marker == "" || !strings.Contains(body, marker) {
		return Comment{}, errMarker
	}
	if err := r.note(Recorded{Operation: "comment", Issue: issue, Body: body}, issue, purpose); err != nil {
		return Comment{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.comment--
	return Comment{ID: r.comment, Body: body}, nil
}

// EditComment records an edit.
func (r *Recorder) EditComment(_ context.Context, issue int, comment int64, purpose, body string) (Comment, error) {
	err := r.note(Recorded{Operation: "edit", Issue: issue, Comment: comment, Body: body}, issue, purpose)
	return Comment{ID: comment, Body: body}, err
}

// DeleteComment records a deletion.
func (r *Recorder) DeleteComment(_ context.Context, issue int, comment int64, purpose string) error {
	return r.note(Recorded{Operation: "delete", Issue: issue, Comment: comment}, issue, purpose)
}

// AddLabels records the labels that the repository has.
func (r *Recorder) AddLabels(ctx context.Context, issue int, purpose string, names ...string) error {
	return r.AddLabelsBecause(ctx, issue, purpose, "", names...)
}

// AddLabelsBecause records labels with their reason.
func (r *Recorder) AddLabelsBecause(_ context.Context, issue int, purpose, why string, names ...string) error {
	known, unknown := names, []string(nil)
	if r.known != nil {
		known, unknown = splitLabels(r.known, names)
	}
	if len(known) > 0 {
		if err := r.note(Recorded{Operation: "label", Issue: issue, Labels: slices.Clone(known), Reason: why}, issue, purpose); err != nil {
			return err
		}
	}
	if len(unknown) > 0 {
		return &UnknownLabels{Names: unknown}
	}
	return nil
}

// RemoveLabel records a removal.
func (r *Recorder) RemoveLabel(_ context.Context, issue int, purpose, name string) error {
	if _, err := segment("a label", name); err != nil {
		return err
	}
	return r.note(Recorded{Operation: "unlabel", Issue: issue, Labels: []string{name}}, issue, purpose)
}

// Close records a closing.
func (r *Recorder) Close(_ context.Context, issue int, purpose, reason string, duplicateOf int) error {
	return r.note(Recorded{Operation: "close", Issue: issue, Reason: reason, Original: duplicateOf}, issue, purpose)
}

// Reopen records a reopening.
func (r *Recorder) Reopen(_ context.Context, issue int, purpose string) error {
	return r.note(Recorded{Operation: "reopen", Issue: issue}, issue, purpose)
}

// AddReaction records a reaction; its content stands in Reason.
func (r *Recorder) AddReaction(_ context.Context, issue int, comment int64, purpose, content string) error {
	return r.note(Recorded{Operation: "reaction", Issue: issue, Comment: comment, Reason: content}, issue, purpose)
}

// CreateIssue records an issue and returns it with a number below zero.
func (r *Recorder) CreateIssue(_ context.Context, purpose string, d IssueDraft) (Issue, error) {
	if d.Marker == "" || !strings.Contains(d.Body, d.Marker) {
		return Issue{}, errMarker
	}
	labels := d.Labels
	if r.known != nil {
		labels, _ = splitLabels(r.known, d.Labels)
	}
	if err := r.note(Recorded{Operation: "issue", Title: d.Title, Body: d.Body, Labels: slices.Clone(labels)}, 0, purpose); err != nil {
		return Issue{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.issue--
	return Issue{Number: r.issue, Title: d.Title, Body: d.Body, State: "open", Labels: labels}, nil
}

// EditIssueBody records a new body.
func (r *Recorder) EditIssueBody(_ context.Context, issue int, purpose, body string) error {
	return r.note(Recorded{Operation: "issue-body", Issue: issue, Body: body}, issue, purpose)
}

// SetMilestone records a milestone of an issue.
func (r *Recorder) SetMilestone(_ context.Context, issue int, purpose string, milestone int) error {
	return r.note(Recorded{Operation: "milestone", Issue: issue, Milestone: Milestone{Number: milestone}}, issue, purpose)
}

// CreateMilestone records a milestone and returns it with the number 0.
func (r *Recorder) CreateMilestone(_ context.Context, purpose string, m Milestone) (Milestone, error) {
	return m, r.note(Recorded{Operation: "new-milestone", Milestone: m}, 0, purpose)
}

// CreateLabel records a new label.
func (r *Recorder) CreateLabel(_ context.Context, purpose string, l Label) error {
	if err := r.note(Recorded{Operation: "new-label", Label: l}, 0, purpose); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		r.known = append(r.known, l)
	}
	return nil
}

// EditLabel records the change of a label.
func (r *Recorder) EditLabel(_ context.Context, purpose, name string, l Label) error {
	return r.note(Recorded{Operation: "edit-label", Labels: []string{name}, Label: l}, 0, purpose)
}

// Dispatch records a start.
func (r *Recorder) Dispatch(_ context.Context, purpose, file, branch string, inputs map[string]string) error {
	return r.note(Recorded{Operation: "dispatch", File: file, Branch: branch, Inputs: inputs}, 0, purpose)
}

// EnableWorkflow records it.
func (r *Recorder) EnableWorkflow(_ context.Context, purpose, file string) error {
	return r.note(Recorded{Operation: "enable", File: file}, 0, purpose)
}

// DisableWorkflow records it.
func (r *Recorder) DisableWorkflow(_ context.Context, purpose, file string) error {
	return r.note(Recorded{Operation: "disable", File: file}, 0, purpose)
}

// DismissAlert records it; the comment stands in Body.
func (r *Recorder) DismissAlert(_ context.Context, purpose string, alert int, reason, comment string) error {
	return r.note(Recorded{Operation: "dismiss", Issue: alert, Reason: reason, Body: comment}, alert, purpose)
}
