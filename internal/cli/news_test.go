package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// A re-run of all jobs does not pay a second time; a new word does.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	s := newDay(t, "")
	s.env["RUNNER_TEMP"], s.env["GITHUB_RUN_ID"] = t.TempDir(), "100"
	s.AddIssue(ghapi.Issue{Number: 7, Title: "Crash", Body: "It crashes.", Author: ghapi.User{Login: "alice"}})
	user := map[string]any{"login": "alice", "type": "User"}
	event := func(id int64) map[string]any {
		p := map[string]any{"action": "opened", "sender": user, "issue": map[string]any{"number": 7, "user": user, "state": "open"}, "repository": map[string]any{"default_branch": "main"}}
		if id != 0 {
			p["action"], p["comment"] = "created", map[string]any{"id": id, "body": "x", "user": user}
		}
		return p
	}
	engine := func(task string) string {
		if code := s.run(t, "engine", "--task", task, "--issue", "7", "--ready-engines", "claude"); code != 0 {
			t.Fatalf("exit %d: %s", code, s.err)
		}
		return s.output("reason") + "/" + s.output("ready")
	}
	s.send(t, "issues", event(0))
	if got := engine("triage"); got != "/true" {
		t.Fatalf("the first run: %s%s", got, s.err)
	}
	answer := `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"r","summary":"It crashes.","analysis":"","next_steps":[],
"missing_information":["Which version?"],"duplicates":[],"related":[],"references":[],"sensitive_data":"none","security_report":false,"spam":false}`
	if code := s.run(t, "apply", "--task", "triage", "--issue", "7", "--comment", "0", "--engine", "claude", "--answer", answer); code != 0 {
		t.Fatal(s.err)
	}
	if got := engine("triage"); got != "nothing new/false" {
		t.Errorf("the re-run: %s", got)
	}
	id := s.AddComment(7, "alice", "It is version 1.2")
	s.send(t, "issue_comment", event(id))
	if got := engine("follow-up"); got != "/true" {
		t.Errorf("an answer: %s%s", got, s.err)
	}
	follow := `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"","reply":"Then it is that.","missing_information":["More?"],"references":[],"sensitive_data":"none"}`
	if code := s.run(t, "apply", "--task", "follow-up", "--issue", "7", "--comment", fmt.Sprint(id), "--answer", follow); code != 0 {
		t.Fatal(s.err)
	}
	if got := engine("follow-up"); got != "nothing new/false" {
		t.Errorf("the same answer again: %s", got)
	}
	// By hand it is asked for.
	s.send(t, "workflow_dispatch", map[string]any{"inputs": map[string]any{"issue": "7"}, "sender": user, "repository": map[string]any{"default_branch": "main"}})
	if got := engine("triage"); got != "/true" {
		t.Errorf("by hand: %s", got)
	}
	if strings.Contains(s.err, "cannot be read") {
		t.Error(s.err)
	}
}

// The yes-or-no tasks leave a label or a state: when it is there, there is nothing to ask the AI. A release-reply that
// broke off between its comment and reopening is completed by a re-run.
func TestNothingNewOfReplies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, task, want string
		issue            ghapi.Issue
		marker           bool // the answer to the comment stands there
	}{
		{name: "nobody is asked yet", task: "maintainer-reply", want: "/true"},
		{name: "it waits already", task: "maintainer-reply", issue: ghapi.Issue{Labels: []string{"Needs-Info"}}, want: "nothing new/false"},
		{name: "closed by a release", task: "release-reply", issue: ghapi.Issue{State: "closed"}, want: "/true"},
		{name: "open again", task: "release-reply", want: "nothing new/false"},
		{name: "open again, and said", task: "release-reply", marker: true, want: "nothing new/false"},
		{name: "said, and not opened", task: "release-reply", issue: ghapi.Issue{State: "closed"}, marker: true, want: "/true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newDay(t, "")
			s.env["RUNNER_TEMP"], s.env["GITHUB_RUN_ID"] = t.TempDir(), "100"
			test.issue.Number, test.issue.Title, test.issue.Author = 7, "Crash", ghapi.User{Login: "alice"}
			s.AddIssue(test.issue)
			id := s.AddComment(7, "mona", "It still crashes, which version?")
			if test.marker {
				s.AddComment(7, "github-actions[bot]", fmt.Sprintf("<!-- issue-assistant:release-reply to=%d lang=en -->\nSorry", id))
			}
			user := map[string]any{"login": "mona", "type": "User"}
			s.send(t, "issue_comment", map[string]any{
				"action": "created", "sender": user, "issue": map[string]any{"number": 7, "user": map[string]any{"login": "alice"}},
				"comment": map[string]any{"id": id, "body": "x", "user": user}, "repository": map[string]any{"default_branch": "main"},
			})
			if code := s.run(t, "engine", "--task", test.task, "--issue", "7", "--ready-engines", "claude"); code != 0 {
				t.Fatalf("exit %d: %s", code, s.err)
			}
			if got := s.output("reason") + "/" + s.output("ready"); got != test.want {
				t.Errorf("%s, want %s: %s", got, test.want, s.err)
			}
		})
	}
}
