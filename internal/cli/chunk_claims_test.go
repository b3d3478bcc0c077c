package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// claimMark is what somebody writes who wants to look like a claim.
func claimMark(id string, lease time.Time) string {
	n, _ := strconv.Atoi(id)
	return chunk.ClaimMark(n, "x", chunk.MarkLive, lease)
}

func TestClaimRowsOnGitHub(t *testing.T) {
	t.Parallel()
	const label = config.LabelReady
	for _, tt := range []struct {
		name  string
		issue ghapi.Issue
		setup func(r *chunkRig, id, issue string)
		code  int
		want  string // %[1]s is the issue, %[2]s another chunk
	}{
		{"K01 ready", ghapi.Issue{Labels: []string{label}}, nil, 0, "claimed %[1]s"},
		{"K02 ours already", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, id, issue string) {
			r.want("tok_a", 0, "claimed "+issue, "chunk", "claim", "--chunk", id, issue)
			r.s.ClearLog()
		}, 0, "ours %[1]s"},
		{"K03 another's", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) { r.start("tok_b", issue) }, 1, "refused %[1]s: held"},
		{"K04 lease expired", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.start("tok_b", issue)
			r.pass(25 * time.Hour)
		}, 0, "claimed %[1]s, taken over from chunk %[2]s"},
		{"K05 not ready", ghapi.Issue{}, nil, 1, "refused %[1]s: not_ready"},
		{"K05 backlog", ghapi.Issue{Labels: []string{label, config.LabelBacklog}}, nil, 1, "refused %[1]s: not_ready"},
		{"K06 pull request", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddPullRequest(ghapi.PullRequest{Title: "wip", Body: "for #" + issue, Author: ghapi.User{Login: "stranger"}})
		}, 1, "refused %[1]s: has_pr"},
		{"K07 human assignee", ghapi.Issue{Labels: []string{label}, Assignees: []string{"maintainer"}}, nil, 1, "refused %[1]s: assigned"},
		{"the agent is the assignee", ghapi.Issue{Labels: []string{label}, Assignees: []string{"agent-a"}}, nil, 0, "claimed %[1]s"},
		{"K08 closed", ghapi.Issue{Labels: []string{label}, State: "closed"}, nil, 1, "refused %[1]s: closed"},
		{"K09 set fixed", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, id, _ string) {
			r.want("tok_a", 0, "claimed 9", "chunk", "claim", "--chunk", id, r.ninth())
			r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
		}, 1, "refused %[1]s: set_fixed"},
		{"K13 a stranger's marker", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "stranger", claimMark("77", r.now().Add(time.Hour)))
		}, 0, "claimed %[1]s"},
		{"a marker of a deleted account", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "", claimMark("77", r.now().Add(time.Hour)))
		}, 0, "claimed %[1]s"},
		{"a marker of another app", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "evil[bot]", claimMark("77", r.now().Add(time.Hour)))
		}, 0, "claimed %[1]s"},
		{"a marker of a maintainer", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "maintainer", claimMark("77", r.now().Add(time.Hour)))
		}, 1, "refused %[1]s: held"},
		{"a marker that is only quoted", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "maintainer", "> "+claimMark("77", r.now().Add(time.Hour))+"\n\nwhat is this?")
		}, 0, "claimed %[1]s"},
		{"K14 seventh", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, id, _ string) {
			for _, n := range r.ready(6) {
				r.want("tok_a", 0, "claimed "+n, "chunk", "claim", "--chunk", id, n)
			}
		}, 1, "refused %[1]s: chunk_full"},
		{"K16 released by another", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			other := r.start("tok_b", issue)
			r.want("tok_b", 0, "released "+issue, "chunk", "release", "--chunk", other, issue)
			if got := r.labels(issue); got != label {
				r.t.Errorf("labels %q", got)
			}
		}, 0, "claimed %[1]s"},
		{"K19 gone", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) { r.s.DeleteIssue(number(r.t, issue)) }, 1, "gone %[1]s"},
		{"the permission cannot be read", ghapi.Issue{Labels: []string{label}}, func(r *chunkRig, _, issue string) {
			r.s.AddComment(number(r.t, issue), "maintainer", claimMark("77", r.now().Add(time.Hour)))
			r.outage(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/collaborators/maintainer/permission", Status: 500, Times: -1})
		}, 3, "failed %[1]s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newChunkRig(t)
			issue := strconv.Itoa(r.s.AddIssue(tt.issue))
			id := r.start("tok_a")
			if tt.setup != nil {
				tt.setup(r, id, issue)
			}
			r.want("tok_a", tt.code, fmt.Sprintf(tt.want, issue, "3"), "chunk", "claim", "--chunk", id, issue)
			if tt.name == "K02 ours already" {
				for _, q := range r.s.Log() {
					if q.Write() {
						t.Errorf("written: %s %s", q.Method, q.Path)
					}
				}
			}
			if strings.HasPrefix(tt.want, "claimed") != strings.Contains(r.labels(issue), config.LabelClaimed) && tt.name != "K03 another's" && tt.name != "K02 ours already" {
				t.Errorf("labels %q", r.labels(issue))
			}
		})
	}
}

