package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// bench is the copy of the tree in which mutations are made.
type bench struct {
	tree  string
	limit time.Duration
	out   io.Writer
}

type result struct {
	mutation
	caught  bool
	by      string // the first test that failed, or how else it was noticed
	seconds float64
}

// play runs the tests once as they are, then once with each mutation.
func (b bench) play(ctx context.Context, list []mutation) ([]result, error) {
	if err := b.baseline(ctx, list); err != nil {
		return nil, err
	}
	var results []result
	var broken []error
	for _, m := range list {
		r, err := b.one(ctx, m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", m.ID, err))
			continue
		}
		results = append(results, r)
		word := "survived"
		if r.caught {
			word = "caught by " + r.by
		}
		if _, err := fmt.Fprintf(b.out, "%-34s %6.1f s  %s\n", m.ID, r.seconds, word); err != nil {
			return nil, err
		}
	}
	return results, errors.Join(broken...)
}

// baseline runs what the mutations name on the tree as it is: only tests that pass there can notice something.
func (b bench) baseline(ctx context.Context, list []mutation) error {
	var folders []string
	filters := map[string][]string{}
	for _, m := range list {
		if !slices.Contains(folders, m.Package) {
			folders = append(folders, m.Package)
		}
		filters[m.Package] = append(filters[m.Package], m.Run)
	}
	for _, folder := range folders {
		filter := strings.Join(filters[folder], "|")
		if slices.Contains(filters[folder], "") {
			filter = ""
		}
		passed, by, err := b.test(ctx, folder, filter)
		if err == nil && !passed { // a machine under load may have been too slow for one of them
			passed, by, err = b.test(ctx, folder, filter)
		}
		if err != nil {
			return fmt.Errorf("%s without a mutation: %w", folder, err)
		}
		if !passed {
			return fmt.Errorf("the tests of %s fail without a mutation: %s", folder, by)
		}
	}
	return nil
}

// one makes the mutation, runs the tests and takes it back.
func (b bench) one(ctx context.Context, m mutation) (r result, err error) {
	file := filepath.Join(b.tree, filepath.FromSlash(m.Path))
	before, err := os.ReadFile(file)
	if err != nil {
		return result{}, err
	}
	if strings.Count(string(before), m.Old) != 1 {
		return result{}, fmt.Errorf("its text does not stand exactly once in %s", m.Path)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(before), m.Old, m.New, 1)), 0o644); err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(file, before, 0o644)) }()
	begin := time.Now()
	passed, by, err := b.test(ctx, m.Package, m.Run)
	return result{m, !passed, by, time.Since(begin).Seconds()}, err
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// test builds the tests of a folder and runs them there. A build that fails is an error: the compiler's objection is not
// that of a test. Tests that hang are ended and count as failed.
func (b bench) test(ctx context.Context, folder, filter string) (passed bool, by string, err error) {
	program := filepath.Join(b.tree, "mutated.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", program, "./"+folder)
	build.Dir = b.tree
	build.Env = append(os.Environ(), "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		return false, "", fmt.Errorf("build: %w\n%s", err, text)
	}
	cmd := exec.CommandContext(ctx, program, "-test.run", filter, "-test.failfast", "-test.timeout", b.limit.String(), "-test.v=test2json")
	cmd.Dir = filepath.Join(b.tree, filepath.FromSlash(folder))
	cmd.Env = append(os.Environ(), "CI=")
	cmd.WaitDelay = 10 * time.Second
	text, err := cmd.CombinedOutput()
	text = []byte(strings.ReplaceAll(string(text), "\x16", "")) // test2json's mark before each line
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	case err == nil && !strings.Contains(string(text), "--- PASS: "):
		return false, "", fmt.Errorf("no test is named %q", filter)
	case err == nil:
		return true, "", nil
	case !errors.As(err, &exit):
		return false, "", err
	}
	if m := failedTest.FindSubmatch(text); m != nil {
		return false, "`" + string(m[1]) + "`", nil
	}
	if strings.Contains(string(text), "panic: test timed out after") {
		return false, "tests that do not end", nil
	}
	return false, "a crash", nil
}

func page(results []result, caught, least int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Mutations\n\nWritten by `make mutate`. Each row breaks one promise of the product by a line, in a copy of the tree, and runs the tests\n"+
		"of one package. **%d of %d were noticed**; fewer than %d fail the command. The changes stand in\n`internal/tools/mutate/mutations.toml`.\n\n"+
		"| what is broken | where | noticed by |\n|---|---|---|\n", caught, len(results), least)
	for _, r := range results {
		by := "**nothing**"
		if r.caught {
			by = r.by
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", strings.ReplaceAll(r.Breaks, "|", "\\|"), r.Path, by)
	}
	return b.String()
}
