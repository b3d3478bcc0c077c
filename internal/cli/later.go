package cli

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// checkLater names settings whose part of the product is not in this release, so that nobody waits for their effect.
func checkLater(root fs.FS) []diag.Diagnostic {
	c, ds, err := config.LoadRepo(root)
	if err != nil || diag.HasErrors(ds) {
		return nil // said by checkSettings
	}
	var found []diag.Diagnostic
	if c.Sessions.Mode == config.SessionsAuto && c.Engine.Name != engine.Claude {
		found = append(found, diag.Diagnostic{
			Path: config.Path, Line: lineOf(root, "[sessions]"), Severity: diag.Warning, Code: "sessions-later",
			Message: fmt.Sprintf("sessions.mode auto: a conversation of %s cannot go on in this release, so its second start is a fresh one", c.Engine.Name),
			Hint:    "docs/sessions.md says what each mode does",
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
