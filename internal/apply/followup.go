package apply

import (
	"context"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// followUp posts the answer to what the reporter wrote. Numbers of issues in it were not looked up and are no links.
func (a *run) followUp(ctx context.Context) error {
	x := a.answer.FollowUp
	existing := a.answering(task.MarkFollowUp)
	if existing == nil && !a.ByHand {
		thread := comment.Thread(a.all, a.owner, a.maintainer(ctx))
		if due, why := task.FollowUpLeft(thread, comment.Login(a.issue.Author), a.Edit); !due {
			a.skip(why)
			return nil
		}
	}
	page, labels := a.labeled(task.MarkFollowUp, x.Choice)
	view := comment.FollowUp{
		Reply: x.Reply, Sensitive: a.sensitive(x.SensitiveData, false), References: a.references(x.References),
	}
	if a.labels.Asks(x.Kind) {
		view.Missing = filled(x.MissingInformation)
	}
	page.Marker.Questions = len(view.Missing) > 0
	page.Policy = a.policy
	a.noteLabels(x.Choice, labels)
	posted, err := a.post(ctx, a.Texts.FollowUp(page, view), existing)
	if !posted || err != nil {
		return err
	}
	a.relabel(ctx, x.Kind, labels)
	if page.Marker.Questions {
		a.addLabels(ctx, "questions", config.LabelNeedsInfo)
	}
	return nil
}

// answering is the assistant's comment of a kind that answers the same comment: this very answer, posted before.
func (a *run) answering(kind string) *comment.Own {
	for i := len(a.own) - 1; i >= 0; i-- {
		if m := a.own[i].Marker; m.Kind == kind && m.To == a.Comment {
			return &a.own[i]
		}
	}
	return nil
}
