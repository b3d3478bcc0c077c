package e2e

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// replay makes a job of a workflow hand on outputs that it had before, as GitHub does for jobs that are not run again.
// The function that it returns restores the file.
func (w *world) replay(t *testing.T, file, job string, outputs map[string]string) func() {
	t.Helper()
	path := filepath.Join(w.repo, ".github", "workflows", file)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var flow map[string]any
	if err := yaml.Unmarshal(before, &flow); err != nil {
		t.Fatal(err)
	}
	jobs, _ := flow["jobs"].(map[string]any)
	old, _ := jobs[job].(map[string]any)
	env, handed, lines := map[string]any{}, map[string]any{}, ""
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		variable := "OUT_" + strings.ToUpper(name)
		env[variable] = outputs[name]
		handed[name] = "${{ steps.before.outputs." + name + " }}"
		lines += "printf '" + name + "=%s\\n' \"$" + variable + "\" >>\"$GITHUB_OUTPUT\"\n"
	}
	jobs[job] = map[string]any{
		"name": old["name"], "runs-on": "ubuntu-latest", "outputs": handed,
		"steps": []any{map[string]any{"name": "As before", "id": "before", "shell": "bash", "env": env, "run": lines}},
	}
	data, err := yaml.Marshal(flow)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(path, before, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (r result) event() map[string]string {
	return map[string]string{"issue": r.outputs["event.issue"], "task": r.outputs["event.task"], "comment": r.outputs["event.comment"]}
}

func (r result) analyze() map[string]string {
	return map[string]string{
		"answer": r.outputs["run.answer"], "ended": r.outputs["run.ended"], "engine": r.outputs["engine.engine"], "comment": r.outputs["context.comment"],
	}
}

// asks is a triage that asks the reporter something.
func asks() map[string]any {
	return triage(func(a map[string]any) { a["missing_information"] = []any{"Which version do you use?"} })
}

// TestTwoCommentsWithinASecond: GitHub decides both events at once and lets the second task wait for the first. The
// first run reads both comments; the second finds nothing new and starts no engine.
func TestTwoCommentsWithinASecond(t *testing.T) {
	t.Parallel()
	turn := 0
	w := newWorld(t, anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
		if turn++; turn == 1 {
			return anthropic.Step{Answer: asks()}
		}
		if folder := materialFolder.FindString(r.User); len(r.Results) == 0 && folder != "" {
			return reading(filepath.Join(folder, "issue.md"))
		}
		return anthropic.Step{Answer: followUp("Then it is the map.")}
	}}, "")
	if r := w.run(t, start{event: "issues", payload: w.opened()}); r.code != 0 || len(w.ours()) != 1 {
		t.Fatalf("rc %d, %d comments", r.code, len(w.ours()))
	}
	first := w.gh.AddComment(number, reporter, "FIRSTWORD: version 1.2")
	second := w.gh.AddComment(number, reporter, "SECONDWORD: and on Linux")
	firstEvent, secondEvent := w.said(first, reporter, "FIRSTWORD: version 1.2"), w.said(second, reporter, "SECONDWORD: and on Linux")
	one := w.run(t, start{event: "issue_comment", payload: firstEvent, run: 4712, job: "event"})
	two := w.run(t, start{event: "issue_comment", payload: secondEvent, run: 4713, job: "event"})
	for _, r := range []result{one, two} {
		if r.outputs["event.task"] != "follow-up" {
			t.Fatalf("an event starts %q: %s", r.outputs["event.task"], r.outputs["event.reason"])
		}
	}
	restore := w.replay(t, "issue-assistant.yml", "event", one.event())
	r := w.run(t, start{event: "issue_comment", payload: firstEvent, run: 4712})
	restore()
	if r.code != 0 || r.jobs["Apply"] != "success" {
		t.Fatalf("rc %d, jobs %v", r.code, r.jobs)
	}
	requests := w.ai.MainRequests()
	if last := string(requests[len(requests)-1].Body); !strings.Contains(last, "FIRSTWORD") || !strings.Contains(last, "SECONDWORD") {
		t.Error("a comment was not read")
	}
	restore = w.replay(t, "issue-assistant.yml", "event", two.event())
	r = w.run(t, start{event: "issue_comment", payload: secondEvent, run: 4713})
	restore()
	if r.code != 0 || r.outputs["engine.reason"] != "nothing new" || r.jobs["Apply"] != "" {
		t.Errorf("rc %d, jobs %v, reason %q", r.code, r.jobs, r.outputs["engine.reason"])
	}
	if got := len(w.ai.MainRequests()); got != len(requests) {
		t.Errorf("the second run asked the provider %d times", got-len(requests))
	}
	if got := w.ours(); len(got) != 2 || !strings.Contains(got[1].Body, "Then it is the map.") {
		t.Errorf("comments: %+v", got)
	}
}

