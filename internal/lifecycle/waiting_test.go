package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func TestReminderAfterItsDaysThenClosingAfterTheFullPeriod(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(14)
	r.want(n, "open", "needs-info")
	r.wantNotices(n, "reminder", 0)
	r.sweepAfter(1)
	r.want(n, "open", "needs-info", "stale")
	last := r.Comments(n)[1]
	if closes := r.now.AddDate(0, 0, 15).Format(time.DateOnly); !strings.Contains(last.Body, closes) {
		t.Errorf("the reminder does not name %s: %s", closes, last.Body)
	}
	r.sweepAfter(14)
	r.want(n, "open", "needs-info", "stale")
	r.days(1)
	res := r.sweep()
	r.want(n, "closed", "needs-info", "stale")
	if i := r.get(n); i.StateReason != "not_planned" {
		t.Errorf("closed as %s", i.StateReason)
	}
	if !strings.Contains(res.Summary(""), "closed without an answer") {
		t.Error(res.Summary(""))
	}
	r.sweepAfter(5)
	r.wantNotices(n, "reminder", 1)
	r.wantNotices(n, "closed-unanswered", 1)
}

// A reminder that a person deletes is not posted again the next day, and nothing is closed without one; a new question
// starts a new period.
func TestADeletedReminderStaysAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.wantNotices(n, "reminder", 1)
	last := r.Comments(n)[1]
	if err := ghapi.NewWriter(r.client()).DeleteComment(t.Context(), n, last.ID, "test"); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		r.days(10)
		res := r.sweep()
		r.want(n, "open", "needs-info", "stale")
		r.wantNotices(n, "reminder", 0)
		if !strings.Contains(res.Summary(""), "its reminder was deleted") {
			t.Error(res.Summary(""))
		}
	}
	r.AddCommentAt(n, "mona", "Which version is it?", r.now)
	r.sweepAfter(15)
	r.wantNotices(n, "reminder", 1)
	r.sweepAfter(15)
	r.want(n, "closed", "needs-info", "stale")
}

func TestLateReminderStillGivesTheWholeNotice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.days(60) // no sweep ran
	r.sweep()
	r.want(n, "open", "needs-info", "stale")
	r.sweepAfter(14)
	r.want(n, "open", "needs-info", "stale")
	r.sweepAfter(1)
	r.want(n, "closed", "needs-info", "stale")
}

func TestAnswerEndsTheWaiting(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*rig, int){
		"comment":      func(r *rig, n int) { r.AddComment(n, "reporter", "It is version 3") },
		"edited body":  func(r *rig, n int) { r.EditIssue(n, "reporter", "Version 3") },
		"other case":   func(r *rig, n int) { r.AddComment(n, "Reporter", "It is version 3") },
		"before label": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var n int
			if answer == nil { // the answer came between the question and the label that belongs to it
				n = r.issue()
				r.own(n, comment.Marker{Kind: "analysis", Questions: true}, "Which version?")
				r.now = r.now.Add(10 * time.Second)
				r.AddComment(n, "reporter", "Version 3")
				r.now = r.now.Add(10 * time.Second)
				r.LabelAs(n, bot, true, "needs-info")
			} else {
				n = r.asked()
				r.sweepAfter(16)
				r.want(n, "open", "needs-info", "stale")
				answer(r, n)
				r.days(20)
			}
			r.sweep()
			r.want(n, "open")
		})
	}
}

func TestOthersWordsAreNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.days(1)
	r.AddComment(n, "stranger", "Me too")
	r.AddComment(n, "reporter", "Thanks!")
	r.AddComment(n, "renovate[bot]", "x")
	r.EditIssue(n, "mona", "edited by a maintainer")
	r.sweepAfter(14)
	r.want(n, "open", "needs-info", "stale")
	r.wantNotices(n, "reminder", 1)
}

func TestMaintainersQuestionRestartsThePeriodThanksDoNot(t *testing.T) {
	t.Parallel()
	for body, restarts := range map[string]bool{"Thank you!": false, "Danke 👍": false, "And which browser?": true} {
		r := newRig(t)
		n := r.asked()
		r.days(10)
		r.AddComment(n, "mona", body)
		r.sweepAfter(5)
		want := 1
		if restarts {
			want = 0
		}
		r.wantNotices(n, "reminder", want)
	}
}

func TestNewPeriodHasItsOwnReminder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.days(1)
	r.AddComment(n, "reporter", "Version 3")
	r.sweep()
	r.want(n, "open")
	r.days(1)
	r.LabelAs(n, "mona", true, "needs-info")
	r.sweepAfter(15)
	r.wantNotices(n, "reminder", 2)
	r.sweepAfter(14)
	r.want(n, "open", "needs-info", "stale")
}

func TestLeftoverStaleIsTakenAwayAPersonsIsNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mine, theirs := r.asked(), r.asked()
	r.LabelAs(mine, bot, true, "stale")
	r.LabelAs(theirs, "mona", true, "stale")
	r.sweepAfter(1)
	r.want(mine, "open", "needs-info")
	r.want(theirs, "open", "needs-info", "stale")
}

func TestStaleIsPutBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.LabelAs(n, "mona", false, "stale")
	r.sweepAfter(1)
	r.want(n, "open", "needs-info", "stale")
}

