package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// poll makes one tick and returns its verdict.
func (r *chunkRig) poll(token, id string, args ...string) (chunk.Verdict, int, string) {
	r.t.Helper()
	r.pass(time.Minute)
	all := append([]string{"chunk", "poll", "--json"}, args...)
	if id != "" {
		all = append(all, "--chunk", id)
	}
	code, out, errs := r.as(token, all...)
	var v chunk.Verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.t.Fatalf("%v: exit %d, %q: %v\n%s", all, code, out, err, errs)
	}
	if code != v.Exit {
		r.t.Errorf("%v: exit %d, verdict %+v", all, code, v)
	}
	return v, code, errs
}

func (r *chunkRig) verdict(token, id string, want chunk.Action, reason chunk.Reason, args ...string) string {
	r.t.Helper()
	v, _, errs := r.poll(token, id, args...)
	if v.Action != want || v.Reason != reason {
		r.t.Fatalf("%s: %s, want %s: %s\n%s", v.Action, v.Reason, want, reason, errs)
	}
	return errs
}

// working is a rig with one chunk of agent-a that holds issues and has run once, well.
func working(t testing.TB, n int) (r *chunkRig, id string, issues []string) {
	t.Helper()
	r = newChunkRig(t)
	issues = r.ready(n)
	id = r.start("tok_a", issues...)
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	r.want("tok_a", 0, "chunk "+id+": not_wrapped: claim_open", "chunk", "wrap", "--chunk", id, "--ran")
	return r, id, issues
}

// pull opens a pull request of agent-a for issues.
func (r *chunkRig) pull(id string, issues ...string) int {
	r.t.Helper()
	p := ghapi.PullRequest{Title: "Fix", Author: ghapi.User{Login: "agent-a"}, Body: "<!-- issue-assistant:chunk-agent chunk=" + id + " -->"}
	for _, i := range issues {
		p.Closes = append(p.Closes, ghapi.IssueRef{Number: number(r.t, i)})
	}
	r.pass(time.Minute)
	return r.s.AddPullRequest(p)
}

// use writes an execution file of a run and hands it to the poll.
func (r *chunkRig) use(calls, context int, usd float64) string {
	r.t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	line := func(v map[string]any) {
		if err := enc.Encode(v); err != nil {
			r.t.Fatal(err)
		}
	}
	line(map[string]any{"type": "issue_assistant.run", "schema": 1, "engine": "claude", "model": "claude-opus-5-5", "started": r.now(), "max_turns": 40, "max_budget_usd": 1})
	for n := range calls {
		line(map[string]any{"type": "issue_assistant.call", "n": n + 1, "model": "claude-opus-5-5", "status": 200, "turn": true, "input": 1, "cached_input": context - 1, "cost_usd": usd / float64(calls)})
	}
	line(map[string]any{"type": "issue_assistant.end", "ended": "finished", "turns": calls, "calls": calls, "cost_usd": usd, "cost_basis": "meter"})
	return r.file("run.jsonl", b.String())
}

