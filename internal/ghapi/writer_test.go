package ghapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

const (
	marker = "<!-- issue-assistant:analysis nonce=1 -->"
	body   = "Hello\n\n" + marker
)

// bench is a repository with one issue, a client and a writer on a clock that only sleeping moves.
type bench struct {
	s     *ghtest.Server
	c     *ghapi.Client
	w     *ghapi.BoundedWriter
	issue int
	clock *clock
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{clock: newClock()}
	b.s = ghtest.New(ghtest.Options{Token: "ghs_test", Now: b.clock.now})
	o := b.s.ClientOptions()
	o.Sleep = b.clock.sleep
	b.c = newClient(t, o)
	b.issue = b.s.AddIssue(ghapi.Issue{Title: "t", Labels: []string{"bug"}})
	b.s.AddLabel(ghapi.Label{Name: "needs-info"})
	b.w = ghapi.NewWriter(b.c)
	return b
}

func (b *bench) comment(t *testing.T) (ghapi.Comment, error) {
	t.Helper()
	return b.w.CreateComment(t.Context(), b.issue, "triage", body, marker)
}

func (b *bench) posts() int {
	return requests(b.s, "POST", fmt.Sprintf("/repos/octo/demo/issues/%d/comments", b.issue))
}

// commentsPath is where comments are posted.
const commentsPath = "/repos/octo/demo/issues/1/comments"

func postFault(status int, header ...string) ghtest.Fault {
	f := ghtest.Fault{Method: "POST", Path: commentsPath, Status: status, Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		f.Header.Set(header[i], header[i+1])
	}
	return f
}

func wantVerdict(t *testing.T, err error, verdict ghapi.Verdict, attempts, status int) *ghapi.WriteError {
	t.Helper()
	var e *ghapi.WriteError
	if !errors.As(err, &e) || e.Verdict != verdict || e.Attempts != attempts || e.Status != status {
		t.Fatalf("%v: want %s after %d attempts, status %d", err, verdict, attempts, status)
	}
	return e
}

