package cli

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"
)

// TestCommandsThatWaitForTheirInputCanBeInterrupted: nobody writes into the pipe, as at a terminal, and the command ends
// all the same when it is told to.
func TestCommandsThatWaitForTheirInputCanBeInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	waiting := [][]string{
		{"sanitize"},
		{"session", "decide", "--input", "-"},
		{"chunk", "poll", "--state", "-"},
		{"try", "-"},
		{"try", "--answer-file", "-"},
		{"apply", "--task", "triage", "--issue", "1", "--answer-file", "-"},
	}
	if makePipe(filepath.Join(dir, "pipe.json")) == nil {
		waiting = append(waiting, []string{"session", "decide", "--input", "pipe.json"}, []string{"similar", "1", "--issues", "pipe.json"},
			[]string{"chunk", "poll", "--state", "pipe.json"}, []string{"try", "pipe.json"})
	}
	for _, args := range waiting {
		stdin, writer := io.Pipe()
		t.Cleanup(func() { _ = writer.Close() })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		go func() {
			ended <- Main(ctx, Env{
				Args: args, Dir: dir, Stdin: stdin, Stdout: io.Discard, Stderr: io.Discard,
				Getenv: func(string) string { return "" }, Environ: func() []string { return nil }, Now: time.Now,
			})
		}()
		time.Sleep(10 * time.Millisecond)
		cancel()
		select {
		case code := <-ended:
			if code == ExitOK {
				t.Errorf("%v: exit 0 without an input", args)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v still waits", args)
		}
	}
}
