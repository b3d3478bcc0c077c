package claude

import (
	"fmt"
	"path/filepath"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// packageName is what npm's package of the program is called, and what the names of its platforms' packages begin with.
const packageName = "@anthropic-ai/claude-code"

// Binary is the native program in a folder that `npm ci --ignore-scripts` filled. npm installs the one package whose
// libc fits, so the first that is there is the right one.
func (Driver) Binary(dir, goos, goarch string) (string, error) {
	arch, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[goarch]
	if !ok || (goos != "linux" && goos != "darwin") {
		return "", fmt.Errorf("there is no Claude Code for %s/%s: use linux or darwin on amd64 or arm64", goos, goarch)
	}
	base := filepath.Join(dir, "node_modules", filepath.FromSlash(packageName)) + "-" + goos + "-" + arch
	if path, err := engine.Installed("Claude Code", filepath.Join(base+"-musl", "claude")); err == nil {
		return path, nil
	}
	return engine.Installed("Claude Code", filepath.Join(base, "claude"))
}

// Version reads the version from the package that holds the program, "" when there is none.
func (Driver) Version(path string) string {
	const levels = 2 // the platform's package, or its bin and then the package
	return engine.PackageVersion(path, packageName, levels)
}
