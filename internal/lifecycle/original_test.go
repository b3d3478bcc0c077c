package lifecycle_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// shown is something that the lifecycle must do, or that an earlier tool for the same job did wrong, with the tests that
// show it: TestName of this package, package.TestName of another, after a slash a case of its table.
type shown struct {
	what  string
	tests string
}

// rules are those of the sweep: marking what is fixed, closing with a release, waiting, duplicates.
var rules = []shown{
	{"a merge that closes an issue is told with its pull request and branch, and labeled; needs-info and stale go", "TestFixByPullRequestClosesWithItsRelease"},
	{"other branches and issues of other repositories are left", "TestOtherBranchesAndRepositoriesFixNothing"},
	{"closed by a person, locked, exempt: left", "TestExemptions/locked TestExemptions/exempt_label TestExemptions/off TestClosedByAPersonStaysClosed"},
	{"a label that a maintainer took away stays away", "TestLabelThatAMaintainerTookAwayStaysAway"},
	{"nothing of fixes and releases when close_with_release is off", "TestCloseWithReleaseOff"},
	{"no release is read when no issue waits for one", "TestNoReleaseIsReadWhenNothingWaits"},
	{"drafts, prereleases and older releases do not count", "TestReleasesThatDoNotCount"},
	{"the release holds every fix; what cannot be compared does not count", "TestAllFixesMustBeInTheRelease TestReadsThatFailCloseNothing"},
	{"comment, labels gone, closed as completed, in the milestone of the tag", "TestFixByPullRequestClosesWithItsRelease"},
	{"the milestone of the tag is found, or made closed with a due date", "TestMilestoneOfTheTagIsFoundOrMade"},
	{"a milestone that fails is only noted", "TestMilestoneThatFailsIsOnlyNoted"},
	{"a maintainer's question begins the waiting anew", "TestMaintainersQuestionRestartsThePeriodThanksDoNot"},
	{"an answer ends the waiting", "TestAnswerEndsTheWaiting/comment TestAnswerEndsTheWaiting/edited_body"},
	{"reminder after its days, closing after both periods, labels stay", "TestReminderAfterItsDaysThenClosingAfterTheFullPeriod"},
	{"a reminder of an earlier period does not count", "TestNewPeriodHasItsOwnReminder"},
	{"a late reminder still gives the whole notice", "TestLateReminderStillGivesTheWholeNotice"},
	{"stale is put back, and taken away when an earlier period left it", "TestStaleIsPutBack TestLeftoverStaleIsTakenAwayAPersonsIsNot"},
	{"an announced duplicate is closed after its days, linked", "TestDuplicates/nobody_objects TestDuplicateClosesLinked"},
	{"any person's comment is an objection", "TestDuplicates/a_stranger's_comment TestDuplicates/a_bot's_comment"},
	{"a thumbs-down of the reporter is an objection", "TestDuplicates/reporter's_thumbs-down"},
	{"an original that is closed or gone keeps the issue open", "TestDuplicates/original_closed TestDuplicates/original_deleted"},
	{"an answer after the closing opens the issue again", "TestAnswerAfterClosingReopens"},
}

