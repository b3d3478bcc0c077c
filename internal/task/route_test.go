package task

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

var (
	routeNow   = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	reporter   = Person{Login: "alice"}
	maintainer = Person{Login: "mona", Maintainer: true}
	stranger   = Person{Login: "eve"}
	robot      = Person{Login: "dependabot[bot]", Bot: true}
	assistant  = Person{Login: "github-actions[bot]", Bot: true}
)

// base is a comment of the reporter on an open issue that waits, after an analysis that asked something.
func base() Facts {
	return Facts{
		Event: "issue_comment", Action: "created", Ref: "refs/heads/main", DefaultBranch: "main", Now: routeNow, ReopenDays: 30,
		Issue:   Issue{Number: 7, Author: reporter, Labels: []string{"bug", config.LabelNeedsInfo}},
		Sender:  reporter,
		Comment: Comment{ID: 50, Author: reporter, Body: "It is version 1.2."},
		Thread: []Entry{
			{ID: 40, By: assistant, Mark: &Mark{Kind: MarkAnalysis, Questions: true, HasRead: true}},
			{ID: 50, By: reporter, Body: "It is version 1.2."},
		},
	}
}

func by(p Person, body string) func(*Facts) {
	return func(f *Facts) {
		f.Sender, f.Comment.Author, f.Comment.Body = p, p, body
		f.Thread[len(f.Thread)-1].By = p
	}
}

func event(name, action string) func(*Facts) {
	return func(f *Facts) {
		f.Event, f.Action, f.Comment = name, action, Comment{}
		f.Thread = nil
		f.Issue.Labels = nil
		f.Changed = true
	}
}

func labels(l ...string) func(*Facts) { return func(f *Facts) { f.Issue.Labels = l } }

