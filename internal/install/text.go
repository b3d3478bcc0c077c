package install

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// WorstCase says in one or two lines what all runs can cost at most with these settings.
func WorstCase(c config.Config) string {
	perRun := c.Engine.MaxBudgetUSD
	day := float64(c.Limits.RunsPerDay) * perRun
	month := c.Limits.MonthlyUSD
	var b strings.Builder
	if month > 0 && day > month {
		day = month
	}
	fmt.Fprintf(&b, "Worst case: %s a day from people without write access (%d runs, %d for each person, at %s), ",
		usd(day), c.Limits.RunsPerDay, c.Limits.RunsPerPersonPerDay, usd(perRun))
	if month > 0 {
		fmt.Fprintf(&b, "%s a month for all runs together (monthly_usd).", usd(month))
	} else {
		fmt.Fprintf(&b, "%s in a month of 31 days; runs that maintainers start come on top, because monthly_usd is 0.",
			usd(day*31))
	}
	return b.String()
}

func usd(v float64) string { return fmt.Sprintf("$%.2f", v) }

// NextSteps are the commands that remain, in order, to copy into a shell in the repository. gh fills {owner} and {repo}.
func NextSteps(p *Plan) string {
	var paths []string
	for _, c := range p.Changes {
		if c.writes() {
			paths = append(paths, c.Path)
		}
	}
	var b strings.Builder
	if !p.Pins.Assistant.released() {
		b.WriteString("# This commit is no release: its workflows run only while this variable is on.\ngh variable set ISSUE_ASSISTANT --body on\n\n")
	}
	b.WriteString(`# The environment that keeps the key; only the default branch may use it:
branch=$(gh repo view --json defaultBranchRef --jq .defaultBranchRef.name)
gh api -X PUT 'repos/{owner}/{repo}/environments/issue-assistant' -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true' --silent
gh api -X POST 'repos/{owner}/{repo}/environments/issue-assistant/deployment-branch-policies' -f "name=$branch" --silent

`)
	secrets := Secrets(p.Settings.Engine)
	fmt.Fprintf(&b, "# The key; gh asks for it. (Private repository on the Free plan: without --env, as a repository secret.)\ngh secret set %s --env issue-assistant\n", secrets[0])
	if p.Settings.Engine == engine.Claude {
		fmt.Fprintf(&b, "# or, for a subscription: gh secret set %s --env issue-assistant\n", secrets[1])
	}
	if len(paths) > 0 {
		b.WriteString("\n# Put the files on the default branch, by a pull request if that is your way; labels.toml there makes the labels:\n")
		fmt.Fprintf(&b, "git add -A -- %s\n", strings.Join(paths, " "))
		b.WriteString("git commit -m 'Set up the issue assistant' && git push\n")
	}
	b.WriteString(`
# Issues should close with the release, not with the merge: switch off "Auto-close issues with merged linked pull
# requests" under Settings, General, Issues, or set close_with_release = false.
gh repo view --web

# When the run "Issue assistant: labels" is done, look at all of it, with your own token:
GH_TOKEN=$(gh auth token) issue-assistant check --online
`)
	return b.String()
}
