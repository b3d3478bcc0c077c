package install

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// mutant is one way to break a generated workflow that no other checker sees, and the rule that must see it.
type mutant struct {
	name, file, old, now, rule string
}

var mutants = []mutant{
	{"write for all at the top", "triage", "permissions: {}", "permissions: write-all", "permissions start from nothing"},
	{"a scope at the top", "", "permissions: {}", "permissions:\n  issues: write # x", "permissions start from nothing"},
	{"a job without permissions", "cost", "    permissions:\n      actions: read # records of the runs\n      contents: read # settings\n", "", "permissions start from nothing"},
	{"a scope too many in apply", "triage", "      issues: write # one comment and labels\n", "      issues: write # one comment and labels\n      checks: write # x\n", "permissions are what the commands need"},
	{"a scope too few in the event job", "", "      issues: write # labels, reactions, reopening\n", "", "permissions are what the commands need"},
	{"more power for the cost report", "cost", "actions: read #", "actions: write #", "permissions are what the commands need"},
	{"a reply reads discussions", "maintainer-reply", "      issues: read # what is new; the issue\n", "      discussions: read # x\n      issues: read # what is new; the issue\n", "permissions are what the commands need"},
	{"a scope without its reason", "labels", "      issues: write # labels of the repository\n", "      issues: write\n", "each scope has its reason"},
	{"a scope missing in a calling job", "", "      discussions: read # questions that were answered; discussions that the answer names\n", "", "a calling job grants what is asked for"},
	{"a level missing in a calling job", "", "      issues: write # what is new; the issue; one comment and labels\n", "      issues: read # x\n", "a calling job grants what is asked for"},
	{"a scope added in a called job", "reanalyze", "      discussions: read # discussions that the answer names\n", "      discussions: write # x\n", "a calling job grants what is asked for"},
	{"a call of a file that is not there", "", "issue-assistant-triage.yml", "issue-assistant-first.yml", "a calling job grants what is asked for"},
	{"the secret's name missing in the router", "", `ANTHROPIC_API_KEY: "${{ secrets.ANTHROPIC_API_KEY }}", `, "", "secrets are passed by name"},
	{"another secret passed under the name", "", `CLAUDE_CODE_OAUTH_TOKEN: "${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}"`, `CLAUDE_CODE_OAUTH_TOKEN: "${{ secrets.ANTHROPIC_API_KEY }}"`, "secrets are passed by name"},
	{"all secrets inherited", "", `secrets: {ANTHROPIC_API_KEY: "${{ secrets.ANTHROPIC_API_KEY }}", CLAUDE_CODE_OAUTH_TOKEN: "${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}"}`, "secrets: inherit", "no bundle of secrets"},
	{"inherited means not by name", "", `secrets: {ANTHROPIC_API_KEY: "${{ secrets.ANTHROPIC_API_KEY }}", CLAUDE_CODE_OAUTH_TOKEN: "${{ secrets.CLAUDE_CODE_OAUTH_TOKEN }}"}`, "secrets: inherit", "secrets are passed by name"},
	{"the task does not declare the secret", "triage", "      CLAUDE_CODE_OAUTH_TOKEN: {description: \"Empty here: the value of the environment issue-assistant is the one used\", required: false}\n", "", "a task declares the secrets of its engine"},
	{"the secret is required", "triage", "required: false}\n      CLAUDE", "required: true}\n      CLAUDE", "a task declares the secrets of its engine"},
	{"the key in apply", "triage", "      - name: Check the answer and write\n", "      - name: Check the answer and write\n        env: {ANTHROPIC_API_KEY: \"${{ secrets.ANTHROPIC_API_KEY }}\"}\n", "secrets stand where the AI runs and nowhere else"},
	{"a key in the sweep", "lifecycle", "        with: {command: sweep}\n", "        with: {command: sweep}\n        env: {K: \"${{ secrets.ANTHROPIC_API_KEY }}\"}\n", "secrets stand where the AI runs and nowhere else"},
	{"the key in the step of the limits", "triage", "        id: engine\n", "        id: engine\n        env: {ANTHROPIC_API_KEY: \"${{ secrets.ANTHROPIC_API_KEY }}\"}\n", "the key reaches one step"},
	{"the key for all steps", "triage", "    environment: {", "    env: {ANTHROPIC_API_KEY: \"${{ secrets.ANTHROPIC_API_KEY }}\"}\n    environment: {", "the key reaches one step"},
	{"the key instead of whether there is one", "triage", "secrets.ANTHROPIC_API_KEY != ''", "secrets.ANTHROPIC_API_KEY", "the key reaches one step"},
	{"analyze without its environment", "triage", "    environment: {name: issue-assistant, deployment: false}\n", "", "analyze has its environment, and only analyze"},
	{"analyze with a deployment", "reanalyze", "deployment: false", "deployment: true", "analyze has its environment, and only analyze"},
	{"apply with the environment", "triage", "    needs: analyze\n", "    needs: analyze\n    environment: issue-assistant\n", "analyze has its environment, and only analyze"},
	{"analyze may write", "triage", "      issues: read # what is new; the issue\n", "      issues: write # x\n", "the AI's job cannot write"},
	{"an action by its tag", "triage", "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "actions/checkout@v7 # v7.0.1", "actions are pinned"},
	{"an action by a short commit", "cost", "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@3d3c42e5", "actions are pinned"},
	{"a commit without its version", "labels", "3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "3d3c42e5aac5ba805825da76410c181273ba90b1", "actions are pinned"},
	{"an action of the checkout", "triage", "issue-assistant/issue-assistant@abababababababababababababababababababab # v1.2.3\n        with: {command: apply", "./\n        with: {command: apply", "actions are pinned"},
	{"persisted credentials", "triage", "        with: {persist-credentials: false}\n", "", "checkouts keep no credentials and follow no ref"},
	{"the head of a pull request", "lifecycle", "with: {persist-credentials: false}", "with: {persist-credentials: false, ref: \"${{ github.event.pull_request.head.sha }}\"}", "checkouts keep no credentials and follow no ref"},
	{"an expression in a script", "triage", "      - name: Material\n", "      - name: Say\n        shell: bash\n        run: |\n          echo hello\n          echo \"${{ inputs.issue }}\"\n      - name: Material\n", "no expression in a script"},
	{"a title in an input", "", "with: {command: event}", "with: {command: event, issue: \"${{ github.event.issue.title }}\"}", "no untrusted text"},
	{"a comment's text in a condition", "", "if: needs.event.outputs.task == 'triage'", "if: contains(github.event.comment.body, '@bot')", "no untrusted text"},
	{"a job without a time limit", "triage", "    timeout-minutes: 75\n", "", "jobs with steps have a time limit"},
	{"a calling job with a time limit", "", "    needs: event\n", "    needs: event\n    timeout-minutes: 5\n", "jobs with steps have a time limit"},
	{"a group on the router", "", "permissions: {}\n", "permissions: {}\nconcurrency: {group: \"bot-${{ github.event.issue.number }}\", cancel-in-progress: true}\n", "groups span a task and its issue"},
	{"a group on a calling job", "", "    needs: event\n", "    needs: event\n    concurrency: {group: x, cancel-in-progress: false}\n", "groups span a task and its issue"},
	{"a group on analyze alone", "triage", "concurrency: # spans both jobs: an answer is written before the next run of this issue reads it\n  group: issue-assistant-triage-${{ inputs.issue }}\n  cancel-in-progress: false\n", "", "groups span a task and its issue"},
	{"a run that the next one cancels", "follow-up", "cancel-in-progress: false", "cancel-in-progress: true", "groups span a task and its issue"},
	{"a group named by the caller", "triage", "group: issue-assistant-triage-", "group: ${{ github.workflow }}-", "groups span a task and its issue"},
	{"dry_run beside dry-run", "triage", "      dry-run: {description: Write nothing, type", "      dry_run: {description: Write nothing, type", "an input has one name"},
	{"an input that no trigger has", "cost", "inputs.since", "inputs.until", "an input has one name"},
	{"an input that the task lacks", "", `comment: "${{ needs.event.outputs.comment }}"}`, `comment-id: "${{ needs.event.outputs.comment }}"}`, "an input has one name"},
	{"by hand it writes at once", "triage", "required: false, default: true}", "required: false, default: false}", "by hand means dry unless said otherwise"},
	{"apply does not hear of dry-run", "triage", `, dry-run: "${{ inputs.dry-run }}"`, "", "by hand means dry unless said otherwise"},
	{"bots by the actor", "", "github.event.sender.type != 'Bot'", "github.actor != 'github-actions[bot]'", "bots are known by the payload"},
	{"pull requests are not told apart", "", " && !github.event.issue.pull_request", "", "bots are known by the payload"},
	{"pull_request", "lifecycle", "  pull_request_target:\n", "  pull_request:\n", "only the triggers that are meant"},
	{"pull_request_target on the router", "", "  issue_comment:\n", "  pull_request_target:\n  issue_comment:\n", "only the triggers that are meant"},
	{"opened pull requests", "lifecycle", "types: [closed]", "types: [opened, closed]", "only the triggers that are meant"},
	{"a closing starts it too", "", "types: [opened, edited, reopened, labeled, unlabeled]", "types: [opened, edited, reopened, labeled, unlabeled, closed]", "only the triggers that are meant"},
	{"closed without a merge", "lifecycle", "github.event.pull_request.merged == true", "github.event.action == 'closed'", "pull requests count when they are merged"},
	{"any branch's labels", "labels", "github.ref_name == github.event.repository.default_branch", "github.event_name == 'push'", "a push counts on the default branch"},
	{"no switch", "cost", "    if: vars.ISSUE_ASSISTANT != 'off'\n", "", "every workflow has its switch"},
	{"a cache where the AI runs", "triage", "      - name: Material\n", "      - name: Cache\n        uses: actions/cache@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1\n      - name: Material\n", "no caches where the AI runs"},
	{"a step without a name", "triage", "      - name: Material\n        id: context\n", "      - id: context\n", "everything has a name"},
	{"a job without a name", "", "    name: Triage\n", "", "everything has a name"},
	{"a script without its shell", "triage", "      - name: Material\n", "      - name: Say\n        run: echo hello\n      - name: Material\n", "scripts run in bash"},
	{"apply on always()", "triage", "if: needs.analyze.outputs.ended == 'finished'", "if: always()", "apply waits for a finished run"},
	{"apply on any answer", "follow-up", "needs.analyze.outputs.ended == 'finished'", "needs.analyze.outputs.answer != ''", "apply waits for a finished run"},
	{"usage without always()", "triage", "if: always() && steps.engine.outputs.ready == 'true'", "if: steps.engine.outputs.ready == 'true'", "usage is always said"},
	{"a fixed name for the record", "triage", "issue-assistant-usage-${{ github.run_attempt }}", "issue-assistant-usage", "usage is always said"},
	{"the records of others are not handed on", "triage", "            ${{ runner.temp }}/issue-assistant-ledger.json\n", "", "usage is always said"},
	{"an upload that turns the job red", "triage", "        continue-on-error: true\n", "", "usage is always said"},
	{"the run before its limits are asked for", "triage", "command: context", "command: run", "the steps of a run come in order"},
	{"a run without material", "triage", " && steps.context.outputs.material != ''", "", "the steps of a run come in order"},
	{"a run that was skipped has no outcome", "triage", "steps.run.outcome == 'skipped' && 'not_started' || ", "", "the steps of a run come in order"},
	{"the engine's step with a token", "triage", "          github-token: \"\"\n", "", "the steps of a run come in order"},
	{"a step of another task", "follow-up", "          task: follow-up\n", "          task: triage\n", "the steps of a run come in order"},
	{"a condition that is always true", "triage", "if: needs.analyze.outputs.ended == 'finished'", "if: |\n      ${{ needs.analyze.outputs.ended == 'finished' }}", "conditions are plain"},
	{"text into the environment", "triage", "      - name: Material\n", "      - name: Say\n        shell: bash\n        run: cat labels >> \"$GITHUB_ENV\"\n      - name: Material\n", "no writes to the environment of later steps"},
}

func TestMutants(t *testing.T) {
	t.Parallel()
	tripped := map[string]bool{}
	for _, m := range mutants {
		tripped[m.rule] = true
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			files := rendered(t, engine.Claude)
			path := workflowPath(m.file)
			if !strings.Contains(files[path], m.old) {
				t.Fatalf("%s does not hold what the mutant changes: %q", path, m.old)
			}
			files[path] = strings.Replace(files[path], m.old, m.now, 1)
			found := violations(t, files, false)
			if len(found[m.rule]) == 0 {
				t.Errorf("the rule %q did not see it; seen: %v", m.rule, found)
			}
			if authorOf([]byte(files[path])) == pristine && withoutPinsDiffers(m) {
				t.Error("the checksum did not notice the edit")
			}
		})
	}
	for _, r := range rules {
		if !tripped[r.name] {
			t.Errorf("no mutant trips the rule %q", r.name)
		}
	}
}

// withoutPinsDiffers reports whether a mutant is more than another pin, which the checksum leaves out on purpose.
func withoutPinsDiffers(m mutant) bool {
	return m.rule != "actions are pinned"
}
