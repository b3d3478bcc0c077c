package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// What stands under related: each number is read, and how an issue was closed is said.
func TestRelated(t *testing.T) {
	t.Parallel()
	related := func(kind string, n int) map[string]any {
		return map[string]any{"kind": kind, "number": n, "reason": "alike"}
	}
	closed := func(reason string) func(repo) {
		return func(r repo) {
			r.AddIssue(ghapi.Issue{Number: 2, State: "closed", StateReason: reason, Author: ghapi.User{Login: "bob"}})
		}
	}
	for _, tt := range []struct {
		name     string
		prepare  func(r repo)
		entries  []any
		want     string // part of the comment; empty: no section
		repaired string
	}{
		{name: "open", entries: []any{related("issue", 3)}, want: "- #3: alike"},
		{name: "twice", entries: []any{related("issue", 3), related("issue", 3)}, want: "- #3: alike"},
		{name: "completed", prepare: closed("completed"), entries: []any{related("issue", 2)}, want: "- #2 (closed as completed): alike"},
		{name: "no reason to close", prepare: closed(""), entries: []any{related("issue", 2)}, want: "- #2 (closed as completed): alike"},
		{name: "itself", entries: []any{related("issue", 7)}},
		{name: "invented", entries: []any{related("issue", 6)}, repaired: "no such issue: 6"},
		{name: "pull request", prepare: func(r repo) {
			r.AddIssue(ghapi.Issue{Number: 6, IsPullRequest: true, Author: ghapi.User{Login: "bob"}})
		}, entries: []any{related("issue", 6)}, repaired: "it is a pull request: 6"},
		{name: "discussion", prepare: func(r repo) { r.AddDiscussion(ghapi.Discussion{Number: 9, Title: "How?"}) }, entries: []any{related("discussion", 9)}, want: "#9"},
		{name: "no discussion", entries: []any{related("discussion", 9)}, repaired: "no such discussion: 9"},
		{name: "an issue is no discussion", entries: []any{related("discussion", 3)}, repaired: "no such discussion: 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"related": tt.entries})))
			if err != nil || len(r.own()) != 1 {
				t.Fatal(err, res)
			}
			body := r.own()[0].Body
			if has := strings.Contains(body, "### Related"); has != (tt.want != "") || strings.Count(body, "alike") > 1 || !strings.Contains(body, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, body)
			}
			if got := strings.Join(res.Repaired, "\n"); !strings.Contains(got, tt.repaired) || tt.repaired == "" && got != "" {
				t.Errorf("repaired %q", got)
			}
		})
	}
}

// An outage while numbers are read is no statement about them: nothing is posted, and a re-run posts all of it.
func TestLookUpDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{
		"related":    {"related": []any{map[string]any{"kind": "issue", "number": 3, "reason": "alike"}}},
		"discussion": {"related": []any{map[string]any{"kind": "discussion", "number": 9, "reason": "alike"}}},
		"duplicate":  {"duplicates": []any{map[string]any{"number": 3, "confidence": "high", "reason": "alike"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.AddDiscussion(ghapi.Discussion{Number: 9, Title: "How?"})
			r.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/3", Status: 500, Times: -1})
			r.AddFault(ghtest.Fault{Method: "POST", Path: "/graphql", Status: 502, Times: -1})
			o := options(t, task.Triage, answerOf(t, change))
			if _, err := r.apply(t, o); err == nil || errors.Is(err, ErrPrincipal) {
				t.Errorf("got %v", err)
			}
			if writes(r.Server) != 0 {
				t.Error("something was written of what is not known")
			}
			r.Calm()
			if _, err := r.apply(t, o); err != nil || len(r.own()) != 1 || !strings.Contains(r.own()[0].Body, "alike") {
				t.Error(err)
			}
		})
	}
}

