package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Need is one permission that a part of the product asks for, and why. Part is a command, with the task or the
// occasion behind it where only that one needs the scope.
type Need struct {
	Part  string
	Scope string
	Level string // read or write
	Why   string
	Chunk bool // only when [chunk] is set
}

// needs is the one table that all permission blocks and docs/reference/permissions.md are computed from.
var needs = []Need{
	{Part: "event", Scope: "actions", Level: "read", Why: "today's runs, for the limits of strangers"},
	{Part: "event", Scope: "actions", Level: "write", Why: "wakes the poll", Chunk: true},
	{Part: "event", Scope: "contents", Level: "read", Why: "settings"},
	{Part: "event", Scope: "issues", Level: "write", Why: "labels, reactions, reopening"},
	{Part: "engine", Scope: "actions", Level: "read", Why: "the ledger of this month's costs"},
	{Part: "engine", Scope: "contents", Level: "read", Why: "settings"},
	{Part: "engine", Scope: "issues", Level: "read", Why: "what is new"},
	{Part: "context", Scope: "issues", Level: "read", Why: "the issue"},
	{Part: "context", Scope: "contents", Level: "read", Why: "the code"},
	{Part: "context triage", Scope: "actions", Level: "read", Why: "the kept list of issues"},
	{Part: "context triage", Scope: "contents", Level: "read", Why: "releases"},
	{Part: "context triage", Scope: "discussions", Level: "read", Why: "questions that were answered"},
	{Part: "context triage", Scope: "pull-requests", Level: "read", Why: "fixes under way"},
	{Part: "run", Scope: "contents", Level: "read", Why: "the code"},
	{Part: "usage", Scope: "actions", Level: "read", Why: "the ledger of this month's costs"},
	{Part: "apply", Scope: "contents", Level: "read", Why: "files that the answer names"},
	{Part: "apply", Scope: "issues", Level: "write", Why: "one comment and labels"},
	{Part: "apply triage", Scope: "discussions", Level: "read", Why: "discussions that the answer names"},
	{Part: "apply triage", Scope: "pull-requests", Level: "read", Why: "whether a number is a pull request"},
	{Part: "sweep", Scope: "contents", Level: "read", Why: "settings, releases"},
	{Part: "sweep", Scope: "issues", Level: "write", Why: "comments, labels, closing"},
	{Part: "sweep", Scope: "pull-requests", Level: "read", Why: "the fixes of an issue"},
	{Part: "sweep daily", Scope: "actions", Level: "write", Why: "starts the triage of issues that waited"},
	{Part: "sweep merge", Scope: "actions", Level: "write", Why: "wakes the poll", Chunk: true},
	{Part: "labels", Scope: "contents", Level: "read", Why: "labels.toml"},
	{Part: "labels", Scope: "issues", Level: "write", Why: "labels of the repository"},
	{Part: "cost", Scope: "actions", Level: "read", Why: "records of the runs"},
	{Part: "cost", Scope: "contents", Level: "read", Why: "settings"},
	{Part: "findings", Scope: "contents", Level: "read", Why: "findings.toml"},
	{Part: "findings", Scope: "security-events", Level: "write", Why: "dismisses accepted alerts"},
	{Part: "chunk poll", Scope: "actions", Level: "write", Why: "switches this schedule off"},
	{Part: "chunk poll", Scope: "contents", Level: "read", Why: "settings"},
	{Part: "chunk poll", Scope: "issues", Level: "write", Why: "leases, labels and the record of the chunk"},
	{Part: "chunk poll", Scope: "pull-requests", Level: "read", Why: "what the claims wait for"},
	{Part: "chunk wrap", Scope: "actions", Level: "write", Why: "switches this schedule off"},
	{Part: "chunk wrap", Scope: "contents", Level: "read", Why: "settings"},
	{Part: "chunk wrap", Scope: "issues", Level: "write", Why: "releases claims, posts the report"},
	{Part: "chunk wrap", Scope: "pull-requests", Level: "read", Why: "what the claims wait for"},
}

// scope is one line of a permissions block.
type scope struct{ Name, Level, Why string }

// rowsOf names the rows of the table that hold for a part: "context follow-up" has those of "context", and, since a
// follow-up looks at other issues too, those of "context triage". Its answer names none, so "apply follow-up" has not.
func rowsOf(part string) []string {
	command, name, _ := strings.Cut(part, " ")
	switch {
	case command != "context" && command != "apply":
		return []string{command, part}
	case name == string(task.Triage), name == string(task.Reanalyze), name == string(task.FollowUp) && command == "context":
		return []string{command, command + " triage"}
	}
	return []string{command}
}

// scopesOf returns the union of what the parts need, by name.
func scopesOf(chunk bool, parts ...string) []scope {
	found := map[string]*scope{}
	for _, part := range parts {
		rows := rowsOf(part)
		for _, n := range needs {
			if !slices.Contains(rows, n.Part) || (n.Chunk && !chunk) {
				continue
			}
			s := found[n.Scope]
			if s == nil {
				found[n.Scope] = &scope{n.Scope, n.Level, n.Why}
				continue
			}
			if n.Level == "write" {
				s.Level = "write"
			}
			if !strings.Contains(s.Why, n.Why) {
				s.Why += "; " + n.Why
			}
		}
	}
	out := make([]scope, 0, len(found))
	for _, s := range found {
		out = append(out, *s)
	}
	slices.SortStableFunc(out, func(a, b scope) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// taskParts are the parts that run in the two jobs of a task's workflow.
func taskParts(name string) (analyze, apply []string) {
	return []string{"engine", "context " + name, "run", "usage"}, []string{"apply " + name}
}

func block(scopes []scope) string {
	lines := make([]string, 0, len(scopes))
	for _, s := range scopes {
		lines = append(lines, fmt.Sprintf("      %s: %s # %s", s.Name, s.Level, s.Why))
	}
	return strings.Join(lines, "\n")
}
