package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

var update = flag.Bool("update", false, "write testdata anew")

var pinnedCommit = regexp.MustCompile(`/blob/[0-9a-f]{40}/`)

// bot is who the job's token comments as.
const bot = "github-actions[bot]"

// taskCase is one task from its event to its end.
type taskCase struct {
	name   string
	set    func(w *world) (event string, payload map[string]any) // makes what the event finds
	reads  string                                                // what the model reads, in the material
	holds  string                                                // and what stands there
	prompt string                                                // words of the task
	light  bool
	turns  int
	answer map[string]any
	lost   ghtest.Fault // the answer of GitHub that never arrives
	labels []string     // in the end; the comments stand in testdata/tasks
	state  string
}

func lost(method, path string) ghtest.Fault {
	return ghtest.Fault{Lost: true, Status: http.StatusBadGateway, Match: func(r ghtest.Request) bool {
		return r.Method == method && strings.HasPrefix(r.Path, path)
	}}
}

const (
	issuePath    = "/repos/octo-org/demo/issues/12"
	commentsPath = issuePath + "/comments"
)

// analyzed gives the issue an analysis that asked something.
func (w *world) analyzed() int64 {
	w.gh.LabelAs(number, bot, true, "bug", "needs-triage", "needs-info")
	return w.gh.AddComment(number, bot, "<!-- issue-assistant:analysis read=0 lang=en engine="+w.cli.engine+" questions=1 -->\n\nWhich version?")
}

func (w *world) comments(login, body string) (event string, payload map[string]any) {
	return "issue_comment", w.said(w.gh.AddComment(number, login, body), login, body)
}

func taskCases() []taskCase {
	return []taskCase{
		{
			name: "triage", prompt: taskWords, reads: "issue.md", holds: issueWord, turns: 40,
			set: func(w *world) (string, map[string]any) { return "issues", w.opened() },
			answer: triage(func(a map[string]any) {
				a["missing_information"] = []any{"Which version do you use?"}
				a["duplicates"] = []any{map[string]any{"number": 3, "confidence": "medium", "reason": "Both wait for the map."}}
				a["references"] = []any{map[string]any{"path": "main.go", "line": 3, "anchor": "", "reason": "It starts here."}}
			}),
			lost:   lost(http.MethodPost, commentsPath),
			labels: []string{"bug", "needs-info", "needs-triage"}, state: "open",
		},
		{
			name: "follow-up", prompt: "Task: go on with issue #12 of octo-org/demo", reads: "issue.md", holds: "ANSWERWORD", turns: 20,
			set: func(w *world) (string, map[string]any) {
				w.analyzed()
				return w.comments(reporter, "ANSWERWORD: version 1.2")
			},
			answer: func() map[string]any {
				a := followUp("Then the map is read before it is made.")
				a["missing_information"] = []any{"Does it end with an empty file, too?"}
				return a
			}(),
			lost:   lost(http.MethodPost, commentsPath),
			labels: []string{"bug", "needs-info", "needs-triage"}, state: "open",
		},
		{
			name: "reanalyze", prompt: "Task: look again at issue #12 of octo-org/demo", reads: "comment.md", holds: "FOCUSWORD", turns: 40,
			set: func(w *world) (string, map[string]any) {
				w.analyzed()
				return w.comments("mona", "/assistant analyze FOCUSWORD: the map")
			},
			answer: triage(func(a map[string]any) { a["analysis"] = "The map is made too late." }),
			lost:   lost(http.MethodPatch, "/repos/octo-org/demo/issues/comments/"),
			labels: []string{"bug", "needs-triage"}, state: "open",
		},
		{
			name: "maintainer-reply", prompt: "now wait for its reporter?", reads: "comment.md", holds: "LOGWORD", light: true, turns: 4,
			set: func(w *world) (string, map[string]any) {
				w.gh.LabelAs(number, bot, true, "bug")
				return w.comments("mona", "LOGWORD: could you send us the log, please?")
			},
			answer: map[string]any{"waiting_for_reporter": true, "reason": "It asks for a log."},
			lost:   lost(http.MethodPost, issuePath+"/labels"),
			labels: []string{"bug", "needs-info"}, state: "open",
		},
		{
			name: "release-reply", prompt: "persist?", reads: "comment.md", holds: "STILLWORD", light: true, turns: 4,
			set: func(w *world) (string, map[string]any) {
				w.gh.LabelAs(number, bot, true, "bug")
				w.gh.AddComment(number, bot, "<!-- issue-assistant:released lang=en tag=v1.0.0 -->\n\nReleased.")
				w.gh.SetStateAs(number, bot, "closed", "completed")
				return w.comments(reporter, "STILLWORD: it still crashes with v1.0.0")
			},
			answer: map[string]any{"language": "en", "problem_persists": true, "reason": "It still crashes."},
			lost:   lost(http.MethodPost, commentsPath),
			labels: []string{"bug", "needs-triage"}, state: "open",
		},
	}
}

// TestTheFiveTasks: each task with each engine from its event to the comment, the labels and the state that it leaves,
// although GitHub's answer to its write is lost; then with Claude Code the run again, the event again as it was decided
// the first time, and apply alone again, which change nothing. The long form (E2E_ALL=1, `make e2e-all`) does all of it
// with the other two as well.
func TestTheFiveTasks(t *testing.T) {
	t.Parallel()
	long := os.Getenv("E2E_ALL") != ""
	for i, engine := range engineNames {
		for _, tc := range taskCases() {
			if i > 0 && tc.name == "triage" && !long {
				continue // TestTriageWithEachEngine
			}
			t.Run(engine+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				tc.test(t, engine, long || i == 0)
			})
		}
	}
}

