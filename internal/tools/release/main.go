// Command release builds what a release consists of, on this machine and without network:
//
//	release -version v1.2.3 -out DIR            binaries, checksums, SOURCE, archives, bill of materials, notes
//	release -version v1.2.3 -out DIR -verify    the same twice, from two folders, compared byte by byte
//	release -version v1.2.3 -out DIR -commit    also a release commit (child of HEAD) that adds dist/; prints its hash
//	release -version v1.2.3 -out DIR -built -commit    only that commit, of what DIR holds already
//
// The same source and version give the same bytes and the same release commit on every machine.
//
// The release commit carries the Linux binaries that the action runs; the other systems get archives.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

type options struct {
	version, out          string
	verify, commit, built bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, ".", os.Args[1:], nil)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var versionPattern = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// run makes a release of the repository in dir. Compile is nil outside of tests.
func run(ctx context.Context, dir string, args []string, compile compiler) error {
	var o options
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "the tag, such as v1.2.3")
	flags.StringVar(&o.out, "out", "", "the folder that gets everything")
	flags.BoolVar(&o.verify, "verify", false, "build a second time from a copy of the sources elsewhere and compare")
	flags.BoolVar(&o.commit, "commit", false, "create the release commit")
	flags.BoolVar(&o.built, "built", false, "the -out folder holds the build already: build nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !versionPattern.MatchString(o.version) {
		return fmt.Errorf("version %q: write it as v1.2.3", o.version)
	}
	if o.out == "" {
		return fmt.Errorf("no -out folder is given")
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	source, err := gitText(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	root, err := gitText(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r := release{version: o.version, source: source, root: root, out: out, compile: compile}
	if o.built && (o.verify || !o.commit) {
		return fmt.Errorf("-built goes with -commit alone")
	}
	if !o.built {
		if err := r.build(ctx); err != nil {
			return err
		}
	}
	if o.verify {
		if err := r.rebuildAndCompare(ctx); err != nil {
			return err
		}
	}
	if o.commit {
		hash, err := r.releaseCommit(ctx)
		if err != nil {
			return err
		}
		fmt.Println(hash)
	}
	return nil
}
