// Command coverage measures which statements of every package below internal the tests run, and writes a table of it:
//
//	coverage -out docs/benchmarks/coverage.md      every package, by its own tests and by those of all packages
//	coverage -min 85                               fails when a package is below 85 % by the tests of all packages
//
// The tests of one package run at a time, each with the statements of all packages counted, so that one run gives both
// figures. Packages that only tests use (fakes, stand-ins) are run by the tests of others; that is what they are for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

type options struct {
	dir, out string
	min      float64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("coverage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.dir, "dir", ".", "the folder of the module")
	flags.StringVar(&o.out, "out", "", "the page to write; empty: only print the table")
	flags.Float64Var(&o.min, "min", 85, "percent that every package below internal must reach")
	if err := flags.Parse(args); err != nil {
		return err
	}
	counts, failed, err := measure(ctx, o.dir, stderr)
	if err != nil {
		return err
	}
	rows := counts.rows()
	if len(rows) == 0 {
		return errors.New("no statement was counted: are there packages below internal?")
	}
	text := table(rows)
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if len(failed) > 0 { // the figures of a failed run are no figures
		return fmt.Errorf("the tests of %s fail", strings.Join(failed, ", "))
	}
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(page(text, o.min)), 0o644); err != nil {
			return err
		}
	}
	return below(rows, o.min)
}

// measure runs the tests of every package and adds up what they ran. Failed tests are named, not an error.
func measure(ctx context.Context, dir string, stderr io.Writer) (counts profile, failed []string, err error) {
	list, err := goCommand(ctx, dir, "list", "./...").Output() // a package without tests counts, too: as not run
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	temp, err := os.MkdirTemp("", "issue-assistant-coverage-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	counts = profile{}
	for pkg := range strings.FieldsSeq(string(list)) {
		file := filepath.Join(temp, "profile")
		if err := os.RemoveAll(file); err != nil {
			return nil, nil, err
		}
		cmd := goCommand(ctx, dir, "test", "-count=1", "-covermode=set", "-coverpkg=./internal/...", "-coverprofile="+file, pkg)
		text, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if _, werr := stderr.Write(lastLine(text)); werr != nil {
			return nil, nil, werr
		}
		if err != nil {
			failed = append(failed, pkg)
			_, _ = stderr.Write(text)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		if err := counts.add(pkg, string(data)); err != nil {
			return nil, nil, fmt.Errorf("profile of %s: %w", pkg, err)
		}
	}
	return counts, failed, nil
}

// goCommand runs go without the caller's flags: the race detector would count differently and three times as long.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	return cmd
}

func lastLine(text []byte) []byte {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return []byte(lines[len(lines)-1] + "\n")
}
