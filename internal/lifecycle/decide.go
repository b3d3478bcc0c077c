package lifecycle

import (
	"fmt"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// Verb is what a step does on GitHub.
type Verb string

// The verbs.
const (
	VerbComment   Verb = "comment"
	VerbLabel     Verb = "label"
	VerbUnlabel   Verb = "unlabel"
	VerbClose     Verb = "close"
	VerbReopen    Verb = "reopen"
	VerbMilestone Verb = "milestone"
)

// Step is one write. The steps of a decision are done in order; after one that fails the rest waits for the next sweep.
type Step struct {
	Verb     Verb
	Marker   comment.Marker // comment
	Date     time.Time      // of a reminder: when the issue is closed
	Label    string
	Reason   string // close
	Original int    // close: the issue that it is a duplicate of
	Release  ghapi.Release
	Optional bool // a failure is noted and the next step is done
}

// String says in fixed words and numbers what the step does.
func (s Step) String() string {
	switch s.Verb {
	case VerbComment:
		return "comment: " + s.Marker.Kind
	case VerbLabel:
		return "add the label " + s.Label
	case VerbUnlabel:
		return "remove the label " + s.Label
	case VerbClose:
		if s.Original != 0 {
			return fmt.Sprintf("close as a duplicate of #%d", s.Original)
		}
		return "close as " + s.Reason
	case VerbReopen:
		return "reopen"
	case VerbMilestone:
		return "put it into the release's milestone"
	}
	return string(s.Verb)
}

// Topic is the paragraph of the digest in which an issue stands.
type Topic string

// The topics, in the order of the digest.
const (
	TopicFixed     Topic = "marked as fixed"
	TopicReleased  Topic = "released"
	TopicReverted  Topic = "fix taken back"
	TopicReopened  Topic = "reopened"
	TopicClosed    Topic = "closed without an answer"
	TopicDuplicate Topic = "closed as a duplicate"
	TopicObjection Topic = "objections to a duplicate"
	TopicReminded  Topic = "reminded"
	TopicAnswered  Topic = "answered, wait for a maintainer"
	TopicTidied    Topic = "labels tidied"
	TopicWaiting   Topic = "wait for their reporter"
	TopicPending   Topic = "wait for a release"
	TopicNoFix     Topic = "labeled as fixed by hand, no fix is known: no release closes them"
	TopicExempt    Topic = "exempt"
)

var topics = [...]Topic{
	TopicFixed, TopicReleased, TopicReverted, TopicReopened, TopicClosed, TopicDuplicate, TopicObjection, TopicReminded, TopicAnswered,
	TopicTidied, TopicWaiting, TopicPending, TopicNoFix, TopicExempt,
}

// Decision is what happens to an issue, and where the digest tells it.
type Decision struct {
	Topic Topic // empty: the issue is not told
	Steps []Step
	Note  string // fixed words and numbers
}

func say(m comment.Marker) Step { return Step{Verb: VerbComment, Marker: m} }

// add and remove are steps only where they change something.
func (f Facts) add(label string) []Step {
	if f.Issue.HasLabel(label) {
		return nil
	}
	return []Step{{Verb: VerbLabel, Label: label}}
}

func (f Facts) remove(labels ...string) []Step {
	var out []Step
	for _, l := range labels {
		if f.Issue.HasLabel(l) {
			out = append(out, Step{Verb: VerbUnlabel, Label: l})
		}
	}
	return out
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
