package lifecycle_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

const fixedLabel = "fixed-in-next-release"

func TestFixByPullRequestClosesWithItsRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue("needs-triage")
	r.LabelAs(n, bot, true, "needs-info", "stale")
	r.days(1)
	pull, _ := r.merge("", n)
	r.sweep(mode(lifecycle.ModeMerge))
	r.want(n, "open", "needs-triage", fixedLabel)
	if last := r.Comments(n)[0].Body; !strings.Contains(last, "#"+itoa(pull)) || !strings.Contains(last, "`main`") {
		t.Errorf("the comment does not name the pull request: %s", last)
	}
	r.sweep()
	r.wantNotices(n, "fixed", 1)
	r.days(1)
	r.release("v1.0.0")
	r.sweep(mode(lifecycle.ModeRelease))
	r.want(n, "closed")
	i := r.get(n)
	if i.StateReason != "completed" || i.Milestone != "v1.0.0" {
		t.Errorf("closed as %s, milestone %q", i.StateReason, i.Milestone)
	}
	if m := r.Milestones(); len(m) != 1 || m[0].State != "closed" || m[0].DueOn.IsZero() {
		t.Errorf("milestones: %+v", m)
	}
	r.sweepAfter(1)
	r.wantNotices(n, "released", 1)
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestReleaseSecondsAfterTheMergeCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.now = r.now.Add(5 * time.Second)
	r.release("v1") // before any sweep set the label
	r.days(1)
	r.sweep() // marks
	r.sweep() // closes
	r.want(n, "closed")
}

func TestReleasesThatDoNotCount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.commit("before")
	n := r.issue()
	r.days(1)
	_, sha := r.merge("", n)
	r.sweep()
	r.days(1)
	for _, f := range []ghapi.Release{{Tag: "v0.9"}, {Tag: "v1-rc", Prerelease: true}, {Tag: "v1-draft", Draft: true}, {Tag: "no-tag"}} {
		f.CreatedAt, f.PublishedAt = r.now, r.now
		r.AddRelease(f)
	}
	r.SetRef("tags/v0.9", old)
	r.SetRef("tags/v1-rc", sha)
	r.SetRef("tags/v1-draft", sha)
	r.sweep()
	r.want(n, "open", fixedLabel)
	r.days(1)
	r.release("v1")
	r.days(1)
	r.release("v2")
	r.sweep()
	r.want(n, "closed")
	if i := r.get(n); i.Milestone != "v1" {
		t.Errorf("closed with %q, the first release that holds the fix is v1", i.Milestone)
	}
}

func TestFixByCommitOnTheDefaultBranch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n, other := r.issue(), r.issue()
	sha := r.commit("Handle the empty file\n\nFixes #" + itoa(n) + ", see #" + itoa(other))
	r.sweep()
	r.want(n, "open", fixedLabel)
	r.want(other, "open")
	if body := r.Comments(n)[0].Body; !strings.Contains(body, "/commit/"+sha) {
		t.Error(body)
	}
	r.days(1)
	r.release("v1")
	r.sweep()
	r.want(n, "closed")
	r.wantNotices(n, "fixed", 1)
}

func TestClosingKeywords(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][]int{
		"Fixes #1":             {1},
		"fix: #2, closes GH-3": {2, 3},
		"Resolved octo/demo#4": {4},
		"closes other/repo#5":  nil,
		"CLOSES https://github.com/octo/demo/issues/6": {6},
		"fixes https://github.com/octo/other/issues/7": nil,
		"prefixes #8 and #9":                           nil,
		"Fix #10 Fix #10":                              {10},
		"fixes #0 fixes #99999999999":                  nil,
		"see #11":                                      nil,
	} {
		if got := lifecycle.Closes(message, "octo/demo"); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}