func TestPollRowsOnGitHub(t *testing.T) {
	t.Parallel()
	t.Run("P01", func(t *testing.T) {
		t.Parallel()
		r := newChunkRig(t)
		if err := enable(r); err != nil {
			t.Fatal(err)
		}
		r.verdict("ghs_job", "", chunk.Quiet, chunk.NoChunk)
		if r.armed() {
			t.Error("the schedule is still on")
		}
	})
	t.Run("P02 and W14", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
		r.want("tok_a", 0, "chunk "+id+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown", "chunk", "wrap", "--chunk", id)
		r.s.SetStateAs(number(t, issues[0]), "maintainer", "open", "")
		r.s.SetStateAs(number(t, id), "maintainer", "open", "")
		if err := enable(r); err != nil {
			t.Fatal(err)
		}
		r.verdict("ghs_job", "", chunk.Quiet, chunk.ChunkWrapped)
		if r.armed() {
			t.Error("the schedule is still on")
		}
		r.want("tok_a", 1, "refused "+issues[0]+": set_fixed", "chunk", "claim", "--chunk", id, issues[0])
		r.want("tok_a", 0, "chunk "+id+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown", "chunk", "wrap", "--chunk", id)
	})
	t.Run("P04", func(t *testing.T) {
		t.Parallel()
		r, id, _ := working(t, 1)
		r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
		if !r.armed() {
			t.Error("the schedule is off while something is live")
		}
	})
	t.Run("P05", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		p := r.pull(id, issues[0])
		r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
		r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
		r.pass(time.Minute)
		r.s.CommentAs(p, "maintainer", "one thing")
		r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	})
	t.Run("P07", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 2)
		p := r.pull(id, issues[0])
		q := r.pull(id, issues[1])
		r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
		r.s.SetPullState(p, "maintainer", "merged")
		r.s.SetPullState(q, "maintainer", "closed")
		r.want("tok_a", 0, "released "+issues[1], "chunk", "release", "--chunk", id, issues[1])
		r.verdict("ghs_job", id, chunk.Wrap, chunk.NothingLive)
		if r.armed() {
			t.Error("the schedule is still on")
		}
	})
	t.Run("P08", func(t *testing.T) {
		t.Parallel()
		r := newChunkRig(t)
		r.verdict("ghs_job", r.start("tok_a"), chunk.Wrap, chunk.NothingLive)
	})
	t.Run("P10", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.LabelAs(number(t, id), "maintainer", true, config.LabelPaused)
		r.s.AddComment(number(t, issues[0]), "maintainer", "go on")
		r.verdict("ghs_job", id, chunk.Hold, chunk.Paused)
		r.s.LabelAs(number(t, id), "maintainer", false, config.LabelPaused)
		r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	})
	t.Run("P13 and P14", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.AddComment(number(t, issues[0]), "maintainer", "more")
		r.verdict("tok_a", id, chunk.Run, chunk.LiveAndChanged, "--execution-file", r.use(399, 399_999, 19.99))
		r.s.AddComment(number(t, issues[0]), "maintainer", "and more")
		r.verdict("tok_a", id, chunk.Release, chunk.ChunkLimit, "--execution-file", r.use(1, 400_000, 0))
		r.want("ghs_job", 0, "released "+issues[0]+"\nchunk "+id+": wrapped, ready for reset\n0 pull requests · 400 calls · last context 400000 tokens · $19.99", "chunk", "wrap", "--ran")
	})
}

func enable(r *chunkRig) error {
	o := r.s.ClientOptions()
	o.Token = "ghs_job"
	c, err := ghapi.New(o)
	if err != nil {
		return err
	}
	return ghapi.NewWriter(c).EnableWorkflow(r.t.Context(), "test", "issue-assistant-poll.yml")
}

// outage lets every request fail as the function says.
func (r *chunkRig) outage(f ghtest.Fault) {
	f.Times = -1
	r.s.AddFault(f)
}

func status(code int, header ...string) ghtest.Fault {
	f := ghtest.Fault{Status: code}
	if len(header) == 2 {
		f.Header = http.Header{header[0]: {header[1]}}
	}
	return f
}

