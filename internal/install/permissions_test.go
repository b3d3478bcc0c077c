package install

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// permissionsPage is docs/reference/permissions.md: what each part needs and why, and what each job is granted.
func permissionsPage() string {
	var b strings.Builder
	b.WriteString(`# Permissions

Every workflow starts from ` + "`permissions: {}`" + `; each job is granted what the commands in it need, nothing else. Both tables
are computed from the table in ` + "`internal/install/scopes.go`" + ` that the generated workflows come from.

## What a part needs

A part is a command; "triage" behind it stands for every task that looks at more than its issue and its comment:
triage, reanalyze and, in context only, follow-up, whose answer names no other issue.

| part | scope | why |
|---|---|---|
`)
	for _, n := range needs {
		part := n.Part
		if n.Chunk {
			part += " (with `[chunk]`)"
		}
		fmt.Fprintf(&b, "| %s | `%s: %s` | %s |\n", part, n.Scope, n.Level, n.Why)
	}
	b.WriteString("\n## What a job is granted\n\n| workflow | job | scopes |\n|---|---|---|\n")
	row := func(file, job string, parts ...string) {
		var words []string
		for _, s := range scopesOf(false, parts...) {
			words = append(words, "`"+s.Name+": "+s.Level+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", file, job, strings.Join(words, ", "))
	}
	row("issue-assistant", "event", "event")
	for _, t := range tasks {
		analyze, apply := taskParts(string(t.Name))
		row("issue-assistant", "call of "+string(t.Name), slices.Concat(analyze, apply)...)
		row("issue-assistant-"+string(t.Name), "analyze", analyze...)
		row("issue-assistant-"+string(t.Name), "apply", apply...)
	}
	row("issue-assistant-lifecycle", "sweep", "sweep daily")
	row("issue-assistant-lifecycle", "fixes", "sweep merge")
	row("issue-assistant-labels", "labels", "labels")
	row("issue-assistant-cost", "cost", "cost")
	row("issue-assistant-findings", "findings", "findings")
	row("issue-assistant-poll", "gate", "chunk poll")
	row("issue-assistant-poll", "finish", "chunk wrap")
	b.WriteString("\nThe job `work` of the poll workflow is granted what the called workflow's jobs ask for.\n")
	return b.String()
}

func TestPermissionsPage(t *testing.T) {
	t.Parallel()
	golden(t, "docs/reference/permissions.md", permissionsPage())
}
