package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
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

func TestArchivesAreReproducibleAndCarryTheLicences(t *testing.T) {
	t.Parallel()
	r := release{version: "v1.2.3", root: testtool.Root(t)}
	want := map[string]string{"LICENSE": "", thirdParty: ""}
	for name := range want {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			t.Fatal(err)
		}
		want[name] = string(text)
	}
	for p, c := range map[platform]struct{ file, program string }{
		{"linux", "amd64"}:   {"issue-assistant_1.2.3_linux_amd64.tar.gz", "issue-assistant"},
		{"windows", "amd64"}: {"issue-assistant_1.2.3_windows_amd64.zip", "issue-assistant.exe"},
	} {
		first, name, err1 := r.archive(p, []byte("program"))
		second, _, err2 := r.archive(p, []byte("program"))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(first, second) || name != c.file {
			t.Fatalf("%s: two archives of the same files differ, %v", name, err)
		}
		files := unpack(t, name, first)
		if files[c.program] != "program" {
			t.Errorf("%s holds %q as the program", name, files[c.program])
		}
		for text := range want {
			if files[text] != want[text] {
				t.Errorf("%s: %s is not that of the repository", name, text)
			}
		}
	}
	if _, _, err := (release{root: t.TempDir()}).archive(platforms[0], nil); err == nil {
		t.Error("an archive without its licenses was made")
	}
}

// unpack reads an archive; a program of a tar must be executable.
func unpack(t *testing.T, name string, data []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = string(text)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if program := h.Name == "issue-assistant"; program != (h.Mode == 0o755) {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
		files[h.Name] = string(text)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-version", "1.2.3", "-out", "x"}, {"-version", "v1.2.3"}, {"-version", "v1.2.3;rm", "-out", "x"}, {"-version", "v1.2.3", "-out", "x", "-built"}, {"-version", "v1.2.3", "-out", "x", "-built", "-commit", "-verify"}, {"-nope"}} {
		if err := run(t.Context(), ".", args, nil); err == nil {
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
