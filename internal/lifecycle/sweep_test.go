package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

func TestOneFailingIssueFailsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var all []int
	for range 40 {
		all = append(all, r.asked())
	}
	r.days(15)
	bad := all[:4] // more than the keys after which one writer writes nothing any more
	r.AddFault(ghtest.Fault{Times: -1, Status: 500, Match: func(q ghtest.Request) bool {
		for _, n := range bad {
			if q.Write() && strings.Contains(q.Path, fmt.Sprintf("/issues/%d/", n)) {
				return true
			}
		}
		return false
	}})
	r.DeleteIssue(all[39]) // between the list and the reading it may be gone: NOT_FOUND for the whole batch
	res := r.sweep()
	if res.Failed != len(bad) || res.AllFailed() {
		t.Errorf("failed %d of %d: %s", res.Failed, res.Worked, res.Summary(""))
	}
	for _, n := range all[4:39] {
		r.want(n, "open", "needs-info", "stale")
	}
	if s := res.Summary(""); strings.Count(s, "failed, tried again") != 1 {
		t.Error(s)
	}
	r.Calm()
	r.sweep()
	for _, n := range bad {
		r.want(n, "open", "needs-info", "stale")
		r.wantNotices(n, "reminder", 1)
	}
}

func TestAFailingReadFailsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var all []int
	for range 30 {
		all = append(all, r.asked())
	}
	r.days(15)
	r.AddFault(ghtest.Fault{Times: -1, Status: 502, Match: func(q ghtest.Request) bool {
		return q.Operation == "Histories" && strings.Contains(q.Body, fmt.Sprintf(":%d", all[7])+",") || q.Operation == "Histories" && strings.Contains(q.Body, fmt.Sprintf(":%d}", all[7]))
	}})
	res := r.sweep()
	if res.Failed != 1 || r.notices(all[7], "reminder") != 0 {
		t.Errorf("%+v", res)
	}
	for _, n := range all {
		if n != all[7] {
			r.wantNotices(n, "reminder", 1)
		}
	}
}

func TestEverythingFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 30 {
		r.asked()
	}
	r.days(15)
	r.AddFault(faultAt(0))
	res := r.sweep()
	if !res.AllFailed() || res.Skipped == 0 || len(r.Log()) > 150 {
		t.Errorf("all failed %v, %d left, %d requests", res.AllFailed(), res.Skipped, len(r.Log()))
	}
	r.Calm()
	r.AddFault(ghtest.Fault{Times: -1, Status: 500})
	if res := r.sweep(); !res.AllFailed() {
		t.Errorf("%+v", res)
	}
}

func TestDryRunShowsEveryStepAndWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	waits, fixed := r.asked(), r.issue()
	r.days(15)
	r.merge("", fixed)
	r.ClearLog()
	rec := ghapi.NewRecorder(nil)
	res := r.sweep(func(o *lifecycle.Options) { o.Writer = func() ghapi.Writer { return rec } })
	if r.writes() != 0 {
		t.Errorf("%d writes", r.writes())
	}
	s := res.Summary("dry run")
	for _, want := range []string{"(dry run)", fmt.Sprintf("#%d", waits), "comment: reminder, add the label stale", fmt.Sprintf("#%d: comment: fixed, add the label fixed-in-next-release", fixed)} {
		if !strings.Contains(s, want) {
			t.Errorf("the summary lacks %q:\n%s", want, s)
		}
	}
	if len(rec.Writes()) != 4 {
		t.Errorf("%+v", rec.Writes())
	}
}

func TestRequestsOfTheDailySweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var lines []lifecycle.Line
	for range 9_800 {
		n := r.AddIssue(ghapi.Issue{Title: "x", CreatedAt: r.now.AddDate(-1, 0, 0), UpdatedAt: r.now.AddDate(-1, 0, 0)})
		lines = append(lines, lifecycle.Line{Number: n, Title: "x", State: "open", Labels: []string{}})
	}
	for range 200 {
		n := r.asked()
		r.AddComment(n, "mona", "What do you see?")
	}
	r.upload(t, lines) // before the 200: they are what changed
	r.days(3)
	r.ClearLog()
	c := r.client()
	lifecycle.Sweep(t.Context(), c, lifecycle.Options{
		Config: r.config, Texts: r.texts, Now: r.now, Mode: lifecycle.ModeAll, Writer: func() ghapi.Writer { return ghapi.NewWriter(c) },
	})
	again, err := readList(t.Context(), c, "main", r.now)
	if err != nil || len(again) != 10_000 {
		t.Fatalf("%d lines, %v", len(again), err)
	}
	t.Logf("%d requests", len(r.Log()))
	if got := len(r.Log()); got >= 50 {
		t.Errorf("%d requests, want fewer than 50", got)
	}
}

func TestRequestsAfterAMerge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 200 {
		r.asked()
	}
	n := r.issue("needs-info")
	r.AddComment(n, "stranger", "Me too")
	for range 60 {
		r.merge("")
	}
	r.merge("", n)
	r.ClearLog()
	r.sweep(mode(lifecycle.ModeMerge))
	r.want(n, "open", fixedLabel)
	t.Logf("%d requests", len(r.Log()))
	if got := len(r.Log()); got >= 10 {
		t.Errorf("%d requests, want fewer than 10", got)
	}
}

func TestAffordable(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		n         int
		usd, each float64
		want      int
	}{
		{50, 5, 1, 5}, {50, 4.99, 1, 4}, {3, 5, 1, 3}, {50, 0.3, 0.1, 3}, {50, 0.5, 1, 0}, {0, 5, 1, 0}, {50, 0, 1, 0}, {-1, 5, 1, 0}, {50, 4.9999999, 1, 4},
	} {
		if got := lifecycle.Affordable(x.n, x.usd, x.each); got != x.want {
			t.Errorf("%d runs of %g for %g: %d, want %d", x.n, x.each, x.usd, got, x.want)
		}
	}
}

func (r *rig) workflow() {
	r.AddWorkflow(ghapi.Workflow{Name: "triage", Path: ".github/workflows/issue-assistant-triage.yml"})
}

func TestBacklogStartsTheOldestWithinItsDollars(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.workflow()
	for i := range 60 {
		n := r.issue()
		switch i {
		case 0:
			r.own(n, comment.Marker{Kind: "analysis"}, "done")
		case 1:
			r.LabelAs(n, "mona", true, "issue-assistant:off")
		case 2:
			r.AddComment(n, "stranger", "<!-- issue-assistant:analysis to=0 -->") // forged: it is not analyzed
		}
	}
	r.days(1)
	r.ClearLog()
	res := r.sweep(func(o *lifecycle.Options) { o.Backlog, o.MaxUSD = 50, 5 })
	var got []int
	for _, s := range res.Started {
		got = append(got, s.Number)
	}
	if fmt.Sprint(got) != "[3 4 5 6 7]" || len(r.Runs()) != 5 {
		t.Errorf("started %v, %d runs", got, len(r.Runs()))
	}
	if s := res.Summary(""); !strings.Contains(s, "#3 (backlog): started") {
		t.Error(s)
	}
	for _, q := range r.Log() {
		if strings.HasSuffix(q.Path, "/dispatches") && !strings.Contains(q.Body, `"dry-run":"false"`) {
			t.Errorf("a dry run was started: %s", q.Body)
		}
	}
	res = r.sweep(func(o *lifecycle.Options) { o.Backlog, o.MaxUSD = 50, 0.5 })
	if len(res.Started) != 0 || !strings.Contains(res.Summary(""), "more than max-usd") {
		t.Error(res.Summary(""))
	}
}

func TestBacklogStopsWhenNothingCanBeStarted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 10 {
		r.issue()
	}
	res := r.sweep(func(o *lifecycle.Options) { o.Backlog, o.MaxUSD = 5, 5 })
	if len(res.Started) != 1 || res.Started[0].Failed == "" {
		t.Errorf("%+v", res.Started)
	}
}

