package run

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
)

// fakeNPM is a folder with an npm that notes how it was called and installs an empty program, or fails.
func fakeNPM(t *testing.T, status string) (bin string) {
	t.Helper()
	bin = t.TempDir()
	pack := "node_modules/@anthropic-ai/claude-code-" + runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	script := "#!/bin/sh\necho called \"$@\" in \"$PWD\"\nenv\n[ " + status + " = 0 ] || exit " + status + "\nmkdir -p " + pack + "\n: > " + pack + "/claude\nchmod 755 " + pack + "/claude\n"
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestInstall(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "engine")
	bin := fakeNPM(t, "0")
	var out bytes.Buffer
	cli, err := Install(t.Context(), claude.New(), dir, []string{
		"PATH=" + bin + ":/usr/bin:/bin", "HOME=/home/x", "ANTHROPIC_API_KEY=sk-ant-TOPSECRET", "GITHUB_TOKEN=ghs_TOPSECRET",
		"NPM_TOKEN=npm_TOPSECRET", "npm_config__authToken=npm_TOPSECRET", "npm_config_registry=http://127.0.0.1:9", "INPUT_TOKEN=ghs_TOPSECRET",
		"NODE_EXTRA_CA_CERTS=/ca.pem", "NODE_OPTIONS=--require /evil.js", "HTTPS_PROXY=http://proxy:1",
	}, &out)
	if err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	if rel, err := filepath.Rel(dir, cli); err != nil || !strings.HasPrefix(rel, "node_modules/@anthropic-ai/claude-code-") {
		t.Errorf("program %s", cli)
	}
	text := out.String()
	for word, want := range map[string]bool{
		"called ci --ignore-scripts ": true, "TOPSECRET": false, "npm_config_registry=": true, "NODE_EXTRA_CA_CERTS=": true,
		"NODE_OPTIONS": false, "HTTPS_PROXY=": true, "in " + dir: true,
	} {
		if strings.Contains(text, word) != want {
			t.Errorf("%q in npm's call: want %t\n%s", word, want, text)
		}
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil || !bytes.Contains(lock, []byte(`"integrity": "sha512-`)) || bytes.Contains(lock, []byte(`"resolved"`)) {
		t.Errorf("the lockfile lacks hashes or names addresses (%v)", err)
	}
}

func TestInstallFails(t *testing.T) {
	t.Parallel()
	path := func(bin string) []string { return []string{"PATH=" + bin + ":/usr/bin:/bin"} }
	for name, test := range map[string]struct {
		driver  engine.Driver
		environ []string
		want    string
	}{
		"no npm":        {claude.New(), []string{"PATH=" + t.TempDir()}, "npm is needed"},
		"relative PATH": {claude.New(), []string{"PATH=.:bin"}, "npm is needed"},
		"npm fails":     {claude.New(), path(fakeNPM(t, "7")), "exit status 7"},
		"other engine":  {otherDriver{}, path(fakeNPM(t, "0")), "not part of this release"},
	} {
		cli, err := Install(t.Context(), test.driver, filepath.Join(t.TempDir(), "engine"), test.environ, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %s %v", name, cli, err)
		}
	}
}

type otherDriver struct{ claude.Driver }

func (otherDriver) Name() engine.Name { return "other" }