// The assistant's own closing comment names the original, an announcement of a stranger's does not.
func TestChainOverOurOwnClosing(t *testing.T) {
	t.Parallel()
	for login, want := range map[string]string{bot: "- #3: the same", "eve": "- #6 (closed as a duplicate): the same"} {
		r := newRepo(t)
		r.AddIssue(ghapi.Issue{Number: 6, State: "closed", StateReason: "duplicate", Author: ghapi.User{Login: "bob"}})
		r.AddComment(6, login, comment.Marker{Kind: task.MarkClosedDuplicate, Duplicate: 3}.String()+"\nClosed.")
		r.AddComment(6, bot, comment.Marker{Kind: task.MarkReminder}.String()+"\nDuplicate of #4") // words of a comment of ours are no line of a person
		res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{
			"duplicates": []any{map[string]any{"number": 6, "confidence": "medium", "reason": "the same"}},
		})))
		if err != nil || len(r.own()) != 1 || !strings.Contains(r.own()[0].Body, want) {
			t.Errorf("%s: %v, %+v", login, err, res)
		}
		if slices.Contains(r.labels(), config.LabelPossible) {
			t.Errorf("%s: what is not sure was announced", login)
		}
	}
}

func TestPersonalDataIsNoticed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"write to jane.doe@firm.de": true, "write to user@example.com": false} {
		r := newRepo(t)
		r.AddComment(7, "alice", text)
		r.AddComment(7, "eve", "or to joe.bloggs@firm.de") // not the reporter's to remove
		if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(r.own()[0].Body, "[!NOTE]"); got != want {
			t.Errorf("%s: a notice: %v", text, got)
		}
	}
	// The AI's word alone is enough, and a secret is more than personal.
	for said, want := range map[string]string{"personal": "[!NOTE]", "secret": "[!WARNING]"} {
		r := newRepo(t)
		if _, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"sensitive_data": said}))); err != nil || !strings.Contains(r.own()[0].Body, want) {
			t.Errorf("%s: %v", said, err)
		}
	}
}

func TestFooterNamesTheEngine(t *testing.T) {
	t.Parallel()
	for name, want := range map[engine.Name]string{engine.Codex: "(Codex)", engine.Gemini: "(Gemini)", engine.Claude: "(Claude)"} {
		r := newRepo(t)
		o := options(t, task.Triage, answerOf(t, nil))
		o.Engine = name
		if _, err := r.apply(t, o); err != nil || !strings.Contains(r.own()[0].Body, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLanguageWithoutTexts(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"language": "tlh"})))
	if err != nil || !strings.Contains(r.own()[0].Body, "### Summary") || !strings.Contains(strings.Join(res.Notes, "\n"), "no texts in the language `tlh`") {
		t.Errorf("%v %+v", err, res)
	}
}

// A maintainer's comment that was judged by hand, without its id: the last maintainer's comment is the one that asked.
func TestMaintainerReplyEnds(t *testing.T) {
	t.Parallel()
	const asks, asksNot = `{"waiting_for_reporter":true,"reason":"asks"}`, `{"waiting_for_reporter":false,"reason":"tells"}`
	for _, tt := range []struct {
		name, raw, skipped string
		prepare            func(r repo)
		waits              bool
	}{
		{name: "asks nothing", raw: asksNot, skipped: "does not wait"},
		{name: "waits already", raw: asks, skipped: "waits for its reporter already", waits: true, prepare: func(r repo) {
			r.LabelAs(7, "mona", true, config.LabelNeedsInfo)
		}},
		{name: "by hand, answered", raw: asks, skipped: "answered meanwhile", prepare: func(r repo) {
			r.AddComment(7, "mona", "Which version?")
			r.AddComment(7, "alice", "1.2")
		}},
		{name: "by hand, an earlier answer", raw: asks, waits: true, prepare: func(r repo) {
			r.AddComment(7, "alice", "1.2")
			r.AddComment(7, "mona", "And which system?")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			res, err := r.apply(t, options(t, task.MaintainerReply, tt.raw))
			if err != nil || !strings.Contains(strings.Join(res.Skipped, "\n"), tt.skipped) || len(r.own()) != 0 {
				t.Errorf("%v %+v", err, res)
			}
			if got := slices.Contains(r.labels(), config.LabelNeedsInfo); got != tt.waits {
				t.Errorf("waits: %v", got)
			}
		})
	}
}

