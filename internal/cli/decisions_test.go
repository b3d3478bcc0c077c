package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// runMain runs one command in this process, without an environment of its own.
func runMain(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), Env{
		Args:    args,
		Getenv:  func(string) string { return "" },
		Environ: func() []string { return nil },
		Stdin:   bytes.NewBufferString(stdin),
		Stdout:  &out,
		Stderr:  &errs,
		Now:     func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		Sleep:   func(time.Duration) {},
		Dir:     t.TempDir(),
	})
	return code, out.String(), errs.String()
}

// TestDecisionRows runs every row through its command: what comes out is exactly what is expected, and so is the exit code.
func TestDecisionRows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "sessions", "*.json"))
	if err != nil || len(files) < 60 {
		t.Fatalf("%d rows, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var row struct {
				Command string          `json:"command"`
				Input   json.RawMessage `json:"input"`
				Expect  map[string]any  `json:"expect"`
			}
			if err := json.Unmarshal(data, &row); err != nil {
				t.Fatal(err)
			}
			args := map[string][]string{
				"session decide": {"session", "decide", "--input", "-", "--json"},
				"chunk poll":     {"chunk", "poll", "--state", "-", "--json"},
				"chunk wrap":     {"chunk", "wrap", "--state", "-", "--json"},
			}[row.Command]
			code, out, errs := runMain(t, string(row.Input), args...)
			var got map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("exit %d: %v\n%s", code, err, errs)
			}
			if diff := cmp.Diff(row.Expect, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if exit, ok := row.Expect["exit"].(float64); ok && code != int(exit) || !ok && code != 0 {
				t.Errorf("exit %d", code)
			}
		})
	}
}