func (r *chunkRig) ninth() string {
	return strconv.Itoa(r.s.AddIssue(ghapi.Issue{Number: 9, Labels: []string{config.LabelReady}}))
}

// TestTakenOver is the other half of K04: the old chunk finds its claim gone.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 2)
	r.pass(25 * time.Hour)
	other := r.start("tok_b", issues[0])
	r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
	_, out, _ := r.as("tok_a", "chunk", "status", "--chunk", id)
	if !strings.Contains(out, "issue "+issues[0]+": taken_over (lease_expired)") || !strings.Contains(out, "issue "+issues[1]+": open") {
		t.Errorf("status %q", out)
	}
	// The one that nobody took is claimed anew, behind all others.
	r.want("tok_b", 1, "refused "+issues[1]+": held", "chunk", "claim", "--chunk", other, issues[1])
	for _, c := range r.s.Comments(number(t, issues[0])) {
		if strings.Contains(c.Body, "chunk="+id+" ") && !strings.Contains(c.Body, "state=taken_over") {
			t.Errorf("the old marker: %s", c.Body)
		}
	}
}

// TestOwnFollowups are K10 and K11: what a chunk has filed it never claims; another may, after triage.
func TestOwnFollowups(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	id := r.start("tok_a")
	code, out, errs := r.with("tok_a", nil, "It leaks @everyone, see https://evil.example/x\n", "chunk", "note", "--chunk", id, "--title", "A leak", "--text", "-", "--pull", "7")
	if code != 0 || out != "filed 2\n" {
		t.Fatalf("exit %d, %q, %s", code, out, errs)
	}
	i, _ := r.s.Issue(2)
	if strings.Join(i.Labels, " ") != config.LabelBacklog || i.Title != "A leak" || !strings.Contains(i.Body, "by="+id+"/7") || !strings.HasSuffix(i.Body, "It leaks `@everyone`, see `https://evil.example/x`") {
		t.Errorf("%+v", i)
	}
	r.want("tok_a", 0, "filed 2", "chunk", "note", "--chunk", id, "--title", "a  LEAK") // the same finding
	r.want("tok_a", 1, "refused 2: own_followup", "chunk", "claim", "--chunk", id, "2")
	other := r.start("tok_b")
	r.want("tok_b", 1, "refused 2: not_ready", "chunk", "claim", "--chunk", other, "2")
	r.s.LabelAs(2, "maintainer", false, config.LabelBacklog)
	r.s.LabelAs(2, "maintainer", true, config.LabelReady)
	r.want("tok_a", 1, "refused 2: own_followup", "chunk", "claim", "--chunk", id, "2")
	r.want("tok_b", 0, "claimed 2", "chunk", "claim", "--chunk", other, "2")

	for name, text := range map[string]string{"a token": "ghp_" + strings.Repeat("a1B2", 9), "split over both": strings.Repeat("a1B2", 6)} {
		title := "A key"
		if name == "split over both" {
			title = "A key ghp_" + strings.Repeat("a1B2", 3)
		}
		if code, _, errs := r.with("tok_a", nil, text, "chunk", "note", "--chunk", id, "--title", title, "--text", "-"); code != 1 || strings.Contains(errs, text+"1") {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}

// TestRowK20: a pull request of the chunk for none of its issues is not tracked, and filed once.
func TestRowK20(t *testing.T) {
	t.Parallel()
	r, id, _ := working(t, 1)
	p := r.pull(id)
	r.pull("77") // another chunk's
	r.s.AddPullRequest(ghapi.PullRequest{Title: "mine", Author: ghapi.User{Login: "stranger"}, Body: "Fixes #1\n<!-- issue-assistant:chunk-agent chunk=" + id + " -->"})
	errs := r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
	if !strings.Contains(errs, fmt.Sprintf("pull request %d of this chunk references no claimed issue", p)) {
		t.Errorf("no warning: %s", errs)
	}
	r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
	_, out, _ := r.as("tok_a", "chunk", "status", "--json", "--chunk", id)
	var got struct {
		Tracked  []chunk.Tracked `json:"tracked"`
		Findings []chunk.Finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Tracked) != 0 || len(got.Findings) != 1 || !got.Findings[0].Filed || got.Findings[0].By != fmt.Sprintf("%s/%d", id, p) {
		t.Errorf("%+v", got)
	}
}

// TestReleases: K16 and K17, a person's hand on the label, the comment or the issue, and what GitHub says of it.
func TestReleases(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(r *chunkRig, id, issue string)
		reason string
	}{
		"the label is taken off": {func(r *chunkRig, _, issue string) {
			r.s.LabelAs(number(r.t, issue), "maintainer", false, config.LabelClaimed)
		}, "human"},
		"the comment is deleted": {func(r *chunkRig, _, issue string) { r.delete(issue) }, "human"},
		"K19 deleted":            {func(r *chunkRig, _, issue string) { r.s.DeleteIssue(number(r.t, issue)) }, "gone"},
		"transferred": {func(r *chunkRig, _, issue string) {
			r.s.TransferIssue(number(r.t, issue), "https://api.github.com/repositories/9/issues/1")
		}, "gone"},
		"K16 by hand": {func(r *chunkRig, id, issue string) {
			r.want("tok_a", 0, "released "+issue, "chunk", "release", "--chunk", id, issue)
			r.want("tok_a", 0, "not held "+issue, "chunk", "release", "--chunk", id, issue) // K17
		}, "blocked"},
		"seven days without a change": {func(r *chunkRig, id, _ string) {
			for range 15 {
				r.pass(12*time.Hour - time.Minute)
				if v, _, _ := r.poll("ghs_job", id); v.Action == chunk.Release {
					if v.Reason != chunk.WaitedTooLong {
						r.t.Errorf("%+v", v)
					}
					break
				}
			}
			_, _, _ = r.as("ghs_job", "chunk", "wrap", "--chunk", id)
		}, "waited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id, issues := working(t, 2)
			tt.do(r, id, issues[0])
			_, _, _ = r.poll("ghs_job", id)
			_, out, _ := r.as("tok_a", "chunk", "status", "--chunk", id)
			if !strings.Contains(out, "issue "+issues[0]+": released ("+tt.reason+")") {
				t.Errorf("status %q", out)
			}
			if _, there := r.s.Issue(number(t, issues[0])); there && tt.reason != "gone" {
				if got := r.labels(issues[0]); got != config.LabelReady {
					t.Errorf("labels %q", got)
				}
				r.want("tok_b", 0, "claimed "+issues[0], "chunk", "claim", "--chunk", r.start("tok_b"), issues[0])
			}
		})
	}
}