// TestACommentWhileTheEngineRuns: what the reporter adds when the first run is past reading gets a run of its own.
func TestACommentWhileTheEngineRuns(t *testing.T) {
	t.Parallel()
	var w *world
	turn, late := 0, int64(0)
	w = newWorld(t, anthropic.Script{Next: func(*anthropic.Request) anthropic.Step {
		switch turn++; turn {
		case 1:
			return anthropic.Step{Answer: asks()}
		case 2:
			late = w.gh.AddComment(number, reporter, "LATEWORD: only with an empty file")
			return anthropic.Step{Answer: followUp("Then it is the map.")}
		}
		return anthropic.Step{Answer: followUp("Then it is the empty file.")}
	}}, "")
	if r := w.run(t, start{event: "issues", payload: w.opened()}); r.code != 0 {
		t.Fatalf("rc %d", r.code)
	}
	first := w.gh.AddComment(number, reporter, "Version 1.2")
	one := w.run(t, start{event: "issue_comment", payload: w.said(first, reporter, "Version 1.2"), run: 4712})
	if one.jobs["Apply"] != "success" || late == 0 {
		t.Fatalf("jobs %v, comment %d", one.jobs, late)
	}
	// Its event was decided while the first run went on, when its comment and the first were both unread.
	defer w.replay(t, "issue-assistant.yml", "event", map[string]string{"issue": "12", "task": "follow-up", "comment": strconv.FormatInt(late, 10)})()
	two := w.run(t, start{event: "issue_comment", payload: w.said(late, reporter, "LATEWORD: only with an empty file"), run: 4713})
	if two.code != 0 || two.jobs["Apply"] != "success" {
		t.Errorf("rc %d, jobs %v: %s", two.code, two.jobs, two.outputs["engine.reason"])
	}
	if got := w.ours(); len(got) != 3 || !strings.Contains(got[2].Body, "the empty file") {
		t.Errorf("%d comments", len(got))
	}
}

// TestARunIsRunAgain: the whole run, then apply alone.
func TestARunIsRunAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(triage(nil)), "")
	payload := w.opened()
	first := w.run(t, start{event: "issues", payload: payload})
	if first.code != 0 || len(w.ours()) != 1 {
		t.Fatalf("rc %d, %d comments", first.code, len(w.ours()))
	}
	state := w.gh.Dump()
	if r := w.run(t, start{event: "issues", payload: payload, attempt: 2}); r.code != 0 {
		t.Errorf("the whole run again: rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.gh.Dump(); got != state {
		t.Errorf("the whole run again changed something:\n%s\nwas\n%s", got, state)
	}
	calls := len(w.ai.Requests())
	defer w.replay(t, "issue-assistant.yml", "event", first.event())()
	defer w.replay(t, "issue-assistant-triage.yml", "analyze", first.analyze())()
	if r := w.run(t, start{event: "issues", payload: payload, attempt: 3}); r.code != 0 || r.jobs["Apply"] != "success" {
		t.Errorf("apply again: rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.gh.Dump(); got != state || len(w.ai.Requests()) != calls {
		t.Errorf("apply again changed something:\n%s\nwas\n%s", got, state)
	}
}

// TestAnswersThatAreLost: GitHub posts the comment and its answer never arrives; and GitHub fails until apply gives up,
// then apply alone is run again.
func TestAnswersThatAreLost(t *testing.T) {
	t.Parallel()
	comments := "/repos/octo-org/demo/issues/12/comments"
	t.Run("one answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, answering(triage(nil)), "")
		w.gh.AddFault(ghtest.Fault{Method: http.MethodPost, Path: comments, Lost: true, Status: http.StatusBadGateway})
		r := w.run(t, start{event: "issues", payload: w.opened()})
		if r.code != 0 || r.jobs["Apply"] != "success" || len(w.ours()) != 1 {
			t.Errorf("rc %d, jobs %v, %d comments", r.code, r.jobs, len(w.ours()))
		}
	})
	t.Run("GitHub is down", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, answering(triage(nil)), "")
		w.gh.AddFault(ghtest.Fault{Method: http.MethodPost, Path: comments, Status: http.StatusUnprocessableEntity, Times: -1})
		first := w.run(t, start{event: "issues", payload: w.opened()})
		if first.code == 0 || first.jobs["Analyze"] != "success" || first.jobs["Apply"] != "failure" || len(w.ours()) != 0 {
			t.Fatalf("rc %d, jobs %v, %d comments", first.code, first.jobs, len(w.ours()))
		}
		w.gh.Calm()
		calls := len(w.ai.Requests())
		defer w.replay(t, "issue-assistant.yml", "event", first.event())()
		defer w.replay(t, "issue-assistant-triage.yml", "analyze", first.analyze())()
		r := w.run(t, start{event: "issues", payload: w.opened(), attempt: 2})
		if r.code != 0 || len(w.ours()) != 1 || len(w.ai.Requests()) != calls {
			t.Errorf("rc %d, jobs %v, %d comments", r.code, r.jobs, len(w.ours()))
		}
		var issue ghapi.Issue
		if issue, _ = w.gh.Issue(number); !slices.Contains(issue.Labels, "bug") {
			t.Errorf("labels %v", issue.Labels)
		}
	})
}
