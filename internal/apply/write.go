package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

// post checks the whole comment and writes it: over the one that stands there, else anew. posted is false when nothing
// may follow.
func (a *run) post(ctx context.Context, c comment.Comment, existing *comment.Own) (posted bool, err error) {
	a.result.Comment = &c
	if problems := sanitize.CheckComment(c.Body, c.Policy); len(problems) > 0 {
		a.refuse(fmt.Sprintf("the comment could not be made safe (%s); please report this", problems[0].Kind))
		a.result.Comment = nil
		return false, nil
	}
	if found := sanitize.FindSecrets(c.Body, a.Secrets); len(found) > 0 {
		a.refuse("the comment holds a secret (" + found[0].Kind + ")")
		a.result.Comment = nil
		return false, nil
	}
	what := fmt.Sprintf("comment on #%d", a.Issue)
	switch {
	case existing != nil && sameBody(existing.Body, c.Body):
		a.skip(what + ": it stands there already")
		return true, nil
	case existing != nil:
		_, err = a.w.EditComment(ctx, a.Issue, existing.ID, string(a.Task), c.Body)
		what += ", over the earlier one"
	default:
		_, err = a.w.CreateComment(ctx, a.Issue, string(a.Task), c.Body, c.Marker.String())
	}
	if err == nil {
		a.wrote(what)
		return true, nil
	}
	if existing != nil && ghapi.KindOf(err) == ghapi.KindNotFound {
		if _, look := a.r.Issue(ctx, a.Issue); look == nil {
			a.skip(what + ": it was deleted meanwhile and stays away")
			return false, nil
		}
	}
	return false, a.principal(ctx, what, err)
}

// sameBody compares as GitHub stores: without the white space at the ends.
func sameBody(a, b string) bool {
	return strings.TrimSpace(strings.ReplaceAll(a, "\r\n", "\n")) == strings.TrimSpace(b)
}

// principal judges a failed write of the answer itself. An issue that went away or was locked meanwhile is no failure.
func (a *run) principal(ctx context.Context, what string, err error) error {
	switch ghapi.KindOf(err) {
	case ghapi.KindGone, ghapi.KindNotFound, ghapi.KindMoved:
		a.skip(what + ": the issue is gone")
		return nil
	case ghapi.KindForbidden, ghapi.KindInvalid:
		if now, look := a.r.Issue(ctx, a.Issue); look == nil && now.Locked {
			a.skip(what + ": the issue was locked meanwhile")
			return nil
		} else if k := ghapi.KindOf(look); k == ghapi.KindGone || k == ghapi.KindNotFound || k == ghapi.KindMoved {
			a.skip(what + ": the issue is gone")
			return nil
		}
	default:
	}
	return fmt.Errorf("%w: %w", ErrPrincipal, err)
}

// chosen are the labels that the answer chooses, in the repository's spelling, without those that are denied or that
// the repository lacks. Each of those is named once.
func (a *run) chosen(c answer.Choice) []string {
	var out []string
	for _, name := range append(append([]string{c.Kind}, c.Areas...), c.Topics...) {
		if name == "" {
			continue
		}
		spelled, ok := a.spelled(name)
		if ok && !slices.Contains(out, spelled) {
			out = append(out, spelled)
		}
	}
	return out
}

// spelled is a label as GitHub spells it.
func (a *run) spelled(name string) (string, bool) {
	if config.DenyLabel(a.Config.Labels.Deny, name) {
		a.skip("label " + comment.Code(name) + ": [labels] deny covers it")
		return "", false
	}
	for _, l := range a.known {
		if config.FoldLabel(l.Name) == config.FoldLabel(name) {
			return l.Name, true
		}
	}
	a.skip("label " + comment.Code(name) + ": this repository has no such label")
	return "", false
}

// relabel sets the chosen labels. While nobody has triaged the issue, other kinds give way to the chosen one. What a
// person took away after the assistant's comment stays away.
func (a *run) relabel(ctx context.Context, kind string, labels []string) {
	if a.issue.HasLabel(config.LabelNeedsTriage) && slices.ContainsFunc(labels, func(l string) bool { return config.FoldLabel(l) == config.FoldLabel(kind) }) {
		for _, other := range a.labels.Kinds {
			if config.FoldLabel(other.Name) == config.FoldLabel(kind) || !a.issue.HasLabel(other.Name) {
				continue
			}
			err := a.w.RemoveLabel(ctx, a.Issue, a.purpose("kind", other.Name), other.Name)
			a.optional("remove the label "+comment.Code(other.Name), err)
		}
	}
	a.addLabels(ctx, "answer", labels...)
}

// purpose makes a fixed word that differs per label, by the label's place in the settings.
func (a *run) purpose(word, label string) string {
	for i, l := range a.Labels.Labels {
		if l.Name == label {
			return fmt.Sprintf("%s-%s-%d", a.Task, word, i)
		}
	}
	return fmt.Sprintf("%s-%s", a.Task, word)
}

// addLabels adds what is missing.
func (a *run) addLabels(ctx context.Context, purpose string, names ...string) {
	var missing []string
	for _, n := range names {
		spelled, ok := n, true
		if !slices.ContainsFunc(a.known, func(l ghapi.Label) bool { return l.Name == n }) {
			spelled, ok = a.spelled(n)
		}
		switch {
		case !ok || a.issue.HasLabel(spelled):
		case a.takenAway(ctx, spelled):
			a.skip("label " + comment.Code(spelled) + ": a person took it away")
		default:
			missing = append(missing, spelled)
		}
	}
	if len(missing) == 0 {
		return
	}
	spans := make([]string, len(missing))
	for i, n := range missing {
		spans[i] = comment.Code(n)
	}
	err := a.w.AddLabels(ctx, a.Issue, string(a.Task)+"-"+purpose, missing...)
	a.optional("add "+strings.Join(spans, ", "), err)
}

// optional notes a write that is not the answer itself. Its failure is a failure of GitHub, not of the answer.
func (a *run) optional(what string, err error) {
	var unknown *ghapi.UnknownLabels
	switch k := ghapi.KindOf(err); {
	case err == nil:
		a.wrote(what)
	case errors.As(err, &unknown) && k == "":
		a.skip(what + ": this repository has no such label")
	case k == ghapi.KindGone || k == ghapi.KindNotFound || k == ghapi.KindMoved:
		a.skip(what + ": the issue is gone")
	default:
		a.skip(what + ": GitHub did not do it")
		a.result.Warnings = append(a.result.Warnings, "not done: "+err.Error())
	}
}

// history are the issue's events, read once.
func (a *run) history(ctx context.Context) []ghapi.Event {
	if !a.eventsRead {
		a.eventsRead = true
		events, err := a.r.Events(ctx, a.Issue)
		if err != nil {
			a.note("the issue's events could not be read: labels that a person took away may come back")
		}
		a.events = events
	}
	return a.events
}

// takenAway reports whether a person removed a label after the assistant had answered. Only asked for when an answer of
// the assistant stands there already.
func (a *run) takenAway(ctx context.Context, label string) bool {
	if len(a.own) == 0 {
		return false
	}
	first := a.own[0].CreatedAt
	gone := false
	for _, e := range a.history(ctx) {
		if config.FoldLabel(e.Label) != config.FoldLabel(label) || e.CreatedAt.Before(first) {
			continue
		}
		switch e.Kind {
		case "unlabeled":
			gone = !e.Actor.IsBot()
		case "labeled":
			gone = false
		}
	}
	return gone
}