func (tc taskCase) test(t *testing.T, engine string, again bool) {
	t.Helper()
	c := engineOf(t, engine, func(x call) move {
		if folder := materialFolder.FindString(x.user); len(x.results) == 0 && folder != "" {
			return move{read: folder + "/" + tc.reads}
		}
		return move{answer: tc.answer}
	})
	w := newWorldOf(t, c, c.settings(""))
	event, payload := tc.set(w)
	w.gh.AddFault(tc.lost)
	first := w.run(t, start{event: event, payload: payload})
	if first.code != 0 || !cmp.Equal(first.jobs, map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"}) {
		t.Fatalf("rc %d, jobs %v, task %q: %s", first.code, first.jobs, first.outputs["event.task"], first.outputs["event.reason"])
	}
	tc.checkEnd(t, w)
	tc.checkRun(t, w, first)
	if again {
		tc.again(t, w, event, payload, first)
	}
}

// again plays it again, and nothing changes.
func (tc taskCase) again(t *testing.T, w *world, event string, payload map[string]any, first result) {
	t.Helper()
	c := w.cli
	state, calls := w.gh.Dump(), len(c.calls())
	same := func(what string, s start) result {
		t.Helper()
		s.event, s.payload = event, payload
		r := w.run(t, s)
		if got := w.gh.Dump(); r.code != 0 || got != state {
			t.Errorf("%s: rc %d, jobs %v, changed:\n%s", what, r.code, r.jobs, cmp.Diff(state, got))
		}
		if got := len(c.calls()) - calls; got != 0 {
			t.Errorf("%s: %d calls of the model", what, got)
		}
		return r
	}
	if r := same("the run again", start{attempt: 2}); r.outputs["event.task"] != "none" {
		t.Errorf("the run again: task %q", r.outputs["event.task"])
	}
	restore := w.replay(t, "issue-assistant.yml", "event", first.event())
	if r := same("the event, decided before", start{run: 4712}); r.outputs["engine.reason"] != "nothing new" || r.jobs["Apply"] != "" {
		t.Errorf("the event, decided before: jobs %v, reason %q", r.jobs, r.outputs["engine.reason"])
	}
	defer restore()
	defer w.replay(t, "issue-assistant-"+tc.name+".yml", "analyze", first.analyze())()
	if r := same("apply again", start{attempt: 3}); r.jobs["Apply"] != "success" {
		t.Errorf("apply again: jobs %v", r.jobs)
	}
}

// checkEnd holds what stands on GitHub.
func (tc taskCase) checkEnd(t *testing.T, w *world) {
	t.Helper()
	i, _ := w.gh.Issue(number)
	slices.Sort(i.Labels)
	if i.State != tc.state || !slices.Equal(i.Labels, tc.labels) {
		t.Errorf("%s, labels %v; want %s, %v", i.State, i.Labels, tc.state, tc.labels)
	}
	w.checkComments(t, tc.name)
	for _, path := range w.writes() {
		if !strings.HasPrefix(strings.SplitN(path, " ", 2)[1], "/repos/octo-org/demo/issues/") {
			t.Errorf("written elsewhere: %s", path)
		}
	}
	var none ghapi.Issue
	if other, _ := w.gh.Issue(3); len(other.Labels)+len(w.gh.Comments(3)) != 0 || cmp.Equal(other, none) {
		t.Errorf("another issue was touched: %+v", other)
	}
}

// checkRun holds what the model was asked, and the line of its cost.
func (tc taskCase) checkRun(t *testing.T, w *world, r result) {
	t.Helper()
	model := w.cli.model
	if tc.light {
		model = w.cli.light
	}
	calls := w.cli.calls()
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, call := range calls {
		if call.model != model || !strings.Contains(call.user, tc.prompt) || strings.Contains(call.system, tc.prompt) ||
			!strings.Contains(call.system, rulesWord) || strings.Contains(call.user, rulesWord) || strings.Contains(call.user, tc.holds) {
			t.Errorf("model %s was asked in the wrong way: %.300s", call.model, call.user)
		}
	}
	if !strings.Contains(strings.Join(calls[1].results, "\n"), tc.holds) {
		t.Errorf("%s does not hold %s", tc.reads, tc.holds)
	}
	line := regexp.MustCompile(`^\*\*` + tc.name + `\*\* of #12 · ` + regexp.QuoteMeta(model) + ` · finished · 2 of ` + strconv.Itoa(tc.turns) + ` turns · `)
	if lines := r.lines("Analyze"); len(lines) != 1 || !line.MatchString(lines[0]) {
		t.Errorf("summary of analyze: %q", lines)
	}
	w.checkKey(t)
}

// checkComments compares all comments of the issue with those of testdata/tasks, which are the same for each engine.
func (w *world) checkComments(t *testing.T, name string) {
	t.Helper()
	var all strings.Builder
	for _, c := range w.gh.Comments(number) {
		body := pinnedCommit.ReplaceAllString(w.cli.plain(c.Body), "/blob/COMMIT/")
		fmt.Fprintf(&all, "%s:\n%s\n\n", c.Author.Login, body)
	}
	path := filepath.Join("testdata", "tasks", name+".md")
	if *update && w.cli.engine == engineNames[0] {
		put(t, "", path, all.String())
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}
