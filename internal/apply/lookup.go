package apply

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// maxChain is how many closed duplicates are followed to find the open original.
const maxChain = 5

// lookUp reads every number that the answer names. What does not exist is dropped; a duplicate is only an older open
// issue, or the open end of a chain of closed ones; other closed ones stand under related with how they were closed.
func (a *run) lookUp(ctx context.Context, x *answer.Analysis) (duplicate *comment.Related, related []comment.Related, err error) {
	a.followed = map[int]int{}
	seen := map[int]bool{a.Issue: true}
	for i, d := range x.Duplicates {
		field := fmt.Sprintf("duplicates[%d]", i)
		issue, why, err := a.original(ctx, d.Number)
		switch {
		case err != nil:
			return nil, nil, err
		case why != "":
			a.dropped(field, why, d.Number)
			continue
		case seen[issue.Number]:
			continue
		}
		seen[issue.Number] = true
		a.followed[d.Number] = issue.Number
		a.policy.Issues[issue.Number] = true
		found := comment.Related{Number: issue.Number, Closed: closing(issue), Reason: d.Reason}
		if duplicate == nil && found.Closed == "" {
			duplicate = &found
		} else {
			related = append(related, found)
		}
	}
	for i, r := range x.Related {
		field := fmt.Sprintf("related[%d]", i)
		if seen[r.Number] {
			continue
		}
		seen[r.Number] = true
		found, why, err := a.relatedTo(ctx, r)
		switch {
		case err != nil:
			return nil, nil, err
		case why != "":
			a.dropped(field, why, r.Number)
			continue
		}
		related = append(related, found)
	}
	return duplicate, related, nil
}

func (a *run) dropped(field, why string, number int) {
	a.repair(fmt.Sprintf("%s: dropped, %s: %d", field, why, number))
}

func (a *run) relatedTo(ctx context.Context, r answer.Related) (found comment.Related, why string, err error) {
	found = comment.Related{Number: r.Number, Reason: r.Reason}
	if r.Kind == answer.RelatedDiscussion {
		if _, err := a.r.Discussion(ctx, r.Number); err != nil {
			return found, "no such discussion", passing(err)
		}
		a.policy.Discussions[r.Number] = true
		a.policy.Issues[r.Number] = true // #N leads to either: they share their numbers
		found.Discussion = true
		return found, "", nil
	}
	issue, why, err := a.exists(ctx, r.Number)
	if why != "" || err != nil {
		return found, why, err
	}
	a.policy.Issues[r.Number] = true
	found.Closed = closing(issue)
	return found, "", nil
}

// exists reads an issue of this repository; why says what is wrong with the number.
func (a *run) exists(ctx context.Context, number int) (issue ghapi.Issue, why string, err error) {
	if number == a.Issue {
		return issue, "it is this issue", nil
	}
	issue, err = a.r.Issue(ctx, number)
	switch {
	case err != nil:
		return issue, "no such issue", passing(err)
	case issue.IsPullRequest:
		return issue, "it is a pull request", nil
	}
	return issue, "", nil
}

// passing keeps errors that say nothing about the number.
func passing(err error) error {
	switch ghapi.KindOf(err) {
	case ghapi.KindNotFound, ghapi.KindGone, ghapi.KindMoved, ghapi.KindForbidden, ghapi.KindGraphQL, ghapi.KindInvalid:
		return nil
	default:
	}
	return fmt.Errorf("look up what the answer names: %w", err)
}

// original follows a candidate over closed duplicates to its open end. A chain that leads back to this issue, to a
// newer one or in a circle offers nothing; one that ends at a closed issue offers the candidate itself, as closed.
func (a *run) original(ctx context.Context, number int) (issue ghapi.Issue, why string, err error) {
	if number > a.Issue {
		return issue, "it is newer than this issue", nil
	}
	first, why, err := a.exists(ctx, number)
	if why != "" || err != nil {
		return issue, why, err
	}
	at, passed := first, map[int]bool{number: true}
	for range maxChain {
		if at.State != "closed" {
			return at, "", nil
		}
		if at.StateReason != "duplicate" {
			return first, "", nil
		}
		next, err := a.duplicateOf(ctx, at.Number)
		switch {
		case err != nil:
			return issue, "", err
		case next == a.Issue:
			return issue, "it points back to this issue", nil
		case passed[next]:
			return issue, "it points back to itself", nil
		case next == 0 || next > a.Issue:
			return first, "", nil
		}
		passed[next] = true
		following, why, err := a.exists(ctx, next)
		if err != nil {
			return issue, "", err
		}
		if why != "" {
			return first, "", nil
		}
		at = following
	}
	return first, "", nil
}

// duplicateLine is how people mark a duplicate on GitHub: a line of its own (docs.github.com, "Marking issues or pull
// requests as a duplicate").
var duplicateLine = lazy.Regexp(`(?im)^[ \t]*duplicate of #([1-9][0-9]{0,8})\b`)

// duplicateOf finds the original of an issue that was closed as a duplicate: in the assistant's own closing comment, or
// in the line by which people mark it. 0: not known.
func (a *run) duplicateOf(ctx context.Context, number int) (int, error) {
	comments, err := a.r.Comments(ctx, number)
	if err != nil {
		return 0, passing(err)
	}
	for _, c := range slices.Backward(comments) {
		if m, ok := comment.ParseMarker(c.Body); ok && a.owner.Wrote(c.Author) {
			if m.Kind == task.MarkClosedDuplicate && m.Duplicate > 0 {
				return m.Duplicate, nil
			}
			continue
		}
		if found := duplicateLine().FindStringSubmatch(c.Body); found != nil && a.maintainer(ctx)(comment.Login(c.Author)) {
			n, err := strconv.Atoi(found[1])
			return n, err
		}
	}
	return 0, nil
}

// closing is how an issue was closed, in the words of the comment; empty while it is open.
func closing(i ghapi.Issue) string {
	switch {
	case i.State != "closed":
		return ""
	case i.StateReason == "not_planned" || i.StateReason == "duplicate":
		return i.StateReason
	}
	return "completed"
}
