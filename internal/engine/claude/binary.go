package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Binary is the native program in a folder that `npm ci --ignore-scripts` filled. npm installs the one package whose
// libc fits, so the first that is there is the right one.
func (Driver) Binary(dir, goos, goarch string) (string, error) {
	arch, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[goarch]
	if !ok || (goos != "linux" && goos != "darwin") {
		return "", fmt.Errorf("there is no Claude Code for %s/%s: use linux or darwin on amd64 or arm64", goos, goarch)
	}
	base := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-"+goos+"-"+arch)
	for _, suffix := range []string{"", "-musl"} {
		path := filepath.Join(base+suffix, "claude")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Claude Code in %s: run `npm ci --ignore-scripts` there", filepath.Join(base, "claude"))
}

// maxPackage bounds how much of a package.json is read.
const maxPackage = 64 << 10

// Version reads the version from the package.json beside the program, "" when there is none.
func (Driver) Version(path string) string {
	program, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for _, dir := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		if v, err := packageVersion(filepath.Join(dir, "package.json")); err == nil {
			return v
		}
	}
	return ""
}

func packageVersion(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxPackage {
		return "", errors.New("too long for a package.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return "", err
	}
	if p.Version == "" || len(p.Version) > 64 {
		return "", errors.New("no version")
	}
	return p.Version, nil
}
