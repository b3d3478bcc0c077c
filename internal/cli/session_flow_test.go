package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/registry"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/material"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

const (
	headOne  = "1111111111111111111111111111111111111111"
	secretly = "ZEBRA-WORD-OF-THE-REPORTER"
)

// sessionStage is a repository with sessions on and one issue.
type sessionStage struct {
	*stage
	t       *testing.T
	temp    string
	eventID int64 // the repository's number in the event
}

func newSessionStage(t *testing.T, mode string) *sessionStage {
	t.Helper()
	s := &sessionStage{stage: newStage(t), t: t, temp: t.TempDir()}
	s.write(t, ".issue-assistant/config.toml", "[sessions]\nmode = \""+mode+"\"\n")
	s.env["RUNNER_TEMP"], s.env["GITHUB_REPOSITORY_ID"], s.env["GITHUB_SHA"] = s.temp, "42", headOne
	s.AddIssue(ghapi.Issue{Number: 7, Title: "Crash " + secretly, Body: "It crashes. " + secretly, Author: ghapi.User{Login: "alice"}})
	return s
}

// must runs a command that has to work.
func (s *sessionStage) must(t *testing.T, args ...string) {
	t.Helper()
	if code := s.run(t, args...); code != 0 {
		t.Fatalf("%v: exit %d: %s%s", args, code, s.out, s.err)
	}
}

// decide runs the steps before the AI and returns what was decided.
func (s *sessionStage) decide(t *testing.T, name task.Name, event, action string, woke int64) session.State {
	t.Helper()
	data, err := json.Marshal(map[string]any{"action": action, "issue": map[string]any{"number": 7}, "repository": map[string]any{"default_branch": "main", "id": s.eventID}})
	if err != nil {
		t.Fatal(err)
	}
	s.env["GITHUB_EVENT_NAME"], s.env["GITHUB_EVENT_PATH"] = event, s.write(t, "../event.json", string(data))
	s.must(t, "engine", "--task", string(name), "--issue", "7", "--ready-engines", "claude")
	s.must(t, "context", "--task", string(name), "--issue", "7", "--comment", fmt.Sprint(woke))
	left, err := os.ReadFile(filepath.Join(s.temp, session.StateFile))
	if err != nil {
		t.Fatal(err)
	}
	state, err := session.DecodeState(left)
	if err != nil {
		t.Fatalf("%v: %s", err, left)
	}
	return state
}

// record is what `run` would hand to apply after a run of four calls.
func (s *sessionStage) record(t *testing.T, name task.Name) string {
	t.Helper()
	a := &app{Env: Env{
		Getenv: func(n string) string { return s.env[n] }, Now: s.Now, Stderr: os.Stderr, Dir: s.dir,
	}}
	limits, err := a.limitsOfJob(string(name))
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := a.sessionOf(s.temp, limits)
	if !ok {
		t.Fatal("run does not take the decision")
	}
	return kept.record(run.Result{
		Ended: engine.Finished, Turns: 4, Calls: 4, CostUSD: 0.12,
		Conversation: run.Conversation{Runs: 1, ContextTokens: 30_000, FirstTokens: 20_000, OutputTokens: 1_600},
	})
}

const (
	flowTriage = `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"r","summary":"It crashes at the start.","analysis":"The parser.","next_steps":["Try 1.3"],
"missing_information":["Which version?"],"duplicates":[],"related":[],"references":[],"sensitive_data":"none","security_report":false,"spam":false}`
	flowFollow = `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"","reply":"Then it is the old parser.","missing_information":["Which file?"],"references":[],"sensitive_data":"none"}`
)

func (s *sessionStage) edit(t *testing.T, method string, id int64, body string) {
	t.Helper()
	o := s.ClientOptions()
	data, err := json.Marshal(map[string]string{"body": body})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("%s/repos/octo/demo/issues/comments/%d", strings.TrimSuffix(o.APIURL, "/"), id), strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	res, err := (&http.Client{Transport: s.Transport()}).Do(req)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s: %v %v", method, res, err)
	}
	_ = res.Body.Close()
}

