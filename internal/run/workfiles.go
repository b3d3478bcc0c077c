package run

import (
	"fmt"
	"os"
	"path/filepath"
)

// fill writes the engine's settings into its home. No name may lead out of it.
func (w workplace) fill(files map[string][]byte) error {
	for name, data := range files {
		local, err := filepath.Localize(name)
		if err != nil {
			return fmt.Errorf("write the engine's settings: the name %q leads out of its home", name)
		}
		path := filepath.Join(w.home, local)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write the engine's settings: %w", err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("write the engine's settings: %w", err)
		}
	}
	return nil
}
