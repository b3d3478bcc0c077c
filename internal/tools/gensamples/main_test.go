package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/meter"
)

func TestWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(file); err == nil {
		t.Error("samples were written below a file")
	}
	if _, err := (sample{}).recording(meter.Table{}); err == nil {
		t.Error("a recording was priced without a price")
	}
	for _, s := range samples() {
		for _, name := range []string{"issue.json", "recording.jsonl"} {
			want := unpacked(t, filepath.Join(dir, s.name, name+".gz"))
			got := unpacked(t, filepath.Join("..", "..", "cli", "sample", s.name, name+".gz"))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s/%s is not what `go run ./internal/tools/gensamples` writes (-want +got):\n%s", s.name, name, diff)
			}
		}
		// GitHub's limit for a body.
		if n := utf8.RuneCountInString(s.body); n > 65536 {
			t.Errorf("%s: a body of %d characters", s.name, n)
		}
	}
}

// unpacked is a file's text: what the compression makes of it may change with Go.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
