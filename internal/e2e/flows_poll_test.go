package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
)

// agentFile is the maintainer's workflow that the poll gate starts.
const agentFile = `name: Agent
on:
  workflow_call:
permissions: {}
jobs:
  agent:
    name: Agent
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - shell: bash
        run: echo "### the agent ran" >>"$GITHUB_STEP_SUMMARY"
`

// person runs the program as a person in a clone does, with a token of their own.
func (w *world) person(t *testing.T, args ...string) string {
	t.Helper()
	server := httptest.NewServer(ghcheck.Handler(t, w.gh))
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Dir = w.repo
	cmd.Env = []string{"HOME=" + w.path("home"), "PATH=/usr/bin:/bin", "GITHUB_REPOSITORY=" + repoName, "GITHUB_TOKEN=" + theToken, "GITHUB_API_URL=" + server.URL, "GITHUB_GRAPHQL_URL=" + server.URL + "/graphql"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// flowPoll leads a chunk from its start to its end, as the schedule would.
func flowPoll(t *testing.T, w *world) {
	t.Helper()
	flow := "issue-assistant-poll.yml"
	w.setUpAgain(t, map[string]string{
		config.Path: settings("[chunk]\nwork = \"./.github/workflows/agent.yml\""), ".github/workflows/agent.yml": agentFile,
	})
	for _, file := range w.workflows(t) {
		w.gh.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/" + file, Name: file, State: "active"})
	}
	for _, l := range []string{config.LabelChunk, config.LabelClaimed, config.LabelReady, config.LabelBacklog, config.LabelPaused} {
		w.gh.AddLabel(ghapi.Label{Name: l, Color: "ededed"})
	}
	tick := func(name, action string, want played) {
		t.Helper()
		for _, record := range []string{"PATCH /issues/13", "PATCH /issues/41"} { // how often it is saved is nobody's promise
			if slices.Contains(want.writes, record) {
				want.often = record
			}
		}
		r := w.play(t, name, start{event: "schedule", workflow: flow, payload: scheduled("13,43 * * * *")}, want)
		if got := r.outputs["poll.action"]; got != action {
			t.Errorf("%s: %s, want %s", name, got, action)
		}
	}
	gate := map[string]string{"Gate": "success"}
	worked := map[string]string{"Gate": "success", "Agent": "success", "Finish": "success"}
	disable := "PUT /actions/workflows/" + flow + "/disable"
	tick("nothing is claimed", "quiet", played{jobs: gate, summary: []string{"- quiet: no_chunk, the poll is switched off"}, writes: []string{disable}})

	w.gh.LabelAs(3, "mona", true, config.LabelReady)
	w.gh.LabelAs(number, "mona", true, config.LabelReady)
	if out := w.person(t, "chunk", "start", "3", "12"); !strings.Contains(out, "claimed 3\nclaimed 12\n") {
		t.Fatal(out)
	}
	if !w.polls(t) {
		t.Error("the claim did not switch the poll on")
	}
	tick("the first tick", "run", played{
		jobs: worked, summary: []string{"- chunk 13: run: ", "### the agent ran", "- chunk 13: not_wrapped: claim_open"},
		writes: []string{"POST /issues/13/comments", "PATCH /issues/13"},
	})
	tick("nothing new", "quiet", played{jobs: gate, summary: []string{"- chunk 13: quiet: no_change"}, writes: []string{"PATCH /issues/13"}})
	w.gh.AddComment(number, reporter, "And on Linux.")
	tick("a comment", "run", played{
		jobs: worked, summary: []string{"look at 12", "### the agent ran", "- chunk 13: not_wrapped"}, writes: []string{"PATCH /issues/13"},
	})

	// Somebody switched the schedule off. A label of chunks, and a merge, switch it on; other events do not.
	enable := "PUT /actions/workflows/" + flow + "/enable"
	labeled := w.opened()
	labeled["action"], labeled["label"], labeled["sender"] = "labeled", map[string]any{"name": config.LabelReady}, account("mona")
	w.switchOff(t, flow)
	w.play(t, "a label of chunks", start{event: "issues", payload: labeled}, played{jobs: map[string]string{"Event": "success"}, writes: []string{enable}})
	labeled["label"] = map[string]any{"name": "bug"}
	w.play(t, "another label", start{event: "issues", payload: labeled}, played{jobs: map[string]string{}})
	w.switchOff(t, flow)
	w.play(t, "a merge", start{event: "pull_request_target", workflow: "issue-assistant-lifecycle.yml", payload: w.merge(time.Now().UTC())(true, "main")}, played{
		jobs: map[string]string{"After a merge or a release": "success"}, summary: []string{"#12"},
		writes: []string{"POST /issues/12/comments", "POST /issues/12/labels", enable},
	})

	w.gh.SetStateAs(number, "mona", "closed", "completed")
	w.gh.SetStateAs(3, "mona", "closed", "completed")
	tick("all is done", "wrap", played{
		jobs: map[string]string{"Gate": "success", "Finish": "success"}, summary: []string{"- chunk 13: wrap: ", "- chunk 13: wrapped, ready for reset"},
		writes: []string{
			"POST /issues/13/comments", "POST /issues/13/comments", "POST /issues/13/comments", "PATCH /issues/13",
			"PATCH /issues/comments/{}", "PATCH /issues/comments/{}", "DELETE /issues/3/labels/issue-assistant:claimed", "DELETE /issues/12/labels/issue-assistant:claimed", disable,
		},
	})
	if i, _ := w.gh.Issue(13); i.State != "closed" || w.polls(t) {
		t.Errorf("the chunk's issue is %s", i.State)
	}
	tick("after the end", "quiet", played{jobs: gate, summary: []string{"- quiet: no_chunk"}})

	// A chunk at its limit gives back what it holds.
	w.gh.AddIssue(ghapi.Issue{Number: 40, Title: "More", Author: ghapi.User{Login: reporter}, Labels: []string{config.LabelReady}})
	w.person(t, "chunk", "start", "40")
	tick("another chunk", "run", played{
		jobs: worked, summary: []string{"run: live_and_changed"}, writes: []string{"POST /issues/41/comments", "PATCH /issues/41"},
	})
	put(t, w.dir, "used.jsonl", `{"type":"result","subtype":"success","is_error":false,"session_id":"x","num_turns":3,"total_cost_usd":99,"usage":{"input_tokens":10,"output_tokens":10},"modelUsage":{"claude-opus-5-5":{"inputTokens":10,"outputTokens":10,"costUSD":99}}}`+"\n")
	if out := w.person(t, "chunk", "poll", "--execution-file", w.path("used.jsonl")); out != "chunk 41: release: chunk_limit\n" {
		t.Error(out)
	}
	tick("at the limit", "release", played{
		jobs: map[string]string{"Gate": "success", "Finish": "success"}, summary: []string{"- chunk 41: release: chunk_limit", "- chunk 41: wrapped, ready for reset"},
		writes: []string{
			"POST /issues/41/comments", "POST /issues/41/comments", "PATCH /issues/41", "PATCH /issues/comments/{}",
			"DELETE /issues/40/labels/issue-assistant:claimed", disable,
		},
	})
}

// polls reports whether the schedule of the poll is on.
func (w *world) polls(t *testing.T) bool {
	t.Helper()
	for _, f := range w.gh.Workflows() {
		if strings.HasSuffix(f.Path, "/issue-assistant-poll.yml") {
			return f.State == "active"
		}
	}
	t.Fatal("GitHub knows no poll")
	return false
}

// switchOff disables a workflow as a person does.
func (w *world) switchOff(t *testing.T, flow string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://api.github.com/repos/"+repoName+"/actions/workflows/"+flow+"/disable", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+theToken)
	resp, err := w.gh.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if w.polls(t) {
		t.Fatalf("still on: %s", resp.Status)
	}
}