func closedBy(kind string, at time.Time) func(*Facts) {
	return func(f *Facts) {
		f.Issue.Closed, f.ClosedByUs = true, true
		f.Issue.Labels = []string{config.LabelStale, config.LabelNeedsInfo}
		f.Thread = append([]Entry{f.Thread[0], {ID: 45, At: at, By: assistant, Mark: &Mark{Kind: kind}}}, f.Thread[1:]...)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	type change = func(*Facts)
	needsInfo, stale, possible := config.LabelNeedsInfo, config.LabelStale, config.LabelPossible
	for _, tt := range []struct {
		name   string
		with   []change
		task   Name
		reason string
		add    []string
		remove []string
		react  string
		reopen bool
	}{
		// The issue itself.
		{"opened", []change{event("issues", "opened")}, Triage, "a new issue", []string{"needs-triage"}, nil, "", false},
		{"opened with form labels", []change{event("issues", "opened"), func(f *Facts) { f.FormLabels = []string{"area: cli"} }}, Triage, "", []string{"area: cli", "needs-triage"}, nil, "", false},
		{"opened, labels there", []change{event("issues", "opened"), labels("Needs-Triage", "AREA: cli"), func(f *Facts) { f.FormLabels = []string{"area: cli"} }}, Triage, "", nil, nil, "", false},
		{"opened by a maintainer", []change{event("issues", "opened"), func(f *Facts) { f.Issue.Author, f.Sender = maintainer, maintainer }}, None, "author is a maintainer", []string{"needs-triage"}, nil, "", false},
		{"opened twice", []change{event("issues", "opened"), func(f *Facts) { f.Thread = base().Thread[:1] }}, None, "analysis already", nil, nil, "", false},
		{"opened, closed already", []change{event("issues", "opened"), func(f *Facts) { f.Issue.Closed = true }}, None, "closed already", nil, nil, "", false},
		{"opened by a bot", []change{event("issues", "opened"), func(f *Facts) { f.Sender = robot }}, None, "bot", nil, nil, "", false},
		{"opened, switched off", []change{event("issues", "opened"), labels(config.LabelOff)}, None, "switched off", []string{"needs-triage"}, nil, "", false},
		{"opened by ghost", []change{event("issues", "opened"), func(f *Facts) { f.Sender, f.Issue.Author = Person{Login: Ghost}, Person{Login: Ghost} }}, Triage, "", []string{"needs-triage"}, nil, "", false},
		{"edited by the reporter", []change{event("issues", "edited"), labels(needsInfo, stale), func(f *Facts) { f.Thread = base().Thread[:1] }}, FollowUp, "answered", nil, []string{needsInfo, stale}, "", false},
		{"edited, no question", []change{event("issues", "edited"), labels(stale)}, None, "not asked anything", nil, []string{stale}, "", false},
		{"edited by a maintainer", []change{event("issues", "edited"), labels(needsInfo), func(f *Facts) { f.Sender = maintainer }}, None, "not the reporter's", nil, nil, "", false},
		{"edited, waits for nobody", []change{event("issues", "edited")}, None, "does not wait", nil, nil, "", false},
		{"edited, same for the AI", []change{event("issues", "edited"), labels(needsInfo), func(f *Facts) { f.Changed = false }}, None, "changes nothing", nil, nil, "", false},
		{"edited, closed", []change{event("issues", "edited"), labels(needsInfo), func(f *Facts) { f.Issue.Closed = true }}, None, "closed", nil, nil, "", false},
		{"edited by another ghost", []change{event("issues", "edited"), labels(needsInfo), func(f *Facts) { f.Sender, f.Issue.Author = Person{Login: Ghost}, Person{Login: Ghost} }}, None, "not the reporter's", nil, nil, "", false},
		{"reopened", []change{event("issues", "reopened")}, None, "starts no task", nil, nil, "", false},
		{"labeled", []change{event("issues", "labeled")}, None, "starts no task", nil, nil, "", false},
		{"deleted", []change{event("issues", "deleted")}, None, "deleted", nil, nil, "", false},
		{"transferred", []change{event("issues", "transferred")}, None, "transferred", nil, nil, "", false},
		{"gone", []change{event("issues", "opened"), func(f *Facts) { f.Issue.Gone = "transferred" }}, None, "gone: transferred", nil, nil, "", false},
		{"locked", []change{event("issues", "opened"), func(f *Facts) { f.Issue.Locked = true }}, None, "locked", nil, nil, "", false},

		// What is none of its business.
		{"pull request", []change{func(f *Facts) { f.Issue.PullRequest = true }}, None, "pull request", nil, nil, "", false},
		{"bot by type", []change{by(Person{Login: "claude", Bot: true}, "x")}, None, "bot", nil, nil, "", false},
		{"bot edits a person's comment", []change{func(f *Facts) { f.Sender = robot; f.Action = "edited" }}, None, "bot", nil, nil, "", false},
		{"bot's comment edited by a person", []change{func(f *Facts) { f.Comment.Author = robot; f.Action = "edited" }}, None, "bot", nil, nil, "", false},
		{"own words by a personal token", []change{by(maintainer, "x"), func(f *Facts) { f.Comment.Ours = true }}, None, "own", nil, nil, "", false},
		{"fork", []change{func(f *Facts) { f.Fork = true }}, None, "fork: no secrets, skipped", nil, nil, "", false},
		{"pull_request event", []change{event("pull_request", "opened")}, None, "starts no task", nil, nil, "", false},
		{"push", []change{event("push", "")}, None, "starts no task", nil, nil, "", false},
		{"comment deleted", []change{func(f *Facts) { f.Action = "deleted" }}, None, "deleted", nil, nil, "", false},

		// The reporter's comments.
		{"answer", nil, FollowUp, "answered", nil, []string{needsInfo}, "", false},
		{"answer in other case", []change{func(f *Facts) { f.Comment.Author.Login, f.Sender.Login = "ALICE", "ALICE" }}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"answer, stale too", []change{labels("Stale", needsInfo, possible)}, FollowUp, "", nil, []string{needsInfo, stale, possible}, "", false},
		{"while an earlier answer is followed up", []change{labels("bug"), func(f *Facts) {
			f.Thread = append([]Entry{f.Thread[0], {ID: 45, By: reporter, Body: "On Linux."}}, f.Thread[1:]...)
		}}, FollowUp, "answered", nil, nil, "", false},
		{"after an earlier answer was followed up", []change{labels("bug"), func(f *Facts) {
			read := Entry{ID: 47, By: assistant, Mark: &Mark{Kind: MarkFollowUp, HasRead: true, Read: 45}}
			f.Thread = append([]Entry{f.Thread[0], {ID: 45, By: reporter, Body: "On Linux."}, read}, f.Thread[1:]...)
		}}, None, "does not wait", nil, nil, "", false},
		{"not waiting, thanked before", []change{labels("bug"), func(f *Facts) {
			f.Thread = append([]Entry{f.Thread[0], {ID: 45, By: reporter, Body: "Thanks!"}}, f.Thread[1:]...)
		}}, None, "does not wait", nil, nil, "", false},
		{"not waiting", []change{labels("bug")}, None, "does not wait", nil, nil, "", false},
		{"thanks", []change{by(reporter, "Thanks a lot! 🎉")}, None, "thanks", nil, nil, "", false},
		{"thanks and more", []change{by(reporter, "Thanks, it is 1.2")}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"no question was asked", []change{func(f *Facts) { f.Thread[0].Mark.Questions = false }}, None, "asked nothing", nil, []string{needsInfo}, "", false},
		{"a maintainer joined", []change{func(f *Facts) { f.Thread = append(f.Thread, Entry{ID: 60, By: maintainer}) }}, None, "maintainer has joined", nil, []string{needsInfo}, "", false},
		{"a stranger wrote too", []change{func(f *Facts) { f.Thread = append(f.Thread, Entry{ID: 60, By: stranger}) }}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"one follow-up", []change{func(f *Facts) {
			f.Thread = append(f.Thread[:1:1], Entry{ID: 42, By: assistant, Mark: &Mark{Kind: MarkFollowUp, Questions: true, Read: 41, HasRead: true}}, f.Thread[1])
		}}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"two follow-ups", []change{func(f *Facts) {
			m := &Mark{Kind: MarkFollowUp, Questions: true, Read: 41, HasRead: true}
			f.Thread = append(f.Thread[:1:1], Entry{ID: 42, By: assistant, Mark: m}, Entry{ID: 44, By: assistant, Mark: m}, f.Thread[1])
		}}, None, "2 times", nil, []string{needsInfo}, "", false},
		{"read already", []change{func(f *Facts) { f.Thread[0].Mark.Read = 50 }}, None, "nothing new", nil, []string{needsInfo}, "", false},
		{"posted after, but not read", []change{func(f *Facts) { f.Thread[0].ID, f.Thread[0].Mark.Read = 60, 30 }}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"the same event twice", []change{func(f *Facts) {
			f.Thread = append(f.Thread, Entry{ID: 60, By: assistant, Mark: &Mark{Kind: MarkFollowUp, To: 50}})
		}}, None, "answered already", nil, nil, "", false},
		{"reporter is a maintainer", []change{func(f *Facts) { f.Issue.Author.Maintainer, f.Sender.Maintainer = true, true }}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"switched off", []change{labels(needsInfo, config.LabelOff)}, None, "switched off", nil, []string{needsInfo}, "", false},
		{"edit of a comment", []change{func(f *Facts) { f.Action, f.Changed = "edited", true }}, FollowUp, "", nil, []string{needsInfo}, "", false},
		{"edit of white space", []change{func(f *Facts) { f.Action = "edited" }}, None, "changes nothing", nil, nil, "", false},
		{"edit of another's comment", []change{func(f *Facts) { f.Action, f.Changed, f.Sender = "edited", true, maintainer }}, None, "not the reporter's", nil, nil, "", false},
		{"edit on a closed issue", []change{func(f *Facts) { f.Action, f.Changed, f.Issue.Closed = "edited", true, true }}, None, "closed", nil, nil, "", false},

		// Others.
		{"stranger", []change{by(stranger, "me too")}, None, "neither", nil, nil, "", false},
		{"stranger objects to a duplicate", []change{by(stranger, "no"), labels(possible)}, None, "neither", nil, []string{possible}, "", false},
		{"B66: the author protests", []change{by(reporter, "This is NOT a duplicate, see step 3"), labels(possible)}, None, "does not wait", nil, []string{possible}, "", false},
		{"stranger commands", []change{by(stranger, "/assistant analyze"), labels("bug")}, None, "neither", nil, nil, "", false},
		{"reporter commands", []change{by(reporter, "/assistant off"), labels("bug")}, None, "does not wait", nil, nil, "", false},

		// Maintainers.
		{"maintainer", []change{by(maintainer, "Which version?"), labels("bug")}, MaintainerReply, "a maintainer commented", nil, nil, "", false},
		{"maintainer, stale", []change{by(maintainer, "Which version?"), labels(stale)}, MaintainerReply, "", nil, []string{stale}, "", false},
		{"maintainer, waits already", []change{by(maintainer, "Which version?")}, None, "waits for its reporter already", nil, nil, "", false},
		{"maintainer on a maintainer's issue", []change{by(maintainer, "hm"), labels(), func(f *Facts) { f.Issue.Author.Maintainer = true }}, None, "a maintainer's", nil, nil, "", false},
		{"maintainer says thanks", []change{by(maintainer, "Thanks!"), labels()}, None, "thanks", nil, nil, "", false},
		{"analyze", []change{by(maintainer, "/assistant analyze the parser\nplease")}, Reanalyze, "asked for an analysis", nil, nil, "eyes", false},
		{"analyze later in the text", []change{by(maintainer, "hello\n/assistant analyze")}, Reanalyze, "", nil, nil, "eyes", false},
		{"not at a line's start", []change{by(maintainer, "write /assistant analyze"), labels("bug")}, MaintainerReply, "", nil, nil, "", false},
		{"quoted", []change{by(maintainer, "> /assistant analyze"), labels("bug")}, MaintainerReply, "", nil, nil, "", false},
		{"in code", []change{by(maintainer, "```\n/assistant analyze\n```"), labels("bug")}, MaintainerReply, "", nil, nil, "", false},
		{"another word", []change{by(maintainer, "/assistants analyze"), labels("bug")}, MaintainerReply, "", nil, nil, "", false},
		{"wait", []change{by(maintainer, "/assistant wait"), labels("bug")}, None, "commands: wait", []string{needsInfo}, nil, "+1", false},
		{"wait, waits already", []change{by(maintainer, "/assistant wait")}, None, "commands", nil, nil, "+1", false},
		{"off", []change{by(maintainer, "/assistant off")}, None, "commands: off", []string{config.LabelOff}, nil, "+1", false},
		{"off wins", []change{by(maintainer, "/assistant analyze\n/assistant off")}, None, "switched off", []string{config.LabelOff}, nil, "+1", false},
		{"fresh", []change{by(maintainer, "/assistant fresh")}, None, "commands: fresh", nil, nil, "+1", false},
		{"unknown command", []change{by(maintainer, "/assistant dance ::error::")}, None, "an unknown command", nil, nil, "confused", false},
		{"no command", []change{by(maintainer, "/assistant")}, None, "an unknown command", nil, nil, "confused", false},
		{"analyze on an issue that is off", []change{by(maintainer, "/assistant analyze"), labels(config.LabelOff)}, None, "switched off on this issue", nil, nil, "eyes", false},
		{"analyze twice by one event", []change{by(maintainer, "/assistant analyze"), func(f *Facts) { f.Thread[0].Mark.To = 50 }}, None, "answered already", nil, nil, "", false},
		{"analyze on a closed issue", []change{by(maintainer, "/assistant analyze"), func(f *Facts) { f.Issue.Closed = true }}, None, "closed issue", nil, nil, "confused", false},
		{"command added by an edit", []change{by(maintainer, "x\n/assistant analyze"), func(f *Facts) { f.Action, f.Comment.Before = "edited", "x" }}, Reanalyze, "", nil, nil, "eyes", false},
		{"edit beside a command", []change{by(maintainer, "y\n/assistant analyze"), func(f *Facts) { f.Action, f.Comment.Before = "edited", "x\n/assistant analyze" }}, None, "", nil, nil, "", false},

		// Closed issues.
		{"answer reopens", []change{closedBy(MarkClosedUnanswered, routeNow.AddDate(-1, 0, 0))}, FollowUp, "", []string{"needs-triage"}, []string{needsInfo, stale}, "", true},
		{"thanks reopen nothing", []change{closedBy(MarkClosedUnanswered, routeNow), func(f *Facts) { f.Comment.Body = "ok, danke!" }}, FollowUp, "", []string{"needs-triage"}, []string{needsInfo, stale}, "", true},
		{"bare thanks", []change{closedBy(MarkClosedUnanswered, routeNow), func(f *Facts) { f.Comment.Body = "Vielen Dank!" }}, None, "thanks", nil, nil, "", false},
		{"not stale any more", []change{closedBy(MarkClosedUnanswered, routeNow), labels("bug")}, None, "a person decides", nil, nil, "", false},
		{"closed as duplicate", []change{closedBy(MarkClosedDuplicate, routeNow), labels("duplicate")}, None, "a person decides", nil, nil, "", false},
		{"after the release", []change{closedBy(MarkReleased, routeNow.AddDate(0, 0, -30))}, ReleaseReply, "after the release", nil, nil, "", false},
		{"long after the release", []change{closedBy(MarkReleased, routeNow.AddDate(0, 0, -31))}, None, "more than 30 days", nil, nil, "", false},
		{"closed by a person", []change{closedBy(MarkReleased, routeNow), func(f *Facts) { f.ClosedByUs = false }}, None, "by a person", nil, nil, "", false},
		{"closed without a word", []change{func(f *Facts) { f.Issue.Closed, f.ClosedByUs = true, true }}, None, "did not say why", nil, nil, "", false},
		{"stranger on a closed issue", []change{closedBy(MarkReleased, routeNow), by(stranger, "me too")}, None, "somebody else", nil, nil, "", false},
		{"maintainer on a closed issue", []change{closedBy(MarkReleased, routeNow), by(maintainer, "hm")}, None, "somebody else", nil, nil, "", false},
		{"closed, switched off", []change{closedBy(MarkReleased, routeNow), func(f *Facts) { f.Issue.Labels = append(f.Issue.Labels, config.LabelOff) }}, None, "switched off", nil, nil, "", false},

		// By hand.
		{"by hand", []change{event("workflow_dispatch", "")}, Triage, "by hand", nil, nil, "", false},
		{"by hand, form labels", []change{event("workflow_dispatch", ""), func(f *Facts) { f.FormLabels = []string{"area: cli"} }}, Triage, "", []string{"area: cli"}, nil, "", false},
		{"by hand, a task", []change{event("workflow_dispatch", ""), func(f *Facts) { f.Asked = "release-reply"; f.Issue.Closed = true }}, ReleaseReply, "by hand", nil, nil, "", false},
		{"by hand, gone", []change{event("workflow_dispatch", ""), func(f *Facts) { f.Issue.Gone = "deleted" }}, None, "gone", nil, nil, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := base()
			for _, c := range tt.with {
				c(&f)
			}
			d := Route(f)
			if d.Task != tt.task || !strings.Contains(d.Reason, tt.reason) || d.Reason == "" || d.Refused {
				t.Errorf("task %s (%s), want %s (…%s…)", d.Task, d.Reason, tt.task, tt.reason)
			}
			if diff := cmp.Diff(tt.add, d.Add); diff != "" {
				t.Errorf("add: %s", diff)
			}
			if diff := cmp.Diff(tt.remove, d.Remove); diff != "" {
				t.Errorf("remove: %s", diff)
			}
			if d.React != tt.react || d.Reopen != tt.reopen {
				t.Errorf("react %q, reopen %v", d.React, d.Reopen)
			}
			if wakes := d.Task != None && f.Event == "issue_comment"; wakes && d.Comment != 50 {
				t.Errorf("comment %d", d.Comment)
			}
			if strings.ContainsAny(d.Reason, "\n:\x1b") && strings.Contains(d.Reason, "::") {
				t.Errorf("the reason holds a stranger's words: %q", d.Reason)
			}
		})
	}
}

func TestRouteRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(*Facts){
		"another branch":         func(f *Facts) { f.Ref = "refs/heads/evil" },
		"a tag called main":      func(f *Facts) { f.Ref = "refs/tags/main" },
		"by hand, pull request":  func(f *Facts) { event("workflow_dispatch", "")(f); f.Issue.PullRequest = true },
		"by hand, unknown task":  func(f *Facts) { event("workflow_dispatch", "")(f); f.Asked = "destroy" },
		"by hand, the task none": func(f *Facts) { event("workflow_dispatch", "")(f); f.Asked = "none" },
	} {
		f := base()
		c(&f)
		if d := Route(f); !d.Refused || d.Task != None || d.Reason == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestThanks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"Thanks!": true, "thank you so much 🙏": true, "👍": true, "@mona thanks": true, "Merci beaucoup": true, "谢谢": true, "ありがとうございます": true, "muchas gracias": true,
		"": false, "Thanks, 1.2": false, "no thanks, it still fails": false, "no": false, "version 1.2": false, "`x`": false,
		"![](x)": false, "Thanks. " + strings.Repeat("a", 200): false,
	} {
		if got := Thanks(body); got != want {
			t.Errorf("Thanks(%q) = %v", body, got)
		}
	}
}

func TestFormLabels(t *testing.T) {
	t.Parallel()
	file := config.LabelFile{Labels: []config.Label{
		{Name: "area: cli", FormOptions: []string{"Command line"}}, {Name: "area: web", FormOptions: []string{"Web", "Browser, any"}}, {Name: "x"},
	}}
	for body, want := range map[string][]string{
		"### Area\n\nCommand line\n\n### Other\n\nWeb": {"area: cli"},
		"### Area\r\n\r\nCommand line, Web\r\n":        {"area: cli", "area: web"},
		"### Area\n\nBrowser, any":                     {"area: web"},
		"### Area\n\n_No response_":                    nil,
		"### Area\n\ncommand line":                     nil,
		"no form":                                      nil,
		"### What\n\n```\n### Area\n\nWeb\n```\n### Area\n\nCommand line": {"area: cli"},
		"### Area\n\n_No response_\n\n### Area\n\nWeb":                    {"area: web"},
	} {
		if diff := cmp.Diff(want, FormLabels(body, "Area", file)); diff != "" {
			t.Errorf("%q: %s", body, diff)
		}
	}
	if FormLabels("### Area\n\nWeb", "", file) != nil {
		t.Error("no field, but labels")
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, name := range Names {
		got, err := Prompt(name, PromptFacts{Repository: "octo/demo", Issue: 7, Files: []string{"`/m/issue.md`: the issue"}, Languages: []string{"en", "de"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"#7", "octo/demo", "/m/issue.md"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if strings.Contains(got, "{") || len(got) > 5000 {
			t.Errorf("%s: an open place, or %d bytes", name, len(got))
		}
		for _, vendor := range []string{"Claude", "Anthropic", "OpenAI", "Codex", "Gemini", "Google"} {
			if strings.Contains(got, vendor) {
				t.Errorf("%s names %s", name, vendor)
			}
		}
	}
	if _, err := Prompt(None, PromptFacts{}); err == nil {
		t.Error("the task none has a prompt")
	}
}
