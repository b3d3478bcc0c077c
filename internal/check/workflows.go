package check

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

const workflowsDir = ".github/workflows"

// strangers are the events that anybody can cause and that run with the repository's secrets. A pull request of a fork
// gets none. https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
var strangers = []string{
	"issues", "issue_comment", "discussion", "discussion_comment", "pull_request_target",
	"pull_request_review", "pull_request_review_comment", "workflow_run", "workflow_call",
}

var (
	aiAction   = lazy.Regexp(`(?i)^(anthropics/claude-code(-base)?-action|openai/codex-action|google-github-actions/run-gemini-cli|google-gemini/gemini-cli-action)(/[^@]*)?@`)
	aiCommand  = lazy.Regexp(`(?m)(?:^|[\s;&|(])(?:claude\s+(?:-p|--print)\b|codex\s+exec\b|gemini\s+(?:-p|--prompt)\b)`)
	engineKey  = lazy.Regexp(`(?i)secrets(?:\.|\[['"])(ANTHROPIC_API_KEY|CLAUDE_CODE_OAUTH_TOKEN|OPENAI_API_KEY|CODEX_API_KEY|GEMINI_API_KEY|GOOGLE_API_KEY)`)
	anySecret  = lazy.Regexp(`(?i)\bsecrets(?:\.|\[)`)
	pinned     = lazy.Regexp(`@(?:[0-9a-f]{40}|[0-9a-f]{64}|sha256:[0-9a-f]{64})$`)
	wildcard   = lazy.Regexp(`\bBash\((?:\*|(?:gh|gh api|git|npx|npm|node|python3?|curl|wget|bash|sh|docker|make|env)(?::\*|\s+\*|\*)?)\)`)
	guardsOff  = lazy.Regexp(`dangerously-skip-permissions|bypassPermissions|(?:^|\s)--yolo\b|approval-mode[=\s]+yolo|danger-full-access|dangerously-bypass`)
	openTool   = lazy.Regexp(`\b(?:Bash|Write|Edit|MultiEdit|NotebookEdit|WebFetch|WebSearch)\b`)
	issueTool  = lazy.Regexp(`\bmcp__github__(?:update_issue|issue_write|create_or_update_file|push_files|merge_pull_request|delete_file)\b`)
	disallowed = lazy.Regexp(`(?s)--disallowed-?[tT]ools[=\s]+(?:"[^"]*"|'[^']*'|\S+)`)
	strangeRef = lazy.Regexp(`github\.head_ref|github\.event\.pull_request\.head\.|github\.event\.workflow_run\.head_|refs/pull/\$\{\{`)
	injection  = lazy.Regexp(`\$\{\{[^}]*github\.(?:head_ref|event\.(?:issue\.(?:title|body)|comment\.body|review\.body|discussion\.(?:title|body)|pull_request\.(?:title|body|head\.ref|head\.label)))[^}]*\}\}`)
	fixedDelim = lazy.Regexp(`<<-?['"]?([A-Za-z_][A-Za-z0-9_]*)['"]?`)
)

// Workflows looks at the workflows that install did not write: those that hand an AI's key or a write token to text of
// strangers. skip lists the generated ones. Everything is a warning: these files are the maintainer's.
func Workflows(root fs.FS, skip []string) []diag.Diagnostic {
	var ds []diag.Diagnostic
	for _, f := range yamlFiles(root, workflowsDir) {
		if slices.Contains(skip, f.path) {
			continue
		}
		if doc := f.yaml(diag.Warning, "workflow-syntax"); doc != nil {
			newFlow(f, doc).check()
		}
		ds = append(ds, f.ds...)
	}
	return ds
}

// flow is one workflow.
type flow struct {
	*file
	doc  *yaml.Node
	on   map[string]*yaml.Node // what stands under each event; the event itself where nothing does
	open bool                  // a stranger can start it
}

func newFlow(f *file, doc *yaml.Node) *flow {
	w := &flow{file: f, doc: doc, on: map[string]*yaml.Node{}}
	on := get(doc, "on")
	for _, e := range items(on) {
		w.on[value(e)] = e
	}
	for k, v := range pairs(on) {
		w.on[k.Value] = v
		if v == nil || v.Kind == yaml.ScalarNode {
			w.on[k.Value] = k
		}
	}
	w.open = slices.ContainsFunc(strangers, func(e string) bool { return w.on[e] != nil })
	return w
}

