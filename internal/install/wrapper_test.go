package install

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// wrapper lays action.sh out as in a commit, with fakes for the binary and for Go, and runs the step's script with
// nothing in the environment but what GitHub sets: composite actions get no INPUT_*.
type wrapper struct {
	t    *testing.T
	dir  string // the action
	bin  string // PATH
	temp string
	env  []string
}

func newWrapper(t *testing.T, system, arch string) *wrapper {
	t.Helper()
	w := &wrapper{t: t, dir: filepath.Join(t.TempDir(), "with space"), bin: t.TempDir(), temp: t.TempDir()}
	script, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.sh"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("action.sh", string(script))
	for _, tool := range []string{"bash", "dirname", "mkdir", "cat"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(w.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{"PATH=" + w.bin, "HOME=" + w.temp, "RUNNER_TEMP=" + w.temp, "RUNNER_OS=" + system, "RUNNER_ARCH=" + arch, "GITHUB_ACTION_PATH=" + w.dir}
	return w
}

func (w *wrapper) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// fakeGo builds a "binary" that says what it is, and shows what of the environment the build saw.
func (w *wrapper) fakeGo(status string) {
	w.t.Helper()
	text := "#!/bin/bash\necho \"build $PWD key=${ANTHROPIC_API_KEY:-none} token=${GH_TOKEN:-none} $GOTOOLCHAIN $GOFLAGS $GOWORK\" >&2\n" +
		"while [[ $1 != -o ]]; do shift; done\nprintf '#!/bin/bash\\necho \"built $*\"\\n' >\"$2\"\nchmod +x \"$2\" 2>/dev/null || /bin/chmod +x \"$2\"\nexit " + status + "\n"
	if err := os.WriteFile(filepath.Join(w.bin, "go"), []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// run runs the very script of action.yml.
func (w *wrapper) run(env ...string) (string, error) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.bin, "bash"), "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", stepScript(w.t))
	cmd.Env = append(slices.Clip(w.env), env...)
	cmd.Dir = w.temp
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func stepScript(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^      run: (.+)$`).FindSubmatch(data)
	if m == nil {
		t.Fatal("action.yml has no script")
	}
	return string(m[1])
}

const fakeBinary = "#!/bin/bash\nread -r line || true\necho \"ran $(basename \"$0\" 2>/dev/null || echo \"${0##*/}\") [$*] pid=$$ stdin=[$line] issue=[${INPUT_ISSUE:-}]\"\n"

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

func TestWrapperMachines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		system, arch string
		dist, hasGo  bool
		want         string
		code         int
	}{
		{"Linux", "X64", true, false, "ran issue-assistant-linux-amd64 [event]", 0},
		{"Linux", "ARM64", true, false, "ran issue-assistant-linux-arm64 [event]", 0},
		{"Linux", "X64", true, true, "ran issue-assistant-linux-amd64 [event]", 0}, // never built when there is a binary
		{"Linux", "ARM", true, true, "runs on Linux runners", 3},
		{"Linux", "X86", true, true, "runs on Linux runners", 3},
		{"macOS", "ARM64", true, true, "runs on Linux runners", 3},
		{"macOS", "X64", true, true, "runs on Linux runners", 3},
		{"Windows", "X64", true, true, "runs on Linux runners", 3},
		{"Windows", "ARM64", true, false, "runs on Linux runners", 3},
		{"", "", true, false, "runs on Linux runners", 3},
		{"Linux-X64", "X64", true, false, "runs on Linux runners", 3},
		{"Linux", "X64", false, true, "built event", 0},
		{"Linux", "ARM64", false, true, "built event", 0},
		{"macOS", "ARM64", false, true, "built event", 0},
		{"macOS", "X64", false, true, "built event", 0},
		{"Windows", "X64", false, true, "built event", 0},
		{"Linux", "X64", false, false, "there is no Go to build one", 3},
		{"macOS", "ARM64", false, false, "there is no Go to build one", 3},
		{"", "", false, false, "there is no Go to build one", 3},
	} {
		w := newWrapper(t, tt.system, tt.arch)
		if tt.dist {
			w.write("dist/issue-assistant-linux-amd64", fakeBinary)
			w.write("dist/issue-assistant-linux-arm64", fakeBinary)
		}
		if tt.hasGo {
			w.fakeGo("0")
		}
		out, err := w.run("INPUT_COMMAND=event")
		if exitCode(err) != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("%s-%s, dist %v, go %v: exit %d, %q; want %d, %q", tt.system, tt.arch, tt.dist, tt.hasGo, exitCode(err), out, tt.code, tt.want)
		}
		if tt.code != 0 && strings.Count(out, "\n") != 1 {
			t.Errorf("%s-%s: not one clear line: %q", tt.system, tt.arch, out)
		}
	}
}

func TestWrapperHandsOver(t *testing.T) {
	t.Parallel()
	w := newWrapper(t, "Linux", "X64")
	w.write("dist/issue-assistant-linux-amd64", fakeBinary)
	out, err := w.run("INPUT_COMMAND=chunk poll", "INPUT_ISSUE=--help; $(id) `id`")
	if err != nil || !strings.Contains(out, "[chunk poll]") || !strings.Contains(out, "stdin=[] issue=[--help; $(id) `id`]") {
		t.Errorf("%v: %q", err, out)
	}
	for _, bad := range []string{"", "-x", "event; id", "event --issue", "event\nid", "a b c", "EVENT", "../x", "*", "${{ x }}"} {
		out, err := w.run("INPUT_COMMAND=" + bad)
		if exitCode(err) != 2 || strings.Contains(out, "ran ") || strings.Count(out, "\n") != 1 {
			t.Errorf("the command %q: exit %d, %q", bad, exitCode(err), out)
		}
	}
}

func TestWrapperStatus(t *testing.T) {
	t.Parallel()
	w := newWrapper(t, "Linux", "X64")
	for _, code := range []int{0, 1, 2, 3, 42} {
		w.write("dist/issue-assistant-linux-amd64", "#!/bin/bash\nexit "+string(rune('0'+code/10))+string(rune('0'+code%10))+"\n")
		if _, err := w.run("INPUT_COMMAND=run"); exitCode(err) != code {
			t.Errorf("exit %d came out as %v", code, err)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		w.write("dist/issue-assistant-linux-amd64", "#!/bin/bash\nkill -"+map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGINT: "INT"}[sig]+" $$\n")
		_, err := w.run("INPUT_COMMAND=run")
		var e *exec.ExitError
		if !errors.As(err, &e) {
			t.Errorf("%v: %v", sig, err)
		} else if status, ok := e.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != sig {
			t.Errorf("%v came out as %v", sig, err)
		}
	}
}

// TestWrapperIsReplaced shows that the binary is the step's own process, so that the runner's signals reach it.
func TestWrapperIsReplaced(t *testing.T) {
	t.Parallel()
	for _, built := range []bool{false, true} {
		w := newWrapper(t, "Linux", "X64")
		if built {
			w.fakeGo("0")
		} else {
			w.write("dist/issue-assistant-linux-amd64", "#!/bin/bash\necho \"pid $$\"\n")
		}
		cmd := exec.Command(filepath.Join(w.bin, "bash"), "-c", strings.Replace(stepScript(t), "exec bash", "echo \"step $$\"; exec bash", 1))
		cmd.Env = append(slices.Clip(w.env), "INPUT_COMMAND=run")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`^step (\d+)\n(?:pid (\d+)|built run)\n$`).FindStringSubmatch(string(out))
		if m == nil || (!built && m[1] != m[2]) {
			t.Errorf("%q", out)
		}
	}
}

func TestWrapperBuilds(t *testing.T) {
	t.Parallel()
	w := newWrapper(t, "Linux", "X64")
	w.fakeGo("0")
	out, err := w.run("INPUT_COMMAND=run", "ANTHROPIC_API_KEY=sk-real", "GH_TOKEN=ghs_real", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=go9.9.9")
	if err != nil || !strings.Contains(out, "build "+w.dir+" key=none token=none local -mod=readonly off") || !strings.Contains(out, "built run") {
		t.Errorf("%v: %q", err, out)
	}
	w.fakeGo("1")
	if out, err := w.run("INPUT_COMMAND=run"); exitCode(err) != 3 || !strings.Contains(out, "building the action from its source failed") || strings.Contains(out, "built run") {
		t.Errorf("%v: %q", err, out)
	}
	// A binary that lost its mode is not silently replaced by a build.
	w.write("dist/issue-assistant-linux-amd64", fakeBinary)
	if err := os.Chmod(filepath.Join(w.dir, "dist", "issue-assistant-linux-amd64"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := w.run("INPUT_COMMAND=run"); exitCode(err) != 3 || !strings.Contains(out, "may not be executed") {
		t.Errorf("%v: %q", err, out)
	}
}

// TestActionInputs compares the inputs of action.yml with what reaches the environment and what the workflows give.
func TestActionInputs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	source := string(data)
	inputs := section(source, "inputs:", "outputs:")
	env := section(source, "      env:", "      # exec at every hop")
	for name := range inputs {
		want := "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + ": ${{ inputs." + name + " }}"
		if name != "github-token" && !strings.Contains(source, want) {
			t.Errorf("the input %s does not reach the environment", name)
		}
	}
	if len(env) != len(inputs)+1 { // the token has two names
		t.Errorf("%d variables for %d inputs", len(env), len(inputs))
	}
	if script := stepScript(t); strings.Contains(script, "${{") || !strings.HasPrefix(script, "exec ") || !strings.HasSuffix(script, "</dev/null") {
		t.Errorf("the script is %q", script)
	}
	outputs := section(source, "outputs:", "runs:")
	for path, text := range rendered(t, "claude") {
		f := parseFlow(t, path, text)
		f.eachStep(func(job, name string, step map[string]any) {
			if command(step) == "" {
				return
			}
			for key := range object(step["with"]) {
				if !inputs[key] {
					t.Errorf("%s, %s, %q gives the input %s, which action.yml lacks", path, job, name, key)
				}
			}
		})
		for _, m := range regexp.MustCompile(`steps\.[a-z]+\.outputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			if !outputs[m[1]] {
				t.Errorf("%s reads the output %s, which action.yml lacks", path, m[1])
			}
		}
	}
}

// section returns the keys that stand directly below a heading of action.yml.
func section(source, from, to string) map[string]bool {
	_, rest, _ := strings.Cut(source, "\n"+from+"\n")
	body, _, _ := strings.Cut(rest, "\n"+to)
	first := regexp.MustCompile(`^ +`).FindString(body)
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^`+first+`([A-Za-z_-]+):`).FindAllStringSubmatch(body, -1) {
		out[m[1]] = true
	}
	return out
}
