// Command lint runs actionlint as a library over the workflows of the folders given and prints one line of JSON for each
// finding: {"path","line","column","message","kind"}. It is a module of its own, because actionlint and another test
// dependency need versions of a YAML library that do not go together.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rhysd/actionlint"
)

func main() {
	shellcheck := flag.String("shellcheck", "shellcheck", "the `program` that checks scripts")
	flag.Parse()
	if err := run(*shellcheck, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(3)
	}
}

func run(shellcheck string, folders []string) error {
	// actionlint would silently go without it.
	if _, err := exec.LookPath(shellcheck); err != nil {
		return err
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: shellcheck})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, folder := range folders {
		project, err := actionlint.NewProjects().At(folder)
		if err != nil {
			return err
		}
		if project == nil {
			return fmt.Errorf("%s is in no repository", folder)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.yml"))
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s holds no workflows", folder)
		}
		for _, file := range files {
			found, err := linter.LintFile(file, project)
			if err != nil {
				return err
			}
			for _, e := range found {
				if err := out.Encode(map[string]any{"path": file, "line": e.Line, "column": e.Column, "message": e.Message, "kind": e.Kind}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
