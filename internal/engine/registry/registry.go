// Package registry lists the engines that this program can start. An engine is added by its own package and one line
// here.
package registry

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/codex"
	"github.com/issue-assistant/issue-assistant/internal/engine/gemini"
)

// drivers returns all engines in the order of the documentation.
func drivers() []engine.Driver {
	return []engine.Driver{claude.New(), codex.New(), gemini.New()}
}

// Find returns the driver of an engine.
func Find(name engine.Name) (engine.Driver, error) {
	var names []string
	for _, d := range drivers() {
		if d.Name() == name {
			return d, nil
		}
		names = append(names, string(d.Name()))
	}
	return nil, fmt.Errorf("this release cannot start the engine %q: it knows %s", string(name), strings.Join(names, ", "))
}
