package config

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/glob"
)

// Label is one [[label]] of labels.toml.
type Label struct {
	Name        string
	Color       string // six hex digits, lower case
	Description string
	Group       string   // one of Groups
	FormOptions []string // answers of the form's area field that choose this label
	Ask         bool     // whether an issue of this kind may be asked for more; true unless the file says false
	Previous    []string // former names: `labels` renames instead of creating
}

// LabelFile is labels.toml.
type LabelFile struct {
	Labels []Label
}

// The groups of labels. An answer chooses among the first three.
const (
	GroupType       = "type"
	GroupArea       = "area"
	GroupTopic      = "topic"
	GroupLifecycle  = "lifecycle"
	GroupDecision   = "decision"
	GroupRelease    = "release"
	GroupDependabot = "dependabot"
)

// Groups lists every group.
var Groups = []string{GroupType, GroupArea, GroupTopic, GroupLifecycle, GroupDecision, GroupRelease, GroupDependabot}

// The labels that the assistant itself sets and takes away.
const (
	LabelNeedsTriage = "needs-triage"
	LabelNeedsInfo   = "needs-info"
	LabelStale       = "stale"
	LabelPossible    = "possible-duplicate"
	LabelDuplicate   = "duplicate"
	LabelInvalid     = "invalid"
	LabelFixed       = "fixed-in-next-release"
	LabelOff         = "issue-assistant:off"
)

// The labels of chunks (`issue-assistant chunk`): an index for people and for queries, never the truth. Ready is set by
// people only.
const (
	LabelChunk   = "issue-assistant:chunk"
	LabelClaimed = "issue-assistant:claimed"
	LabelReady   = "issue-assistant:ready"
	LabelBacklog = "issue-assistant:backlog"
	LabelPaused  = "issue-assistant:paused"
)

// LifecycleLabels lists them in the order of the documentation.
var LifecycleLabels = []string{
	LabelNeedsTriage, LabelNeedsInfo, LabelStale, LabelPossible, LabelDuplicate,
	LabelInvalid, LabelFixed, LabelOff,
}

// FoldLabel is the form in which two names are the same label: GitHub compares without regard to case.
func FoldLabel(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// In returns the labels of a group in the order of the file.
func (f LabelFile) In(group string) []Label {
	var in []Label
	for _, l := range f.Labels {
		if l.Group == group {
			in = append(in, l)
		}
	}
	return in
}

// Find returns the label of that name, without regard to case.
func (f LabelFile) Find(name string) (Label, bool) {
	for _, l := range f.Labels {
		if FoldLabel(l.Name) == FoldLabel(name) {
			return l, true
		}
	}
	return Label{}, false
}

// DenyLabel reports whether one of the patterns of [labels] deny covers the name: * stands for any text, and case
// does not matter.
func DenyLabel(patterns []string, name string) bool {
	for _, p := range patterns {
		if glob.Text(FoldLabel(p), FoldLabel(name)) {
			return true
		}
	}
	return false
}