// weaknesses are what went wrong in practice.
var weaknesses = []shown{
	{"one failing call ends the sweep and blocks all later issues", "TestOneFailingIssueFailsAlone TestAFailingReadFailsAlone"},
	{"a failure between two writes repeats a comment, or leaves a fixed issue open for ever", "TestEveryStepMayBreakOff TestEveryStepOfFixAndReleaseMayBreakOff TestDuplicateMayBreakOffAtEveryStep TestChaos"},
	{"of three quick comments the middle one is lost", "e2e.TestTwoCommentsWithinASecond e2e.TestACommentWhileTheEngineRuns"},
	{"a release seconds after the merge does not count", "TestReleaseSecondsAfterTheMergeCounts"},
	{"more than thirty merges, or merges of two weeks ago, are missed", "TestMoreThanThirtyMergesAndOldOnesAreSeen"},
	{"backports and release branches never close", "TestBackportReleaseCloses"},
	{"fixes by a commit without a pull request are ignored", "TestFixByCommitOnTheDefaultBranch"},
	{"a label by hand closes with any release", "TestLabelByHandClosesWithNoRelease"},
	{"issues that GitHub closed at the merge hear nothing of their release", "TestAutoClosedIssueHearsOfItsRelease"},
	{"a maintainer's milestone is overwritten", "TestAssigneeAndMilestoneExemptFromClosingOnly"},
	{"a maintainer's thanks restart the waiting", "TestMaintainersQuestionRestartsThePeriodThanksDoNot"},
	{"edits are seen only by their event", "TestAnswerEndsTheWaiting/edited_body"},
	{"an edit that changes nothing counts as an answer", "task.TestRoute/edited,_same_for_the_AI"},
	{"please leave it closed opens the issue", "TestSettledStaysClosed task.TestSettled"},
	{"a maintainer's thumbs-down is no objection in an organization", "TestDuplicates/maintainer's_thumbs-down"},
	{"objections after a duplicate was closed go unseen", "TestObjectionAfterADuplicateWasClosedIsTold"},
	{"needs-triage stays when a maintainer takes the issue on", "TestTriageLabelGoesWhenAMaintainerTakesTheIssueOn"},
	{"labels of the lifecycle stay on what a person closed", "TestClosedByAPersonStaysClosed"},
	{"spam is not treated by its kind", "apply.TestSpamSecuritySensitive"},
	{"a reference to a submodule or a folder crashes", "apply.TestReferences"},
	{"an apostrophe in a label breaks the schema", "answer.TestEngineSchema"},
	{"labels in another case of letters crash the synchronization", "TestPlanLabels"},
	{"tests also covers tests_old; acceptance never ends; unused entries are not told", "config.TestMatchPath config.TestParseFindings TestFindings"},
	{"an old revert keeps a later fix from its release", "TestOldRevertDoesNotHoldALaterFixBack"},
}

// testFuncs are the test functions below internal, with the text of each.
func testFuncs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(testtool.Root(t))
	err := fs.WalkDir(root, "internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				out[path.Base(path.Dir(name))+"."+f.Name.Name] = string(src[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryRuleAndWeaknessHasItsTests fails when a test of the index is renamed or gone.
func TestEveryRuleAndWeaknessHasItsTests(t *testing.T) {
	t.Parallel()
	all := testFuncs(t)
	for _, x := range append(append([]shown{}, rules...), weaknesses...) {
		if x.tests == "" {
			t.Errorf("nothing shows: %s", x.what)
		}
		for name := range strings.FieldsSeq(x.tests) {
			fn, sub, _ := strings.Cut(name, "/")
			if !strings.Contains(fn, ".") {
				fn = "lifecycle." + fn
			}
			body, ok := all[fn]
			if !ok {
				t.Errorf("%s: there is no test %s", x.what, fn)
			}
			if sub != "" && !strings.Contains(body, strconv.Quote(strings.ReplaceAll(sub, "_", " "))) {
				t.Errorf("%s: %s has no case %s", x.what, fn, sub)
			}
		}
	}
}

func TestNoReleaseIsReadWhenNothingWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asked()
	r.release("v1")
	r.ClearLog()
	r.sweep()
	for _, q := range r.Log() {
		if strings.Contains(q.Path, "/releases") || strings.Contains(q.Path, "/compare/") {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
}

func TestMilestoneOfTheTagIsFoundOrMade(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own := r.AddMilestone(ghapi.Milestone{Title: "v1"})
	first, second := r.issue(), r.issue()
	for k, n := range []int{first, second} {
		r.merge("", n)
		r.sweep()
		r.days(1)
		r.release(fmt.Sprintf("v%d", k+1))
		r.sweep()
	}
	if got := r.get(first).MilestoneNumber; got != own {
		t.Errorf("milestone %d, want the maintainer's own %d", got, own)
	}
	m := r.Milestones()
	if len(m) != 2 || m[0].State != "open" || m[1].Title != "v2" || m[1].State != "closed" || m[1].DueOn.IsZero() || m[1].Description == "" {
		t.Errorf("%+v", m)
	}
}

func TestMilestoneThatFailsIsOnlyNoted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	r.sweep()
	r.days(1)
	r.release("v1")
	r.AddFault(ghtest.Fault{Match: func(q ghtest.Request) bool { return strings.HasSuffix(q.Path, "/milestones") && q.Write() }, Status: http.StatusForbidden, Times: -1})
	res := r.sweep()
	r.want(n, "closed")
	if res.Failed != 0 || !strings.Contains(res.Summary(""), "milestone") {
		t.Errorf("%d failed: %s", res.Failed, res.Summary(""))
	}
}

// Many releases since an old fix cost two comparisons, not one each.
func TestManyReleasesSinceAFixAreFewRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.issue()
	r.merge("", n)
	for k := range 30 {
		r.days(1)
		r.release(fmt.Sprintf("v%d", k))
	}
	r.days(60)
	r.LabelAs(n, "mona", true, fixedLabel)
	r.ClearLog()
	r.sweep()
	r.want(n, "closed")
	if got := r.get(n).Milestone; got != "v0" {
		t.Errorf("closed with %q", got)
	}
	compares := 0
	for _, q := range r.Log() {
		if strings.Contains(q.Path, "/compare/") {
			compares++
		}
	}
	if compares > 2 {
		t.Errorf("%d comparisons", compares)
	}
}

