//go:build unix

package ghaction

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAPipeThatNobodyReads: to open it would wait for ever.
func TestAPipeThatNobodyReads(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r := Runner{SummaryFile: pipe, OutputFile: pipe, Out: io.Discard}
	for name, err := range map[string]error{"summary": r.AddSummary("x"), "outputs": r.SetOutputs(Output{Name: "a", Value: "b"})} {
		if err == nil || !strings.Contains(err.Error(), "is a pipe that nobody reads") {
			t.Errorf("%s: %v", name, err)
		}
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.AddSummary("line\n"); err != nil {
		t.Errorf("with a reader: %v", err)
	}
	var buf [64]byte
	n, err := reader.Read(buf[:])
	if err = errors.Join(err, reader.Close()); err != nil || !bytes.Equal(buf[:n], []byte("line\n")) {
		t.Errorf("%q, %v", buf[:n], err)
	}
}
