package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/install"
)

// setUpAgain writes files of the maintainer's and installs over what is there, so that they take part in it.
func (w *world) setUpAgain(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		put(t, w.repo, name, text)
	}
	plan, err := install.Make(w.repo, install.Options{
		Templates: assets.FS, Force: true, // the copies were adapted
		Pin: install.Pin{Action: "issue-assistant/issue-assistant", SHA: actionSHA, Version: "v1.2.3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(); err != nil {
		t.Fatal(err)
	}
	w.adapt(t)
	w.commit(t)
}

// repository is the repository of a payload.
func repository() map[string]any {
	return map[string]any{"full_name": repoName, "default_branch": "main", "fork": false}
}

func scheduled(cron string) map[string]any {
	return map[string]any{"schedule": cron, "repository": repository()}
}

func pushed(branch string) map[string]any {
	return map[string]any{"ref": "refs/heads/" + branch, "repository": repository(), "sender": account("mona")}
}

func dispatched(inputs map[string]any) map[string]any {
	return map[string]any{"ref": "refs/heads/main", "inputs": inputs, "repository": repository(), "sender": account("mona")}
}

// played is what one run of a workflow must have done.
type played struct {
	code    int
	jobs    map[string]string // job: success or failure; the others did not start
	summary []string          // parts of the summary of the one job
	writes  []string          // method and path below the repository, in any order
	often   string            // a write that may be made more than once; it stands in writes once
}

var commentID = regexp.MustCompile(`comments/\d+`)

// play runs a workflow and compares.
func (w *world) play(t *testing.T, name string, s start, want played) result {
	t.Helper()
	w.gh.ClearLog()
	r := w.run(t, s)
	if r.code != want.code || !maps.Equal(r.jobs, want.jobs) {
		t.Errorf("%s: rc %d, jobs %v", name, r.code, r.jobs)
	}
	var text []string
	for _, job := range slices.Sorted(maps.Keys(r.jobs)) {
		text = append(text, r.lines(job)...)
	}
	got := strings.Join(text, "\n")
	for _, part := range want.summary {
		if !strings.Contains(got, part) {
			t.Errorf("%s: the summary lacks %q:\n%s", name, part, got)
		}
	}
	if (len(want.summary) == 0) != (got == "") {
		t.Errorf("%s: summary %q", name, got)
	}
	writes := []string{}
	for _, path := range w.writes() {
		writes = append(writes, commentID.ReplaceAllString(strings.Replace(path, "/repos/"+repoName, "", 1), "comments/{}"))
	}
	t.Logf("%s: %s rc %d jobs %v writes %v\n%s", name, r.took.Round(time.Millisecond), r.code, r.jobs, writes, got)
	slices.Sort(writes)
	slices.Sort(want.writes)
	writes = slices.CompactFunc(writes, func(a, b string) bool { return a == b && a == want.often })
	if diff := cmp.Diff(append([]string{}, want.writes...), writes); diff != "" {
		t.Errorf("%s: writes (-want +got):\n%s", name, diff)
	}
	return r
}

// flowLabels: what labels.toml says is made so, from the default branch only, and nothing in a dry run.
func flowLabels(t *testing.T, w *world) {
	t.Helper()
	before := w.gh.Labels()
	w.gh.AddLabel(ghapi.Label{Name: "ours", Color: "ededed"})
	path := filepath.Join(w.repo, ".issue-assistant", "labels.toml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := once(t, path, string(data), `name = "bug"`, `name = "defect"`)
	text = once(t, path, text, "[[label]]\nname = \"defect\"", "[[label]]\nprevious = [\"bug\"]\nname = \"defect\"")
	put(t, w.repo, ".issue-assistant/labels.toml", text+"\n[[label]]\nname = \"area: parser\"\ncolor = \"00ff00\"\ndescription = \"The parser\"\ngroup = \"area\"\n")
	w.commit(t)
	flow := "issue-assistant-labels.yml"
	state := w.gh.Dump()
	w.play(t, "a push to a branch", start{event: "push", workflow: flow, payload: pushed("topic")}, played{jobs: map[string]string{}})
	w.play(t, "a dry run", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(nil)}, played{
		jobs: map[string]string{"Labels": "success"}, summary: []string{"### Labels (dry run)", "`area: parser`", "`defect`"},
	})
	if w.gh.Dump() != state {
		t.Error("a dry run changed something")
	}
	w.play(t, "a push", start{event: "push", workflow: flow, payload: pushed("main")}, played{
		jobs: map[string]string{"Labels": "success"}, summary: []string{"### Labels\n", "`area: parser`", "`defect`", "left alone"},
		writes: []string{"POST /labels", "PATCH /labels/bug"},
	})
	if got := len(w.gh.Labels()); got != len(before)+2 {
		t.Errorf("%d labels, before %d", got, len(before))
	}
	w.play(t, "the same push again", start{event: "push", workflow: flow, payload: pushed("main")}, played{
		jobs: map[string]string{"Labels": "success"}, summary: []string{"Nothing to do."},
	})
	put(t, w.repo, ".issue-assistant/labels.toml", "[[label]]\nname = 5\n")
	w.commit(t)
	r := w.play(t, "a wrong file", start{event: "push", workflow: flow, payload: pushed("main")}, played{code: 1, jobs: map[string]string{"Labels": "failure"}})
	if !strings.Contains(r.log, "labels.toml:2:8") || len(r.errors) == 0 {
		t.Errorf("the page of the run does not say what is wrong: %q", r.errors)
	}
}

const findings = `[[accept]]
tool = "CodeQL"
rule = "go/clear-text-logging"
path = "internal/**"
reason = "false positive"
comment = "the text is fixed"
`

// flowFindings: accepted alerts are dismissed with their reason; another one turns the job red.
func flowFindings(t *testing.T, w *world) {
	t.Helper()
	w.setUpAgain(t, map[string]string{".issue-assistant/findings.toml": findings})
	one := w.gh.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/clear-text-logging", Path: "internal/x.go"})
	flow := "issue-assistant-findings.yml"
	w.play(t, "a dry run", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(nil)}, played{
		jobs: map[string]string{"Findings": "success"}, summary: []string{"### Findings (dry run)", "code-scanning/1"},
	})
	w.play(t, "the daily run", start{event: "schedule", workflow: flow, payload: scheduled("17 7 * * *")}, played{
		jobs: map[string]string{"Findings": "success"}, summary: []string{"### Findings\n", "code-scanning/1"}, writes: []string{"PATCH /code-scanning/alerts/1"},
	})
	if a, _ := w.gh.Alert(one); a.State != "dismissed" {
		t.Errorf("the alert is %s", a.State)
	}
	two := w.gh.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/clear-text-logging", Path: "main.go"})
	w.play(t, "an open alert", start{event: "push", workflow: flow, payload: pushed("main")}, played{
		code: 1, jobs: map[string]string{"Findings": "failure"}, summary: []string{"code-scanning/2"},
	})
	if a, _ := w.gh.Alert(two); a.State != "open" {
		t.Errorf("the alert is %s", a.State)
	}
	w.play(t, "a push to a branch", start{event: "push", workflow: flow, payload: pushed("topic")}, played{jobs: map[string]string{}})
}