func TestExemptions(t *testing.T) {
	t.Parallel()
	for name, exempt := range map[string]func(*rig, int){
		"exempt label": func(r *rig, n int) { r.LabelAs(n, "mona", true, "Pinned") },
		"off":          func(r *rig, n int) { r.LabelAs(n, "mona", true, "issue-assistant:off") },
		"locked":       func(r *rig, n int) { r.LockIssue(n, "resolved") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			waits, fixed := r.asked(), r.issue()
			exempt(r, waits)
			exempt(r, fixed)
			r.merge("", fixed)
			before := r.Dump()
			for range 5 {
				r.sweepAfter(15)
			}
			r.release("v1")
			r.sweep()
			if after := r.Dump(); after != before {
				t.Errorf("an exempt issue was touched:\n%s", after)
			}
		})
	}
}

func TestAssigneeAndMilestoneExemptFromClosingOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.AddMilestone(ghapi.Milestone{Title: "next"})
	assigned := r.AddIssue(ghapi.Issue{Title: "x", Assignees: []string{"mona"}})
	planned := r.AddIssue(ghapi.Issue{Title: "x", MilestoneNumber: m, Milestone: "next"})
	for _, n := range []int{assigned, planned} {
		r.LabelAs(n, "mona", true, "needs-info")
	}
	for range 4 {
		r.sweepAfter(20)
	}
	for _, n := range []int{assigned, planned} {
		r.want(n, "open", "needs-info")
		r.wantNotices(n, "reminder", 0)
		r.merge("", n)
	}
	r.sweep()
	r.release("v1")
	r.sweep()
	r.want(assigned, "closed")
	r.want(planned, "closed")
	if got := r.get(planned).Milestone; got != "next" {
		t.Errorf("the maintainer's milestone became %q", got)
	}
}

func TestAnswerAfterClosingReopens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.sweepAfter(15)
	r.want(n, "closed", "needs-info", "stale")
	r.days(200)
	r.AddComment(n, "reporter", "Thanks!")
	r.sweep()
	r.want(n, "closed", "needs-info", "stale")
	r.AddComment(n, "reporter", "It was version 3")
	r.sweepAfter(1)
	r.want(n, "open", "needs-triage")
	r.wantNotices(n, "reopened", 1)
	r.sweepAfter(60)
	r.wantNotices(n, "reopened", 1)
	r.want(n, "open", "needs-triage")
}

func TestClosedByAPersonStaysClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.LabelAs(n, bot, true, "stale", "needs-triage", "possible-duplicate")
	r.SetStateAs(n, "mona", "closed", "not_planned")
	r.AddComment(n, "reporter", "It was version 3")
	r.sweepAfter(1)
	r.want(n, "closed") // and the labels of the lifecycle are gone
}

func TestReopenedByAPersonStartsANewPeriod(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.sweepAfter(15)
	r.days(1)
	r.SetStateAs(n, "mona", "open", "reopened")
	r.sweep()
	r.sweepAfter(14)
	r.want(n, "open", "needs-info")
	r.wantNotices(n, "reminder", 1)
	r.sweepAfter(1)
	r.wantNotices(n, "reminder", 2)
	r.want(n, "open", "needs-info", "stale")
}

// A crash or an error between any two writes: the next sweep completes it, and no notice stands twice.
func TestEveryStepMayBreakOff(t *testing.T) {
	t.Parallel()
	for skip := range 6 {
		for _, days := range []int{15, 30} {
			r := newRig(t)
			n := r.asked()
			r.days(15)
			if days == 30 {
				r.sweep()
				r.days(15)
			}
			r.AddFault(faultAt(skip))
			r.sweep()
			r.Calm()
			r.sweep()
			if days == 15 {
				r.want(n, "open", "needs-info", "stale")
			} else {
				r.want(n, "closed", "needs-info", "stale")
				r.wantNotices(n, "closed-unanswered", 1)
			}
			r.wantNotices(n, "reminder", 1)
		}
	}
}

// Whoever says that an issue may stay closed does not want it opened.
func TestSettledStaysClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	r.sweepAfter(15)
	r.sweepAfter(15)
	r.want(n, "closed", "needs-info", "stale")
	r.days(1)
	r.AddComment(n, "reporter", "Please leave it closed, I use something else now.")
	r.sweep()
	r.want(n, "closed", "needs-info", "stale")
	r.AddComment(n, "reporter", "On second thought: it is version 3")
	r.sweepAfter(1)
	r.want(n, "open", "needs-triage")
}

func TestTriageLabelGoesWhenAMaintainerTakesTheIssueOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.AddMilestone(ghapi.Milestone{Title: "next"})
	assigned := r.AddIssue(ghapi.Issue{Title: "x", Assignees: []string{"mona"}})
	planned := r.AddIssue(ghapi.Issue{Title: "x", MilestoneNumber: m, Milestone: "next"})
	byHand := r.AddIssue(ghapi.Issue{Title: "x", Assignees: []string{"mona"}})
	pinned := r.AddIssue(ghapi.Issue{Title: "x", Assignees: []string{"mona"}, Labels: []string{"pinned"}})
	nobody := r.issue()
	for _, n := range []int{assigned, planned, pinned, nobody} {
		r.LabelAs(n, bot, true, "needs-triage")
	}
	r.LabelAs(byHand, "mona", true, "needs-triage")
	r.sweepAfter(2)
	r.want(assigned, "open")
	r.want(planned, "open")
	r.want(byHand, "open", "needs-triage")
	r.want(pinned, "open", "needs-triage")
	r.want(nobody, "open", "needs-triage")
	r.ClearLog()
	r.sweep()
	if r.writes() != 0 {
		t.Errorf("%d writes in the second sweep", r.writes())
	}
}