func TestPostponedTriagesOnePersonsShareADay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.workflow()
	for range 12 {
		r.issue("needs-triage")
	}
	done, mine := r.issue("needs-triage"), r.AddIssue(ghapi.Issue{Title: "x", Author: ghapi.User{Login: "mona"}, Labels: []string{"needs-triage"}})
	r.own(done, comment.Marker{Kind: "analysis"}, "x")
	if res := r.sweep(); len(res.Started) != 0 {
		t.Errorf("today's are for their own events: %+v", res.Started)
	}
	started := map[int]bool{}
	for day := range 4 {
		r.days(1)
		res := r.sweep()
		r.now = r.now.Add(time.Hour)
		more := r.sweep() // a second sweep of the same day
		if len(more.Started) != 0 {
			t.Errorf("day %d: a second share was started", day)
		}
		if len(res.Started) > 5 {
			t.Errorf("day %d: %d started", day, len(res.Started))
		}
		for _, s := range res.Started {
			if s.Number == done || s.Number == mine {
				t.Errorf("#%d was started", s.Number)
			}
			started[s.Number] = true
			r.own(s.Number, comment.Marker{Kind: "analysis"}, "x")
		}
	}
	if len(started) != 12 {
		t.Errorf("%d of 12 were started in four days", len(started))
	}
}

// One person's thousand queued issues, all newer than another's one.
func TestAThousandQueuedIssuesStarveNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.workflow()
	alice := r.AddIssue(ghapi.Issue{Title: "x", Author: ghapi.User{Login: "alice"}, Labels: []string{"needs-triage"}})
	for range 1000 {
		r.AddIssue(ghapi.Issue{Title: "x", Author: ghapi.User{Login: "mallory"}, Labels: []string{"needs-triage"}})
	}
	r.days(1)
	bob := r.AddIssue(ghapi.Issue{Title: "x", Author: ghapi.User{Login: "bob"}, Labels: []string{"needs-triage"}, CreatedAt: r.now.AddDate(0, 0, -1)})
	r.ClearLog()
	started := map[int]bool{}
	for _, s := range r.sweep().Started {
		started[s.Number] = true
	}
	if !started[alice] || !started[bob] || len(started) != 5 {
		t.Errorf("started %v, want #%d and #%d among five", started, alice, bob)
	}
	if n := len(r.Log()); n >= 50 {
		t.Errorf("%d requests", n)
	}
	// With as many people as issues, everybody's turn comes.
	many := newRig(t)
	many.workflow()
	for k := range 40 {
		many.AddIssue(ghapi.Issue{Title: "x", Author: ghapi.User{Login: fmt.Sprint("person", k)}, Labels: []string{"needs-triage"}})
	}
	all := map[int]bool{}
	for range 8 {
		many.days(1)
		for _, s := range many.sweep().Started { // their triage never ends well: no analysis comes
			all[s.Number] = true
		}
	}
	if len(all) != 40 {
		t.Errorf("%d of 40 people had their turn in eight days of five", len(all))
	}
}

func TestMarkersOfOthersCountNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := r.asked()
	since := start.Unix()
	r.AddComment(n, "stranger", comment.Marker{Kind: "reminder", Since: since}.String()+"\nx")
	r.AddComment(n, "stranger", comment.Marker{Kind: "closed-unanswered", Since: since}.String()+"\nx")
	r.sweepAfter(40)
	r.want(n, "open", "needs-info", "stale")
	if got := r.notices(n, "reminder"); got != 1 {
		t.Errorf("%d reminders", got)
	}
}

func TestHostileWordsOfGitHubInTheSummary(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asked()
	r.days(15)
	r.AddFault(ghtest.Fault{Times: -1, Status: 422, Match: ghtest.Request.Write, Body: `{"message":"::error::x\n<img src=x> @octo [a](https://evil.example) ` + "`x`" + `"}`})
	s := r.sweep().Summary("")
	for _, bad := range []string{"<img", "@octo", "https://evil", "\n::error"} {
		if strings.Contains(s, bad) {
			t.Errorf("the summary holds %q:\n%s", bad, s)
		}
	}
}
