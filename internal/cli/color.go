package cli

import (
	"io"
	"os"

	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// human is the form of findings for people: with colors on a terminal, unless NO_COLOR asks for none (no-color.org) or
// the terminal has none.
func (a *app) human(w io.Writer) string {
	if a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb" || !terminal(w) {
		return "human"
	}
	return diag.Terminal
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
