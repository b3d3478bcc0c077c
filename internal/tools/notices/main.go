// Command notices writes THIRD_PARTY_NOTICES: every module that is linked into the released binaries, with the license
// texts of its version, and that of Go itself. It fails when a text is missing or is not of a license that MIT-licensed
// programs may carry.
//
//	go run ./internal/tools/notices              writes THIRD_PARTY_NOTICES in the current folder
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goLicense is the LICENSE of Go's own distribution, whose standard library is part of the binary.
//
//go:embed go-license.txt
var goLicense string

func main() {
	text, err := notices(context.Background(), ".")
	if err == nil {
		err = os.WriteFile("THIRD_PARTY_NOTICES", []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// systems are those of the releases; a module may be linked on one of them only.
func systems() []string { return []string{"linux", "darwin", "windows"} }

// module is what is linked of a module: the folders of its packages, which may have licenses of their own.
type module struct {
	path, version, dir string
	folders            map[string]bool
}

// linked lists the modules of the program in the folder, without its own and the standard library.
func linked(ctx context.Context, dir string) ([]*module, error) {
	found := map[string]*module{}
	for _, system := range systems() {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", "./cmd/issue-assistant")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w: %s", err, exit.Stderr)
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
			var pkg struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if pkg.Module == nil || pkg.Module.Main {
				continue
			}
			m := found[pkg.Module.Path]
			if m == nil {
				m = &module{pkg.Module.Path, pkg.Module.Version, pkg.Module.Dir, map[string]bool{}}
				found[m.path] = m
			}
			for folder := pkg.Dir; ; folder = filepath.Dir(folder) { // a package stands under the texts of the folders above it
				m.folders[folder] = true
				if folder == m.dir || len(folder) < len(m.dir) {
					break
				}
			}
		}
	}
	var modules []*module
	for _, m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// notices is the text of the file.
func notices(ctx context.Context, dir string) (string, error) {
	modules, err := linked(ctx, dir)
	if err != nil {
		return "", err
	}
	if len(modules) == 0 {
		return "", errors.New("no module is linked: that cannot be")
	}
	names, err := kinds(goLicense)
	if err != nil {
		return "", fmt.Errorf("go: %w", err)
	}
	var list, texts strings.Builder
	fmt.Fprintf(&list, "  The Go standard library - %s\n", names)
	texts.WriteString(heading("The Go standard library", "LICENSE") + goLicense)
	for _, m := range modules {
		names, text, err := m.licenses()
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.path, err)
		}
		fmt.Fprintf(&list, "  %s %s - %s\n", m.path, m.version, names)
		texts.WriteString(text)
	}
	return "Third-party notices\n\nThe released binaries of issue-assistant contain the following, each under the license that follows.\n" +
		"Written by `go run ./internal/tools/notices`.\n\n" + list.String() + texts.String(), nil
}

func heading(name, file string) string {
	return "\n" + strings.Repeat("=", 100) + "\n" + name + ": " + file + "\n" + strings.Repeat("=", 100) + "\n\n"
}
