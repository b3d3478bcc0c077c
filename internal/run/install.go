package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/engines"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// installTimeout bounds one installation: 400 MB on a slow line.
const installTimeout = 10 * time.Minute

// Install puts the engine's command line, pinned by its lockfile, into dir and returns the program's path. npm runs
// without install scripts and without any secret in its environment. npm's own words go to out.
func Install(ctx context.Context, d engine.Driver, dir string, environ []string, out io.Writer) (string, error) {
	npm := lookIn(environ, "npm")
	if npm == "" {
		return "", fmt.Errorf("npm is needed to install the engine %s: put Node.js on PATH, or name a program with --cli", d.Name())
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder of the engine: %w", err)
	}
	if err := unpack(d.Name(), dir); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error") //nolint:gosec // npm from PATH
	cmd.Dir = dir
	cmd.Env = npmEnvironment(environ)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("install the engine %s by npm ci: %w", d.Name(), err)
	}
	return d.Binary(dir, runtime.GOOS, runtime.GOARCH)
}

// lookIn finds a program in the PATH of an environment, "" when it is not there.
func lookIn(environ []string, name string) string {
	for _, entry := range environ {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}

// unpack writes the engine's package.json and lockfile.
func unpack(name engine.Name, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the engine: %w", err)
	}
	for _, file := range []string{"package.json", "package-lock.json"} {
		data, err := fs.ReadFile(engines.FS, string(name)+"/"+file)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the engine %s is not part of this release", name)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write %s of the engine %s: %w", file, name, err)
		}
	}
	return nil
}

// npmEnvironment keeps what npm needs to reach its registry. npm's own variables may name a registry; those that may hold
// a password are left out like every other secret.
func npmEnvironment(environ []string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		lower := strings.ToLower(name)
		switch {
		case namesSecret(name), strings.Contains(lower, "auth"):
		case strings.HasPrefix(lower, "npm_config_"), lower == "node_extra_ca_certs",
			opens(name, nil) && !strings.HasPrefix(name, "INPUT_") && !strings.HasPrefix(name, "GITHUB_"):
			kept = append(kept, entry)
		}
	}
	return kept
}
