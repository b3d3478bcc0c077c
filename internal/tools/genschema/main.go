// Command genschema writes what is made from the table of settings and the types of the answers: the JSON schemas of
// config.toml, labels.toml, findings.toml and the five answers, docs/reference/settings.md, and the table of settings in README.md.
//
// It is a program of its own so that the schema library stays out of the product. Run it at the root of the repository;
// with -check it writes nothing and ends with 1 when a file differs.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(".", *check, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
		os.Exit(1)
	}
}

// run writes or compares the files below root.
func run(root string, check bool, out io.Writer) error {
	files, err := generate(os.DirFS(root))
	if err != nil {
		return err
	}
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read what was generated before: %w", err)
		}
		if err == nil && bytes.Equal(old, files[name]) {
			continue
		}
		if check {
			stale = append(stale, fmt.Errorf("%s is not what the settings say: run go run ./internal/tools/genschema", name))
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if _, err := fmt.Fprintln(out, "wrote", name); err != nil {
			return err
		}
	}
	return errors.Join(stale...)
}

// generate returns the files by path. The README is among them when it has the markers.
func generate(root fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{"docs/reference/settings.md": []byte(reference())}
	schemas := answerSchemas()
	schemas["schema/config.schema.json"] = configSchema()
	schemas["schema/labels.schema.json"] = labelsSchema()
	schemas["schema/findings.schema.json"] = findingsSchema()
	for name, schema := range schemas {
		data, err := encode(schema)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	readme, err := fs.ReadFile(root, readmePath)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the README: %w", err)
	}
	if changed, ok := replaceFragment(string(readme), fragment()); ok {
		files[readmePath] = []byte(changed)
	}
	return files, nil
}
