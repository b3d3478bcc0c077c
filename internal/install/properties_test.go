package install

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// rule is one property of workflows. handMade says that it also holds for workflows that people write.
type rule struct {
	name     string
	handMade bool
	check    func(all map[string]flow, f flow, complain func(format string, args ...any))
}

var (
	pinned    = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*@[0-9a-f]{40}$`)
	untrusted = regexp.MustCompile(`github\.(head_ref|event\.[a-z_.*]*(title|body|login|email|message|head_ref|label\.name|page_name|description|\.ref\b|head\.))`)
	secretUse = regexp.MustCompile(`secrets\s*[.\[]`)
	onlyAsked = regexp.MustCompile(`secrets\.[A-Z_]+ != ''`)
	inputUse  = regexp.MustCompile(`\binputs\.([A-Za-z0-9_-]+)`)
)

var rules = []rule{
	{"permissions start from nothing", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if top, ok := f.top["permissions"].(map[string]any); !ok || len(top) != 0 {
			complain("permissions at the top are %v, want {}", f.top["permissions"])
		}
		f.eachJob(func(name string, job map[string]any) {
			if _, ok := job["permissions"].(map[string]any); !ok {
				complain("job %s does not name its permissions", name)
			}
		})
	}},
	{"permissions are what the commands need", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			var parts []string
			for _, s := range list(job["steps"]) {
				step := object(s)
				switch c := command(step); c {
				case "":
				case "context", "apply":
					parts = append(parts, c+" "+text(object(step["with"])["task"]))
				case "sweep":
					if _, daily := object(step["with"])["triage-backlog"]; daily {
						parts = append(parts, "sweep daily")
					} else {
						parts = append(parts, "sweep merge")
					}
				default:
					parts = append(parts, c)
				}
			}
			if len(parts) == 0 {
				return
			}
			want := map[string]any{}
			for _, s := range scopesOf(true, parts...) {
				want[s.Name] = s.Level
			}
			if got := object(job["permissions"]); !maps.Equal(got, want) {
				complain("job %s is granted %v, its commands need %v", name, got, want)
			}
		})
	}},
	{"each scope has its reason", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkNodes(f.node, func(key, value *yaml.Node) {
			if key.Value != "permissions" || value.Kind != yaml.MappingNode {
				return
			}
			for i := 0; i+1 < len(value.Content); i += 2 {
				if value.Content[i+1].LineComment == "" {
					complain("line %d: the scope %s has no comment", value.Content[i].Line, value.Content[i].Value)
				}
				if i > 0 && value.Content[i].Line == value.Content[i-2].Line {
					complain("line %d: two scopes on one line", value.Content[i].Line)
				}
			}
		})
	}},
	{"a calling job grants what is asked for", false, func(all map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			called, ok := all[strings.TrimPrefix(text(job["uses"]), "./")]
			if !ok {
				if job["uses"] != nil {
					complain("job %s calls %v, which is not there", name, job["uses"])
				}
				return
			}
			want := map[string]any{}
			called.eachJob(func(_ string, j map[string]any) {
				for scope, level := range object(j["permissions"]) {
					if want[scope] != "write" {
						want[scope] = level
					}
				}
			})
			if got := object(job["permissions"]); !maps.Equal(got, want) {
				complain("job %s grants %v, the jobs of %s ask for %v", name, got, called.path, want)
			}
		})
	}},
	{"secrets are passed by name", false, func(all map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			if job["uses"] == nil {
				return
			}
			called := all[strings.TrimPrefix(text(job["uses"]), "./")]
			declared := object(object(called.triggers()["workflow_call"])["secrets"])
			passed, ok := job["secrets"].(map[string]any)
			if !ok {
				complain("job %s passes %v", name, job["secrets"])
			}
			for s := range declared {
				if text(passed[s]) != "${{ secrets."+s+" }}" {
					complain("job %s does not pass %s by its name", name, s)
				}
			}
			for s := range passed {
				if _, ok := declared[s]; !ok {
					complain("job %s passes %s, which %s does not declare", name, s, called.path)
				}
			}
		})
	}},
	{"a task declares the secrets of its engine", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if f.task() == "" {
			return
		}
		declared := object(object(f.triggers()["workflow_call"])["secrets"])
		run := map[string]any{}
		f.eachStep(func(_, _ string, step map[string]any) {
			if command(step) == "run" {
				run = object(step["env"])
			}
		})
		if len(run) == 0 {
			complain("the step that runs the engine gets no key")
		}
		for s := range run {
			if d, ok := declared[s]; !ok || object(d)["required"] != false {
				complain("the secret %s is not declared with required: false", s)
			}
		}
	}},
	{"secrets stand where the AI runs and nowhere else", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkValues("", f.top, func(path, value string) {
			if !secretUse.MatchString(value) || (f.task() != "" && strings.HasPrefix(path, ".jobs.analyze.")) {
				return
			}
			if m := regexp.MustCompile(`^\.jobs\.([a-z-]+)\.secrets\.`).FindStringSubmatch(path); m != nil && f.jobs[m[1]]["uses"] != nil {
				return
			}
			complain("%s holds %s", path, value)
		})
	}},
	{"the key reaches one step", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachStep(func(job, name string, step map[string]any) {
			walkValues("", step, func(path, value string) {
				if command(step) == "run" && strings.HasPrefix(path, ".env.") {
					return
				}
				if secretUse.MatchString(onlyAsked.ReplaceAllString(value, "")) {
					complain("job %s, step %q: %s holds %s", job, name, path, value)
				}
			})
		})
		f.eachJob(func(name string, job map[string]any) {
			if job["env"] != nil || f.top["env"] != nil {
				complain("job %s: an env for all steps", name)
			}
		})
	}},
	{"no bundle of secrets", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		for _, bad := range []string{"toJSON(secrets", "secrets[", "secrets: inherit", "fromJSON(secrets"} {
			if strings.Contains(strings.ToLower(f.text), strings.ToLower(bad)) {
				complain("%s", bad)
			}
		}
	}},
	{"analyze has its environment, and only analyze", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			want := map[string]any(nil)
			if f.task() != "" && name == "analyze" {
				want = map[string]any{"name": "issue-assistant", "deployment": false}
			}
			if !maps.Equal(object(job["environment"]), want) || (want == nil && job["environment"] != nil) {
				complain("job %s has the environment %v, want %v", name, job["environment"], want)
			}
		})
	}},
	{"the AI's job cannot write", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			for scope, level := range object(job["permissions"]) {
				if job["environment"] != nil && level != "read" {
					complain("job %s has %s: %v", name, scope, level)
				}
			}
		})
	}},
	{"actions are pinned", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkNodes(f.node, func(key, value *yaml.Node) {
			if key.Value != "uses" || strings.HasPrefix(value.Value, "./.github/workflows/") {
				return
			}
			if !pinned.MatchString(value.Value) || strings.Contains(value.Value, "..") {
				complain("line %d: %s", value.Line, value.Value)
			}
			if !regexp.MustCompile(`^# (v\d+(\.\d+){2}|devel)$`).MatchString(value.LineComment) {
				complain("line %d: the version behind the commit is %q", value.Line, value.LineComment)
			}
		})
	}},
	{"checkouts keep no credentials and follow no ref", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachStep(func(job, name string, step map[string]any) {
			if !strings.HasPrefix(text(step["uses"]), checkoutAction+"@") {
				return
			}
			with := object(step["with"])
			if with["persist-credentials"] != false {
				complain("job %s, step %q keeps the token", job, name)
			}
			for _, key := range []string{"ref", "repository", "token", "ssh-key", "path"} {
				if with[key] != nil {
					complain("job %s, step %q sets %s", job, name, key)
				}
			}
		})
	}},
	{"no expression in a script", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkNodes(f.node, func(key, value *yaml.Node) {
			if (key.Value == "run" || key.Value == "script") && strings.Contains(value.Value, "${{") {
				complain("line %d: %s", value.Line, value.Value)
			}
		})
	}},
	{"no untrusted text", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkValues("", f.top, func(path, value string) {
			// A label's name is compared with a fixed start, once, and only people who may triage choose it.
			value = strings.Replace(value, "startsWith(github.event.label.name, 'issue-assistant:')", "", 1)
			if m := untrusted.FindString(value); m != "" && !strings.HasSuffix(m, "base.ref") {
				complain("%s holds %s", path, m)
			}
		})
	}},
	{"jobs with steps have a time limit", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			minutes, ok := job["timeout-minutes"].(int)
			if job["uses"] != nil {
				if ok {
					complain("job %s calls a workflow and has timeout-minutes", name)
				}
				return
			}
			if !ok || minutes < 1 || minutes > 75 {
				complain("job %s has timeout-minutes %v", name, job["timeout-minutes"])
			}
		})
	}},
	{"groups span a task and its issue", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		top := object(f.top["concurrency"])
		if f.name() == "issue-assistant" {
			if f.top["concurrency"] != nil {
				complain("the router has a group: a waiting event would be lost")
			}
		} else if top["cancel-in-progress"] != false || text(top["group"]) == "" {
			complain("concurrency is %v", f.top["concurrency"])
		}
		if f.task() != "" && text(top["group"]) != "issue-assistant-"+f.task()+"-${{ inputs.issue }}" {
			complain("the group is %v", top["group"])
		}
		if strings.Contains(text(top["group"]), "github.workflow") {
			complain("github.workflow is the caller's name")
		}
		if top["queue"] != nil {
			complain("queue is not understood by the checkers")
		}
		f.eachJob(func(name string, job map[string]any) {
			if job["concurrency"] != nil {
				complain("job %s has a group of its own", name)
			}
		})
	}},
	{"an input has one name", false, func(all map[string]flow, f flow, complain func(string, ...any)) {
		call := object(object(f.triggers()["workflow_call"])["inputs"])
		dispatch := object(object(f.triggers()["workflow_dispatch"])["inputs"])
		for _, m := range inputUse.FindAllStringSubmatch(f.text, -1) {
			if call[m[1]] == nil && dispatch[m[1]] == nil {
				complain("inputs.%s is declared nowhere", m[1])
			}
		}
		for name, d := range dispatch {
			c, ok := call[name]
			if call != nil && (!ok || object(c)["type"] != object(d)["type"]) {
				complain("the input %s is not the same in both triggers", name)
			}
		}
		for name := range call {
			if strings.Contains(name, "_") {
				complain("the input %s has an underscore", name)
			}
		}
		f.eachJob(func(name string, job map[string]any) {
			called, ok := all[strings.TrimPrefix(text(job["uses"]), "./")]
			if !ok {
				return
			}
			accepts := object(object(called.triggers()["workflow_call"])["inputs"])
			for key := range object(job["with"]) {
				if accepts[key] == nil {
					complain("job %s gives the input %s, which %s lacks", name, key, called.path)
				}
			}
			for key, d := range accepts {
				if object(d)["required"] == true && object(job["with"])[key] == nil {
					complain("job %s lacks the input %s", name, key)
				}
			}
		})
	}},
	{"by hand means dry unless said otherwise", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		for _, trigger := range []string{"workflow_call", "workflow_dispatch"} {
			input := object(object(object(f.triggers()[trigger])["inputs"])["dry-run"])
			if input == nil {
				if f.task() != "" {
					complain("%s has no dry-run", trigger)
				}
				continue
			}
			if input["type"] != "boolean" || input["default"] != (trigger == "workflow_dispatch") {
				complain("dry-run of %s is %v", trigger, input)
			}
		}
		f.eachStep(func(job, name string, step map[string]any) {
			c := command(step)
			writes := c == "apply" || c == "labels" || c == "findings" || (c == "sweep" && job == "sweep")
			if writes && text(object(step["with"])["dry-run"]) != "${{ inputs.dry-run }}" {
				complain("job %s, step %q does not hand dry-run on", job, name)
			}
		})
	}},
	{"bots are known by the payload", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		for _, bad := range []string{"github.actor", "github.triggering_actor", "sender.login", "user.login"} {
			if strings.Contains(f.text, bad) {
				complain("%s", bad)
			}
		}
		if f.name() == "issue-assistant" {
			condition := text(f.jobs["event"]["if"])
			for _, want := range []string{"github.event.comment.user.type != 'Bot'", "github.event.issue.user.type != 'Bot'", "github.event.sender.type != 'Bot'", "!github.event.issue.pull_request"} {
				if !strings.Contains(condition, want) {
					complain("the event job does not ask for %s", want)
				}
			}
		}
	}},
	{"only the triggers that are meant", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		want := map[string][]string{
			"issue-assistant":           {"issue_comment created edited", "issues edited labeled opened reopened unlabeled"},
			"issue-assistant-lifecycle": {"pull_request_target closed", "release published", "schedule", "workflow_dispatch"},
			"issue-assistant-labels":    {"push", "workflow_dispatch"},
			"issue-assistant-cost":      {"schedule", "workflow_dispatch"},
			"issue-assistant-findings":  {"push", "schedule", "workflow_dispatch"},
			"issue-assistant-poll":      {"schedule", "workflow_dispatch"},
		}[f.name()]
		if f.task() != "" {
			want = []string{"workflow_call", "workflow_dispatch"}
		}
		var got []string
		for name, v := range f.triggers() {
			var types []string
			for _, t := range list(object(v)["types"]) {
				types = append(types, text(t))
			}
			slices.Sort(types)
			got = append(got, strings.Join(append([]string{name}, types...), " "))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			complain("triggers are %q, want %q", got, want)
		}
	}},
	{"pull requests count when they are merged", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if _, ok := f.triggers()["pull_request_target"]; !ok {
			return
		}
		f.eachJob(func(name string, job map[string]any) {
			condition := text(job["if"])
			byHand := strings.Contains(condition, "github.event_name == 'schedule'") && !strings.Contains(condition, "pull_request")
			merged := strings.Contains(condition, "github.event.pull_request.merged == true") &&
				strings.Contains(condition, "github.event.pull_request.base.ref == github.event.repository.default_branch")
			if !byHand && !merged {
				complain("job %s runs for pull requests that were not merged into the default branch: %s", name, condition)
			}
		})
	}},
	{"a push counts on the default branch", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if _, ok := f.triggers()["push"]; !ok {
			return
		}
		f.eachJob(func(name string, job map[string]any) {
			if !strings.Contains(text(job["if"]), "github.ref_name == github.event.repository.default_branch") {
				complain("job %s", name)
			}
		})
	}},
	{"every workflow has its switch", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachJob(func(name string, job map[string]any) {
			if job["needs"] == nil && !strings.HasPrefix(text(job["if"]), "vars.ISSUE_ASSISTANT ") {
				complain("job %s", name)
			}
		})
	}},
	{"no caches where the AI runs", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachStep(func(job, name string, step map[string]any) {
			uses := text(step["uses"])
			if strings.Contains(uses, "cache") || strings.HasPrefix(uses, "actions/setup-") || object(step["with"])["cache"] != nil {
				complain("job %s, step %q: %s", job, name, uses)
			}
		})
	}},
	{"everything has a name", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if text(f.top["name"]) == "" {
			complain("the workflow")
		}
		f.eachJob(func(name string, job map[string]any) {
			if text(job["name"]) == "" {
				complain("job %s", name)
			}
		})
		f.eachStep(func(job, name string, step map[string]any) {
			if name == "" {
				complain("job %s, a step: %v", job, step)
			}
		})
	}},
	{"scripts run in bash", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		f.eachStep(func(job, name string, step map[string]any) {
			if step["run"] != nil && step["shell"] != "bash" {
				complain("job %s, step %q", job, name)
			}
		})
	}},
	{"apply waits for a finished run", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if f.task() == "" {
			return
		}
		if apply := f.jobs["apply"]; text(apply["if"]) != "needs.analyze.outputs.ended == 'finished'" || text(apply["needs"]) != "analyze" {
			complain("needs %v, if %v", apply["needs"], apply["if"])
		}
	}},
	{"usage is always said", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if f.task() == "" {
			return
		}
		const want = "always() && steps.engine.outputs.ready == 'true'"
		found := 0
		f.eachStep(func(_, name string, step map[string]any) {
			upload := strings.HasPrefix(text(step["uses"]), uploadAction+"@")
			if command(step) != "usage" && !upload {
				return
			}
			found++
			if text(step["if"]) != want {
				complain("step %q: if %v", name, step["if"])
			}
			if with := object(step["with"]); upload && (step["continue-on-error"] != true || with["if-no-files-found"] != "ignore" ||
				with["name"] != "issue-assistant-usage-${{ github.run_attempt }}" || with["overwrite"] != nil ||
				strings.TrimSpace(text(with["path"])) != "${{ runner.temp }}/"+ledger.RecordFile+"\n${{ runner.temp }}/"+ledger.CarriedFile) {
				complain("step %q: %v", name, step)
			}
		})
		if found != 2 {
			complain("%d steps of usage and upload, want 2", found)
		}
	}},
	{"the steps of a run come in order", false, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		if f.task() == "" {
			return
		}
		var got []string
		for _, s := range list(f.jobs["analyze"]["steps"]) {
			step := object(s)
			got = append(got, command(step))
			const ready = "steps.engine.outputs.ready == 'true'"
			if c := command(step); c == "context" && text(step["if"]) != ready || c == "run" && text(step["if"]) != ready+" && steps.context.outputs.material != ''" {
				complain("step %s: if %v", c, step["if"])
			}
			if ended := text(object(step["with"])["ended"]); command(step) == "usage" && ended != "${{ steps.run.outcome == 'skipped' && 'not_started' || steps.run.outputs.ended }}" {
				complain("a run that was skipped is said to be %s", ended)
			}
			if c := command(step); c != "" && text(object(step["with"])["task"]) != f.task() {
				complain("step %s is for the task %v", c, object(step["with"])["task"])
			}
			if command(step) == "run" && object(step["with"])["github-token"] != "" {
				complain("the engine's step gets a token")
			}
		}
		if want := []string{"", "engine", "context", "run", "usage", ""}; !slices.Equal(got, want) {
			complain("steps are %q, want %q", got, want)
		}
		if outputs := object(f.jobs["analyze"]["outputs"]); outputs["answer"] != "${{ steps.run.outputs.answer }}" || outputs["ended"] != "${{ steps.run.outputs.ended }}" {
			complain("outputs are %v", outputs)
		}
	}},
	{"conditions are plain", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		walkNodes(f.node, func(key, value *yaml.Node) {
			if key.Value == "if" && (strings.Contains(value.Value, "${{") || value.Style == yaml.LiteralStyle) {
				complain("line %d: %s", value.Line, value.Value)
			}
			if regexp.MustCompile(`&& ('')? *\|\||contains\('`).MatchString(value.Value) {
				complain("line %d: %s", value.Line, value.Value)
			}
		})
	}},
	{"no writes to the environment of later steps", true, func(_ map[string]flow, f flow, complain func(string, ...any)) {
		for _, bad := range []string{"GITHUB_ENV", "GITHUB_PATH", "ACTIONS_ALLOW_UNSECURE_COMMANDS", "::set-env", "::add-path"} {
			if strings.Contains(f.text, bad) {
				complain("%s", bad)
			}
		}
	}},
}

// violations returns what the rules say, by the name of the rule.
func violations(t testing.TB, files map[string]string, handMade bool) map[string][]string {
	t.Helper()
	all := map[string]flow{}
	for path, text := range files {
		all[path] = parseFlow(t, path, text)
	}
	if !handMade {
		// What the poll gate calls is the maintainer's; only its permissions and secrets count.
		all[".github/workflows/agent.yml"] = parseFlow(t, ".github/workflows/agent.yml", workFile)
	}
	out := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for _, r := range rules {
			if handMade && !r.handMade {
				continue
			}
			r.check(all, all[path], func(format string, args ...any) {
				out[r.name] = append(out[r.name], path+": "+fmt.Sprintf(format, args...))
			})
		}
	}
	return out
}

func TestProperties(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names {
		for rule, found := range violations(t, rendered(t, name), false) {
			t.Errorf("%s: %s:\n%s", name, rule, strings.Join(found, "\n"))
		}
	}
}
