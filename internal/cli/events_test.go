package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// officialEvent is one of GitHub's own example payloads.
type officialEvent struct {
	Source  string         `json:"source"`
	Event   string         `json:"event"`
	Payload map[string]any `json:"payload"`
}

func officialEvents(t *testing.T) []officialEvent {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "events", "webhooks-examples.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []officialEvent
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func at(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		next, _ := m[k].(map[string]any)
		if next == nil {
			return map[string]any{}
		}
		m = next
	}
	return m
}

// Each of GitHub's example payloads in six situations: the task, the reason and whether anything is written.
func TestOfficialPayloads(t *testing.T) {
	t.Parallel()
	decided := 0
	for _, situation := range []string{"as it is", "waits for its reporter", "from a bot", "in a fork", "of a pull request", "locked"} {
		for _, x := range officialEvents(t) {
			t.Run(situation+"/"+x.Source, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				issue := at(x.Payload, "issue")
				number, _ := issue["number"].(float64)
				author, _ := at(issue, "user")["login"].(string)
				sender, _ := at(x.Payload, "sender")["login"].(string)
				commenter, _ := at(x.Payload, "comment", "user")["login"].(string)
				action, _ := x.Payload["action"].(string)
				_, isPull := issue["pull_request"]
				live := ghapi.Issue{Number: int(number), Title: "x", Author: ghapi.User{Login: author}, State: "open"}
				want, reason, quiet := "none", "", true
				key := x.Event + "." + action
				switch situation {
				case "as it is":
					if key == "issues.opened" {
						want, quiet = "triage", false
					}
				case "waits for its reporter":
					live.Labels = []string{"needs-info"}
					quiet = true
					switch key {
					case "issues.opened":
						reason, quiet = "analysis already", true
					case "issue_comment.created":
						if commenter == author {
							want, quiet = "follow-up", false
						}
					case "issues.edited", "issue_comment.edited":
						if sender == author && (commenter == author || commenter == "") && (at(x.Payload, "changes", "body")["from"] != nil || at(x.Payload, "changes", "title")["from"] != nil) {
							quiet = false // whether the words changed decides
							want = ""
						}
					}
				case "from a bot":
					at(x.Payload, "sender")["type"] = "Bot"
					reason = "bot"
				case "in a fork":
					at(x.Payload, "repository")["fork"] = true
					reason = "fork: no secrets"
				case "of a pull request":
					issue["pull_request"] = map[string]any{"url": "x"}
					reason = "pull request"
				case "locked":
					issue["locked"] = true
					live.Locked = true
				}
				if isPull {
					want, quiet = "none", true
				}
				if number > 0 {
					s.AddIssue(live)
					if situation == "waits for its reporter" {
						s.AddComment(int(number), "github-actions[bot]", "<!-- issue-assistant:analysis read=0 questions=1 -->\nquestion")
						id := s.AddComment(int(number), commenter, "an answer")
						if c := at(x.Payload, "comment"); c["id"] != nil {
							c["id"], c["body"] = id, "an answer"
						}
					}
				}
				branch, _ := at(x.Payload, "repository")["default_branch"].(string)
				s.env["GITHUB_REF"] = "refs/heads/" + branch
				if code := s.send(t, x.Event, x.Payload); code != 0 {
					t.Fatalf("exit %d: %s", code, s.err)
				}
				if got := s.output("task"); (want != "" && got != want) || s.output("reason") == "" || (number > 0 && reason != "" && !isPull && !strings.Contains(s.output("reason"), reason)) {
					t.Errorf("%s: task %s (%s), want %s (%s)", key, got, s.output("reason"), want, reason)
				}
				if quiet && s.writes() != 0 {
					t.Errorf("%s: %d writes", key, s.writes())
				}
			})
			decided++
		}
	}
	if decided < 100 {
		t.Errorf("only %d payloads", decided)
	}
}
