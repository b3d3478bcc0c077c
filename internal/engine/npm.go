package engine

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPackage bounds how much of a package.json is read.
const maxPackage = 64 << 10

// PackageVersion is the version in the first package.json at or above path whose name begins so, at most up folders away; ""
// when there is none.
func PackageVersion(path, name string, up int) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for range up {
		path = filepath.Dir(path)
		if v := versionIn(filepath.Join(path, "package.json"), name); v != "" {
			return v
		}
	}
	return ""
}

func versionIn(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxPackage))
	if err != nil {
		return ""
	}
	var p struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &p) != nil || !strings.HasPrefix(p.Name, name) || len(p.Version) > 64 {
		return ""
	}
	return p.Version
}