// job is one job of a workflow.
type job struct {
	*flow
	node        *yaml.Node
	key         *yaml.Node // its name
	permissions *yaml.Node // its own, or the workflow's; nil: neither
	ai          bool
	keyEverywhere,
	writes bool
}

func (w *flow) check() {
	if !w.open {
		return
	}
	ai := false
	for key, node := range pairs(get(w.doc, "jobs")) {
		j := &job{flow: w, node: node, key: key, permissions: get(node, "permissions")}
		if j.permissions == nil {
			j.permissions = get(w.doc, "permissions")
		}
		j.look()
		j.everyJob()
		if j.ai {
			ai = true
			j.aiJob()
		}
	}
	if ai {
		w.aiFlow()
	}
}

// look finds out whether an AI works in the job and what its token may do.
func (j *job) look() {
	for _, s := range scalars(j.node) {
		j.ai = j.ai || engineKey().MatchString(s.Value) || aiCommand().MatchString(s.Value)
	}
	for _, step := range j.steps() {
		j.ai = j.ai || aiAction().MatchString(value(get(step, "uses")))
		j.writes = j.writes || strings.HasPrefix(value(get(step, "uses")), "actions/create-github-app-token@")
	}
	for _, env := range []*yaml.Node{get(j.doc, "env"), get(j.node, "env")} {
		for _, s := range scalars(env) {
			j.keyEverywhere = j.keyEverywhere || engineKey().MatchString(s.Value)
		}
	}
	j.ai = j.ai || j.keyEverywhere && len(j.steps()) > 0
	j.writes = j.writes || j.permissions == nil || value(j.permissions) == "write-all"
	for k, v := range pairs(j.permissions) {
		j.writes = j.writes || value(v) == "write" && k.Value != "id-token"
	}
}

func (j *job) steps() []*yaml.Node { return items(get(j.node, "steps")) }

// everyJob holds what is dangerous without an AI as well.
func (j *job) everyJob() {
	if inherit := get(j.node, "secrets"); value(inherit) == "inherit" {
		j.warn(inherit, "", "secrets-inherit", "every secret goes to the called workflow, in a run that a stranger can start", "pass the ones it needs by name")
	}
	for _, step := range j.steps() {
		uses := value(get(step, "uses"))
		if ref := get(step, "with", "ref"); strings.HasPrefix(uses, "actions/checkout@") && strangeRef().MatchString(value(ref)) && (j.ai || j.writes || j.hasSecret()) {
			j.warn(ref, "", "head-checkout", "code of a stranger's pull request is checked out in a run that has this repository's token and secrets",
				"check out the default branch, or use the event pull_request")
		}
		for _, script := range []*yaml.Node{get(step, "run"), get(step, "with", "script")} {
			if script == nil {
				continue
			}
			for _, m := range injection().FindAllString(value(script), -1) {
				j.warn(script, m, "script-injection", "text of a stranger becomes part of a script: "+shorten.Quoted(m), "hand it over in env: and use the variable, in quotes")
			}
			j.outputs(script)
		}
	}
}

// outputs finds multi-line outputs whose end anybody can guess.
func (j *job) outputs(script *yaml.Node) {
	text := value(script)
	if !strings.Contains(text, "GITHUB_OUTPUT") && !strings.Contains(text, "GITHUB_ENV") {
		return
	}
	for _, m := range fixedDelim().FindAllStringSubmatch(text, -1) {
		if j.full() {
			return
		}
		line, col := j.find(script.Line, script.Column, m[0])
		// A here-document alone is no output; NAME<<WORD inside of quotes or braces is.
		if before := j.lines[line-1][:min(max(col-1, 0), len(j.lines[line-1]))]; !strings.HasSuffix(before, " ") && before != "" && !strings.HasSuffix(before, "\t") {
			j.say(diag.Warning, line, col, "fixed-delimiter", fmt.Sprintf("an output of several lines ends at the fixed word %s: a text that holds it writes outputs of its own", shorten.Quoted(m[1])),
				"make the word random, such as EOF_$(openssl rand -hex 16)")
		}
	}
}

func (j *job) hasSecret() bool {
	return slices.ContainsFunc(scalars(j.node), func(s *yaml.Node) bool { return anySecret().MatchString(s.Value) })
}