// flowCost: the records that the runs uploaded become one table; nothing is written.
func flowCost(t *testing.T, w *world) {
	t.Helper()
	record := `{"schema": 1, "repository": "octo-org/demo", "issue": 12, "task": "triage", "run_id": 4700, "attempt": 1, "started": "` +
		time.Now().UTC().Add(-time.Hour).Format(time.RFC3339) + `", "engine": "claude", "engine_version": "", "model_asked": "claude-opus-5-5", "models": [],
"ended": "finished", "turns": 8, "max_turns": 40, "calls": 8, "duration_ms": 41300, "cost_usd": 0.25, "cost_basis": "meter", "max_budget_usd": 1,
"worst_next_call_usd": null, "tools_denied": null, "session": null}`
	w.gh.AddRun(ghapi.Run{ID: 4700, Attempt: 1, Path: ".github/workflows/issue-assistant.yml", Event: "issues", Status: "completed", Conclusion: "success"})
	w.gh.AddArtifact(ghapi.Artifact{Name: "issue-assistant-usage-1", RunID: 4700}, zipped(t, map[string][]byte{"issue-assistant-usage.json": []byte(record)}))
	// A run that was lost: its jobs say that its engine was started.
	w.gh.AddRun(ghapi.Run{ID: 4701, Attempt: 1, Path: ".github/workflows/issue-assistant.yml", Event: "issues", Status: "completed", Conclusion: "failure"})
	w.gh.SetJobs(4701, ghapi.Job{ID: 2, Name: "Triage / Analyze", Status: "completed", Conclusion: "failure", Steps: []ghapi.Step{{Name: "Run", Status: "completed", Conclusion: "failure"}}})
	want := played{jobs: map[string]string{"Cost": "success"}, summary: []string{"triage", "0.25", "```mermaid", "1 run left no record, in no sum."}}
	flow := "issue-assistant-cost.yml"
	w.play(t, "weekly", start{event: "schedule", workflow: flow, payload: scheduled("23 7 * * 1")}, want)
	w.play(t, "by hand", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(map[string]any{"since": "2d"})}, want)
	w.play(t, "a wrong input", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(map[string]any{"since": "$(touch pwned)"})}, played{code: 1, jobs: map[string]string{"Cost": "failure"}})
	if _, err := os.Stat(filepath.Join(w.repo, "pwned")); !os.IsNotExist(err) {
		t.Error("an input ran")
	}
}

