package cli

import (
	"bytes"
	"io/fs"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// checkLater names settings whose part of the product is not in this release, so that nobody waits for their effect.
func checkLater(root fs.FS) []diag.Diagnostic {
	c, ds, err := config.LoadRepo(root)
	if err != nil || diag.HasErrors(ds) {
		return nil // said by checkSettings
	}
	var found []diag.Diagnostic
	if c.Chunk != nil {
		found = append(found, diag.Diagnostic{
			Path: config.Path, Line: lineOf(root, "[chunk]"), Severity: diag.Error, Code: "chunk-later",
			Message: "the poll workflow of [chunk] needs commands that are not in this release",
			Hint:    "remove the table; `issue-assistant chunk poll --state FILE.json` decides offline",
		})
	}
	if c.Sessions.Mode != "off" {
		found = append(found, diag.Diagnostic{
			Path: config.Path, Line: lineOf(root, "[sessions]"), Severity: diag.Warning, Code: "sessions-later",
			Message: "sessions.mode has no effect in this release: every run starts fresh",
			Hint:    "`issue-assistant session decide` shows what would be decided",
		})
	}
	return found
}

// lineOf is the line on which the settings say something, 0 when it stands nowhere by itself.
func lineOf(root fs.FS, text string) int {
	data, err := fs.ReadFile(root, config.Path)
	if err != nil {
		return 0
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte(text)) {
			return i + 1
		}
	}
	return 0
}
