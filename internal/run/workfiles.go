package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fill writes the engine's settings into its home; a name with a slash at its end is an empty folder. No name may lead
// out of it.
func (w workplace) fill(files map[string][]byte) error {
	for name, data := range files {
		file, folder := strings.CutSuffix(name, "/")
		local, err := filepath.Localize(file)
		if err != nil {
			return fmt.Errorf("write the engine's settings: the name %q leads out of its home", name)
		}
		path := filepath.Join(w.home, local)
		dir := filepath.Dir(path)
		if folder {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("write the engine's settings: %w", err)
		}
		if folder {
			continue
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("write the engine's settings: %w", err)
		}
	}
	return nil
}
