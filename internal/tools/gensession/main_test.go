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
	if err := writeAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(filepath.Join(dir, "no-such-folder")); err == nil {
		t.Error("a folder that is not there was written to")
	}
	for name := range schemas() {
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