func TestPollRowsWhenGitHubFails(t *testing.T) {
	t.Parallel()
	timeout := func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded })
	}
	t.Run("P16 and P17", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		before := r.s.Dump()
		r.wrap = timeout
		for n, want := range []int{0, 0, 3, 3} {
			if v, code, _ := r.poll("ghs_job", id); v.Action != chunk.Error || v.Reason != chunk.GitHubTimeout || v.Disarm || code != want {
				t.Errorf("failure %d: %+v, exit %d, want %d", n+1, v, code, want)
			}
		}
		if diff := cmp.Diff(before, r.s.Dump()); diff != "" {
			t.Errorf("an outage changed something:\n%s", diff)
		}
		r.wrap = nil
		r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
		r.wrap = timeout
		if _, code, _ := r.poll("ghs_job", id); code != 0 { // counted anew
			t.Errorf("exit %d after a success in between", code)
		}
		r.wrap = nil
		// An outage ends nothing: the issue is still claimed, its lease renewed.
		r.pass(13 * time.Hour)
		r.verdict("ghs_job", id, chunk.Quiet, chunk.NoChange)
		r.pass(13 * time.Hour)
		r.want("tok_b", 1, "refused "+issues[0]+": held", "chunk", "claim", "--chunk", r.start("tok_b"), issues[0])
	})
	t.Run("a part of GitHub fails on a fresh runner", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		for n, want := range []int{0, 0, 3} {
			r.s.Calm()
			r.outage(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/" + issues[0], Status: 502})
			r.home = t.TempDir() // nothing is left of the last runner: the record counts
			if v, code, _ := r.poll("ghs_job", id); v.Action != chunk.Error || v.Reason != chunk.GitHubUnreadable || code != want {
				t.Errorf("failure %d: %+v, exit %d, want %d", n+1, v, code, want)
			}
		}
	})
	t.Run("rate limit", func(t *testing.T) {
		t.Parallel()
		r, id, _ := working(t, 1)
		r.outage(status(429, "Retry-After", "3600"))
		if v, code, _ := r.poll("ghs_job", id); v.Action != chunk.Error || v.Reason != chunk.GitHubRateLimit || code != 0 {
			t.Errorf("%+v, exit %d", v, code)
		}
	})
	t.Run("a run that cannot be noted does not start", func(t *testing.T) {
		t.Parallel()
		r := newChunkRig(t)
		id := r.start("tok_a", r.ready(1)...)
		r.outage(ghtest.Fault{Match: ghtest.Request.Write, Status: 503})
		if v, _, _ := r.poll("ghs_job", id); v.Action != chunk.Error || v.Disarm {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a run whose record cannot be written does not start", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.AddComment(number(t, issues[0]), "maintainer", "go on")
		r.outage(ghtest.Fault{Method: "PATCH", Path: "/repos/octo/demo/issues/" + id, Status: 503, Times: -1})
		if v, _, _ := r.poll("ghs_job", id); v.Action != chunk.Error {
			t.Errorf("%+v", v)
		}
		r.s.Calm()
		r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
	})
	t.Run("a switch that only says that it is off", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
		r.outage(ghtest.Fault{Method: "PUT", Path: "/repos/octo/demo/actions/workflows/issue-assistant-poll.yml/disable", Status: 204})
		if errs := r.verdict("ghs_job", id, chunk.Wrap, chunk.NothingLive); !strings.Contains(errs, "disarm_failed") {
			t.Errorf("no warning: %s", errs)
		}
		r.want("ghs_job", 1, "chunk "+id+": finish: poll_armed", "chunk", "wrap", "--chunk", id)
	})
	t.Run("P22", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.s.SetStateAs(number(t, issues[0]), "maintainer", "closed", "completed")
		r.outage(ghtest.Fault{Method: "PUT", Path: "/repos/octo/demo/actions/workflows/issue-assistant-poll.yml/disable", Status: 403, Times: -1})
		errs := r.verdict("ghs_job", id, chunk.Wrap, chunk.NothingLive)
		if !strings.Contains(errs, "disarm_failed") {
			t.Errorf("no warning: %s", errs)
		}
		r.want("ghs_job", 1, "chunk "+id+": finish: poll_armed", "chunk", "wrap", "--chunk", id)
		_, out, _ := r.as("tok_a", "chunk", "status", "--chunk", id)
		if !strings.Contains(out, "chunk "+id+": wrapping") {
			t.Errorf("status %q", out)
		}
		r.s.Calm()
		r.want("ghs_job", 0, "chunk "+id+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown", "chunk", "wrap", "--chunk", id)
	})
	t.Run("W10", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.outage(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/" + issues[0], Status: 403, Times: -1})
		r.want("ghs_job", 1, "chunk "+id+": not_wrapped: claim_unknown", "chunk", "wrap", "--chunk", id)
	})
	t.Run("a wrap-up in an outage", func(t *testing.T) {
		t.Parallel()
		r, id, issues := working(t, 1)
		r.outage(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/" + issues[0], Status: 502, Times: -1})
		r.want("ghs_job", 3, "chunk "+id+": not_wrapped: claim_unknown", "chunk", "wrap", "--chunk", id)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPollRowsOfTheBudget(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 1)
	r.file(".issue-assistant/config.toml", "[limits]\nmonthly_usd = 1.0\n")
	env := map[string]string{"GITHUB_RUN_ID": "5", "GITHUB_RUN_ATTEMPT": "1"}
	poll := func(want string) {
		t.Helper()
		r.pass(time.Hour)
		r.s.AddComment(number(t, issues[0]), "maintainer", "more")
		if code, out, errs := r.with("ghs_job", env, "", "chunk", "poll", "--chunk", id); code != 0 || !strings.HasPrefix(out, "chunk "+id+": "+want) {
			t.Fatalf("exit %d, %q, want %s\n%s", code, out, want, errs)
		}
	}
	poll("run: live_and_changed")
	r.s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/artifacts", Status: 403, Times: -1})
	r.s.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/runs", Status: 403, Times: -1})
	poll("hold: budget") // P11: a cap that cannot be checked is a cap
}

// TestPollRowsOfIdleRuns: P19 and P20, runs that change nothing visible are put further and further apart.
func TestPollRowsOfIdleRuns(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	issues := r.ready(1)
	id := r.start("tok_a", issues...)
	last := r.now()
	for runs := range 8 {
		cooldown := chunk.Cooldown(runs)
		if cooldown > 0 {
			r.mu.Lock()
			r.clock = last.Add(cooldown - time.Second - time.Minute) // the poll itself passes a minute
			r.mu.Unlock()
			r.verdict("ghs_job", id, chunk.Quiet, chunk.Throttled)
			r.pass(2*time.Second - time.Minute)
		}
		r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
		last = r.now()
	}
	// The agent does something: the next run waits for nothing.
	r.pass(time.Second)
	r.s.AddComment(number(t, issues[0]), "agent-a", "done half of it\n\n<!-- issue-assistant:chunk-agent chunk="+id+" -->")
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
}

// TestOvernight is P23: 15 hours with nothing open. The schedule is on only while it is on; a label wakes it.
func TestOvernight(t *testing.T) {
	t.Parallel()
	r, id, issues := working(t, 2)
	for _, i := range issues {
		r.s.SetStateAs(number(t, i), "maintainer", "closed", "completed")
	}
	actions := map[chunk.Action]int{}
	ticks := 0
	for range 30 {
		r.pass(30 * time.Minute)
		if !r.armed() {
			continue
		}
		ticks++
		v, _, _ := r.poll("ghs_job", "")
		actions[v.Action]++
		if v.Action == chunk.Wrap || v.Action == chunk.Release { // the job "finish"
			r.want("ghs_job", 0, "chunk "+id+": wrapped, ready for reset\n0 pull requests · calls unknown · dollars unknown", "chunk", "wrap", "--ran")
		}
	}
	if diff := cmp.Diff(map[chunk.Action]int{chunk.Wrap: 1}, actions); diff != "" || ticks != 1 {
		t.Errorf("%d of 30 ticks ran (-want +got):\n%s", ticks, diff)
	}
	// Somebody opens a new chunk and the poll was never armed; a label wakes it.
	next := r.ready(1)
	id = r.start("tok_a", next...)
	if err := disable(r); err != nil {
		t.Fatal(err)
	}
	r.file(".issue-assistant/config.toml", "[chunk]\nwork = \"./.github/workflows/agent.yml\"\n")
	if got := r.event(next[0], "tok_m", "labeled", "bug"); got != 0 || r.armed() {
		t.Errorf("exit %d; any label wakes the poll: %v", got, r.armed())
	}
	if got := r.event(next[0], "tok_m", "labeled", config.LabelReady); got != 0 || !r.armed() {
		t.Errorf("exit %d; the label did not wake the poll", got)
	}
	r.verdict("ghs_job", id, chunk.Run, chunk.LiveAndChanged)
}

func disable(r *chunkRig) error {
	o := r.s.ClientOptions()
	o.Token = "ghs_job"
	c, err := ghapi.New(o)
	if err != nil {
		return err
	}
	return ghapi.NewWriter(c).DisableWorkflow(r.t.Context(), "test", "issue-assistant-poll.yml")
}

// event runs the router's command for a label of a person.
func (r *chunkRig) event(issue, sender, action, label string) int {
	r.t.Helper()
	payload := map[string]any{
		"action": action, "label": map[string]any{"name": label},
		"issue":      map[string]any{"number": number(r.t, issue), "state": "open", "user": map[string]any{"login": "reporter", "type": "User"}, "labels": []any{map[string]any{"name": label}}},
		"repository": map[string]any{"full_name": "octo/demo", "default_branch": "main"}, "sender": map[string]any{"login": sender, "type": "User"},
	}
	data, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	env := map[string]string{"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": r.file("event.json", string(data)), "GITHUB_REF": "refs/heads/main"}
	code, _, errs := r.with("ghs_job", env, "", "event")
	if code != 0 {
		r.t.Log(errs)
	}
	return code
}