func TestRevertTakesTheFixBack(t *testing.T) {
	t.Parallel()
	for name, revert := range map[string]func(*rig, int, string) string{
		"by commit": func(r *rig, _ int, sha string) string { return r.commit("Revert\n\nThis reverts commit " + sha + ".") },
		"by pull request": func(r *rig, pull int, _ string) string {
			_, sha := r.merge("Reverts octo/demo#" + itoa(pull))
			return sha
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			n := r.issue()
			pull, sha := r.merge("", n)
			r.sweep()
			r.days(1)
			r.now = r.now.Add(time.Hour)
			taken := revert(r, pull, sha)
			r.sweep(mode(lifecycle.ModeMerge))
			r.want(n, "open", "needs-triage")
			r.days(1)
			r.release("v1")
			r.sweep()
			r.want(n, "open", "needs-triage")
			// The revert is reverted: the fix is there again, and a maintainer says so by the label.
			r.commit("This reverts commit " + taken)
			r.LabelAs(n, "mona", true, fixedLabel)
			r.days(1)
			r.release("v2")
			r.sweep()
			if name == "by commit" {
				r.want(n, "closed")
				if got := r.get(n).Milestone; got != "v2" {
					t.Errorf("closed with %q", got)
				}
			}
		})
	}
}

func TestRevertInsideTheReleaseIsSeenWithoutTheLookBack(t *testing.T) {
	t.Parallel()
	const sha, pick = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	at := func(sha, message string) ghapi.Commit { return ghapi.Commit{SHA: sha, Message: message} }
	for name, x := range map[string]struct {
		cmp  ghapi.Comparison
		want lifecycle.Standing
	}{
		"ahead":             {ghapi.Comparison{Status: "ahead"}, lifecycle.HasIt},
		"identical":         {ghapi.Comparison{Status: "identical"}, lifecycle.HasIt},
		"behind":            {ghapi.Comparison{Status: "behind"}, lifecycle.Lacks},
		"diverged":          {ghapi.Comparison{Status: "diverged"}, lifecycle.Lacks},
		"ahead, reverted":   {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{at("3333333", "This reverts commit "+sha+".")}}, lifecycle.TakenBack},
		"backport":          {ghapi.Comparison{Status: "diverged", Commits: []ghapi.Commit{at(pick, "x\n\n(cherry picked from commit "+sha+")")}}, lifecycle.HasIt},
		"short backport":    {ghapi.Comparison{Status: "diverged", Commits: []ghapi.Commit{at(pick, "(cherry picked from commit "+sha[:12]+")")}}, lifecycle.HasIt},
		"other backport":    {ghapi.Comparison{Status: "diverged", Commits: []ghapi.Commit{at(pick, "(cherry picked from commit "+pick+")")}}, lifecycle.Lacks},
		"backport reverted": {ghapi.Comparison{Status: "diverged", Commits: []ghapi.Commit{at(pick, "(cherry picked from commit "+sha+")"), at("3333333", "This reverts commit "+pick)}}, lifecycle.TakenBack},
		"reverted, brought back": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "This reverts commit "+sha), at("5555555555", "This reverts commit 4444444444"),
		}}, lifecycle.HasIt},
		"reverted by a squashed pull request": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "Revert \"Mend it (#12)\" (#15)\n\nReverts octo/demo#12"),
		}}, lifecycle.TakenBack},
		"another's pull request reverted": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "Revert \"x\" (#15)\n\nReverts other/demo#12"), at("5555555555", "Revert \"x\" (#16)\n\nReverts #13"),
		}}, lifecycle.HasIt},
		"a pull request reverted and brought back": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "Revert \"Mend it\" (#15)\n\nReverts #12"), at("5555555555", "Revert \"Revert\" (#16)\n\nReverts octo/demo#15"),
		}}, lifecycle.HasIt},
		"a merged revert brought back": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "Merge pull request #15 from octo/x\n\nReverts #12"), at("5555555555", "Undo (#16)\n\nReverts #15"),
		}}, lifecycle.HasIt},
		"a ring of reverts": {ghapi.Comparison{Status: "ahead", Commits: []ghapi.Commit{
			at("4444444444", "This reverts commit 5555555555"), at("5555555555", "This reverts commit 4444444444"),
		}}, lifecycle.HasIt},
	} {
		if got := lifecycle.StandingOf(x.cmp, "octo/demo", lifecycle.Fix{Pull: 12, Commit: sha}); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A revert that is older than the sweep looks back is seen in the comparison alone: the fix that came after it is what the
// issue waits for, and the dead one does not hold it open for ever.
func TestOldRevertDoesNotHoldALaterFixBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	_, first := r.merge("", n)
	r.sweep()
	r.days(5)
	r.commit("This reverts commit " + first + ".")
	r.sweep()
	r.want(n, "open", "needs-triage")
	r.days(70)
	r.merge("", n)
	r.sweep()
	r.want(n, "open", "needs-triage", fixedLabel)
	r.days(1)
	r.release("v1")
	r.sweep()
	r.want(n, "closed")
	if got := r.get(n).Milestone; got != "v1" {
		t.Errorf("closed with %q", got)
	}
}

func TestLabelByHandClosesWithNoRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.LabelAs(n, "mona", true, fixedLabel)
	r.days(1)
	r.release("v1")
	res := r.sweep()
	r.want(n, "open", fixedLabel)
	if !strings.Contains(res.Summary(""), "no fix is known") {
		t.Error(res.Summary(""))
	}
}

func TestLabelThatAMaintainerTookAwayStaysAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.sweep()
	r.LabelAs(n, "mona", false, fixedLabel)
	r.sweepAfter(1)
	r.want(n, "open")
	r.days(1)
	r.merge("", n) // another fix
	r.sweep()
	r.want(n, "open", fixedLabel)
	r.wantNotices(n, "fixed", 2)
}

func TestAutoClosedIssueHearsOfItsRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n, invalid := r.issue(), r.issue()
	r.merge("", n, invalid)
	r.SetStateAs(n, "mona", "closed", "completed") // as GitHub does it in the name of who merged
	r.SetStateAs(invalid, "mona", "closed", "not_planned")
	r.sweep()
	r.want(n, "closed", fixedLabel)
	r.wantNotices(n, "fixed", 0)
	r.days(2)
	r.release("v1")
	r.sweep()
	r.want(n, "closed")
	r.wantNotices(n, "released", 1)
	r.wantNotices(invalid, "released", 0)
}

func TestAllFixesMustBeInTheRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.days(1)
	first := r.commit("Release v1")
	r.now = r.now.Add(time.Hour)
	r.merge("", n)
	r.sweep()
	r.SetRef("tags/v1", first)
	r.AddRelease(ghapi.Release{Tag: "v1", CreatedAt: r.now, PublishedAt: r.now})
	r.sweep()
	r.want(n, "open", fixedLabel)
	r.days(1)
	r.release("v2")
	r.sweep()
	r.want(n, "closed")
}

func TestOtherBranchesAndRepositoriesFixNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	sha := r.commit("x")
	r.AddPullRequest(ghapi.PullRequest{State: "merged", Base: "old", MergeCommit: sha, MergedAt: r.now, UpdatedAt: r.now, Closes: []ghapi.IssueRef{{Number: n}}})
	r.AddPullRequest(ghapi.PullRequest{State: "merged", MergeCommit: sha, MergedAt: r.now, UpdatedAt: r.now, Closes: []ghapi.IssueRef{{Number: n, Repo: "octo/other"}}})
	r.AddPullRequest(ghapi.PullRequest{State: "closed", UpdatedAt: r.now, Closes: []ghapi.IssueRef{{Number: n}}})
	r.sweep()
	r.want(n, "open")
}

func TestMoreThanThirtyMergesAndOldOnesAreSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var all []int
	for range 130 {
		n := r.issue()
		all = append(all, n)
		r.merge("", n)
	}
	r.days(20) // no sweep ran for longer than two weeks
	r.sweep()
	for _, n := range all {
		r.want(n, "open", fixedLabel)
	}
}

func TestReopenedAfterTheReleaseIsNotClosedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.sweep()
	r.days(1)
	r.release("v1")
	r.sweep()
	r.days(1)
	r.SetStateAs(n, "mona", "open", "reopened")
	r.LabelAs(n, "mona", true, fixedLabel)
	r.days(1)
	r.release("v2")
	r.sweep()
	r.want(n, "open", fixedLabel)
	r.wantNotices(n, "released", 1)
	r.merge("", n)
	r.sweep()
	r.release("v3")
	r.sweep()
	r.want(n, "closed")
}

func TestCloseWithReleaseOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Lifecycle.CloseWithRelease = false
	n := r.issue()
	r.LabelAs(n, "mona", true, fixedLabel)
	r.merge("", n)
	r.release("v1")
	before := r.Dump()
	r.sweep()
	if after := r.Dump(); after != before {
		t.Error(after)
	}
}

func TestEveryStepOfFixAndReleaseMayBreakOff(t *testing.T) {
	t.Parallel()
	for skip := range 8 {
		r := newRig(t)
		n := r.issue("needs-triage")
		r.LabelAs(n, "mona", true, "needs-info", "stale")
		r.merge("", n)
		r.AddFault(faultAt(skip))
		r.sweep()
		r.Calm()
		r.sweep()
		r.want(n, "open", fixedLabel, "needs-triage")
		r.wantNotices(n, "fixed", 1)
		r.days(1)
		r.release("v1")
		r.AddFault(faultAt(skip))
		r.sweep()
		r.Calm()
		r.sweep()
		r.want(n, "closed")
		r.wantNotices(n, "released", 1)
	}
}

func TestReadsThatFailCloseNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.sweep()
	r.release("v1")
	r.AddFault(ghtest.Fault{Match: func(q ghtest.Request) bool { return strings.Contains(q.Path, "/compare/") }, Times: -1, Status: 500})
	res := r.sweep()
	r.want(n, "open", fixedLabel)
	if res.Failed != 1 {
		t.Errorf("%+v", res)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(r *rig, n, original int, said int64)
		closed bool
		label  bool
	}{
		"nobody objects":           {nil, true, false},
		"a stranger's comment":     {func(r *rig, n, _ int, _ int64) { r.AddComment(n, "stranger", "No") }, false, false},
		"the reporter's thanks":    {func(r *rig, n, _ int, _ int64) { r.AddComment(n, "reporter", "thanks") }, false, false},
		"a bot's comment":          {func(r *rig, n, _ int, _ int64) { r.AddComment(n, "ci[bot]", "x") }, true, false},
		"reporter's thumbs-down":   {func(r *rig, n, _ int, c int64) { r.AddReaction(n, c, "reporter", "-1") }, false, false},
		"maintainer's thumbs-down": {func(r *rig, n, _ int, c int64) { r.AddReaction(n, c, "mona", "-1") }, false, false},
		"stranger's thumbs-down":   {func(r *rig, n, _ int, c int64) { r.AddReaction(n, c, "stranger", "-1") }, true, false},
		"reporter's thumbs-up":     {func(r *rig, n, _ int, c int64) { r.AddReaction(n, c, "reporter", "+1") }, true, false},
		"original closed":          {func(r *rig, _, o int, _ int64) { r.SetStateAs(o, "mona", "closed", "completed") }, false, false},
		"original deleted":         {func(r *rig, _, o int, _ int64) { r.DeleteIssue(o) }, false, false},
		"switched off":             {func(r *rig, _, _ int, _ int64) { r.config.Lifecycle.CloseDuplicates = false }, false, true},
		"exempt":                   {func(r *rig, n, _ int, _ int64) { r.LabelAs(n, "mona", true, "security") }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Lifecycle.CloseDuplicates = true
			original, n := r.issue(), r.issue("needs-triage")
			said := r.own(n, comment.Marker{Kind: "analysis", Duplicate: original}, "The same")
			r.LabelAs(n, bot, true, "possible-duplicate")
			r.sweepAfter(2)
			r.want(n, "open", "needs-triage", "possible-duplicate")
			if x.change != nil {
				x.change(r, n, original, said)
			}
			r.sweepAfter(1)
			r.sweepAfter(1)
			switch {
			case x.closed:
				r.want(n, "closed", "duplicate")
				r.wantNotices(n, "closed-duplicate", 1)
			case x.label:
				r.want(n, "open", "needs-triage", "possible-duplicate")
			default:
				r.want(n, "open", "needs-triage")
			}
		})
	}
}

func TestDuplicateMayBreakOffAtEveryStep(t *testing.T) {
	t.Parallel()
	for skip := range 7 {
		r := newRig(t)
		r.config.Lifecycle.CloseDuplicates = true
		original, n := r.issue(), r.issue("needs-triage")
		r.own(n, comment.Marker{Kind: "analysis", Duplicate: original}, "The same")
		r.LabelAs(n, bot, true, "possible-duplicate")
		r.days(3)
		r.AddFault(faultAt(skip))
		r.sweep()
		r.Calm()
		r.sweepAfter(1)
		i := r.get(n)
		if i.State != "closed" || i.HasLabel("possible-duplicate") || i.HasLabel("needs-triage") {
			t.Errorf("after %d writes: %s %v", skip, i.State, i.Labels)
		}
		r.wantNotices(n, "closed-duplicate", 1)
		r.days(1)
		r.AddComment(n, "reporter", "It is another problem")
		r.LabelAs(n, "mona", true, "stale") // so that the sweep looks at it
		if s := r.sweep().Summary(""); !strings.Contains(s, "objections") {
			t.Error(s)
		}
	}
}