// follow plays an issue up to its first follow-up, whose record is kept, and one more answer of the reporter.
func follow(t *testing.T, mode string) (s *sessionStage, first, second int64) {
	t.Helper()
	s = newSessionStage(t, mode)
	state := s.decide(t, task.Triage, "issues", "opened", 0)
	if diff := cmp.Diff([]session.Reason{session.WakeIssueOpened, session.NoSavedSession}, state.Reasons); diff != "" {
		t.Errorf("triage (-want +got):\n%s", diff)
	}
	s.must(t, "apply", "--task", "triage", "--issue", "7", "--engine", "claude", "--answer", flowTriage, "--session", s.record(t, task.Triage))
	s.Advance(time.Hour)
	first = s.AddComment(7, "alice", "It is 1.2 "+secretly)
	state = s.decide(t, task.FollowUp, "issue_comment", "created", first)
	if diff := cmp.Diff([]session.Reason{session.NoSavedSession}, state.Reasons); diff != "" {
		t.Errorf("first follow-up (-want +got):\n%s", diff)
	}
	s.must(t, "apply", "--task", "follow-up", "--issue", "7", "--comment", fmt.Sprint(first), "--engine", "claude", "--answer", flowFollow, "--session", s.record(t, task.FollowUp))
	s.Advance(2 * time.Minute)
	second = s.AddComment(7, "alice", "It is start.toml")
	return s, first, second
}

// TestSessionShadow: a second follow-up would resume, runs fresh, and is told what the first one left.
func TestSessionShadow(t *testing.T) {
	t.Parallel()
	s, first, second := follow(t, "shadow")
	for _, c := range s.Comments(7) {
		m, ok := comment.ParseMarker(c.Body)
		if c.Author.Login != "github-actions[bot]" {
			continue
		}
		kept, err := session.Decode(m.Session)
		if !ok || err != nil || kept.CostUSD != 0.12 || kept.ContextTokens != 30_000 || kept.Engine != "claude" || kept.RepositoryID != 42 {
			t.Errorf("record %+v %v in %s", kept, err, c.Body)
		}
		if n := len(m.Session); n > 1400 {
			t.Errorf("the record has %d characters", n)
		}
	}
	state := s.decide(t, task.FollowUp, "issue_comment", "created", second)
	if len(state.Reasons) != 0 || state.Mode != session.Shadow || state.ResumeUSD == nil || *state.ResumeUSD >= *state.FreshUSD {
		t.Errorf("%+v", state)
	}
	checkpoint := s.read(t, materialDir+"/"+material.FileCheckpoint)
	for _, want := range []string{"## Objective\n\nfollow-up of issue #7\n", "Then it is the old parser.", "## Open questions\n\n```text\n- Which file?", fmt.Sprintf("comment %d;", first), "the reporter was asked"} {
		if !strings.Contains(checkpoint, want) {
			t.Errorf("the checkpoint lacks %q:\n%s", want, checkpoint)
		}
	}
	if len(checkpoint) > session.MaxCheckpoint || strings.Contains(checkpoint, "issue-assistant:follow-up") {
		t.Errorf("checkpoint of %d bytes:\n%s", len(checkpoint), checkpoint)
	}
	if prompt := s.read(t, materialDir+"/prompt.md"); !strings.Contains(prompt, "checkpoint.md`: what your earlier run") || strings.Contains(prompt, "old parser") {
		t.Errorf("prompt:\n%s", prompt)
	}
	if rules, err := os.ReadFile(s.output("rules-file")); err != nil || strings.Contains(string(rules), "old parser") {
		t.Errorf("the checkpoint is in the rules (%v)", err)
	}
	if !strings.Contains(s.err, "sessions, shadow: resume; resume $0.") {
		t.Errorf("the log does not say what was decided: %s", s.err)
	}
	// Not a byte of the issue is in the record, the decision or the line.
	left, err := os.ReadFile(filepath.Join(s.temp, session.StateFile))
	if err != nil || strings.Contains(string(left)+s.err, "ZEBRA") {
		t.Errorf("the decision holds words of the issue: %s (%v)", left, err)
	}
	line := s.line(t)
	if !strings.Contains(line, "session fresh: shadow; would resume $0.") || strings.Count(line, "\n") != 1 {
		t.Errorf("line: %q", line)
	}
}

