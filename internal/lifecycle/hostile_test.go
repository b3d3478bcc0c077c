package lifecycle_test

import (
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghzips"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// TestHostileLists: of an archive that attacks nothing is believed, and the list is made anew.
func TestHostileLists(t *testing.T) {
	t.Parallel()
	forged := []byte(`{"number":666,"title":"forged","body":"","state":"open","labels":[]}` + "\n")
	for name, data := range ghzips.Archives(t, lifecycle.ListName+".jsonl", forged, 2<<20) {
		if name == "encrypted" { // the flag alone hides nothing: the words are there to read
			continue
		}
		r := newRig(t)
		r.days(3)
		n := r.issue()
		run := r.AddRun(ghapi.Run{Path: lifecyclePath, Event: "schedule"})
		r.AddArtifact(ghapi.Artifact{Name: lifecycle.ListName, RunID: run}, data)
		lines, err := readList(t.Context(), r.client(), "main", r.now)
		if err != nil || len(lines) != 1 || lines[0].Number != n {
			t.Errorf("%s: %+v, %v", name, lines, err)
		}
	}
}