// merge adds a merged pull request that closes the issue, and returns the payloads of its closing.
func (w *world) merge(now time.Time) func(merged bool, base string) map[string]any {
	pull := w.gh.AddPullRequest(ghapi.PullRequest{
		Number: 20, Title: "Make the map", State: "merged", MergeCommit: sha(1), MergedAt: now, UpdatedAt: now, Closes: []ghapi.IssueRef{{Number: number}},
	})
	w.gh.AddCommit(ghapi.Commit{SHA: sha(1), Message: "Make the map (#20)", Date: now})
	return func(merged bool, base string) map[string]any {
		return map[string]any{"action": "closed", "repository": repository(), "sender": account("mona"), "pull_request": map[string]any{
			"number": pull, "merged": merged, "base": map[string]any{"ref": base}, "head": map[string]any{"ref": "fix"},
		}}
	}
}

// release publishes the default branch and returns the payload.
func (w *world) release(now time.Time) map[string]any {
	w.gh.AddCommit(ghapi.Commit{SHA: sha(2), Message: "Release v1.0.0", Date: now})
	w.gh.SetRef("tags/v1.0.0", sha(2))
	w.gh.AddRelease(ghapi.Release{Tag: "v1.0.0", CreatedAt: now, PublishedAt: now})
	return map[string]any{"action": "published", "release": map[string]any{"tag_name": "v1.0.0"}, "repository": repository(), "sender": account("mona")}
}

func sha(n int) string { return strings.Repeat("0", 32) + "ff" + strconv.Itoa(100000+n) }

// flowLifecycle leads an issue from its merge to its release, and one from a question to its end.
func flowLifecycle(t *testing.T, w *world) {
	t.Helper()
	flow := "issue-assistant-lifecycle.yml"
	now := time.Now().UTC()
	merged := w.merge(now)
	w.play(t, "closed without a merge", start{event: "pull_request_target", workflow: flow, payload: merged(false, "main")}, played{jobs: map[string]string{}})
	w.play(t, "merged into a branch", start{event: "pull_request_target", workflow: flow, payload: merged(true, "topic")}, played{jobs: map[string]string{}})
	fixes := map[string]string{"After a merge or a release": "success"}
	w.play(t, "a merge", start{event: "pull_request_target", workflow: flow, payload: merged(true, "main")}, played{
		jobs: fixes, summary: []string{"### Sweep, after a merge", "#12"}, writes: []string{"POST /issues/12/comments", "POST /issues/12/labels"},
	})
	if i, _ := w.gh.Issue(number); i.State != "open" || !i.HasLabel("fixed-in-next-release") {
		t.Errorf("after the merge: %s, %v", i.State, i.Labels)
	}
	w.play(t, "the same merge again", start{event: "pull_request_target", workflow: flow, payload: merged(true, "main")}, played{jobs: fixes, summary: []string{"after a merge"}})

	released := w.release(now.Add(time.Second))
	w.play(t, "a release", start{event: "release", workflow: flow, payload: released}, played{
		jobs: fixes, summary: []string{"### Sweep, after a release", "#12"},
		writes: []string{"POST /milestones", "PATCH /issues/12", "PATCH /issues/12", "POST /issues/12/comments", "DELETE /issues/12/labels/fixed-in-next-release"},
	})
	if i, _ := w.gh.Issue(number); i.State != "closed" || i.StateReason != "completed" || i.Milestone != "v1.0.0" {
		t.Errorf("after the release: %s, %s, milestone %q", i.State, i.StateReason, i.Milestone)
	}
	w.sweeps(t, flow, now)
}