// line runs `usage` on an execution file whose run took the decision, and returns the summary.
func (s *sessionStage) line(t *testing.T) string {
	t.Helper()
	a := &app{Env: Env{Getenv: func(n string) string { return s.env[n] }, Now: s.Now, Stderr: os.Stderr, Dir: s.dir}}
	limits, err := a.limitsOfJob("")
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := a.sessionOf(s.temp, limits)
	if !ok {
		t.Fatal("run does not take the decision")
	}
	recording := s.write(t, "../recording.jsonl", "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":2,\"total_cost_usd\":0.02,\"structured_output\":{}}\n")
	o := run.Options{
		Task: string(limits.Task), Issue: 7, Driver: mustDriver(t), ExecutionFile: filepath.Join(s.temp, executionFileName), Now: s.Now,
		Limits: run.Limits{Model: limits.Model, MaxTurns: limits.MaxTurns, MaxBudgetUSD: 1, TimeoutMinutes: 15},
	}
	kept.into(&o)
	f, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := run.Replay(t.Context(), o, f); err != nil {
		t.Fatal(err)
	}
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(s.temp, "summary.md")
	s.must(t, "usage", "--execution-file", o.ExecutionFile, "--json")
	var rec struct {
		Session struct {
			Decision string
			Reasons  []string
			Shadow   bool
		}
	}
	if err := json.Unmarshal([]byte(s.out), &rec); err != nil || rec.Session.Decision != "fresh" {
		t.Errorf("record %s %v", s.out, err)
	}
	data, err := os.ReadFile(s.env["GITHUB_STEP_SUMMARY"])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSessionReasons changes one thing of the world between two follow-ups.
func TestSessionReasons(t *testing.T) {
	t.Parallel()
	forged := func(s *sessionStage) string {
		var own string
		for _, c := range s.Comments(7) {
			if m, ok := comment.ParseMarker(c.Body); ok && m.Kind == task.MarkFollowUp {
				own = m.Session
			}
		}
		kept, err := session.Decode(own)
		if err != nil {
			panic(err)
		}
		kept.Runs = 19
		return comment.Marker{Kind: task.MarkFollowUp, To: 1, Session: kept.Encode()}.String()
	}
	for _, tt := range []struct {
		name       string
		change     func(s *sessionStage, first int64)
		want       []session.Reason
		notes      []session.Note
		checkpoint bool
	}{
		{name: "nothing", checkpoint: true},
		{name: "a comment is edited", change: func(s *sessionStage, first int64) { s.edit(s.t, http.MethodPatch, first, "It is 1.3") }, want: []session.Reason{session.MaterialEdited}, checkpoint: true},
		{name: "a comment is deleted", change: func(s *sessionStage, first int64) { s.edit(s.t, http.MethodDelete, first, "") }, want: []session.Reason{session.MaterialEdited}, checkpoint: true},
		{name: "the issue is edited", change: func(s *sessionStage, _ int64) { s.EditIssue(7, "alice", "other words") }, want: []session.Reason{session.MaterialEdited}, checkpoint: true},
		{name: "new rules", change: func(s *sessionStage, _ int64) {
			s.write(s.t, ".issue-assistant/rules.md", "# Rules\n\nBe kind.\n")
		}, want: []session.Reason{session.RulesChanged}, checkpoint: true},
		{name: "another model and more turns", change: func(s *sessionStage, _ int64) {
			s.write(s.t, ".issue-assistant/config.toml", "[engine]\nmodel = \"claude-sonnet-5\"\nmax_turns = 60\n[sessions]\nmode = \"shadow\"\n")
		}, want: []session.Reason{session.ModelChanged, session.ConfigChanged, session.ToolsChanged}, checkpoint: true},
		{name: "another repository under the name", change: func(s *sessionStage, _ int64) { s.env["GITHUB_REPOSITORY_ID"] = "43" }, want: []session.Reason{session.RepoChanged}},
		{name: "repository unknown", change: func(s *sessionStage, _ int64) { delete(s.env, "GITHUB_REPOSITORY_ID") }, want: []session.Reason{session.RepoChanged}},
		{name: "repository by the event", change: func(s *sessionStage, _ int64) {
			delete(s.env, "GITHUB_REPOSITORY_ID")
			s.eventID = 42
		}, checkpoint: true},
		{name: "another repository by the event", change: func(s *sessionStage, _ int64) {
			delete(s.env, "GITHUB_REPOSITORY_ID")
			s.eventID = 43
		}, want: []session.Reason{session.RepoChanged}},
		{name: "a commit that nobody knows", change: func(s *sessionStage, _ int64) {
			s.env["GITHUB_SHA"] = strings.Repeat("2", 40)
		}, want: []session.Reason{session.HistoryRewritten}, checkpoint: true},
		{name: "the branch moved forward", change: func(s *sessionStage, _ int64) {
			s.AddCommit(ghapi.Commit{SHA: headOne})
			s.AddCommit(ghapi.Commit{SHA: strings.Repeat("2", 40)})
			s.env["GITHUB_SHA"] = strings.Repeat("2", 40)
		}, want: []session.Reason{session.ResumeDearer}, notes: []session.Note{session.HeadMoved}, checkpoint: true},
		{name: "a maintainer asks for a fresh start", change: func(s *sessionStage, _ int64) { s.AddComment(7, "mona", "/assistant fresh") }, want: []session.Reason{session.ForceFresh}},
		{name: "a stranger asks for a fresh start", change: func(s *sessionStage, _ int64) { s.AddComment(7, "zoe", "/assistant fresh") }, checkpoint: true},
		{name: "the label", change: func(s *sessionStage, _ int64) {
			s.AddLabel(ghapi.Label{Name: session.LabelFresh})
			s.LabelAs(7, "mona", true, session.LabelFresh)
		}, want: []session.Reason{session.ForceFresh}},
		{name: "a stranger's record counts for nothing", change: func(s *sessionStage, _ int64) { s.AddComment(7, "zoe", "hello\n"+forged(s)) }, checkpoint: true},
		{name: "a later release's record", change: func(s *sessionStage, _ int64) {
			s.AddComment(7, "github-actions[bot]", comment.Marker{Kind: "analysis", Session: "eyJ2IjoyfQ"}.String()+"\nx")
		}, want: nil},
		{name: "a record that is none", change: func(s *sessionStage, _ int64) {
			s.AddComment(7, "github-actions[bot]", comment.Marker{Kind: "analysis", Session: "eyJ2IjoxfQ"}.String()+"\nx")
		}, checkpoint: true},
		{name: "four days later", change: func(s *sessionStage, _ int64) { s.Advance(96 * time.Hour) }, want: []session.Reason{session.MaxAge}, checkpoint: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, first, second := follow(t, "shadow")
			if tt.change != nil {
				tt.change(s, first)
			}
			state := s.decide(t, task.FollowUp, "issue_comment", "created", second)
			if tt.name == "a later release's record" {
				if len(state.Reasons) == 0 || state.Reasons[0] != session.RecordSchema {
					t.Errorf("reasons %v", state.Reasons)
				}
				return
			}
			if diff := cmp.Diff(append([]session.Reason{}, tt.want...), state.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]session.Note{}, tt.notes...), state.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			_, err := os.Stat(filepath.Join(s.dir, materialDir, material.FileCheckpoint))
			if (err == nil) != tt.checkpoint {
				t.Errorf("checkpoint: %v", err)
			}
		})
	}
}