// delete removes the comments of an issue.
func (r *chunkRig) delete(issue string) {
	o := r.s.ClientOptions()
	o.Token = "ghs_job"
	c, err := ghapi.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range r.s.Comments(number(r.t, issue)) {
		if err := ghapi.NewWriter(c).DeleteComment(r.t.Context(), number(r.t, issue), x.ID, "test"); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestTheLabelIsOnlyAnIndex: a label whose write failed is put on again, and never takes the claim with it.
func TestTheLabelIsOnlyAnIndex(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	issues := r.ready(1)
	id := r.start("tok_a")
	path := "/repos/octo/demo/issues/" + issues[0] + "/labels"
	r.s.AddFault(ghtest.Fault{Method: "POST", Path: path, Status: 422, Times: -1})
	code, out, errs := r.as("tok_a", "chunk", "claim", "--chunk", id, issues[0])
	if code != 0 || out != "claimed "+issues[0]+"\n" || !strings.Contains(errs, "label#"+issues[0]+":claimed") { // R13
		t.Errorf("exit %d, %q, %s", code, out, errs)
	}
	r.s.Calm()
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	if got := r.labels(issues[0]); !strings.Contains(got, config.LabelClaimed) {
		t.Errorf("labels %q", got)
	}
	_, out, _ = r.as("tok_a", "chunk", "status", "--chunk", id)
	if !strings.Contains(out, "issue "+issues[0]+": open") {
		t.Errorf("status %q", out)
	}
}

// TestBoundedWritesOfAClaim are the rows R: one write, the claim's comment, answered in every way.
func TestBoundedWritesOfAClaim(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		faults   []ghtest.Fault
		code     int
		want     string
		attempts int // requests of the key
		table    string
	}{
		{"R01", []ghtest.Fault{{Status: 500}}, 0, "claimed 1", 2, "comment#1:claim | 2 | 200 | done"},
		{"R02", []ghtest.Fault{{Status: 500}, {Status: 503}}, 3, "failed 1", 2, "comment#1:claim | 2 | 503 | failed"},
		{"R04", []ghtest.Fault{{Status: 422}}, 3, "failed 1", 1, "comment#1:claim | 1 | 422 | failed"},
		{"R05", []ghtest.Fault{{Status: 409}}, 1, "lost 1", 1, "comment#1:claim | 1 | 409 | failed"},
		{"R07", []ghtest.Fault{{Status: 429, Header: http.Header{"Retry-After": {"600"}}}}, 3, "failed 1", 1, "comment#1:claim | 1 | 429 | failed"},
		{"R08", []ghtest.Fault{{Lost: true}}, 0, "claimed 1", 1, ""},
		{"R14", []ghtest.Fault{{Empty: true}}, 0, "claimed 1", 1, ""},
		{"R14 and nothing is there", []ghtest.Fault{{Status: 200, Body: " "}, {Status: 200, Body: " "}}, 3, "failed 1", 2, "comment#1:claim | 2 | 200 | failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newChunkRig(t)
			issue := r.ready(1)[0]
			comments := "/repos/octo/demo/issues/" + issue + "/comments"
			id := r.start("tok_a")
			for _, f := range tt.faults {
				f.Method, f.Path = "POST", comments
				r.s.AddFault(f)
			}
			r.s.ClearLog()
			before := r.now()
			code, out, errs := r.as("tok_a", "chunk", "claim", "--chunk", id, issue)
			if code != tt.code || strings.TrimSpace(out) != tt.want || !strings.Contains(errs, tt.table) {
				t.Errorf("exit %d, %q, %s; want %d, %q, %q", code, out, errs, tt.code, tt.want, tt.table)
			}
			if waited := r.now().Sub(before); waited > 30*time.Second {
				t.Errorf("waited %v", waited)
			}
			n := 0
			for _, q := range r.s.Log() {
				if q.Method == "POST" && q.Path == comments {
					n++
				}
			}
			if n != tt.attempts {
				t.Errorf("%d requests, want %d", n, tt.attempts)
			}
			if got := len(r.s.Comments(1)); (got == 1) != strings.HasPrefix(tt.want, "claimed") || got > 1 {
				t.Errorf("%d comments", got)
			}
		})
	}
}

