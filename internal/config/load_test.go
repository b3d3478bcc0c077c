package config_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

// TestSettingsAreFiles: opening a pipe waits for its writer for ever, and a device such as /dev/zero never ends.
func TestSettingsAreFiles(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice, fs.ModeSocket} {
		root := fstest.MapFS{config.Path: {Mode: mode, Data: []byte("x")}}
		if _, err := config.ReadFile(root, config.Path, 10); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%v: %v", mode, err)
		}
	}
}