// TestSessionModes: off leaves no trace; shadow is always fresh between runs, and gives a run what it needs to go on.
func TestSessionModes(t *testing.T) {
	t.Parallel()
	s := newSessionStage(t, "off")
	stale := s.write(t, "../"+filepath.Base(s.temp)+"/x", "") // the folder is there
	if err := os.WriteFile(filepath.Join(filepath.Dir(stale), session.StateFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.must(t, "engine", "--task", "triage", "--issue", "7", "--ready-engines", "claude")
	s.must(t, "context", "--task", "triage", "--issue", "7")
	for _, path := range []string{filepath.Join(s.dir, materialDir, material.FileCheckpoint), filepath.Join(s.dir, materialDir, material.FileDelta)} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there although sessions are off", path)
		}
	}
	s.must(t, "apply", "--task", "triage", "--issue", "7", "--answer", flowTriage, "--session", "eyJ2IjoxfQ")
	if body := s.Comments(7)[0].Body; strings.Contains(body, "session=") {
		t.Error(body)
	}

	s, _, second := follow(t, "shadow")
	state := s.decide(t, task.FollowUp, "issue_comment", "created", second)
	if len(state.Reasons) != 0 {
		t.Errorf("a follow-up in shadow: %v", state.Reasons)
	}
	if delta := s.read(t, materialDir+"/"+material.FileDelta); !strings.Contains(delta, "Go on where you stopped") {
		t.Error(delta)
	}
	if line := s.line(t); !strings.Contains(line, "session fresh: shadow; would resume $") {
		t.Errorf("line %q", line)
	}
	state = s.decide(t, task.Reanalyze, "issue_comment", "created", second)
	if diff := cmp.Diff([]session.Reason{session.ForceFresh, session.NoSavedSession}, state.Reasons); diff != "" {
		t.Errorf("reanalyze (-want +got):\n%s", diff)
	}
}

