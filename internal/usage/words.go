package usage

import (
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// MaxIssue is the largest issue number that is taken for one.
const MaxIssue = 1<<31 - 1

var taskWord = lazy.Regexp(`^[a-z][a-z0-9-]{0,39}$`)

// Word returns text when it may stand for a task, else "": lower-case letters, digits and hyphens.
func Word(text string) string {
	if !taskWord().MatchString(text) {
		return ""
	}
	return text
}

func knownEngine(name engine.Name) bool { return slices.Contains(engine.Names, name) }

func knownBasis(b Basis) bool { return slices.Contains(bases, b) }

func basisOf(s enginelog.Summary) Basis {
	switch {
	case s.CostUSD == nil:
		return BasisUnknown
	case s.Estimate:
		return BasisEstimate
	case s.ListPrice:
		return BasisListPrice
	}
	return BasisEngine
}