func TestReleaseReplyEnds(t *testing.T) {
	t.Parallel()
	newClosed := func(t *testing.T) (repo, Options) {
		t.Helper()
		r := newRepo(t)
		r.AddIssue(ghapi.Issue{Number: 8, State: "closed", StateReason: "completed", Author: ghapi.User{Login: "alice"}})
		r.issue = 8
		o := options(t, task.ReleaseReply, `{"problem_persists":true,"reason":"still"}`)
		o.Issue, o.Comment = 8, r.AddComment(8, "alice", "Still broken.")
		return r, o
	}
	state := func(r repo) string { i, _ := r.Issue(8); return i.State }
	t.Run("the problem is gone", func(t *testing.T) {
		t.Parallel()
		r, o := newClosed(t)
		o.Raw = `{"problem_persists":false,"reason":"thanks"}`
		if res, err := r.apply(t, o); err != nil || state(r) != "closed" || writes(r.Server) != 0 || !strings.Contains(strings.Join(res.Skipped, ""), "stays closed") {
			t.Errorf("%v %+v", err, res)
		}
	})
	t.Run("reopening fails, then is completed", func(t *testing.T) {
		t.Parallel()
		r, o := newClosed(t)
		r.AddFault(ghtest.Fault{Method: "PATCH", Path: "/repos/octo/demo/issues/8", Status: 500, Times: -1})
		if _, err := r.apply(t, o); !errors.Is(err, ErrPrincipal) || state(r) != "closed" {
			t.Fatal(err)
		}
		r.Calm()
		if _, err := r.apply(t, o); err != nil || state(r) != "open" || len(r.own()) != 1 {
			t.Error(err, state(r), len(r.own()))
		}
	})
	t.Run("the label failed, the issue is open", func(t *testing.T) {
		t.Parallel()
		r, o := newClosed(t)
		r.AddFault(ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/8/labels", Status: 500, Times: -1})
		if res, err := r.apply(t, o); err != nil || state(r) != "open" || len(res.Warnings) != 1 {
			t.Fatalf("%v %+v", err, res)
		}
		r.Calm()
		if _, err := r.apply(t, o); err != nil || !slices.Contains(r.labels(), config.LabelNeedsTriage) || len(r.own()) != 1 {
			t.Error(err, r.labels())
		}
	})
	t.Run("opened for it and closed by a person", func(t *testing.T) {
		t.Parallel()
		r, o := newClosed(t)
		if _, err := r.apply(t, o); err != nil || state(r) != "open" {
			t.Fatal(err)
		}
		r.Advance(time.Minute)
		r.SetStateAs(8, "mona", "closed", "completed")
		before := writes(r.Server)
		res, err := r.apply(t, o)
		if err != nil || state(r) != "closed" || writes(r.Server) != before || !strings.Contains(strings.Join(res.Skipped, ""), "closed since") {
			t.Errorf("a person's closing was undone: %v %+v", err, res)
		}
	})
}

// A label that GitHub does not set is a warning, never a reason to post again.
func TestOptionalWritesThatFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   ghtest.Fault
		warning bool
		skipped string
	}{
		"server":    {ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/7/labels", Status: 500, Times: -1}, true, "GitHub did not do it"},
		"forbidden": {ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/7/labels", Status: 403, Times: -1}, true, "GitHub did not do it"},
		"gone":      {ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/7/labels", Status: 410, Times: -1}, false, "the issue is gone"},
		"removal":   {ghtest.Fault{Method: "DELETE", Path: "/repos/octo/demo/issues/7/labels/enhancement", Status: 500, Times: -1}, true, "remove the label `enhancement`: GitHub did not do it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.AddFault(tt.fault)
			o := options(t, task.Triage, answerOf(t, nil))
			for range 2 {
				res, err := r.apply(t, o)
				if err != nil || len(r.own()) != 1 {
					t.Fatal(err, len(r.own()))
				}
				if tt.warning != (len(res.Warnings) > 0) || !strings.Contains(strings.Join(res.Skipped, "\n"), tt.skipped) {
					t.Errorf("%+v", res)
				}
			}
		})
	}
}

// What keeps the comment itself from being written, and what is no failure of ours.
func TestPrincipalEnds(t *testing.T) {
	t.Parallel()
	const comments = "/repos/octo/demo/issues/7/comments"
	for name, tt := range map[string]struct {
		faults  []ghtest.Fault
		prepare func(r repo)
		fails   bool
		skipped string
	}{
		"gone":           {faults: []ghtest.Fault{{Method: "POST", Path: comments, Status: 410, Times: -1}}, skipped: "the issue is gone"},
		"forbidden":      {faults: []ghtest.Fault{{Method: "POST", Path: comments, Status: 403, Times: -1}}, fails: true},
		"not processed":  {faults: []ghtest.Fault{{Method: "POST", Path: comments, Status: 422, Times: -1}}, fails: true},
		"cannot look":    {faults: []ghtest.Fault{{Method: "POST", Path: comments, Status: 403, Times: -1}, {Method: "GET", Path: "/repos/octo/demo/issues/7", Skip: 1, Times: -1, Status: 500}}, fails: true},
		"its last words": {faults: []ghtest.Fault{{Method: "POST", Path: comments, Times: -1, Lost: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for _, f := range tt.faults {
				r.AddFault(f)
			}
			res, err := r.apply(t, options(t, task.Triage, answerOf(t, nil)))
			if errors.Is(err, ErrPrincipal) != tt.fails || !tt.fails && err != nil {
				t.Errorf("got %v", err)
			}
			if !strings.Contains(strings.Join(res.Skipped, "\n"), tt.skipped) {
				t.Errorf("%+v", res)
			}
			if tt.fails && slices.Contains(r.labels(), "Bug") {
				t.Error("labels followed a comment that is not there")
			}
		})
	}
	// Locked between reading and writing.
	r := newRepo(t)
	locked := &lockingWriter{Writer: ghapi.NewWriter(r.client(t)), lock: func() { r.LockIssue(7, "spam") }}
	res, err := Apply(t.Context(), r.client(t), locked, options(t, task.Triage, answerOf(t, nil)))
	if err != nil || !strings.Contains(strings.Join(res.Skipped, "\n"), "was locked meanwhile") {
		t.Errorf("%v %+v", err, res)
	}
}

// lockingWriter locks the issue just before its comment is written.
type lockingWriter struct {
	ghapi.Writer
	lock func()
}

func (w *lockingWriter) CreateComment(ctx context.Context, issue int, purpose, body, marker string) (ghapi.Comment, error) {
	w.lock()
	return w.Writer.CreateComment(ctx, issue, purpose, body, marker)
}

// Words of the AI in the summary are short and in one line.
func TestRepairsInTheSummary(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	long := strings.Repeat("x", 300) + "\n::error::"
	res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"areas": []string{long}})))
	if err != nil || len(res.Repaired) != 1 {
		t.Fatal(err, res)
	}
	if line := res.Repaired[0]; strings.ContainsAny(line, "\n\r") || len(line) > 200 || !strings.Contains(line, "…") {
		t.Errorf("%d bytes: %s", len(line), fmt.Sprintf("%.300q", line))
	}
}

// Labels that the settings deny are refused here once more, whatever let them through before.
func TestDeniedLabelsAreNeverChosen(t *testing.T) {
	t.Parallel()
	a := &run{
		Options: Options{Config: config.Default()},
		known:   []ghapi.Label{{Name: "bug"}, {Name: "security-approved"}, {Name: "~stale"}},
	}
	got := a.chosen(answer.Choice{Kind: "BUG", Areas: []string{"~Stale"}, Topics: []string{"security-approved", "gone", ""}})
	if !slices.Equal(got, []string{"bug"}) {
		t.Errorf("chosen: %v", got)
	}
	if skipped := strings.Join(a.result.Skipped, "\n"); strings.Count(skipped, "[labels] deny") != 2 || !strings.Contains(skipped, "no such label") {
		t.Errorf("skipped: %s", skipped)
	}
}
