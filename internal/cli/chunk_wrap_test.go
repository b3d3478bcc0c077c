package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// unmet asks the wrap-up what is missing.
func (r *chunkRig) unmet(id string) []string {
	r.t.Helper()
	r.pass(time.Minute)
	_, out, errs := r.as("tok_a", "chunk", "wrap", "--chunk", id, "--json")
	var got struct {
		State string   `json:"state"`
		Unmet []string `json:"unmet"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		r.t.Fatalf("%v: %q %s", err, out, errs)
	}
	if (got.State == "wrapped") != (len(got.Unmet) == 0) {
		r.t.Errorf("%+v", got)
	}
	return got.Unmet
}

// TestWrapRowsOnGitHub: each condition by itself, and all of them together.
func TestWrapRowsOnGitHub(t *testing.T) {
	t.Parallel()
	shut := func(r *chunkRig, issue string) {
		r.s.SetStateAs(number(r.t, issue), "maintainer", "closed", "completed")
	}
	filing := ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues", Status: 422, Times: -1}
	for _, tt := range []struct {
		name string
		do   func(r *chunkRig, id string, issues []string)
		want []string
	}{
		{"W01 all is done", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues...)
			_, _, _ = r.poll("ghs_job", id)
			r.s.SetPullState(p, "maintainer", "merged")
		}, []string{}},
		{"W02 claim open", func(*chunkRig, string, []string) {}, []string{"claim_open"}},
		{"W04 pull request open", func(r *chunkRig, id string, issues []string) {
			r.pull(id, issues[0])
			shut(r, issues[0])
			shut(r, issues[1])
		}, []string{"pr_open"}},
		{"W05 unresolved threads after the merge", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues...)
			_, _, _ = r.poll("ghs_job", id)
			r.s.SetPullState(p, "maintainer", "merged")
			r.s.SetReviewThreads(p, false, true, false)
		}, []string{"feedback_open"}},
		{"a reviewing bot without an answer", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues...)
			_, _, _ = r.poll("ghs_job", id)
			r.s.SetPullState(p, "maintainer", "merged")
			r.s.AddReview(p, "reviewer[bot]", "two faults")
		}, []string{"feedback_open"}},
		{"a reviewing bot with an answer", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues...)
			_, _, _ = r.poll("ghs_job", id)
			r.s.SetPullState(p, "maintainer", "merged")
			r.s.AddReview(p, "reviewer[bot]", "two faults")
			r.pass(time.Second)
			r.s.CommentAs(p, "agent-a", "both mended")
		}, []string{}},
		{"a finding that could not be filed", func(r *chunkRig, id string, issues []string) {
			shut(r, issues[0])
			shut(r, issues[1])
			r.s.AddFault(filing)
			if code, _, _ := r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "A leak"); code != 3 {
				r.t.Errorf("exit %d", code)
			}
			r.s.Calm()
		}, []string{"finding_unfiled"}},
		{"and is filed then", func(r *chunkRig, id string, issues []string) {
			shut(r, issues[0])
			shut(r, issues[1])
			r.s.AddFault(filing)
			_, _, _ = r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "A leak")
			r.s.Calm()
			if code, _, errs := r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "A leak"); code != 0 {
				r.t.Errorf("exit %d, %s", code, errs)
			}
		}, []string{}},
		{"W07 a follow-up carries our claim", func(r *chunkRig, id string, issues []string) {
			shut(r, issues[0])
			shut(r, issues[1])
			_, out, _ := r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "A leak")
			n := strings.TrimSpace(strings.TrimPrefix(out, "filed "))
			r.s.AddComment(number(r.t, n), "agent-a", claimMark(id, r.now().Add(time.Hour)))
		}, []string{"followup_claimed"}},
		{"W11 a release that could not be written", func(r *chunkRig, id string, issues []string) {
			shut(r, issues[1])
			r.s.AddFault(ghtest.Fault{Match: func(q ghtest.Request) bool {
				return q.Method == "PATCH" && strings.Contains(q.Path, "/issues/comments/")
			}, Status: 403, Times: -1})
			if code, out, _ := r.as("tok_a", "chunk", "release", "--chunk", id, issues[0]); code != 3 || out != "not released "+issues[0]+"\n" {
				r.t.Errorf("exit %d, %q", code, out)
			}
		}, []string{"claim_open", "write_failed"}},
		{"and is written then", func(r *chunkRig, id string, issues []string) {
			shut(r, issues[1])
			r.s.AddFault(ghtest.Fault{Match: func(q ghtest.Request) bool {
				return q.Method == "PATCH" && strings.Contains(q.Path, "/issues/comments/")
			}, Status: 403})
			_, _, _ = r.as("tok_a", "chunk", "release", "--chunk", id, issues[0])
		}, []string{}},
		{"W08 only the finishing acts", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues...)
			_, _, _ = r.poll("ghs_job", id)
			r.s.SetPullState(p, "maintainer", "merged")
			r.s.AddFault(ghtest.Fault{Method: "PUT", Path: "/repos/octo/demo/actions/workflows/issue-assistant-poll.yml/disable", Status: 403, Times: -1})
		}, []string{"poll_armed"}},
		{"W13 everything wrong", func(r *chunkRig, id string, issues []string) {
			p := r.pull(id, issues[0])
			r.s.SetReviewThreads(p, false)
			shut(r, issues[1])
			r.s.AddFault(filing)
			_, _, _ = r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "A leak")
			r.s.Calm()
		}, []string{"claim_open", "pr_open", "feedback_open", "finding_unfiled"}},
		{"every condition at once", func(r *chunkRig, id string, issues []string) {
			more := r.pull(id, issues[0])
			r.s.SetReviewThreads(more, false)
			_, out, _ := r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "One")
			r.s.AddComment(number(r.t, strings.TrimSpace(strings.TrimPrefix(out, "filed "))), "agent-a", claimMark(id, r.now().Add(time.Hour)))
			r.s.AddFault(filing)
			_, _, _ = r.as("tok_a", "chunk", "note", "--chunk", id, "--title", "Two")
			r.s.AddFault(ghtest.Fault{Method: "PATCH", Path: "/repos/octo/demo/issues/comments/" + r.lock(issues[0]), Status: 403, Times: -1})
			_, _, _ = r.as("tok_a", "chunk", "release", "--chunk", id, issues[0])
			r.s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/" + issues[1], Status: 403, Times: -1})
		}, []string{"claim_open", "claim_unknown", "pr_open", "feedback_open", "finding_unfiled", "followup_claimed", "write_failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, id, issues := working(t, 2)
			tt.do(r, id, issues)
			if diff := cmp.Diff(tt.want, r.unmet(id)); diff != "" {
				t.Errorf("unmet (-want +got):\n%s", diff)
			}
			i, _ := r.s.Issue(number(t, id))
			if done := len(tt.want) == 0; (i.State == "closed") != done || r.armed() == done {
				t.Errorf("the chunk issue is %s, the schedule is on: %v", i.State, r.armed())
			}
			if len(tt.want) == 0 {
				for _, n := range issues {
					if strings.Contains(r.labels(n), config.LabelClaimed) {
						t.Errorf("issue %s still carries the label", n)
					}
				}
			}
		})
	}
}

// lock is the id of the claim's comment on an issue.
func (r *chunkRig) lock(issue string) string {
	for _, c := range r.s.Comments(number(r.t, issue)) {
		if m, ok := chunk.ParseClaim(c.ID, c.Body, true); ok && !m.Withdrawn {
			return strconv.FormatInt(c.ID, 10)
		}
	}
	r.t.Fatalf("issue %s has no claim", issue)
	return ""
}

// TestTheReportIsAPrincipalWrite: without it the chunk is not wrapped, and the next wrap-up writes it.
func TestTheReportIsAPrincipalWrite(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
	_, _, _ = r.poll("ghs_job", id)
	r.s.AddFault(ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/" + id + "/comments", Status: 403, Times: -1})
	r.want("tok_a", 3, "chunk "+id+": not_wrapped: write_failed", "chunk", "wrap", "--chunk", id)
	r.s.Calm()
	r.want("tok_a", 0, "chunk "+id+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown", "chunk", "wrap", "--chunk", id)
	last := r.s.Comments(number(t, id))
	if got := last[len(last)-1].Body; !strings.Contains(got, "Wrapped, ready for reset. 0 pull requests") {
		t.Errorf("report %q", got)
	}
}

// TestReopenedBeforeTheEnd: back to waiting.
func TestReopenedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
	r.verdict("ghs_job", id, chunk.Wrap, chunk.NothingLive)
	r.pass(time.Minute)
	r.s.SetStateAs(number(t, issues[0]), "maintainer", "open", "")
	r.want("tok_a", 1, "chunk "+id+": not_wrapped: claim_open", "chunk", "wrap", "--chunk", id)
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
}

// TestWhoWakesTheAgent: others do, the agent does not, whatever account it uses.
func TestWhoWakesTheAgent(t *testing.T) {
	t.Parallel()
	mark := func(id string) string { return "\n\n<!-- issue-assistant:chunk-agent chunk=" + id + " -->" }
	for name, tt := range map[string]struct {
		do     func(r *chunkRig, id, issue string)
		reason chunk.Reason
	}{
		"a comment of a maintainer": {func(r *chunkRig, _, issue string) { r.s.AddComment(number(r.t, issue), "maintainer", "x") }, chunk.LiveAndChanged},
		"a comment of a stranger":   {func(r *chunkRig, _, issue string) { r.s.AddComment(number(r.t, issue), "stranger", "x") }, chunk.LiveAndChanged},
		"a label of a maintainer":   {func(r *chunkRig, _, issue string) { r.s.LabelAs(number(r.t, issue), "maintainer", true, "urgent") }, chunk.LiveAndChanged},
		"an edit of the issue":      {func(r *chunkRig, _, issue string) { r.s.EditIssue(number(r.t, issue), "reporter", "other words") }, chunk.LiveAndChanged},
		"a word on the chunk issue": {func(r *chunkRig, id, _ string) { r.s.AddComment(number(r.t, id), "maintainer", "stop that") }, chunk.LiveAndChanged},
		"the job's own account":     {func(r *chunkRig, _, issue string) { r.s.AddComment(number(r.t, issue), "github-actions[bot]", "x") }, chunk.OwnEventsOnly},
		"a marked comment of the agent": {func(r *chunkRig, id, issue string) {
			r.s.AddComment(number(r.t, issue), "agent-a", "done"+mark(id))
		}, chunk.OwnEventsOnly},
		"the agent's mark by a stranger": {func(r *chunkRig, id, issue string) {
			r.s.AddComment(number(r.t, issue), "stranger", "hidden"+mark(id))
		}, chunk.LiveAndChanged},
		"the person whose account the agent uses": {func(r *chunkRig, _, issue string) { r.s.AddComment(number(r.t, issue), "agent-a", "please also") }, chunk.LiveAndChanged},
		"nothing": {func(*chunkRig, string, string) {}, chunk.NoChange},
		"another chunk that lost": {func(r *chunkRig, _, issue string) {
			_, _, _ = r.as("tok_b", "chunk", "claim", "--chunk", r.start("tok_b"), issue)
		}, chunk.NoChange},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id, issues := working(t, 1)
			// What the agent writes during a run is its own, without a mark, too.
			r.s.AddComment(number(t, issues[0]), "maintainer", "begin")
			r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
			r.s.AddComment(number(t, issues[0]), "agent-a", "I look at it")
			r.pass(time.Minute)
			r.verdict("tok_a", id, chunk.Quiet, chunk.OwnEventsOnly, "--ran")
			r.pass(time.Minute)
			tt.do(r, id, issues[0])
			want := tt.reason
			if want == chunk.NoChange {
				want = chunk.OwnEventsOnly // the comment of before is still the only news
			}
			if v, _, errs := r.poll("ghs_job", id); v.Reason != want {
				t.Errorf("%s, want %s\n%s", v.Reason, want, errs)
			}
		})
	}
}

// TestTheRecordIsRebuiltFromItsLog: whatever a person does to the issue's body, the log knows.
func TestTheRecordIsRebuiltFromItsLog(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"empty": "", "cut": "<!-- issue-assistant:chunk nonce=x data=eyJz -->", "no JSON": "<!-- issue-assistant:chunk data=AAAA -->", "words": "hello"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id, issues := working(t, 2)
			r.s.EditIssue(number(t, id), "maintainer", body)
			_, out, _ := r.as("tok_a", "chunk", "status", "--chunk", id)
			if !strings.Contains(out, "issue "+issues[0]+": open") || !strings.Contains(out, "issue "+issues[1]+": open") {
				t.Errorf("status %q", out)
			}
			r.want("tok_a", 1, "refused "+r.ninth()+": set_fixed", "chunk", "claim", "--chunk", id, "9")
			if v, _, _ := r.poll("ghs_job", id); v.Action != chunk.Run { // the cursor is gone: one tick too many
				t.Errorf("%+v", v)
			}
			i, _ := r.s.Issue(number(t, id))
			if _, ok := chunk.ParseRecord(i.Body); !ok {
				t.Errorf("the record is not written anew: %q", i.Body)
			}
		})
	}
}

// TestForgedRecords: only what people with write access wrote counts, and what nobody can read waits for a person.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	forged := chunk.Fold(1, nil)
	mark, err := forged.Mark("x")
	if err != nil {
		t.Fatal(err)
	}
	n := strconv.Itoa(r.s.AddIssue(ghapi.Issue{Body: mark, Labels: []string{config.LabelChunk}, Author: ghapi.User{Login: "stranger"}}))
	r.verdict("ghs_job", "", chunk.Quiet, chunk.NoChunk)
	r.want("tok_a", 2, "", "chunk", "status", "--chunk", n)

	unreadable := strconv.Itoa(r.s.AddIssue(ghapi.Issue{Body: "nothing", Labels: []string{config.LabelChunk}, Author: ghapi.User{Login: "maintainer"}}))
	v, _, _ := r.poll("ghs_job", "")
	if v.Action != chunk.Hold || v.Disarm {
		t.Errorf("%+v", v)
	}
	if code, _, _ := r.as("tok_a", "chunk", "wrap", "--chunk", unreadable); code != 3 {
		t.Errorf("exit %d", code)
	}
	if i, _ := r.s.Issue(number(t, unreadable)); i.Body != "nothing" || i.State != "open" {
		t.Errorf("%+v", i)
	}
	if code, _, _ := r.as("tok_a", "chunk", "claim", "--chunk", unreadable, r.ready(1)[0]); code != 3 {
		t.Errorf("exit %d", code)
	}

	// A stranger's event on a good chunk changes nothing.
	id := r.start("tok_a", r.ready(1)...)
	r.s.AddComment(number(t, id), "stranger", chunk.Event{Do: chunk.DoWrapped}.Mark("x"))
	r.s.AddComment(number(t, id), "stranger", chunk.Event{Do: chunk.DoReleased, Issue: 4}.Mark("x"))
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
}

// TestSeveralChunks share one schedule: it is off only when none needs it, and a run ends only what is due.
func TestSeveralChunks(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	issues := r.ready(2)
	a, b := r.start("tok_a", issues[0]), r.start("tok_b", issues[1])
	r.want("tok_a", 2, "", "chunk", "status")
	v, _, _ := r.poll("ghs_job", "")
	if v.Action != chunk.Run {
		t.Errorf("%+v", v)
	}
	r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
	r.want("ghs_job", 0, "chunk "+a+": wrap: nothing_live", "chunk", "poll", "--chunk", a)
	if !r.armed() {
		t.Error("the other chunk needs the schedule")
	}
	r.want("ghs_job", 0, "chunk "+a+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown\nchunk "+b+": not_wrapped: claim_open", "chunk", "wrap", "--ran")
	if !r.armed() {
		t.Error("the other chunk needs the schedule")
	}
	r.s.SetStateAs(number(t, issues[1]), "maintainer", "closed", "completed")
	r.want("ghs_job", 0, "chunk "+b+": wrap: nothing_live, the poll is switched off", "chunk", "poll")
	if r.armed() {
		t.Error("the schedule is still on")
	}
	// A label of its own keeps a chunk to its issues.
	own := r.start("tok_a", "--label", "session-a")
	next := r.ready(2)
	r.s.LabelAs(number(t, next[1]), "maintainer", true, "session-a")
	r.want("tok_a", 1, "refused "+next[0]+": not_labelled\nclaimed "+next[1], "chunk", "claim", "--chunk", own, next[0], next[1])
}

// TestReleaseWithACheckpoint: notes for whoever comes next stand in the claim's comment, cleaned.
func TestReleaseWithACheckpoint(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	file := r.file("notes.md", "## Done\n\nread `x.go`, asked @maintainer\n")
	r.want("tok_a", 0, "released "+issues[0], "chunk", "release", "--chunk", id, "--all", "--reason", "done_elsewhere", "--checkpoint", file)
	body := r.s.Comments(number(t, issues[0]))[0].Body
	if !strings.Contains(body, "released: done_elsewhere.") || !strings.Contains(body, "read `x.go`, asked `@maintainer`") {
		t.Errorf("%q", body)
	}
	if code, _, _ := r.with("tok_a", nil, strings.Repeat("x", 7000), "chunk", "release", "--chunk", id, "--all", "--checkpoint", "-"); code != 2 {
		t.Errorf("exit %d", code)
	}
}

// TestCommitsAreProgress: an agent that only pushes is not put off.
func TestCommitsAreProgress(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	p := r.pull(id, issues[0])
	r.s.AddComment(number(t, issues[0]), "maintainer", "go on")
	for n := range 4 {
		r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
		r.pass(time.Second)
		r.s.Push(p, strings.Repeat(strconv.Itoa(n+1), 40))
	}
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	r.verdict("ghs_job", id, chunk.Quiet, chunk.Throttled)
}

// TestAClosedChunkHolds: who closes the chunk's issue stops it.
func TestAClosedChunkHolds(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	issues := r.ready(2)
	id := r.start("tok_a", issues[0])
	r.s.SetStateAs(number(t, id), "maintainer", "closed", "not_planned")
	r.verdict("ghs_job", id, chunk.Hold, chunk.Paused)
	r.want("tok_a", 1, "refused "+issues[1]+": set_fixed", "chunk", "claim", "--chunk", id, issues[1])
	r.verdict("ghs_job", "", chunk.Quiet, chunk.NoChunk)
	for _, args := range [][]string{{"poll"}, {"wrap"}, {"status"}, {"claim", issues[1]}} {
		if code, _, errs := r.as("tok_a", append(append([]string{"chunk"}, args...), "--chunk", "99")...); code != ExitUsage || !strings.Contains(errs, "no chunk") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}

// TestABotThatQuotesAStranger does not lend it its name.
func TestABotThatQuotesAStranger(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	r.s.AddComment(number(t, id), "github-actions[bot]", "Somebody wrote:\n\n"+chunk.Event{Do: chunk.DoWrapped}.Mark("x"))
	r.s.AddComment(number(t, issues[0]), "github-actions[bot]", "Somebody wrote:\n\n"+claimMark("77", r.now().Add(time.Hour)))
	_, out, _ := r.as("tok_a", "chunk", "status", "--chunk", id)
	if !strings.Contains(out, "issue "+issues[0]+": open") || strings.Contains(out, "wrapped") && !strings.Contains(out, "not_wrapped") {
		t.Errorf("status %q", out)
	}
}
