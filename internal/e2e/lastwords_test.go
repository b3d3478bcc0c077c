package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
)

// TestActKeepsTheLastWords: what a step says last, before it fails, is what most tests here read. An act without
// tools/act.patch closes the terminal of such a step before it has read it to its end.
func TestActKeepsTheLastWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, anthropic.Script{}, "")
	const steps = 8
	var flow strings.Builder
	flow.WriteString("name: Words\non: workflow_dispatch\njobs:\n  words:\n    name: Words\n    runs-on: ubuntu-latest\n    steps:\n")
	for i := range steps {
		// So many lines are more than act has read when the step ends.
		fmt.Fprintf(&flow, "      - continue-on-error: true\n        shell: bash\n        run: |\n"+
			"          for i in {1..400}; do echo \"a line of many\"; done\n          echo '::error::last words %d'\n          exit 1\n", i)
	}
	put(t, w.repo, ".github/workflows/words.yml", flow.String())
	r := w.run(t, start{event: "workflow_dispatch", workflow: "words.yml", payload: w.opened()})
	if r.code != 0 || len(r.errors) != steps {
		t.Errorf("rc %d, %d of %d annotations: %q; `make tools-act` builds an act that loses none", r.code, len(r.errors), steps, r.errors)
	}
}
