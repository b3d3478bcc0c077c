package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// LabelChange is what a label of labels.toml needs. From is its present name on GitHub; empty: it is created.
type LabelChange struct {
	From string
	To   ghapi.Label
}

// line tells the change; names are shown as code.
func (c LabelChange) line() string {
	switch {
	case c.From == "":
		return "create " + comment.Code(c.To.Name)
	case c.From != c.To.Name:
		return "rename " + comment.Code(c.From) + " to " + comment.Code(c.To.Name)
	}
	return "update " + comment.Code(c.To.Name)
}

// PlanLabels compares labels.toml with the labels of the repository, names without regard to case as GitHub does.
// Nothing is ever deleted. Extra are labels that the file does not name; notes say what a person must decide.
func PlanLabels(file config.LabelFile, have []ghapi.Label) (changes []LabelChange, extra, notes []string) {
	byName := map[string]ghapi.Label{}
	for _, l := range have {
		byName[config.FoldLabel(l.Name)] = l
	}
	used := map[string]bool{}
	for _, l := range file.Labels {
		if at, ok := byName[config.FoldLabel(l.Name)]; ok {
			used[config.FoldLabel(at.Name)] = true
		}
	}
	for _, l := range file.Labels {
		want := ghapi.Label{Name: l.Name, Color: strings.ToLower(l.Color), Description: l.Description}
		from, found := byName[config.FoldLabel(l.Name)]
		for _, previous := range l.Previous {
			old, ok := byName[config.FoldLabel(previous)]
			switch {
			case !ok || used[config.FoldLabel(previous)]:
			case !found:
				from, found = old, true
				used[config.FoldLabel(previous)] = true
			default:
				notes = append(notes, fmt.Sprintf("%s and its former name %s both exist: move the issues, then delete the old one",
					comment.Code(l.Name), comment.Code(old.Name)))
				used[config.FoldLabel(previous)] = true
			}
		}
		if !found {
			changes = append(changes, LabelChange{To: want})
			continue
		}
		if from.Name != want.Name || !strings.EqualFold(from.Color, want.Color) || from.Description != want.Description {
			changes = append(changes, LabelChange{From: from.Name, To: want})
		}
	}
	for _, l := range have {
		if !used[config.FoldLabel(l.Name)] {
			extra = append(extra, l.Name)
		}
	}
	return changes, extra, notes
}

// LabelsResult is what became of the plan.
type LabelsResult struct {
	Done   []string
	Failed []string
	Extra  []string
	Notes  []string
	Same   int
}

// AllFailed reports whether nothing that was tried worked.
func (r LabelsResult) AllFailed() bool { return len(r.Failed) > 0 && len(r.Done) == 0 }

// SyncLabels makes the labels of the repository what the file says. Writer gives each label a writer of its own: one
// that GitHub refuses says nothing about the next.
func SyncLabels(ctx context.Context, client *ghapi.Client, writer func() ghapi.Writer, file config.LabelFile) (LabelsResult, error) {
	have, err := client.Labels(ctx)
	if err != nil {
		return LabelsResult{}, fmt.Errorf("read the labels: %w", err)
	}
	changes, extra, notes := PlanLabels(file, have)
	r := LabelsResult{Extra: extra, Notes: notes, Same: len(file.Labels) - len(changes)}
	inARow := 0
	for n, c := range changes {
		if inARow == maxInARow {
			r.Failed = append(r.Failed, fmt.Sprintf("%d more: left, %d in a row had failed", len(changes)-n, maxInARow))
			break
		}
		w := writer()
		if c.From == "" {
			err = w.CreateLabel(ctx, "labels", c.To)
		} else {
			err = w.EditLabel(ctx, "labels", c.From, c.To)
		}
		if err != nil {
			inARow++
			r.Failed = append(r.Failed, c.line()+": "+plain(brief(cause(err))))
			continue
		}
		inARow = 0
		r.Done = append(r.Done, c.line())
	}
	return r, nil
}

// cause is the request's error without the writer's key.
func cause(err error) error {
	var e *ghapi.Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// Summary tells it in Markdown.
func (r LabelsResult) Summary(how string) string {
	var b strings.Builder
	b.WriteString(ghapi.ReportHeading("Labels", how))
	paragraph(&b, "changed", r.Done)
	paragraph(&b, "failed", r.Failed)
	paragraph(&b, "to decide", r.Notes)
	if len(r.Done)+len(r.Failed) == 0 {
		b.WriteString("Nothing to do.\n\n")
	}
	fmt.Fprintf(&b, "%d as they should be. ", r.Same)
	if len(r.Extra) > 0 {
		fmt.Fprintf(&b, "%d that %s does not name were left alone.", len(r.Extra), config.LabelsPath)
	}
	return strings.TrimSpace(b.String()) + "\n"
}