// TestApplyKeepsNoOddRecord: what comes as a record is read and written anew, or left out; the answer is posted.
func TestApplyKeepsNoOddRecord(t *testing.T) {
	t.Parallel()
	good := func(t *testing.T, s *sessionStage) session.Kept {
		t.Helper()
		s.decide(t, task.Triage, "issues", "opened", 0)
		k, err := session.Decode(s.record(t, task.Triage))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for name, make := range map[string]func(session.Kept) string{
		"another issue":   func(k session.Kept) string { k.Key = session.KeyOf("triage", "octo/demo", 8); return k.Encode() },
		"another task":    func(k session.Kept) string { k.Key = session.KeyOf("follow-up", "octo/demo", 7); return k.Encode() },
		"another version": func(k session.Kept) string { k.Schema = 2; return k.Encode() },
		"text":            func(session.Kept) string { return "--> @everyone <!--" },
		"too long":        func(k session.Kept) string { return strings.Repeat(k.Encode(), 9) },
		"a hash of words": func(k session.Kept) string { k.BodyHash = secretly; return k.Encode() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSessionStage(t, "shadow")
			text := make(good(t, s))
			s.must(t, "apply", "--task", "triage", "--issue", "7", "--answer", flowTriage, "--session", text)
			if list := s.Comments(7); len(list) != 1 || strings.Contains(list[0].Body, "session=") || strings.Contains(list[0].Body, "everyone") {
				t.Errorf("%+v", list)
			}
			if !strings.Contains(s.err, "no record of the session is kept") {
				t.Error(s.err)
			}
		})
	}
}

// TestRunLeavesOutAnOddDecision: the run does not depend on it.
func TestRunLeavesOutAnOddDecision(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*session.State, *task.Limits){
		"another model":  func(_ *session.State, l *task.Limits) { l.Model = "claude-sonnet-5" },
		"another effort": func(_ *session.State, l *task.Limits) { l.Effort = "high" },
		"another task":   func(_ *session.State, l *task.Limits) { l.Task = task.FollowUp },
		"another mode":   func(s *session.State, _ *task.Limits) { s.Mode = session.Auto },
		"no mode":        func(s *session.State, _ *task.Limits) { s.Mode = "" },
		"odd reason":     func(s *session.State, _ *task.Limits) { s.Reasons = []session.Reason{"because\n::error::"} },
		"odd note":       func(s *session.State, _ *task.Limits) { s.Notes = []session.Note{"x"} },
		"odd dollars":    func(s *session.State, _ *task.Limits) { usd := -1.0; s.FreshUSD = &usd },
		"odd facts":      func(s *session.State, _ *task.Limits) { s.Facts = "x" },
		"later facts":    func(s *session.State, _ *task.Limits) { s.Facts = "eyJ2IjoyfQ" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSessionStage(t, "shadow")
			state := s.decide(t, task.Triage, "issues", "opened", 0)
			var said strings.Builder
			a := &app{Env: Env{Getenv: func(n string) string { return s.env[n] }, Now: s.Now, Stderr: &said, Dir: s.dir}}
			limits, err := a.limitsOfJob("triage")
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := a.sessionOf(s.temp, limits); !ok {
				t.Fatalf("the decision as it is does not count: %s", said.String())
			}
			change(&state, &limits)
			data, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.temp, session.StateFile), data, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, ok := a.sessionOf(s.temp, limits); ok || !strings.Contains(said.String(), "left out") || strings.Contains(said.String(), "because") {
				t.Errorf("taken %t: %s", ok, said.String())
			}
		})
	}
}

func mustDriver(t *testing.T) engine.Driver {
	t.Helper()
	d, err := registry.Find(engine.Claude)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
