package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// aiFlow checks a workflow as a whole, when an AI works in it.
func (w *flow) aiFlow() {
	for _, e := range []string{"issue_comment", "discussion_comment", "pull_request_review_comment"} {
		if w.on[e] == nil {
			continue
		}
		nodes := []*yaml.Node{get(w.doc, "concurrency", "cancel-in-progress")}
		for _, j := range pairs(get(w.doc, "jobs")) {
			nodes = append(nodes, get(j, "concurrency", "cancel-in-progress"))
		}
		for _, n := range nodes {
			if value(n) == "true" {
				w.warn(n, "", "comment-cancels", "any later comment cancels a run that is under way and paid for", "write cancel-in-progress: false")
			}
		}
		break
	}
	if n := w.on["pull_request_target"]; n != nil {
		w.warn(n, "", "ai-pull-request-target", "an AI runs on pull_request_target, with this repository's secrets and a stranger's pull request",
			"let a job without secrets read the pull request, or start it by a maintainer's label and never check its code out")
	}
	var types []string
	for _, t := range items(get(w.on["issues"], "types")) {
		types = append(types, value(t))
	}
	if slices.Contains(types, "opened") && slices.Contains(types, "labeled") {
		w.warn(get(w.on["issues"], "types"), "", "ai-runs-twice", "an issue that is opened with a label causes opened and labeled: two paid runs", "keep one of the two types")
	}
}

// aiJob checks a job in which an AI reads what strangers write.
func (j *job) aiJob() {
	switch {
	case j.permissions == nil && get(j.node, "uses") == nil:
		j.warn(j.key, "", "ai-permissions", fmt.Sprintf("the job %s of an AI does not say what its token may do: the repository's default, perhaps everything", shorten.Quoted(j.key.Value)),
			"write permissions: with what it needs, best contents: read and issues: read")
	case value(j.permissions) == "write-all":
		j.warn(j.permissions, "", "ai-contents-write", "an AI that reads text of strangers runs with a token that may write everything", "write the scopes that it needs, best read only")
	case value(get(j.permissions, "contents")) == "write":
		j.warn(get(j.permissions, "contents"), "", "ai-contents-write", "an AI that reads text of strangers runs with a token that may push code",
			"let it read only, and let a second job without AI write what was checked")
	}
	if get(j.node, "uses") == nil {
		j.timeout()
	}
	for _, s := range scalars(j.node) {
		j.aiText(s)
	}
	for _, step := range j.steps() {
		j.aiStep(step)
	}
}

// timeout wants a bound of at most an hour; GitHub's own is six.
func (j *job) timeout() {
	n := get(j.node, "timeout-minutes")
	if n == nil {
		for _, step := range j.steps() {
			with := get(step, "with", "timeout_minutes")
			if m := get(step, "timeout-minutes"); (m != nil || with != nil) && (aiAction().MatchString(value(get(step, "uses"))) || aiCommand().MatchString(value(get(step, "run")))) {
				return
			}
		}
		j.warn(j.key, "", "ai-no-timeout", fmt.Sprintf("the job %s of an AI may run for six hours", shorten.Quoted(j.key.Value)), "write timeout-minutes: 15")
		return
	}
	if minutes, err := strconv.ParseFloat(n.Value, 64); err == nil && minutes > 60 {
		j.warn(n, "", "ai-no-timeout", fmt.Sprintf("a job of an AI may run for %s minutes", shorten.Quoted(n.Value)), "write timeout-minutes: 15")
	}
}

