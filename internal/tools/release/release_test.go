package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSectionOfTheChangelog(t *testing.T) {
	t.Parallel()
	log := "# Changelog\n\n## Unreleased\n\nsoon\n\n## 1.2.0 - 2026-12-01\n\n- a\n- b\n\n## 1.1.0\n\n- c\n"
	for heading, want := range map[string]string{"## 1.2.0": "- a\n- b\n", "## 1.1.0": "- c\n", "## Unreleased": "soon\n"} {
		if got, ok := section(log, heading); !ok || got != want {
			t.Errorf("%s: got %q, %v", heading, got, ok)
		}
	}
	if _, ok := section(log, "## 9"); ok {
		t.Error("a section that is not there was found")
	}
}

func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	first, err1 := tarred([]byte("program"), []byte("license"))
	second, err2 := tarred([]byte("program"), []byte("license"))
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("two archives of the same files differ, %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	h, err := r.Next()
	if err != nil || h.Name != "issue-assistant" || h.Mode != 0o755 {
		t.Fatalf("got %+v, %v", h, err)
	}
	if data, err := io.ReadAll(r); err != nil || string(data) != "program" {
		t.Errorf("got %q, %v", data, err)
	}
	a, err1 := zipped([]byte("program"), []byte("license"))
	b, err2 := zipped([]byte("program"), []byte("license"))
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
		t.Errorf("two zip files of the same files differ, %v", err)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-version", "1.2.3", "-out", "x"}, {"-version", "v1.2.3"}, {"-version", "v1.2.3;rm", "-out", "x"}, {"-version", "v1.2.3", "-out", "x", "-built"}, {"-version", "v1.2.3", "-out", "x", "-built", "-commit", "-verify"}, {"-nope"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestReleaseCommitAddsOnlyDist(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "a")
	git("config", "user.email", "a@example.com")
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(root, "main.go", "package main\n")
	git("add", "-A")
	git("commit", "-q", "-m", "source")
	if err := os.MkdirAll(filepath.Join(out, "dist"), 0o750); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(out, "dist"), "issue-assistant-linux-amd64", "binary")
	write(filepath.Join(out, "dist"), "SHA256SUMS", "sums")
	r := release{version: "v1.2.3", source: git("rev-parse", "HEAD"), root: root, out: out}
	hash, err := r.releaseCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.releaseCommit(t.Context()); err != nil || again != hash {
		t.Errorf("the same source and files gave %s, then %s: %v", hash, again, err)
	}
	if parent := git("rev-parse", hash+"^"); parent != r.source {
		t.Errorf("the parent is %s, want %s", parent, r.source)
	}
	if files := git("diff", "--name-only", r.source, hash); files != "dist/SHA256SUMS\ndist/issue-assistant-linux-amd64" {
		t.Errorf("changed: %q", files)
	}
	if mode := git("ls-tree", hash, "dist/issue-assistant-linux-amd64"); !strings.HasPrefix(mode, "100755") {
		t.Errorf("the binary has no run bit: %s", mode)
	}
	if status := git("status", "--porcelain"); status != "" {
		t.Errorf("the working tree or its index was touched: %q", status)
	}
}
