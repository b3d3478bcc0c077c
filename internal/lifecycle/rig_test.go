package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

const bot = "github-actions[bot]"

var start = time.Date(2026, 1, 5, 7, 0, 0, 0, time.UTC)

// rig is a repository whose clock only the test moves.
type rig struct {
	*ghtest.Server
	t      testing.TB
	now    time.Time
	clock  func() time.Time // nil: now
	config config.Config
	texts  comment.Catalog
	shas   int
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, now: start, config: config.Default()}
	r.Server = ghtest.New(ghtest.Options{Now: func() time.Time {
		if r.clock != nil {
			return r.clock()
		}
		return r.now
	}, RateLimit: 1_000_000})
	var err error
	if r.texts, err = comment.Embedded(); err != nil {
		t.Fatal(err)
	}
	r.SetPermission("mona", "write")
	for _, l := range append([]string{"bug", "pinned", "security"}, config.LifecycleLabels...) {
		r.AddLabel(ghapi.Label{Name: l})
	}
	return r
}

func (r *rig) client() *ghapi.Client {
	r.t.Helper()
	o := r.ClientOptions()
	o.Sleep = func(time.Duration) {}
	c, err := ghapi.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) days(n int) { r.now = r.now.AddDate(0, 0, n) }

func (r *rig) sweep(change ...func(*lifecycle.Options)) lifecycle.Result {
	r.t.Helper()
	c := r.client()
	o := lifecycle.Options{
		Config: r.config, Texts: r.texts, Now: r.now, Mode: lifecycle.ModeAll, Writer: func() ghapi.Writer { return ghapi.NewWriter(c) },
	}
	for _, f := range change {
		f(&o)
	}
	res := lifecycle.Sweep(r.t.Context(), c, o)
	r.now = r.now.Add(time.Minute)
	return res
}

// sweepAfter lets days pass and sweeps.
func (r *rig) sweepAfter(days int) lifecycle.Result {
	r.t.Helper()
	r.days(days)
	return r.sweep()
}

func mode(m lifecycle.Mode) func(*lifecycle.Options) {
	return func(o *lifecycle.Options) { o.Mode = m }
}

// issue opens an issue of "reporter".
func (r *rig) issue(labels ...string) int {
	return r.AddIssue(ghapi.Issue{Title: "It breaks", Body: "The program is broken when I start it", Labels: labels})
}

// asked opens an issue that the assistant asked something.
func (r *rig) asked() int {
	n := r.issue()
	r.own(n, comment.Marker{Kind: "analysis", Language: "en", Questions: true}, "Which version?")
	r.LabelAs(n, bot, true, "needs-info")
	return n
}

func (r *rig) own(n int, m comment.Marker, body string) int64 {
	return r.AddComment(n, bot, m.String()+"\n"+body)
}

// commit puts a commit on the default branch and returns its hash.
func (r *rig) commit(message string) string {
	r.shas++
	sha := fmt.Sprintf("%08x%s", r.shas, strings.Repeat("c", 32))
	r.AddCommit(ghapi.Commit{SHA: sha, Message: message, Date: r.now})
	return sha
}

// merge merges a pull request that closes issues.
func (r *rig) merge(body string, issues ...int) (number int, sha string) {
	sha = r.commit("Merge")
	p := ghapi.PullRequest{Title: "x", Body: body, State: "merged", MergeCommit: sha, MergedAt: r.now, UpdatedAt: r.now}
	for _, n := range issues {
		p.Closes = append(p.Closes, ghapi.IssueRef{Number: n})
	}
	return r.AddPullRequest(p), sha
}

// release publishes the default branch as it is.
func (r *rig) release(tag string) {
	r.SetRef("tags/"+tag, r.commit("Release "+tag))
	r.AddRelease(ghapi.Release{Tag: tag, CreatedAt: r.now, PublishedAt: r.now})
}

func (r *rig) get(n int) ghapi.Issue {
	r.t.Helper()
	i, ok := r.Issue(n)
	if !ok {
		r.t.Fatalf("#%d is gone", n)
	}
	return i
}

// want compares an issue's state and lifecycle labels, in the order in which they were set.
func (r *rig) want(n int, state string, labels ...string) {
	r.t.Helper()
	i := r.get(n)
	if i.State != state {
		r.t.Errorf("#%d is %s (%s), want %s", n, i.State, i.StateReason, state)
	}
	for _, l := range config.LifecycleLabels {
		want := false
		for _, x := range labels {
			want = want || x == l
		}
		if i.HasLabel(l) != want {
			r.t.Errorf("#%d: label %s is %v, want %v", n, l, i.HasLabel(l), want)
		}
	}
}

// notices counts the assistant's comments of a kind.
func (r *rig) notices(n int, kind string) int {
	count := 0
	for _, c := range r.Comments(n) {
		if m, ok := comment.ParseMarker(c.Body); ok && c.Author.Login == bot && m.Kind == kind {
			count++
		}
	}
	return count
}

func (r *rig) wantNotices(n int, kind string, want int) {
	r.t.Helper()
	if got := r.notices(n, kind); got != want {
		r.t.Errorf("#%d has %d notices %q, want %d", n, got, kind, want)
	}
}

func (r *rig) writes() int {
	n := 0
	for _, q := range r.Log() {
		if q.Write() {
			n++
		}
	}
	return n
}

// faultAt lets every write from the n-th on fail, as after a crash.
func faultAt(n int) ghtest.Fault {
	return ghtest.Fault{Match: ghtest.Request.Write, Skip: n, Times: -1, Status: 502}
}
