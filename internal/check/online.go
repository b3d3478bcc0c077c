package check

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/install"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// environment is the one that the generated workflows name.
const environment = "issue-assistant"

// GitHub switches the schedules of a public repository off after 60 days without activity.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
const (
	idleDays     = 60
	idleSoonDays = 45
	monthDays    = 31
)

// Setup is a checkout whose repository on GitHub is compared with it.
type Setup struct {
	Root   fs.FS
	Config config.Config
	Labels config.LabelFile
	Now    time.Time
}

// Online compares the repository's settings on GitHub with the set-up, by reads alone. What the token may not read is a
// notice. The error means that the repository itself cannot be read. The paths of the findings are pages of GitHub
// below the server's address.
func Online(ctx context.Context, c *ghapi.Client, s Setup) ([]diag.Diagnostic, error) {
	repo, err := c.Repository(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	o := &online{Setup: s, client: c, repo: repo, router: read(s.Root, workflowsDir+"/issue-assistant.yml")}
	o.repository()
	for _, step := range []func(context.Context){o.actions, o.environment, o.secrets, o.labels, o.workflows, o.activity, o.variable} {
		step(ctx)
	}
	if s.Config.Lifecycle.CloseWithRelease {
		o.say(diag.Notice, "settings", "online-unknown", `whether "Auto-close issues with merged linked pull requests" is off cannot be read from GitHub`,
			"look under Settings, General, Issues: fixed issues should stay open until the release; or write close_with_release = false")
	}
	return o.ds, nil
}

type online struct {
	Setup
	client *ghapi.Client
	repo   ghapi.Repository
	router *file // nil: not installed
	ds     []diag.Diagnostic
}

func (o *online) say(severity diag.Severity, page, code, message, hint string) {
	path := o.client.Repo()
	if page != "" {
		path += "/" + page
	}
	o.ds = append(o.ds, diag.Diagnostic{Path: path, Severity: severity, Code: code, Message: message, Hint: hint})
}

// unknown says that something could not be read, and why.
func (o *online) unknown(page, what string, err error) {
	hint := "look at the page yourself, or give the token of somebody who may administrate the repository"
	if kind := ghapi.KindOf(err); kind != ghapi.KindForbidden && kind != ghapi.KindNotFound && kind != ghapi.KindUnauthorized {
		hint = "try again later"
	}
	o.say(diag.Notice, page, "online-unknown", fmt.Sprintf("%s cannot be read: %q", what, err.Error()), hint)
}

func (o *online) repository() {
	if o.repo.Archived {
		o.say(diag.Error, "settings", "online-archived", "the repository is archived: no workflow starts and nothing can be posted", "unarchive it under Settings, General")
	}
	if !o.repo.HasIssues {
		o.say(diag.Error, "settings", "online-issues-off", "the repository has no issues", "switch them on under Settings, General, Features")
	}
}

var assistantUses = lazy.Regexp(`(?m)^\s*(?:- )?uses: ([\w.-]+/[\w.-]*issue-assistant[\w.-]*)@([0-9a-f]{40})`)

func (o *online) actions(ctx context.Context) {
	const page = "settings/actions"
	a, err := o.client.ActionsSettings(ctx)
	switch {
	case err != nil:
		o.unknown(page, "whether Actions may run", err)
	case !a.Enabled:
		o.say(diag.Error, page, "online-actions-off", "GitHub Actions are switched off: no event starts anything", "allow them under Settings, Actions, General")
	case a.Allowed == "local_only":
		o.say(diag.Error, page, "online-actions-allowed", "only actions of this repository or its owner may run: the workflows use actions/checkout and the assistant's action",
			"allow selected actions and list both")
	case a.Allowed == "selected":
		o.selected(ctx)
	}
	if writes, err := o.client.DefaultTokenWrites(ctx); err != nil {
		o.unknown(page, "the default rights of workflow tokens", err)
	} else if writes {
		o.say(diag.Warning, page, "online-token-writes", "a workflow that states no permissions gets a token that writes; the assistant's workflows state theirs, others may not",
			`choose "Read repository contents and packages permissions"`)
	}
	if days, err := o.client.ArtifactDays(ctx); err != nil {
		o.unknown(page, "how long artifacts are kept", err)
	} else if days < monthDays {
		o.say(diag.Warning, page, "online-retention", fmt.Sprintf("artifacts are kept for %d days: the records of a month's costs are lost before it ends, so monthly_usd counts less than was spent", days),
			fmt.Sprintf("keep them for at least %d days", monthDays))
	}
}

func (o *online) selected(ctx context.Context) {
	const page = "settings/actions"
	s, err := o.client.SelectedActions(ctx)
	if err != nil {
		o.unknown(page, "the list of allowed actions", err)
		return
	}
	needed := []string{"actions/checkout", "actions/upload-artifact"}
	if s.GitHubOwned {
		needed = nil
	}
	if o.router != nil {
		if m := assistantUses().FindStringSubmatch(o.router.text); m != nil {
			needed = append(needed, m[1])
		}
	}
	for _, name := range needed {
		if !slices.ContainsFunc(s.Patterns, func(p string) bool {
			p, _, _ = strings.Cut(p, "@")
			return covers(p, name)
		}) {
			o.say(diag.Error, page, "online-actions-allowed", fmt.Sprintf("the allowed actions do not cover %s, which the workflows use", shorten.Quoted(name)), fmt.Sprintf("add %s@* to the list", name))
		}
	}
}

// covers matches a pattern of GitHub's settings, in which * stands for any text.
func covers(pattern, name string) bool { return config.DenyLabel([]string{pattern}, name) }

func (o *online) environment(ctx context.Context) {
	const page = "settings/environments"
	e, there, err := o.client.Environment(ctx, environment)
	branch := o.repo.DefaultBranch
	hint := fmt.Sprintf("under Deployment branches and tags choose selected branches and add %s alone; install prints the commands", shorten.Quoted(branch))
	switch {
	case err != nil:
		o.unknown(page, "the environment "+environment, err)
	case !there && o.repo.Private:
		o.say(diag.Warning, page, "online-environment", "there is no environment issue-assistant: the key is a secret of the repository, which every workflow of every branch can read",
			"make the environment and move the key there; the Free plan has none for private repositories")
	case !there:
		o.say(diag.Error, page, "online-environment", "there is no environment issue-assistant to keep the key", "make it; install prints the commands")
	case !e.ProtectedBranches && !e.CustomBranches:
		o.say(diag.Error, page, "online-branches", "the environment admits every branch: who can push one can read the key", hint)
	case e.ProtectedBranches:
		o.say(diag.Warning, page, "online-branches", "the environment admits all protected branches, not the default branch alone", hint)
	default:
		if !slices.ContainsFunc(e.Branches, func(p string) bool { return covers(p, branch) }) {
			o.say(diag.Error, page, "online-branches", fmt.Sprintf("the environment does not admit the default branch %s: no run gets the key", shorten.Quoted(branch)), hint)
		}
		for _, b := range e.Branches {
			if b != branch {
				o.say(diag.Error, page, "online-branches", fmt.Sprintf("the environment admits %s beside the default branch: who can push there can read the key", shorten.Quoted(b)), hint)
			}
		}
	}
	if there && e.Reviewers {
		o.say(diag.Warning, page, "online-reviewers", "the environment asks for reviewers: every run waits for a person", "remove them, or expect to approve each run")
	}
}

func (o *online) secrets(ctx context.Context) {
	names := install.Secrets(o.Config.Engine.Name)
	var inEnvironment, inRepository []string
	known := true
	for _, name := range names {
		in, err := o.client.HasEnvironmentSecret(ctx, environment, name)
		if err != nil {
			o.unknown("settings/environments", "whether the environment has the secret "+name, err)
			known = false
		} else if in {
			inEnvironment = append(inEnvironment, name)
		}
		if in, err = o.client.HasSecret(ctx, name); err != nil {
			o.unknown("settings/secrets/actions", "whether the repository has the secret "+name, err)
			known = false
		} else if in {
			inRepository = append(inRepository, name)
		}
	}
	switch {
	case len(inEnvironment) == 0 && len(inRepository) == 0 && known:
		o.say(diag.Error, "settings/environments", "online-secret", fmt.Sprintf("no secret %s: the engine %s has no key", strings.Join(names, " or "), o.Config.Engine.Name),
			fmt.Sprintf("gh secret set %s --env %s", names[0], environment))
	case len(inRepository) > 0:
		o.say(diag.Warning, "settings/secrets/actions", "online-secret", fmt.Sprintf("%s is a secret of the repository: every workflow of every branch can read it", strings.Join(inRepository, ", ")),
			fmt.Sprintf("gh secret set %s --env %s, then gh secret delete %s", inRepository[0], environment, inRepository[0]))
	}
	if len(inEnvironment) > 1 {
		o.say(diag.Warning, "settings/environments", "online-secret", strings.Join(inEnvironment, " and ")+" are both set: the engine takes one of them", "keep the one that should pay")
	}
}

func (o *online) labels(ctx context.Context) {
	have, err := o.client.Labels(ctx)
	if err != nil {
		o.unknown("labels", "the labels", err)
		return
	}
	there := map[string]bool{}
	for _, l := range have {
		there[config.FoldLabel(l.Name)] = true
	}
	var others []string
	for _, l := range o.Labels.Labels {
		renamed := slices.ContainsFunc(l.Previous, func(p string) bool { return there[config.FoldLabel(p)] })
		switch {
		case there[config.FoldLabel(l.Name)]:
		case l.Group == config.GroupLifecycle:
			o.say(diag.Error, "labels", "online-label", fmt.Sprintf("the label %s is missing: the assistant sets it itself", shorten.Quoted(l.Name)), "gh workflow run issue-assistant-labels.yml -f dry-run=false")
		case !renamed:
			others = append(others, shorten.Quoted(l.Name))
		}
	}
	if len(others) > 0 {
		o.say(diag.Warning, "labels", "online-label", fmt.Sprintf("labels of %s that the repository lacks: %s", config.LabelsPath, strings.Join(others[:min(len(others), 10)], ", ")),
			"gh workflow run issue-assistant-labels.yml -f dry-run=false")
	}
}

func (o *online) workflows(ctx context.Context) {
	have, err := o.client.Workflows(ctx)
	if err != nil {
		o.unknown("actions", "the workflows", err)
		return
	}
	states := map[string]string{}
	for _, w := range have {
		states[w.Path] = w.State
	}
	for _, p := range install.Known() {
		if read(o.Root, p) == nil {
			continue
		}
		name := strings.TrimPrefix(p, workflowsDir+"/")
		switch state, there := states[p]; {
		case !there:
			o.say(diag.Error, "actions", "online-workflow", name+" is not on the default branch: nothing starts it", "push it, by a pull request if that is your way")
		case state == "disabled_inactivity":
			o.say(diag.Error, "actions", "online-workflow", name+" was switched off by GitHub, because the repository was idle", "gh workflow enable "+name)
		case state == "active":
		case strings.HasSuffix(name, "-poll.yml"): // the poll switches itself off while nothing is live
		default:
			o.say(diag.Warning, "actions", "online-workflow", fmt.Sprintf("%s is switched off (%s)", name, shorten.Quoted(state)), "gh workflow enable "+name+", if that was not meant")
		}
	}
}

func (o *online) activity(ctx context.Context) {
	if o.repo.Private {
		return // schedules of private repositories go on
	}
	last, err := o.client.Commits(ctx, o.repo.DefaultBranch, time.Time{}, 1)
	if err != nil {
		o.unknown("commits", "the newest commit", err)
		return
	}
	if len(last) == 0 {
		return
	}
	switch days := int(o.Now.Sub(last[0].Date).Hours() / 24); {
	case days >= idleDays:
		o.say(diag.Warning, "actions", "online-idle", fmt.Sprintf("the newest commit is %d days old: GitHub switches the schedules of an idle public repository off after %d", days, idleDays),
			"push something, then gh workflow enable issue-assistant-lifecycle.yml")
	case days >= idleSoonDays:
		o.say(diag.Warning, "actions", "online-idle", fmt.Sprintf("the newest commit is %d days old: in %d days GitHub switches the schedules off", days, idleDays-days), "push something before that")
	}
}

func (o *online) variable(ctx context.Context) {
	const page = "settings/variables/actions"
	text, _, err := o.client.Variable(ctx, "ISSUE_ASSISTANT")
	switch {
	case err != nil:
		o.unknown(page, "the variable ISSUE_ASSISTANT", err)
	case text == "off":
		o.say(diag.Warning, page, "online-off", "the variable ISSUE_ASSISTANT is off: nothing starts", "gh variable delete ISSUE_ASSISTANT")
	case o.router != nil && text != "on" && strings.Contains(o.router.text, "vars.ISSUE_ASSISTANT == 'on'"):
		o.say(diag.Error, page, "online-off", "these workflows use a commit that is no release: they start only while the variable ISSUE_ASSISTANT is on", "gh variable set ISSUE_ASSISTANT --body on")
	}
}
