package claude

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

var update = flag.Bool("update", false, "write testdata/outcomes.golden anew")

// TestOutcomes reads the recorded streams of the real program; each line of the golden file was compared with what the
// recording is named for.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs", "claude-*.jsonl"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d recordings (%v)", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		s := New().NewStream()
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			s.Line(sc.Bytes())
		}
		if err := sc.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		o := s.Outcome()
		cost := "?"
		if o.CostKnown {
			cost = fmt.Sprintf("$%.4f", o.CostUSD)
		}
		fmt.Fprintf(&got, "%-50s %-14s status %3d, %d turns, %s, answer %t, %d handed in, %d denied\n",
			strings.TrimSuffix(filepath.Base(file), ".jsonl"), o.Ended, o.Status, o.Turns, cost, o.Answer != nil, len(o.Candidates), o.ToolsDenied)
	}
	golden := filepath.Join("testdata", "outcomes.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}
