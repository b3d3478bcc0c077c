package version

import (
	"runtime/debug"
	"testing"
)

func TestFrom(t *testing.T) {
	t.Parallel()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	for _, tt := range []struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		{"v1.2.3", nil, "v1.2.3"},
		{"", nil, "devel"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}}, "v0.9.0"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{commit}}, "devel-0123456789ab"},
		{"", &debug.BuildInfo{}, "devel"},
	} {
		if got := from(tt.linked, tt.info); got != tt.want {
			t.Errorf("from(%q, %v) = %q, want %q", tt.linked, tt.info, got, tt.want)
		}
	}
	if String() == "" {
		t.Error("the version is empty")
	}
}
