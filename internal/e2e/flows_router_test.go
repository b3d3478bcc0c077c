package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// everyTask answers each task so that apply looks at all that an answer may name.
func everyTask() anthropic.Script {
	related := []any{
		map[string]any{"kind": "discussion", "number": 5, "reason": "The same question."},
		map[string]any{"kind": "issue", "number": 6, "reason": "A pull request, which is no issue."},
	}
	return anthropic.Script{Next: func(r *anthropic.Request) anthropic.Step {
		answer := map[string]any{}
		switch {
		case strings.Contains(r.User, "Task: first look at issue"):
			answer = triage(func(a map[string]any) {
				a["missing_information"], a["related"] = []any{"Which version do you use?"}, related
				a["duplicates"] = []any{map[string]any{"number": 3, "confidence": "medium", "reason": "Both read the map."}}
				a["references"] = []any{map[string]any{"path": "main.go", "line": 1, "anchor": "", "reason": "It starts here."}}
				a["analysis"] = "It came with " + sha(0) + "."
			})
		case strings.Contains(r.User, "Task: look again at issue"):
			answer = triage(func(a map[string]any) { a["analysis"], a["related"] = "AGAINWORD", related })
		case strings.Contains(r.User, "Task: go on with issue"):
			answer = followUp("FOLLOWWORD")
		case strings.Contains(r.User, "now wait for its reporter?"):
			answer = map[string]any{"waiting_for_reporter": true, "reason": "It asks for a log."}
		case strings.Contains(r.User, "persist?"):
			answer = map[string]any{"language": "en", "problem_persists": true, "reason": "It still crashes."}
		}
		return anthropic.Step{Answer: answer}
	}}
}

// flowRouter leads one issue through all five tasks, as the router starts them, and shows it what starts none.
func flowRouter(t *testing.T, w *world) {
	t.Helper()
	w.gh.AddCommit(ghapi.Commit{SHA: sha(0), Message: "First", Date: time.Now().Add(-time.Hour)})
	w.gh.AddDiscussion(ghapi.Discussion{Number: 5, Title: "Crash on start?", Body: "Does it crash for you?", Author: ghapi.User{Login: "bob"}})
	w.gh.AddPullRequest(ghapi.PullRequest{Number: 6, Title: "Another crash", Author: ghapi.User{Login: "bob"}})
	comment := func(login, body string) map[string]any {
		return w.said(w.gh.AddComment(number, login, body), login, body)
	}
	run := int64(4800)
	task := func(name, event string, payload map[string]any, writes ...string) result {
		t.Helper()
		run++
		before := len(w.spies(t))
		r := w.play(t, name, start{event: event, payload: payload, run: run}, played{
			jobs:    map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"},
			summary: []string{"**" + name + "** of #12 · claude-opus-5-5 · finished · 1 of "}, writes: writes,
		})
		var commands []string
		for _, s := range w.spies(t)[before:] {
			commands = append(commands, s.command)
			if s.command != "event" && s.env["INPUT_TASK"] != name {
				t.Errorf("%s: %s was run for %q", name, s.command, s.env["INPUT_TASK"])
			}
		}
		if got := strings.Join(commands, " "); got != "event engine context run usage apply" {
			t.Errorf("%s: commands %s", name, got)
		}
		if n := len(r.lines("Analyze")); n != 1 {
			t.Errorf("%s: %d lines of usage", name, n)
		}
		return r
	}
	nothing := func(name string, payload map[string]any, reason string, writes ...string) {
		t.Helper()
		run++
		event := "issue_comment"
		if payload["comment"] == nil {
			event = "issues"
		}
		jobs := map[string]string{"Event": "success"}
		if reason == "" {
			jobs = map[string]string{}
		}
		r := w.play(t, name, start{event: event, payload: payload, run: run}, played{jobs: jobs, writes: writes})
		if reason != "" && (r.outputs["event.task"] != "none" || !strings.Contains(r.outputs["event.reason"], reason)) {
			t.Errorf("%s: task %q, %s", name, r.outputs["event.task"], r.outputs["event.reason"])
		}
	}
	labels := func(want ...string) {
		t.Helper()
		i, _ := w.gh.Issue(number)
		slices.Sort(i.Labels)
		if !slices.Equal(i.Labels, want) {
			t.Errorf("labels %v, want %v", i.Labels, want)
		}
	}

	task("triage", "issues", w.opened(),
		"POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/comments")
	labels("bug", "needs-info", "needs-triage")
	task("follow-up", "issue_comment", comment(reporter, "It is version 1.2"), "DELETE /issues/12/labels/needs-info", "POST /issues/12/comments")
	labels("bug", "needs-triage")
	task("maintainer-reply", "issue_comment", comment("mona", "Could you send us the log, please?"), "POST /issues/12/labels")
	labels("bug", "needs-info", "needs-triage")
	task("reanalyze", "issue_comment", comment("mona", "/assistant analyze the map"), "POST /issues/comments/{}/reactions", "PATCH /issues/comments/{}")
	if got := w.ours(); len(got) != 2 || !strings.Contains(got[0].Body, "AGAINWORD") || !strings.Contains(got[1].Body, "FOLLOWWORD") {
		t.Errorf("%d comments: %+v", len(got), got)
	}

	now := time.Now().UTC()
	lifecycle := "issue-assistant-lifecycle.yml"
	fixes := map[string]string{"After a merge or a release": "success"}
	w.play(t, "merge", start{event: "pull_request_target", workflow: lifecycle, payload: w.merge(now)(true, "main")}, played{
		jobs: fixes, summary: []string{"#12"}, writes: []string{"POST /issues/12/comments", "POST /issues/12/labels", "DELETE /issues/12/labels/needs-info"},
	})
	w.play(t, "release", start{event: "release", workflow: lifecycle, payload: w.release(now.Add(time.Second))}, played{
		jobs: fixes, summary: []string{"#12"}, writes: []string{
			"POST /issues/12/comments", "POST /milestones", "PATCH /issues/12", "PATCH /issues/12",
			"DELETE /issues/12/labels/needs-triage", "DELETE /issues/12/labels/fixed-in-next-release",
		},
	})
	task("release-reply", "issue_comment", comment(reporter, "It still crashes with v1.0.0"), "POST /issues/12/comments", "POST /issues/12/labels", "PATCH /issues/12")
	if i, _ := w.gh.Issue(number); i.State != "open" {
		t.Errorf("the issue is %s", i.State)
	}

	nothing("a thank you", comment(reporter, "Thanks!"), "thanks")
	bot := comment("dependabot[bot]", "Bump")
	bot["comment"].(map[string]any)["user"], bot["sender"] = map[string]any{"login": "dependabot[bot]", "type": "Bot"}, map[string]any{"login": "dependabot[bot]", "type": "Bot"}
	nothing("a bot", bot, "")
	pull := comment(reporter, "On a pull request")
	pull["issue"].(map[string]any)["pull_request"] = map[string]any{"url": "x"}
	nothing("a pull request", pull, "")
	nothing("a stranger's command", comment("bob", "/assistant off"), "neither")
	nothing("wait", comment("mona", "/assistant wait"), "commands: wait", "POST /issues/12/labels", "POST /issues/comments/{}/reactions")
	nothing("off", comment("mona", "/assistant off"), "commands: off", "POST /issues/12/labels", "POST /issues/comments/{}/reactions")
	nothing("after off", comment("mona", "/assistant analyze"), "switched off", "POST /issues/comments/{}/reactions")
	if got := len(w.ai.MainRequests()); got != 5 {
		t.Errorf("the provider was asked %d times", got)
	}
}
