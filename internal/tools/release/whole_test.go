package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/tools/buildflags"
)

// source is a repository with what a release takes besides the program.
func source(t *testing.T) (root, commit string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": "MIT\n", thirdParty: "notices\n", "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- New.\n", "program": "one\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "a"}, {"config", "user.email", "a@example.com"}, {"add", "-A"}, {"commit", "-q", "-m", "source"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	commit, err := gitText(t.Context(), root, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return root, commit
}

// compiled stands for go build: the file "program" of the sources with the platform's name, for the first platform behind
// a program of Go (this one), whose modules the bill of materials lists.
func compiled(t *testing.T) compiler {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	return func(_ context.Context, dir string, p platform, out string, _ ...string) error {
		text, err := os.ReadFile(filepath.Join(dir, "program"))
		if err != nil {
			return err
		}
		text = append(text, p.binary()...)
		if p == platforms[0] {
			text = append(slices.Clip(program), text...)
		}
		return os.WriteFile(out, text, 0o755)
	}
}

func TestAWholeRelease(t *testing.T) {
	t.Parallel()
	root, commit := source(t)
	r := release{version: "v1.2.3", source: commit, root: root, out: t.TempDir(), compile: compiled(t)}
	if err := run(t.Context(), root, []string{"-version", r.version, "-out", r.out, "-verify", "-commit"}, r.compile); err != nil {
		t.Fatal(err)
	}
	dist, err := os.ReadFile(filepath.Join(r.out, "dist", "SHA256SUMS"))
	if err != nil || strings.Count(string(dist), "\n") != 2 || strings.Contains(string(dist), "windows") {
		t.Errorf("dist/SHA256SUMS: %q %v", dist, err)
	}
	if text, err := os.ReadFile(filepath.Join(r.out, "dist", "SOURCE")); err != nil || !strings.Contains(string(text), "source: "+commit+"\n") || !strings.Contains(string(text), "version: v1.2.3\n") {
		t.Errorf("dist/SOURCE: %q %v", text, err)
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "assets", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(r.out, "assets", name))
		if err != nil || sum(data) != want {
			t.Errorf("%s: %v", name, err)
		}
		named++
	}
	if entries, err := os.ReadDir(filepath.Join(r.out, "assets")); err != nil || named != len(entries)-1 || named != 2*len(platforms)+3 {
		t.Errorf("%d sums for %d files, %v", named, len(entries), err)
	}
	notes, err := os.ReadFile(filepath.Join(r.out, "assets", "NOTES.md"))
	if err != nil || string(notes) != "- New.\n" {
		t.Errorf("notes %q %v", notes, err)
	}
	var bom struct {
		Packages []struct{ Name string } `json:"packages"`
	}
	data, err := os.ReadFile(filepath.Join(r.out, "assets", "sbom.spdx.json"))
	if err != nil || json.Unmarshal(data, &bom) != nil || len(bom.Packages) == 0 || bom.Packages[0].Name != "issue-assistant" {
		t.Errorf("bill of materials %s %v", data, err)
	}

	if err := run(t.Context(), root, []string{"-version", r.version, "-out", r.out, "-built", "-commit"}, failing); err != nil {
		t.Errorf("what was built is built again: %v", err)
	}
	// What is built was not what is committed: the second build, of the commit, is another one.
	if err := os.WriteFile(filepath.Join(root, "program"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.rebuildAndCompare(t.Context()); err == nil || !strings.Contains(err.Error(), "differs: issue-assistant-linux-amd64") {
		t.Errorf("got %v", err)
	}
}

func TestReleasesThatFail(t *testing.T) {
	t.Parallel()
	root, commit := source(t)
	base := release{version: "v1.2.3", source: commit, root: root, compile: func(_ context.Context, _ string, _ platform, out string, _ ...string) error {
		return os.WriteFile(out, make([]byte, buildflags.MaxBytes+1), 0o600)
	}}
	for name, c := range map[string]struct {
		change func(r *release)
		want   string
	}{
		"too large":     {func(*release) {}, "bytes, more than"},
		"no compiler":   {func(r *release) { r.compile = nil; r.root = t.TempDir() }, "build issue-assistant-linux-amd64"},
		"compile fails": {func(r *release) { r.compile = failing }, "no luck"},
		"nothing built": {func(r *release) { r.compile = nothing }, "no such file"},
		"no Go program": {func(r *release) { r.compile = text }, "sbom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base
			r.out = t.TempDir()
			c.change(&r)
			err := r.build(t.Context())
			if err == nil || name != "no Go program" && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	args := []string{"-version", "v1.2.3", "-out", t.TempDir()}
	if err := run(t.Context(), t.TempDir(), args, failing); err == nil {
		t.Error("a folder outside of git was released")
	}
	if err := run(t.Context(), root, args, failing); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("got %v", err)
	}
	builds := 0
	twice := func(ctx context.Context, dir string, p platform, out string, env ...string) error {
		if builds++; builds > len(platforms) {
			return errors.New("the second build fails")
		}
		return compiled(t)(ctx, dir, p, out, env...)
	}
	if err := run(t.Context(), root, append(args, "-verify"), twice); err == nil || !strings.Contains(err.Error(), "the second build fails") {
		t.Errorf("got %v", err)
	}
	if err := run(t.Context(), root, []string{"-version", "v1.2.3", "-out", filepath.Join(t.TempDir(), "gone"), "-built", "-commit"}, failing); err == nil {
		t.Error("a release commit of nothing")
	}
	r := base
	if _, err := (release{root: t.TempDir(), version: "v1.2.3"}).notes(); err == nil {
		t.Error("notes without a changelog")
	}
	if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte("# Changelog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.notes(); err == nil || !strings.Contains(err.Error(), "no section for v1.2.3") {
		t.Errorf("got %v", err)
	}
	r.source = "0000000000000000000000000000000000000000"
	if err := r.rebuildAndCompare(t.Context()); err == nil {
		t.Error("a commit that is not there was built")
	}
	if _, err := r.releaseCommit(t.Context()); err == nil {
		t.Error("a release commit of a commit that is not there")
	}
}

func failing(context.Context, string, platform, string, ...string) error {
	return errors.New("no luck")
}
func nothing(context.Context, string, platform, string, ...string) error { return nil }
func text(_ context.Context, _ string, _ platform, out string, _ ...string) error {
	return os.WriteFile(out, []byte("#!/bin/sh\n"), 0o600)
}
