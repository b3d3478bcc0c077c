package ledger

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghzips"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// TestHostileArchives: an archive that attacks counts for nothing, and its run at its budget.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	own, err := json.Marshal(record(100, 0.25))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range ghzips.Archives(t, RecordFile, own, maxFile+1) {
		g := newGitHub()
		g.start(100, triage)
		g.upload(1, 100, now, data)
		var warned []string
		r := reader(g)
		r.Warn = func(text string) { warned = append(warned, text) }
		got, err := r.Read(t.Context(), MonthOf(now))
		if name == "encrypted" { // the flag alone hides nothing: the words are there to read
			continue
		}
		if err != nil || got.Ledger.Len() != 0 || len(got.Lost) != 1 {
			t.Errorf("%s: %d records, lost %v, %v", name, got.Ledger.Len(), got.Lost, err)
		}
		if len(warned) != 1 || strings.ContainsAny(warned[0], "\n:{") && !strings.Contains(warned[0], "does not count") {
			t.Errorf("%s: said %q", name, warned)
		}
	}
}

// What expires between the list and the download, and nobody carries, has cost its run's budget.
func TestExpiredMeanwhile(t *testing.T) {
	t.Parallel()
	g := newGitHub()
	g.start(100, triage)
	g.upload(1, 100, now, nil)
	delete(g.zips, 1)
	if got := read(t, g); got.Ledger.Len() != 0 || len(got.Lost) != 1 {
		t.Errorf("%d records, lost %v", got.Ledger.Len(), got.Lost)
	}
	g.start(101, triage)
	g.upload(2, 101, now.Add(1), zipOf(t, map[string]any{
		RecordFile: record(101, 0.5), CarriedFile: Carried{Schema: Version, Records: []usage.Record{record(100, 0.25)}, Artifacts: []int64{1}},
	}))
	if got := read(t, g); got.Ledger.Len() != 2 || len(got.Lost) != 0 {
		t.Errorf("%d records, lost %v", got.Ledger.Len(), got.Lost)
	}
}
