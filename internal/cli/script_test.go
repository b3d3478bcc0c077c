package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// update is the one -update flag of this package's tests: it rewrites golden files and the `cmp` blocks of scripts.
var update = flag.Bool("update", false, "write golden files and scripts anew")

// TestMain lets the test binary be the program: a script's `exec issue-assistant ...` runs the real Main.
//
// So does a second life of the program: `run` starts itself anew under the name of the test binary. `go test` always
// gives flags first; a word there is a command, never a reason to run the tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		scriptMain()
	}
	testscript.Main(m, map[string]func(){"issue-assistant": scriptMain})
}

// scriptMain is main of the program under test. TEST_NOW (RFC 3339) holds the clock still; with it, waiting costs no time.
func scriptMain() {
	env := System()
	if text := os.Getenv("TEST_NOW"); text != "" {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		env.Now = func() time.Time { return now }
		env.Sleep = func(time.Duration) {}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, env)
	stop()
	os.Exit(code)
}

// scriptSetups prepare the environment of each script (a fake GitHub, a fake provider); a builder of a command appends
// its own here and must not change what others set.
var scriptSetups = []func(*testscript.Env) error{
	setupRunner,
	setupGitHub,
}

// scriptCommands are the words that scripts may use beside testscript's own.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":       cmdExits,
	"outputs":     cmdOutputs,
	"fullsummary": cmdFullSummary,
	"aged":        cmdAged,
	"github":      cmdGitHub,
	"ghissue":     cmdGitHubIssue,
	"ghwrites":    cmdGitHubWrites,
	"ghfails":     cmdGitHubFails,
	"ghcalm":      cmdGitHubCalm,
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Cmds:                scriptCommands,
		Setup: func(env *testscript.Env) error {
			for _, setup := range scriptSetups {
				if err := setup(env); err != nil {
					return err
				}
			}
			env.Setenv("REPO", testtool.Root(t)) // the repository itself, for testdata/cases; read only
			return nil
		},
	})
}

// setupRunner gives a script a home, a runner's temporary folder and a working folder of its own, without GITHUB_ACTIONS.
func setupRunner(env *testscript.Env) error {
	for name, dir := range map[string]string{"HOME": "home", "RUNNER_TEMP": "runner-temp"} {
		path := filepath.Join(env.WorkDir, ".run", dir)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		env.Setenv(name, path)
	}
	return nil
}

// cmdExits runs a program and compares its exit code: `exits 2 issue-assistant check`.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: %q is no exit code", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("exits: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdOutputs prints a GITHUB_OUTPUT file as sorted-as-written name=value lines to stdout: `outputs $GITHUB_OUTPUT`, then `stdout` or `cmp`.
func cmdOutputs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: outputs FILE")
	}
	text, err := readOutputs([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	_, err = ts.Stdout().Write(text)
	ts.Check(err)
}

// readOutputs reads the file as the runner does: name=value, or name<<DELIMITER and lines up to the delimiter.
// A value of several lines is quoted.
func readOutputs(data []byte) ([]byte, error) {
	var out bytes.Buffer
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		eq, here := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if eq >= 0 && (here < 0 || eq < here) {
			fmt.Fprintln(&out, lines[i])
			continue
		}
		if here < 0 {
			return nil, fmt.Errorf("line %d: %q is no output", i+1, lines[i])
		}
		name, delimiter := lines[i][:here], lines[i][here+2:]
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		if i == len(lines) {
			return nil, fmt.Errorf("output %s: the delimiter never comes", name)
		}
		text := strings.Join(value, "\n")
		if len(value) > 1 {
			text = strconv.Quote(text)
		}
		fmt.Fprintf(&out, "%s=%s\n", name, text)
	}
	return out.Bytes(), nil
}
