// Package version names the release of this binary.
package version

import "runtime/debug"

// Version is the release tag, set by the linker (-X …/internal/version.Version=v1.2.3); empty in builds from source.
var Version string

// String returns the release tag, else the module version or commit that the Go toolchain recorded, else "devel".
func String() string {
	info, _ := debug.ReadBuildInfo()
	return from(Version, info)
}

func from(linked string, info *debug.BuildInfo) string {
	if linked != "" {
		return linked
	}
	if info == nil {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
