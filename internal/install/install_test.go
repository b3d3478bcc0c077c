package install

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

var update = flag.Bool("update", false, "write generated files anew")

var testPin = Pin{"issue-assistant/issue-assistant", strings.Repeat("ab", 20), "v1.2.3"}

// workFile is a maintainer's workflow that the poll gate may call.
const workFile = `name: Agent
on:
  workflow_call:
    secrets:
      AGENT_KEY: {required: false}
permissions: {}
jobs:
  agent:
    name: Agent
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read # the code
      issues: write # comments
    steps:
      - name: Work
        shell: bash
        env: {KEY: "${{ secrets.AGENT_KEY }}"}
        run: echo work
`

func testPins(t testing.TB) Pins {
	t.Helper()
	p, err := releasePins(assets.FS)
	if err != nil {
		t.Fatal(err)
	}
	p.Assistant = testPin
	return p
}

// fullSettings asks for every workflow there is.
func fullSettings(t testing.TB, name engine.Name) Settings {
	t.Helper()
	w, err := readWork(fstest.MapFS{".github/workflows/agent.yml": {Data: []byte(workFile)}}, "./.github/workflows/agent.yml")
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Engine: name, RunsOn: "ubuntu-latest", Findings: true, Work: w}
}

// rendered returns all workflows of an engine, by path.
func rendered(t testing.TB, name engine.Name) map[string]string {
	t.Helper()
	files, err := Render(assets.FS, fullSettings(t, name), testPins(t))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = string(f.Data)
	}
	return out
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join(testtool.Root(t), path)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not up to date; `go test ./internal/install -update` writes it\n%s", path, Diff(filepath.Base(path), want, []byte(got)))
	}
}

// TestOwnWorkflows holds this repository to its own product: its generated files are what Render writes.
func TestOwnWorkflows(t *testing.T) {
	t.Parallel()
	root := os.DirFS(testtool.Root(t))
	cfg, _, err := config.LoadRepo(root)
	if err != nil {
		t.Fatal(err)
	}
	router, err := fs.ReadFile(root, workflowPath(""))
	if err != nil {
		t.Fatal(err)
	}
	pins := pinsOf(router).merge(testPins(t))
	files, err := Render(assets.FS, Settings{Engine: cfg.Engine.Name, RunsOn: cfg.Workflows.RunsOn}, pins)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		golden(t, f.Path, string(f.Data))
	}
}

func TestRendered(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names {
		first := rendered(t, name)
		if len(first) != len(Known()) {
			t.Errorf("%s: %d workflows, want %d", name, len(first), len(Known()))
		}
		for path, text := range rendered(t, name) {
			if text != first[path] {
				t.Errorf("%s: %s differs between two runs", name, path)
			}
			if n := strings.Count(text, "\n"); n > 120 {
				t.Errorf("%s: %s has %d lines, want at most 120", name, path, n)
			}
			if strings.Contains(text, "\r") || strings.Contains(text, "\t") || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
				t.Errorf("%s: %s has other white space than spaces and single line feeds at its end", name, path)
			}
			for line := range strings.Lines(text) {
				if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
					t.Errorf("%s: %s has spaces at the end of %q", name, path, line)
				}
			}
			if authorOf([]byte(text)) != pristine {
				t.Errorf("%s: %s does not carry its checksum", name, path)
			}
		}
	}
}
