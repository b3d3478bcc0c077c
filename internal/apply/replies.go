package apply

import (
	"context"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// maintainerReply sets needs-info when the maintainer's comment asks the reporter for something. It posts nothing.
func (a *run) maintainerReply(ctx context.Context) error {
	x := a.answer.MaintainerReply
	a.note("reason: " + a.rationale(x.Reason))
	switch {
	case !x.WaitingForReporter:
		a.skip("the issue does not wait for its reporter")
	case a.issue.HasLabel(config.LabelNeedsInfo):
		a.skip("the issue waits for its reporter already")
	case a.reporterSpokeAfter(ctx):
		a.skip("the reporter has answered meanwhile")
	default:
		a.addLabels(ctx, "questions", config.LabelNeedsInfo)
	}
	return nil
}

// reporterSpokeAfter reports whether the reporter commented after the maintainer's comment that was judged.
func (a *run) reporterSpokeAfter(ctx context.Context) bool {
	asked := a.Comment
	reporter := comment.Login(a.issue.Author)
	if asked == 0 {
		for _, e := range comment.Thread(a.all, a.owner, a.maintainer(ctx)) {
			if e.By.Maintainer && !strings.EqualFold(e.By.Login, reporter) {
				asked = e.ID
			}
		}
	}
	for _, c := range a.all {
		if c.ID > asked && asked != 0 && reporter != task.Ghost && strings.EqualFold(comment.Login(c.Author), reporter) {
			return true
		}
	}
	return false
}

// releaseReply opens the issue again when its problem persists. The comment comes first and reopening last: while the
// issue is closed, a run that broke off is completed by running it again.
func (a *run) releaseReply(ctx context.Context) error {
	x := a.answer.ReleaseReply
	a.note("reason: " + a.rationale(x.Reason))
	if !x.ProblemPersists {
		a.skip("the problem does not persist: the issue stays closed")
		return nil
	}
	existing := a.answering(task.MarkReleaseReply)
	switch {
	case a.issue.State != "closed" && existing == nil:
		a.skip("the issue is open")
		return nil
	case a.issue.State != "closed":
		a.addLabels(ctx, "triage", config.LabelNeedsTriage) // what an earlier try may have left undone
		return nil
	case existing != nil && a.reopenedAfter(ctx, existing):
		a.skip("the issue was opened again for this comment and closed since")
		return nil
	}
	page := a.page(task.MarkReleaseReply)
	language := x.Language
	if language == "" {
		language = comment.Language(a.own, a.issue.Body)
	}
	page.Marker.Language = a.language(language)
	posted, err := a.post(ctx, a.Texts.ReleaseReply(page), existing)
	if !posted || err != nil {
		return err
	}
	a.addLabels(ctx, "triage", config.LabelNeedsTriage)
	if err := a.w.Reopen(ctx, a.Issue, string(a.Task)); err != nil {
		return a.principal(ctx, "reopen", err)
	}
	a.wrote("reopen the issue")
	return nil
}

// reopenedAfter reports whether the issue was reopened after the assistant's comment.
func (a *run) reopenedAfter(ctx context.Context, own *comment.Own) bool {
	events, err := a.r.Events(ctx, a.Issue)
	if err != nil {
		a.note("the issue's events could not be read")
		return false
	}
	for _, e := range events {
		if e.Kind == "reopened" && !e.CreatedAt.Before(own.CreatedAt) {
			return true
		}
	}
	return false
}
