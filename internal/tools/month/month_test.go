package month

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func runsFolder(t *testing.T) string {
	t.Helper()
	return filepath.Join(testtool.Root(t), "internal", "tools", "pictures", "testdata", "runs")
}

// TestMonthIsTheSameEveryTime: the pictures and the comparison rest on the same runs, in the order of time, with sums that
// are those of their calls.
func TestMonthIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	recorded, err := Load(runsFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	first, err := Make(recorded)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Make(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	ended := map[engine.Ended]int{}
	for i, r := range first {
		ended[r.End.Ended]++
		sum := 0.0
		for _, c := range r.Calls {
			sum += c.CostUSD
		}
		if off := sum - r.End.CostUSD; off > 1e-9 || off < -1e-9 || r.End.Calls != len(r.Calls) {
			t.Errorf("run %d: %d calls of $%v, the end says %d of $%v", r.ID, len(r.Calls), sum, r.End.Calls, r.End.CostUSD)
		}
		if r.Run.Started.Before(Begin()) || !r.Run.Started.Before(End()) || i > 0 && r.Run.Started.Before(first[i-1].Run.Started) {
			t.Errorf("run %d started %v", r.ID, r.Run.Started)
		}
	}
	if ended[engine.Finished] < 40 || ended[engine.Turns] == 0 || ended[engine.ProviderError] == 0 {
		t.Errorf("%v", ended)
	}
	for name, r := range recorded {
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(data)
		if diff := cmp.Diff(r, again); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestNoRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "pictures-record") {
		t.Error(err)
	}
	for _, text := range []string{"", "{", `{"type":"issue_assistant.run"}`, `{"type":"issue_assistant.call","n":"x"}`} {
		if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "a.jsonl") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Make(map[string]Recorded{}); err == nil {
		t.Error("a month without a recorded run")
	}
}
