package apply

import (
	"context"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// analysis posts the answer of triage and reanalyze.
func (a *run) analysis(ctx context.Context) error {
	x := a.answer.Analysis
	if x.Spam {
		a.note("the answer calls the issue spam: " + a.rationale(x.LabelRationale))
		a.addLabels(ctx, "spam", config.LabelInvalid)
		return nil
	}
	existing, has := a.last(task.MarkAnalysis)
	if has && !a.mayReplace(existing) {
		a.skip("the issue has its analysis already")
		return nil
	}
	page, labels := a.labeled(task.MarkAnalysis, x.Choice)
	view := comment.Analysis{
		Kind: x.Kind, Sensitive: a.sensitive(x.SensitiveData, true), Security: x.SecurityReport,
	}
	announced := false
	if !x.SecurityReport {
		if err := a.content(ctx, x, &view); err != nil {
			return err
		}
		page.Marker.Questions = len(view.Missing) > 0
		if view.Duplicate != nil && a.sure(x, view.Duplicate.Number) {
			announced = true
			if a.Config.Lifecycle.CloseDuplicates {
				page.Marker.Duplicate, page.DuplicateDays = view.Duplicate.Number, a.Config.Lifecycle.DuplicateDays
			}
		}
		a.noteLabels(x.Choice, labels)
	}
	page.Policy = a.policy
	if has && a.Task == task.Reanalyze && existing.Marker.Language != "" && page.Marker.Language == "" {
		page.Marker.Language = existing.Marker.Language
	}
	posted, err := a.post(ctx, a.Texts.Analysis(page, view), a.found(task.MarkAnalysis))
	if !posted || err != nil {
		return err
	}
	a.relabel(ctx, x.Kind, labels)
	if page.Marker.Questions {
		a.addLabels(ctx, "questions", config.LabelNeedsInfo)
	} else if has && existing.Marker.Questions && !a.waitsOtherwise(ctx, existing) {
		for _, name := range []string{config.LabelNeedsInfo, config.LabelStale} {
			if a.issue.HasLabel(name) {
				a.optional("remove the label "+comment.Code(name), a.w.RemoveLabel(ctx, a.Issue, string(a.Task)+"-answered-"+name, name))
			}
		}
	}
	if announced {
		a.addLabels(ctx, "duplicate", config.LabelPossible)
	}
	return nil
}

// content looks up what the analysis names.
func (a *run) content(ctx context.Context, x *answer.Analysis, view *comment.Analysis) error {
	duplicate, related, err := a.lookUp(ctx, x)
	if err != nil {
		return err
	}
	view.Summary, view.Analysis, view.NextSteps = x.Summary, x.Analysis, x.NextSteps
	if a.labels.Asks(x.Kind) {
		view.Missing = filled(x.MissingInformation)
	}
	view.Duplicate, view.Related = duplicate, related
	view.References = a.references(x.References)
	return nil
}

// mayReplace reports whether an analysis that stands there may be written anew: by its own re-run, by a maintainer's
// request, or by hand. Nothing that GitHub does by itself (a second delivery) changes what people have read.
func (a *run) mayReplace(existing comment.Own) bool {
	if a.ByHand || a.Task == task.Reanalyze {
		return true
	}
	if existing.Marker.To != a.Comment {
		return false
	}
	for _, c := range a.all {
		if c.ID > existing.ID && !c.Author.IsBot() {
			return false // the conversation went on
		}
	}
	return true
}

// waitsOtherwise reports whether the issue waits for its reporter for another reason than the questions of an analysis
// that is written anew: a follow-up asked too, a maintainer said something, a person set the label. Without it, an issue
// that nobody asks about any more would be reminded of and closed.
func (a *run) waitsOtherwise(ctx context.Context, asked comment.Own) bool {
	for _, e := range comment.Thread(a.all, a.owner, a.maintainer(ctx)) {
		switch {
		case e.ID <= asked.ID:
		case e.Mark != nil && e.Mark.Kind == task.MarkFollowUp && e.Mark.Questions:
			return true
		case e.By.Maintainer:
			if saysMore(e.Body) || slices.ContainsFunc(task.Commands(e.Body), func(c task.Command) bool { return c.Word == task.CommandWait }) {
				return true
			}
		}
	}
	for _, e := range slices.Backward(a.history(ctx)) {
		if e.Kind == "labeled" && config.FoldLabel(e.Label) == config.LabelNeedsInfo {
			return !e.Actor.IsBot()
		}
	}
	return true // who set it is not known
}

// saysMore reports whether a comment holds more than lines of commands.
func saysMore(body string) bool {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "/assistant") {
			return true
		}
	}
	return false
}

// last is the newest comment of a kind of the assistant.
func (a *run) last(kind string) (comment.Own, bool) {
	for _, own := range slices.Backward(a.own) {
		if own.Marker.Kind == kind {
			return own, true
		}
	}
	return comment.Own{}, false
}

// found picks the comment that a new one of the kind replaces: there is one analysis per issue.
func (a *run) found(kind string) *comment.Own {
	if own, ok := a.last(kind); ok {
		return &own
	}
	return nil
}

// sure reports whether the answer gives the number with high confidence.
func (a *run) sure(x *answer.Analysis, number int) bool {
	for _, d := range x.Duplicates {
		if d.Number == number || a.followed[d.Number] == number {
			return d.Confidence == answer.ConfidenceHigh
		}
	}
	return false
}

// sensitive is the AI's word on sensitive data, or stronger: what the rules find does not depend on it.
func (a *run) sensitive(said string, all bool) string {
	if said == answer.SensitiveSecret {
		return said
	}
	texts := []string{}
	if all {
		texts = append(texts, a.issue.Title, a.issue.Body)
	}
	for _, c := range a.all {
		if strings.EqualFold(comment.Login(c.Author), comment.Login(a.issue.Author)) {
			texts = append(texts, c.Body)
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case len(sanitize.FindSecrets(text, nil)) > 0:
		return answer.SensitiveSecret
	case said == answer.SensitiveNone && len(sanitize.FindPersonal(text)) > 0:
		return answer.SensitivePersonal
	}
	return said
}

// language is the tag whose texts are used. An answer in a language without texts stands between English texts.
func (a *run) language(tag string) string {
	found, ok := a.Texts.Match(tag)
	if !ok && tag != "" {
		a.note("there are no texts in the language " + comment.Code(tag) + ": the comment's own words are English")
	}
	return found
}

// rationale is the AI's reason for the summary, in one line and without anything live.
func (a *run) rationale(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "no reason given"
	}
	return sanitize.Clean(s, sanitize.Line, sanitize.Policy{})
}

func filled(list []string) []string {
	var out []string
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			out = append(out, s)
		}
	}
	return out
}