// A maintenance branch has diverged from the fix: what was cherry-picked onto it with -x is in its releases.
func TestBackportReleaseCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 3, false)
	held, other := w.issues[0].n, w.issues[1].n
	w.LabelAs(held, "mona", false, "pinned")
	_, sha := w.merge("", held)
	w.merge("", other)
	w.sweepOnce()
	w.now = w.now.AddDate(0, 0, 1)
	w.Branch("v1.9.1", []ghapi.Commit{{SHA: strings.Repeat("b", 40), Message: "Mend it\n\n(cherry picked from commit " + sha + ")"}})
	w.AddRelease(ghapi.Release{Tag: "v1.9.1", CreatedAt: w.now, PublishedAt: w.now})
	w.sweepOnce()
	if i := w.get(held); i.State != "closed" || i.Milestone != "v1.9.1" {
		t.Errorf("#%d is %s, milestone %q", held, i.State, i.Milestone)
	}
	if i := w.get(other); i.State != "open" || !i.HasLabel(fixedLabel) {
		t.Errorf("#%d is %s %q: its fix is not in the release", other, i.State, i.Labels)
	}
}

// duplicateOf is an issue that was closed as a duplicate.
func (r *rig) duplicateOf(original int) int {
	r.config.Lifecycle.CloseDuplicates = true
	n := r.issue()
	r.own(n, comment.Marker{Kind: "analysis", Duplicate: original}, "The same")
	r.LabelAs(n, bot, true, "possible-duplicate")
	r.sweepAfter(4)
	return n
}

func TestDuplicateClosesLinked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	original := r.issue()
	n := r.duplicateOf(original)
	r.want(n, "closed", "duplicate")
	if got := r.get(n).StateReason; got != "duplicate" {
		t.Errorf("closed as %s", got)
	}
	linked := false
	for _, q := range r.Log() {
		linked = linked || strings.Contains(q.Body, `"duplicate_issue_id":`)
	}
	if !linked {
		t.Error("the original is not linked")
	}
}

func TestObjectionAfterADuplicateWasClosedIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.duplicateOf(r.issue())
	r.days(1)
	r.AddComment(n, "reporter", "No, mine is about the printer.")
	res := r.sweep()
	r.want(n, "closed", "duplicate")
	if s := res.Summary(""); !strings.Contains(s, string(lifecycle.TopicObjection)) || !strings.Contains(s, fmt.Sprintf("#%d", n)) {
		t.Errorf("nobody is told of the objection: %s", s)
	}
}