// sweeps: what waits too long is reminded and closed, what was postponed starts, and old issues by hand.
func (w *world) sweeps(t *testing.T, flow string, now time.Time) {
	t.Helper()
	old := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	w.gh.AddIssue(ghapi.Issue{Number: 30, Title: "Waits", Author: ghapi.User{Login: "bob"}, Labels: []string{"needs-info"}, CreatedAt: old(20), UpdatedAt: old(20)})
	w.gh.AddIssue(ghapi.Issue{Number: 31, Title: "Postponed", Author: ghapi.User{Login: "carol"}, Labels: []string{"needs-triage"}, CreatedAt: old(2), UpdatedAt: old(2)})
	w.gh.AddIssue(ghapi.Issue{Number: 32, Title: "Ours", Author: ghapi.User{Login: "mona"}, Labels: []string{"needs-triage"}, CreatedAt: old(2), UpdatedAt: old(2)})
	daily := map[string]string{"Daily sweep": "success"}
	state := w.gh.Dump()
	w.play(t, "by hand, as it is offered", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(nil)}, played{
		jobs: daily, summary: []string{"### Sweep, daily (dry run)", "#30", "#31"},
	})
	if w.gh.Dump() != state {
		t.Error("a dry run changed something")
	}
	w.play(t, "daily", start{event: "schedule", workflow: flow, run: 4750, payload: scheduled("41 6 * * *")}, played{
		jobs: daily, summary: []string{"### Sweep, daily\n", "#30", "#31 (postponed): started"},
		writes: []string{"POST /issues/30/comments", "POST /issues/30/labels", "POST /actions/workflows/issue-assistant-triage.yml/dispatches"},
	})
	if files := w.artifact(t, 4750, "issue-assistant-issues"); !strings.Contains(string(files["issue-assistant-issues.jsonl"]), `"title":"Postponed"`) {
		t.Errorf("the list of issues was not kept: %d files", len(files))
	}
	if i, _ := w.gh.Issue(30); i.State != "open" || !i.HasLabel("stale") {
		t.Errorf("#30 is %s, %v", i.State, i.Labels)
	}
	w.play(t, "daily, again", start{event: "schedule", workflow: flow, run: 4751, payload: scheduled("41 6 * * *")}, played{jobs: daily, summary: []string{"### Sweep, daily"}})
	w.play(t, "old issues by hand", start{event: "workflow_dispatch", workflow: flow, run: 4752, payload: dispatched(map[string]any{
		"dry-run": "false", "triage-backlog": "2", "max-usd": "1.50",
	})}, played{
		jobs: daily, summary: []string{"#3 (backlog): started"}, writes: []string{"POST /actions/workflows/issue-assistant-triage.yml/dispatches"},
	})
	w.play(t, "old issues without a bound", start{event: "workflow_dispatch", workflow: flow, payload: dispatched(map[string]any{
		"dry-run": "false", "triage-backlog": "2",
	})}, played{code: 1, jobs: map[string]string{"Daily sweep": "failure"}})
}

// flow is one workflow with the events that it is for.
type flow struct {
	play  func(*testing.T, *world)
	turns anthropic.Script
}

func flows() map[string]flow {
	return map[string]flow{
		"labels":    {play: flowLabels},
		"findings":  {play: flowFindings},
		"cost":      {play: flowCost},
		"lifecycle": {play: flowLifecycle},
		"router":    {play: flowRouter, turns: everyTask()},
		"poll":      {play: flowPoll},
		"hand":      {play: flowHand, turns: everyTask()},
		"stranger":  {play: flowStranger, turns: everyTask()},
	}
}

// TestEveryWorkflow runs all that install generates, and compares the permissions that the jobs were granted with those
// that the fake GitHub saw them use.
func TestEveryWorkflow(t *testing.T) { //nolint:tparallel // what all have done is compared behind the group of them
	t.Parallel()
	seen := seenUse{granted: map[string]grants{}, used: map[string]map[string]string{}, example: map[string]string{}}
	done := 0
	t.Run("run", func(t *testing.T) {
		for name, f := range flows() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, f.turns, "")
				f.play(t, w)
				w.checkKey(t)
				if seen.add(w.door); !t.Failed() {
					seen.mu.Lock()
					done++
					seen.mu.Unlock()
				}
			})
		}
	})
	if done < len(flows()) {
		t.Logf("%d of %d workflows ran to their end: permissions are not compared", done, len(flows()))
		return
	}
	seen.compare(t)
}
