// Package task knows the five tasks: what each may use, and how its limits travel from one step of a job to the next.
package task

import (
	"fmt"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Name is a task's name, as it stands in workflows, outputs and records.
type Name string

// The tasks.
const (
	Triage          Name = "triage"           // a new issue
	Reanalyze       Name = "reanalyze"        // a maintainer asks for a new analysis
	FollowUp        Name = "follow-up"        // the reporter answered
	MaintainerReply Name = "maintainer-reply" // does the issue now wait for its reporter?
	ReleaseReply    Name = "release-reply"    // does the problem persist after the release?
	None            Name = "none"             // nothing to do
)

// Names lists the five tasks without None.
var Names = []Name{Triage, Reanalyze, FollowUp, MaintainerReply, ReleaseReply}

// maxShown bounds what a reason shows of a foreign word, in characters.
const maxShown = 60

// Parse reads a task's name; None is one.
func Parse(text string) (Name, error) {
	if n := Name(text); n == None || slices.Contains(Names, n) {
		return n, nil
	}
	names := make([]string, len(Names))
	for i, n := range Names {
		names[i] = string(n)
	}
	if text == "" {
		return "", fmt.Errorf("no task is named: use one of %s", strings.Join(names, ", "))
	}
	return "", fmt.Errorf("unknown task %q: use one of %s", shorten.To(maxShown, text), strings.Join(names, ", "))
}

// IsReply reports whether the task is a yes-or-no question over two files, asked of the light model.
func (n Name) IsReply() bool { return n == MaintainerReply || n == ReleaseReply }
