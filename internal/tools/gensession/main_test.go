package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func TestCommittedSchemasAreTheGeneratedOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, schema := range schemas() {
		if err := write(filepath.Join(dir, name), schema); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(testtool.Root(t), "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what `go run ./internal/tools/gensession` writes (-want +got):\n%s", name, diff)
		}
	}
}