// The rows of "Bounded writes" in the specification of sessions.
func TestBoundedWrites(t *testing.T) {
	t.Parallel()
	result := func(b *bench) ghapi.WriteResult { return b.w.Results()[0] }

	t.Run("R01 500, 201", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(500))
		c, err := b.comment(t)
		if err != nil || c.ID == 0 || b.posts() != 2 || len(b.s.Comments(b.issue)) != 1 {
			t.Fatalf("%v, %d posts", err, b.posts())
		}
		if diff := cmp.Diff(ghapi.WriteResult{Key: "comment#1:triage", Attempts: 2, Status: 200, Verdict: "done"}, result(b)); diff != "" {
			t.Error(diff)
		}
		// The counter is back at zero: two more tries next time.
		b.s.AddFault(postFault(503))
		if _, err := b.w.CreateComment(t.Context(), b.issue, "triage", "second", "second"); err != nil || b.posts() != 4 {
			t.Errorf("%v, %d posts", err, b.posts())
		}
	})
	t.Run("R02 500, 503", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(500))
		b.s.AddFault(postFault(503))
		_, err := b.comment(t)
		_ = wantVerdict(t, err, "failed", 2, 503)
		_, err = b.comment(t)
		_ = wantVerdict(t, err, "skipped", 2, 503)
		if b.posts() != 2 {
			t.Errorf("%d posts", b.posts())
		}
	})
	for status, kind := range map[int]ghapi.Kind{
		400: ghapi.KindInvalid, 401: ghapi.KindUnauthorized, 403: ghapi.KindForbidden, 404: ghapi.KindNotFound, 409: ghapi.KindConflict,
		410: ghapi.KindGone, 422: ghapi.KindInvalid, 301: ghapi.KindMoved,
	} {
		t.Run(fmt.Sprintf("R04 R05 %d", status), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.s.AddFault(postFault(status))
			_, err := b.comment(t)
			_ = wantVerdict(t, err, "failed", 1, status)
			_ = wantKind(t, err, kind)
			_, err = b.comment(t)
			_ = wantVerdict(t, err, "skipped", 1, status)
			if b.posts() != 1 || b.clock.total() != 0 {
				t.Errorf("%d posts, waited %v", b.posts(), b.clock.slept)
			}
		})
	}
	t.Run("R07 429 with a long Retry-After", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(429, "Retry-After", "600"))
		_, err := b.comment(t)
		_ = wantVerdict(t, err, "failed", 1, 429)
		if b.clock.total() != 0 {
			t.Errorf("waited %v", b.clock.slept)
		}
		if e := wantKind(t, err, ghapi.KindRateLimited); !e.RetryAt.Equal(b.clock.now().Add(10 * time.Minute)) {
			t.Errorf("come back at %v", e.RetryAt)
		}
	})
	t.Run("429 with a short Retry-After", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(429, "Retry-After", "60"))
		if _, err := b.comment(t); err != nil || b.clock.total() != time.Minute || b.posts() != 2 {
			t.Errorf("%v, waited %v", err, b.clock.slept)
		}
	})
	t.Run("R08 lost answer, found", func(t *testing.T) {
		t.Parallel()
		for _, f := range []ghtest.Fault{{Lost: true}, {Lost: true, Status: 502}, {Lost: true, Status: 504}, {Cut: true}} {
			b := newBench(t)
			f.Method, f.Path = "POST", commentsPath
			b.s.AddFault(f)
			c, err := b.comment(t)
			if err != nil || b.posts() != 1 || len(b.s.Comments(b.issue)) != 1 || c.ID != b.s.Comments(b.issue)[0].ID {
				t.Errorf("%+v: %v, %d posts, comment %d", f, err, b.posts(), c.ID)
			}
			if result(b).Verdict != ghapi.VerdictConfirmed {
				t.Errorf("%+v", result(b))
			}
		}
	})
	t.Run("lost request, not found", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(502))
		if _, err := b.comment(t); err != nil || b.posts() != 2 || len(b.s.Comments(b.issue)) != 1 {
			t.Errorf("%v, %d posts", err, b.posts())
		}
	})
	t.Run("lost answer, unreadable", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(ghtest.Fault{Method: "POST", Path: commentsPath, Lost: true})
		b.s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/1/comments", Status: 500, Times: -1})
		_, err := b.comment(t)
		_ = wantVerdict(t, err, "unconfirmed", 1, 0)
		if b.posts() != 1 {
			t.Errorf("%d posts: a second try without a look would double the comment", b.posts())
		}
	})
	t.Run("R10 other keys go on", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(postFault(422))
		_, err := b.comment(t)
		_ = wantVerdict(t, err, "failed", 1, 422)
		if err := b.w.AddLabels(t.Context(), b.issue, "waiting", "Needs-Info"); err != nil {
			t.Fatal(err)
		}
		if i, _ := b.s.Issue(b.issue); !i.HasLabel("needs-info") {
			t.Errorf("labels %v", i.Labels)
		}
	})
	t.Run("R11 three open circuits end all writes", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(ghtest.Fault{Match: ghtest.Request.Write, Status: 422, Times: -1})
		_, first := b.comment(t)
		_ = wantVerdict(t, first, "failed", 1, 422)
		_ = wantVerdict(t, b.w.Close(t.Context(), b.issue, "sweep", "completed", 0), "failed", 1, 422)
		_ = wantVerdict(t, b.w.AddReaction(t.Context(), b.issue, 0, "seen", "eyes"), "failed", 1, 422)
		b.s.Calm()
		before := len(b.s.Log())
		_ = wantVerdict(t, b.w.AddLabels(t.Context(), b.issue, "kind", "bug"), "ended", 0, 0)
		_ = wantVerdict(t, b.w.Reopen(t.Context(), b.issue, "x"), "ended", 0, 0)
		_, again := b.comment(t)
		_ = wantVerdict(t, again, "ended", 1, 422)
		for _, r := range b.s.Log()[before:] {
			if r.Write() {
				t.Errorf("sent %s %s", r.Method, r.Path)
			}
		}
	})
	t.Run("what is gone does not end the rest", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for n := range 5 {
			gone := b.s.AddIssue(ghapi.Issue{})
			if n%2 == 0 {
				b.s.DeleteIssue(gone)
			} else {
				b.s.TransferIssue(gone, "https://api.github.com/repositories/77/issues/1")
			}
			err := b.w.Close(t.Context(), gone, "sweep", "completed", 0)
			if !ghapi.IsGone(err) {
				t.Errorf("%v", err)
			}
		}
		if _, err := b.comment(t); err != nil {
			t.Error(err)
		}
	})
	t.Run("R14 empty body with 200", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.s.AddFault(ghtest.Fault{Method: "POST", Path: commentsPath, Empty: true})
		if _, err := b.comment(t); err != nil || b.posts() != 1 {
			t.Errorf("%v, %d posts", err, b.posts())
		}
		// Not found either time: a failure.
		b = newBench(t)
		f := postFault(200)
		f.Body, f.Times = " ", 2
		b.s.AddFault(f)
		_, err := b.comment(t)
		_ = wantVerdict(t, err, "failed", 2, 200)
	})
}