// aiText checks one text of the job: a script, a prompt, arguments.
func (j *job) aiText(s *yaml.Node) {
	text := disallowed().ReplaceAllString(s.Value, "")
	if m := wildcard().FindString(text); m != "" && j.writes {
		j.warn(s, m, "ai-wildcard", fmt.Sprintf("%s lets one line of a stranger use this job's write token for anything", shorten.Quoted(m)), "name the exact command with its arguments, or let a job without AI write")
	}
	if m := guardsOff().FindString(text); m != "" {
		j.warn(s, strings.TrimSpace(m), "ai-guards-off", fmt.Sprintf("%s lets an AI do anything, on text of strangers", shorten.Quoted(strings.TrimSpace(m))), "remove it and name the tools")
	}
	if m := issueTool().FindString(text); m != "" && j.writes {
		j.warn(s, m, "ai-wide-tool", fmt.Sprintf("%s changes more than labels: title, body, state or code", shorten.Quoted(m)), "let a job without AI set the labels that the answer names")
	}
	if strings.Contains(text, "GITHUB_ENV") {
		j.warn(s, "GITHUB_ENV", "ai-env-file", "what an AI writes to GITHUB_ENV becomes the environment of all later steps", "hand its answer over as a checked output")
	}
}

// aiStep checks one step of the job.
func (j *job) aiStep(step *yaml.Node) {
	uses, with := get(step, "uses"), get(step, "with")
	secret := j.keyEverywhere
	for _, part := range []*yaml.Node{with, get(step, "env")} {
		secret = secret || slices.ContainsFunc(scalars(part), func(s *yaml.Node) bool { return anySecret().MatchString(s.Value) })
	}
	name := value(uses)
	if secret && name != "" && !strings.HasPrefix(name, "./") && !pinned().MatchString(name) {
		j.warn(uses, "", "ai-unpinned", fmt.Sprintf("%s gets a secret and can change at any time", shorten.Quoted(name)), "pin it to the 40 hex digits of a commit")
	}
	if strings.HasPrefix(name, "actions/checkout@") && value(get(with, "persist-credentials")) != "false" {
		j.warn(uses, "", "ai-credentials", "the checkout leaves its token in .git/config, where an AI that reads files finds it", "write persist-credentials: false")
	}
	if strings.HasPrefix(name, "actions/create-github-app-token@") {
		j.warn(uses, "", "ai-app-token", "the token of an app is in the job of an AI that reads text of strangers", "make the token in a second job without AI")
	}
	if aiAction().MatchString(name) {
		j.aiInputs(uses, with)
	}
}

// aiInputs checks the inputs of a vendor's action.
func (j *job) aiInputs(uses, with *yaml.Node) {
	args, capped := "", false
	for k, v := range pairs(with) {
		capped = capped || k.Value == "max_turns" || k.Value == "max-turns"
		switch k.Value {
		case "claude_args", "allowed_tools", "settings", "codex-args", "tools":
			args += "\n" + disallowed().ReplaceAllString(value(v), "")
		case "allowed_bots", "allow-bots":
			if b := value(v); b != "" && b != "false" {
				j.warn(v, "", "ai-bots", "bots may start this AI: two of them can answer each other without an end", "remove it, or count the answers")
			}
		case "show_full_output":
			if value(v) == "true" {
				j.warn(v, "", "ai-full-output", "everything that the AI reads and does stands in a public log", "remove it")
			}
		}
	}
	if strings.HasPrefix(strings.ToLower(value(uses)), "anthropics/") && !capped && !strings.Contains(args, "--max-turns") {
		j.warn(uses, "", "ai-no-cap", "no cap on turns or dollars: an issue decides what a run costs", "write --max-turns and --max-budget-usd")
	}
	if anyone := get(with, "allowed_non_write_users"); value(anyone) == "*" {
		if tool := unbounded(args); tool != "" {
			j.warn(anyone, "", "ai-tools-for-anyone", fmt.Sprintf("anybody can start this AI, and it has the tool %s beside the key", shorten.Quoted(tool)), "leave Read, Grep and Glob, and let a job without AI write")
		}
	}
}

// unbounded is the first tool of the arguments that writes, runs programs or reaches the network without a bound:
// Bash(./scripts/x.sh) has one.
func unbounded(args string) string {
	for _, at := range openTool().FindAllStringIndex(args, -1) {
		if !strings.HasPrefix(args[at[1]:], "(") || wildcard().MatchString(args[at[0]:min(len(args), at[0]+40)]) {
			return args[at[0]:at[1]]
		}
	}
	return ""
}
