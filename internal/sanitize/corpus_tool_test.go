package sanitize

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestMoveFindings turns what fuzzing wrote to testdata/fuzz into corpus files that every test reads.
// Run it by MOVE_FINDINGS=1; it does nothing else.
func TestMoveFindings(t *testing.T) {
	t.Parallel()
	testtool.Asked(t, "MOVE_FINDINGS", "MOVE_FINDINGS=1 go test ./internal/sanitize -run MoveFindings")
	files, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzComment", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(data), "string(")
		text, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(line), ")"))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "corpus", filepath.Base(file)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
