package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// actionSHA is the commit that the generated workflows pin; act maps it to the copy of this repository's action.
const actionSHA = "e2e0e2e0e2e0e2e0e2e0e2e0e2e0e2e0e2e0e2e0"

// layOut makes what the machine has: the action, stand-ins for the actions of others, npm.
func (w *world) layOut(t *testing.T) {
	t.Helper()
	root := testtool.Root(t)
	for _, name := range []string{"action.yml", "action.sh"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, w.path("action"), name, string(data))
	}
	// The environment goes to a file of its own, with the process id that the program will keep.
	script(t, w.path("action"), "dist/issue-assistant-linux-"+runtime.GOARCH, `#!/usr/bin/env bash
set -eu
name="$1"
{ printf 'SPY_PID=%s\0SPY_ARGS=%s\0' "$$" "$*"; cat "/proc/$$/environ"; } >"`+w.spied+`/.$$"
mv "`+w.spied+`/.$$" "`+w.spied+`/${EPOCHREALTIME/./}-$name"
# act hands the same token to every job; see door.
if [ -n "${GITHUB_TOKEN:-}" ]; then
  GITHUB_TOKEN="$GITHUB_TOKEN.$(printf '%s/%s' "${INPUT_TASK:-}" "$GITHUB_JOB" | sha256sum | cut -c1-40)"
  export GITHUB_TOKEN GH_TOKEN="$GITHUB_TOKEN"
fi
exec "`+program(t)+`" "$@"
`)
	put(t, w.path("upload"), "action.yml", `name: Upload
description: Copies files
inputs:
  name: {description: name, required: true}
  path: {description: files, required: true}
  if-no-files-found: {description: what then, required: false}
runs:
  using: composite
  steps:
    - shell: bash
      if: always()
      env:
        NAME: ${{ inputs.name }}
        FILES: ${{ inputs.path }}
      run: |
        to="`+w.artifacts+`/$GITHUB_RUN_ID/$NAME"
        if [ -e "$to" ]; then echo "an artifact of this name exists already" >&2; exit 1; fi
        while IFS= read -r file; do
          if [ -n "$file" ] && [ -f "$file" ]; then mkdir -p "$to"; cp "$file" "$to/"; fi
        done <<<"$FILES"
`)
	engine := filepath.Join(root, "engines", w.cli.engine)
	script(t, w.path("bin"), "npm", `#!/usr/bin/env bash
set -eu
[ "$1" = ci ] || { echo "npm $*: only npm ci is expected" >&2; exit 1; }
case " $* " in *" --ignore-scripts "*) ;; *) echo "install scripts would run" >&2; exit 1 ;; esac
if env | grep -q "`+w.cli.key[:20]+`"; then echo "npm was given the key" >&2; exit 1; fi
cmp package-lock.json "`+engine+`/package-lock.json"
ln -s "`+engine+`/node_modules" node_modules
`)
	for _, dir := range []string{w.spied, w.artifacts} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// spy is what one command of the action was given.
type spy struct {
	command string
	pid     int
	env     map[string]string
	raw     string
}

// spies are the commands that were started, oldest first.
func (w *world) spies(t *testing.T) []spy {
	t.Helper()
	entries, err := os.ReadDir(w.spied)
	if err != nil {
		t.Fatal(err)
	}
	var all []spy
	for _, e := range entries {
		_, command, ok := strings.Cut(e.Name(), "-")
		if !ok {
			continue // not written to its end
		}
		data, err := os.ReadFile(filepath.Join(w.spied, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s := spy{command: command, env: map[string]string{}, raw: string(data)}
		for entry := range strings.SplitSeq(s.raw, "\x00") {
			name, value, _ := strings.Cut(entry, "=")
			s.env[name] = value
		}
		if s.pid, err = strconv.Atoi(s.env["SPY_PID"]); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func (w *world) commands(t *testing.T) string {
	t.Helper()
	var names []string
	for _, s := range w.spies(t) {
		names = append(names, s.command)
	}
	return strings.Join(names, " ")
}

// endLeftovers kills programs under test that outlived act, and complains.
func (w *world) endLeftovers(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(w.spied); err != nil {
		return
	}
	for _, s := range w.spies(t) {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.pid))
		if err != nil || !strings.HasPrefix(exe, filepath.Join(binary.dir, "issue-assistant")) {
			continue
		}
		t.Errorf("%s still runs", s.command)
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// engines are the running processes of the engine's command line that lie in this world's folder.
func (w *world) engines(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte(w.dir)) && bytes.Contains(line, []byte(w.cli.program+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// artifact returns the files of an artifact of a run, nil when there is none.
func (w *world) artifact(t *testing.T, run int64, name string) map[string][]byte {
	t.Helper()
	dir := filepath.Join(w.artifacts, strconv.FormatInt(run, 10), name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func zipped(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
