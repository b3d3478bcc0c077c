package lifecycle

import (
	"fmt"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// announced is the analysis that announced an original, and that one's number; false when there is none.
func announced(f Facts) (Comment, int, bool) {
	analyses := f.own(task.MarkAnalysis)
	if len(analyses) == 0 {
		return Comment{}, 0, false
	}
	last := analyses[len(analyses)-1]
	return last, last.Marker.Duplicate, last.Marker.Duplicate > 0 && last.Marker.Duplicate != f.Issue.Number
}

// duplicateDue reports whether the grace of an announced duplicate is over and nobody wrote since: then reactions and
// the original are worth asking for.
func duplicateDue(f Facts, c config.Lifecycle, now time.Time) bool {
	said, _, ok := announced(f)
	exempt, _ := f.Exempt(c)
	return ok && !exempt && c.CloseDuplicates && !f.kept() && f.Issue.State == "open" && f.Issue.HasLabel(config.LabelPossible) &&
		!spoken(f, said) && now.Sub(said.CreatedAt) >= days(c.DuplicateDays)
}

// spoken reports whether any person wrote after the announcement.
func spoken(f Facts, said Comment) bool {
	for _, x := range f.Comments {
		if x.CreatedAt.After(said.CreatedAt) && x.Role != RoleBot && x.Role != RoleOwn {
			return true
		}
	}
	return false
}

// Duplicate decides about an open issue that carries possible-duplicate. Thumbs says that the reporter or a maintainer
// gave the analysis a thumbs-down, open that the original exists and is open; both count only once it is due.
func Duplicate(f Facts, c config.Lifecycle, now time.Time, thumbs, open bool) Decision {
	if f.Issue.State != "open" || !f.Issue.HasLabel(config.LabelPossible) {
		return Decision{}
	}
	if exempt, why := f.Exempt(c); exempt {
		return Decision{Topic: TopicExempt, Note: why}
	}
	said, original, ok := announced(f)
	if !ok {
		return Decision{}
	}
	if spoken(f, said) {
		return Decision{Topic: TopicObjection, Note: "somebody wrote", Steps: f.remove(config.LabelPossible)}
	}
	switch {
	case !duplicateDue(f, c, now):
		return Decision{}
	case thumbs:
		return Decision{Topic: TopicObjection, Note: "a thumbs-down", Steps: f.remove(config.LabelPossible)}
	case !open:
		return Decision{Topic: TopicObjection, Note: fmt.Sprintf("#%d is not open", original), Steps: f.remove(config.LabelPossible)}
	}
	d := Decision{Topic: TopicDuplicate, Note: fmt.Sprintf("of #%d", original)}
	told, ok := f.notice(task.MarkClosedDuplicate, said.CreatedAt)
	if ok && f.reopenedAfter(told.CreatedAt) {
		return Decision{Topic: TopicObjection, Note: "opened again by a person", Steps: f.remove(config.LabelPossible)}
	}
	if !ok {
		d.Steps = append(d.Steps, say(comment.Marker{Kind: task.MarkClosedDuplicate, Duplicate: original, Since: said.CreatedAt.Unix()}))
	}
	d.Steps = append(d.Steps, optional(f.add(config.LabelDuplicate))...)
	d.Steps = append(d.Steps, Step{Verb: VerbClose, Reason: "duplicate", Original: original})
	d.Steps = append(d.Steps, optional(f.remove(config.LabelNeedsTriage, config.LabelNeedsInfo, config.LabelStale, config.LabelPossible))...)
	return d
}