// Two lost answers: the first request was not carried out, the second was.
func TestLastLook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s.AddFault(postFault(502))
	b.s.AddFault(ghtest.Fault{Method: "POST", Path: commentsPath, Lost: true})
	if _, err := b.comment(t); err != nil || len(b.s.Comments(b.issue)) != 1 || b.posts() != 2 {
		t.Errorf("%v, %d posts", err, b.posts())
	}
}

// A stranger who repeats the marker does not stand in for our comment, nor does our own older one.
func TestForgedMarker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s.AddComment(b.issue, "mallory", "I was here "+marker)
	b.s.AddCommentAt(b.issue, "github-actions[bot]", body, b.clock.now().Add(-time.Hour))
	b.s.AddFault(postFault(502))
	if _, err := b.comment(t); err != nil || len(b.s.Comments(b.issue)) != 3 {
		t.Errorf("%v, %d comments: want the third to be ours", err, len(b.s.Comments(b.issue)))
	}
}

func TestWritesWithLostAnswers(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(context.Context, *bench) error{
		"label": func(ctx context.Context, b *bench) error { return b.w.AddLabels(ctx, b.issue, "x", "needs-info") },
		"why": func(ctx context.Context, b *bench) error {
			return b.w.AddLabelsBecause(ctx, b.issue, "x", "reason", "needs-info")
		},
		"unlabel":  func(ctx context.Context, b *bench) error { return b.w.RemoveLabel(ctx, b.issue, "x", "bug") },
		"close":    func(ctx context.Context, b *bench) error { return b.w.Close(ctx, b.issue, "x", "not_planned", 0) },
		"body":     func(ctx context.Context, b *bench) error { return b.w.EditIssueBody(ctx, b.issue, "x", "new") },
		"reaction": func(ctx context.Context, b *bench) error { return b.w.AddReaction(ctx, b.issue, 0, "x", "eyes") },
		"newlabel": func(ctx context.Context, b *bench) error {
			return b.w.CreateLabel(ctx, "x", ghapi.Label{Name: "n/ew", Color: "00ff00"})
		},
		"editlabel": func(ctx context.Context, b *bench) error {
			return b.w.EditLabel(ctx, "x", "bug", ghapi.Label{Name: "Bug", Color: "00ff00", Description: "d"})
		},
		"milestone": func(ctx context.Context, b *bench) error {
			m, err := b.w.CreateMilestone(ctx, "x", ghapi.Milestone{Title: "v1", State: "closed", DueOn: b.clock.now()})
			if err == nil && m.Number == 0 {
				err = errors.New("no number")
			}
			return err
		},
		"setmilestone": func(ctx context.Context, b *bench) error {
			return b.w.SetMilestone(ctx, b.issue, "x", b.s.AddMilestone(ghapi.Milestone{Title: "m"}))
		},
		"issue": func(ctx context.Context, b *bench) error {
			i, err := b.w.CreateIssue(ctx, "x", ghapi.IssueDraft{Title: "t", Body: body, Marker: marker, Labels: []string{"BUG", "none"}})
			if err == nil && i.Number != 2 {
				err = fmt.Errorf("number %d", i.Number)
			}
			return err
		},
		"edit": func(ctx context.Context, b *bench) error {
			_, err := b.w.EditComment(ctx, b.issue, b.s.Comments(b.issue)[0].ID, "x", "edited")
			return err
		},
		"delete": func(ctx context.Context, b *bench) error {
			return b.w.DeleteComment(ctx, b.issue, b.s.Comments(b.issue)[0].ID, "x")
		},
		"disable": func(ctx context.Context, b *bench) error { return b.w.DisableWorkflow(ctx, "x", "a.yml") },
		"enable":  func(ctx context.Context, b *bench) error { return b.w.EnableWorkflow(ctx, "x", "a.yml") },
		"dispatch": func(ctx context.Context, b *bench) error {
			return b.w.Dispatch(ctx, "x", "a.yml", "main", map[string]string{"issue": "1"})
		},
		"dismiss": func(ctx context.Context, b *bench) error { return b.w.DismissAlert(ctx, "x", 1, "false positive", "c") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepare := func() *bench {
				b := newBench(t)
				b.s.AddComment(b.issue, "github-actions[bot]", "first")
				b.s.AddWorkflow(ghapi.Workflow{Name: "a", Path: ".github/workflows/a.yml"})
				b.s.AddAlert(ghapi.Alert{Tool: "t", Rule: "r"})
				return b
			}
			clean := prepare()
			if err := do(t.Context(), clean); err != nil {
				t.Fatal(err)
			}
			if clean.s.Dump() == prepare().s.Dump() && name != "enable" && name != "dispatch" {
				t.Fatal("nothing changed")
			}
			for _, f := range []ghtest.Fault{{Lost: true}, {Lost: true, Status: 500}, {Status: 502}, {Cut: true}, {Empty: true}, {Status: 429, Header: http.Header{"Retry-After": {"1"}}}} {
				b := prepare()
				f.Match = ghtest.Request.Write
				b.s.AddFault(f)
				if err := do(t.Context(), b); err != nil {
					t.Errorf("%+v: %v", f, err)
				}
				if diff := cmp.Diff(clean.s.Dump(), b.s.Dump()); diff != "" {
					t.Errorf("%+v: %s", f, diff)
				}
				if len(clean.s.Runs()) != len(b.s.Runs()) {
					t.Errorf("%+v: %d runs, want %d", f, len(b.s.Runs()), len(clean.s.Runs()))
				}
			}
		})
	}
}

func TestDispatchTwiceCountsRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/a.yml"})
	for n := range 3 {
		if n == 1 { // the request is lost, and the run of before does not stand in for it
			b.s.AddFault(ghtest.Fault{Match: ghtest.Request.Write, Status: 502})
		}
		if err := b.w.Dispatch(t.Context(), fmt.Sprintf("n%d", n), "a.yml", "main", nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(b.s.Runs()); got != 3 {
		t.Errorf("%d runs, want 3", got)
	}
}

func TestAlreadyDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.s.AddMilestone(ghapi.Milestone{Title: "v1"})
	for name, err := range map[string]error{
		"label that is not on the issue": b.w.RemoveLabel(t.Context(), b.issue, "a", "none"),
		"label that exists":              b.w.CreateLabel(t.Context(), "b", ghapi.Label{Name: "BUG"}),
		"comment that is gone":           b.w.DeleteComment(t.Context(), b.issue, 12345, "c"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := b.w.CreateMilestone(t.Context(), "d", ghapi.Milestone{Title: "v1"}); err != nil || got.Number != m {
		t.Errorf("milestone that exists: %+v %v", got, err)
	}
	// A label of an issue that is not there is no success.
	err := b.w.RemoveLabel(t.Context(), 99, "e", "bug")
	_ = wantKind(t, err, ghapi.KindNotFound)
}

func TestUnknownLabelsAreNotMade(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.w.AddLabels(t.Context(), b.issue, "kind", "good first issue", "NEEDS-INFO", "x\n::warning::")
	var unknown *ghapi.UnknownLabels
	if !errors.As(err, &unknown) || len(unknown.Names) != 2 || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%q", err)
	}
	if i, _ := b.s.Issue(b.issue); cmp.Diff([]string{"bug", "needs-info"}, i.Labels) != "" || len(b.s.Labels()) != 2 {
		t.Errorf("labels %v of %v", i.Labels, b.s.Labels())
	}
	before := len(b.s.Log())
	if err := b.w.AddLabels(t.Context(), b.issue, "kind", "none"); !errors.As(err, &unknown) || len(b.s.Log()) != before {
		t.Errorf("%v: the list is read once", err)
	}
}

func TestCloseAsDuplicate(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	original, n := s.AddIssue(ghapi.Issue{}), s.AddIssue(ghapi.Issue{})
	if err := ghapi.NewWriter(c).Close(t.Context(), n, "duplicate", "not_planned", original); err != nil {
		t.Fatal(err)
	}
	if i, _ := s.Issue(n); i.State != "closed" || i.StateReason != "duplicate" {
		t.Errorf("%+v", i)
	}
	last := s.Log()[len(s.Log())-1]
	o, _ := s.Issue(original)
	if !strings.Contains(last.Body, fmt.Sprintf(`"duplicate_issue_id":%d`, o.ID)) {
		t.Errorf("sent %s", last.Body)
	}
	err := ghapi.NewWriter(c).Close(t.Context(), original, "duplicate", "", 99)
	_ = wantVerdict(t, err, "failed", 0, 0)
}

func TestCallersMistakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, err := range map[string]error{
		"purpose of a stranger": b.w.Reopen(t.Context(), b.issue, "x | y"),
		"no purpose":            b.w.Reopen(t.Context(), b.issue, ""),
		"comment without marker": func() error {
			_, err := b.w.CreateComment(t.Context(), b.issue, "x", "text", marker)
			return err
		}(),
		"issue without marker": func() error {
			_, err := b.w.CreateIssue(t.Context(), "x", ghapi.IssueDraft{Title: "t", Body: "b"})
			return err
		}(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if len(b.s.Log()) != 0 {
		t.Errorf("%d requests", len(b.s.Log()))
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s.AddFault(postFault(422))
	_, _ = b.comment(t) // its failure is what the report is about
	if err := b.w.Reopen(t.Context(), b.issue, "x"); err != nil {
		t.Fatal(err)
	}
	want := "| write | attempts | last status | result |\n| --- | --- | --- | --- |\n| comment#1:triage | 1 | 422 | failed |\n"
	if diff := cmp.Diff(want, ghapi.ReportMarkdown(b.w.Results())); diff != "" {
		t.Error(diff)
	}
	if got := ghapi.ReportMarkdown(nil); got != "" {
		t.Errorf("%q", got)
	}
}

// A canceled run neither waits nor tries again.
func TestCanceledWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.w.CreateComment(ctx, b.issue, "triage", body, marker)
	if err == nil || !errors.Is(err, context.Canceled) || b.clock.total() != 0 {
		t.Errorf("%v, waited %v", err, b.clock.slept)
	}
	if _, err := b.comment(t); err != nil {
		t.Errorf("the key is closed: %v", err)
	}
}

// 500 sequences of writes with faults at random requests: at most two attempts in a row for a key, nothing twice.
func TestWriterProperty(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		b := newBench(t)
		b.s.Chaos(seed, 0.35)
		comments := map[string]bool{} // reported as posted
		for n := range 4 {
			purpose := fmt.Sprintf("p%d", n)
			before := b.posts()
			mark := fmt.Sprintf("<!-- issue-assistant:%s -->", purpose)
			_, err := b.w.CreateComment(t.Context(), b.issue, purpose, "text "+mark, mark)
			if got := b.posts() - before; got > 2 {
				t.Fatalf("seed %d: %d posts of %s", seed, got, purpose)
			}
			comments[mark] = err == nil
			_ = b.w.AddLabels(t.Context(), b.issue, purpose, "needs-info") // may fail; what counts is what stands on GitHub
			if n == 2 {
				_ = b.w.Close(t.Context(), b.issue, purpose, "completed", 0)
			}
		}
		b.s.Calm()
		for mark, posted := range comments {
			have := 0
			for _, c := range b.s.Comments(b.issue) {
				if strings.Contains(c.Body, mark) {
					have++
				}
			}
			if have > 1 || (posted && have != 1) {
				t.Fatalf("seed %d: %d comments %s, reported %v", seed, have, mark, posted)
			}
		}
		closed := 0
		for _, e := range b.s.Events(b.issue) {
			if e.Kind == "closed" {
				closed++
			}
		}
		if closed > 1 {
			t.Fatalf("seed %d: closed %d times", seed, closed)
		}
		open := 0
		for _, r := range b.w.Results() {
			if r.Verdict == ghapi.VerdictFailed || r.Verdict == ghapi.VerdictUnconfirmed || r.Verdict == ghapi.VerdictSkipped {
				open++
			}
		}
		if open > 3 {
			t.Fatalf("seed %d: %d keys failed: %+v", seed, open, b.w.Results())
		}
	}
}
