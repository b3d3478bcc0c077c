// Command mutate breaks the product on purpose, one line at a time, and looks whether the tests notice:
//
//	mutate -out docs/benchmarks/mutation.md      every mutation of mutations.toml; fails when too few are caught
//	mutate -only cap,lease                       those whose id contains one of the words
//
// Each mutation is made in a copy of the tree below the temporary folder, never in the tree itself. A mutation that does
// not compile, whose text is not found exactly once, or whose tests fail without it proves nothing and is an error.
package main

import (
	"context"
	_ "embed"
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
	"time"
)

//go:embed mutations.toml
var mutationsFile string

type options struct {
	dir, list, out, only string
	least                int
	limit                time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stdout)
	flags.StringVar(&o.dir, "dir", ".", "the folder of the module")
	flags.StringVar(&o.list, "list", "", "a file of mutations; empty: the built-in one")
	flags.StringVar(&o.out, "out", "", "the page to write; empty: only print")
	flags.StringVar(&o.only, "only", "", "words, separated by commas: the mutations whose id contains one of them")
	flags.IntVar(&o.least, "least", 38, "mutations that must be caught")
	flags.DurationVar(&o.limit, "limit", 2*time.Minute, "how long the tests of one mutation may take; a mutation that makes them hang is caught")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text := mutationsFile
	if o.list != "" {
		data, err := os.ReadFile(o.list)
		if err != nil {
			return err
		}
		text = string(data)
	}
	all, err := parse(text)
	if err != nil {
		return err
	}
	chosen := choose(all, o.only)
	if len(chosen) == 0 {
		return fmt.Errorf("no mutation has %q in its id", o.only)
	}
	if err := check(o.dir, chosen); err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "issue-assistant-mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tree) }()
	if err := copyTree(ctx, o.dir, tree); err != nil {
		return err
	}
	b := bench{tree: tree, limit: o.limit, out: stdout}
	results, err := b.play(ctx, chosen)
	if err != nil {
		return err
	}
	caught := 0
	for _, r := range results {
		if r.caught {
			caught++
		}
	}
	if _, err := fmt.Fprintf(stdout, "%d of %d mutations were caught\n", caught, len(results)); err != nil {
		return err
	}
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(page(results, caught, o.least)), 0o644); err != nil {
			return err
		}
	}
	if o.only == "" && caught < o.least {
		return fmt.Errorf("%d of %d mutations were caught, fewer than %d", caught, len(results), o.least)
	}
	return nil
}

// copyTree copies what git knows and does not ignore, as it is in the working folder, so that a mutation is made of what
// the developer has before him. Links are copied as links.
func copyTree(ctx context.Context, from, to string) error {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = from
	list, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		source, target := filepath.Join(from, name), filepath.Join(to, name)
		info, err := os.Lstat(source)
		if errors.Is(err, os.ErrNotExist) { // deleted, not yet committed
			continue
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			link, err := os.Readlink(source)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, target); err != nil {
				return err
			}
			continue
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