// TestFailedWritesStandStill: R02 third call, R10 and R11. A write that failed twice is not tried again in the command, the
// others go on, and after three nothing is written any more; all of it is told.
func TestFailedWritesStandStill(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	r.ready(5)
	id := r.start("tok_a")
	r.outage(ghtest.Fault{Match: func(q ghtest.Request) bool {
		return q.Method == "POST" && strings.HasSuffix(q.Path, "/comments") && q.Path != "/repos/octo/demo/issues/5/comments" && q.Path != "/repos/octo/demo/issues/"+id+"/comments"
	}, Status: 503})
	r.s.ClearLog()
	// Issue 1 twice: its key is closed after two requests. Issue 5 works in between.
	code, out, errs := r.as("tok_a", append([]string{"chunk", "claim", "--chunk", id}, "1", "1", "5", "2", "3", "4")...)
	if want := "failed 1\nfailed 1\nclaimed 5\nfailed 2\nfailed 3\nfailed 4\n"; code != 3 || out != want {
		t.Errorf("exit %d, %q, want 3, %q", code, out, want)
	}
	sent := map[string]int{}
	for _, q := range r.s.Log() {
		if q.Write() && strings.HasSuffix(q.Path, "/comments") {
			sent[q.Path]++
		}
	}
	for n, want := range map[string]int{"1": 2, "2": 2, "3": 2, "4": 0} {
		if got := sent["/repos/octo/demo/issues/"+n+"/comments"]; got != want {
			t.Errorf("issue %s: %d requests, want %d", n, got, want)
		}
	}
	for _, want := range []string{"comment#1:claim | 2 | 503 | failed", "comment#1:claim skipped: it failed before in this run", "comment#4:claim | 0 | none | ended", "#1 is not claimed"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not told: %s", want, errs)
		}
	}
}
