package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/tools/buildflags"
)

// release is one build of all platforms. Below out: dist/ (what the release commit adds), bin/ (all binaries), assets/
// (archives, checksums, bill of materials, notes).
type release struct {
	version, source string
	root, out       string
	compile         compiler // nil: go build
}

// compiler builds one platform from the sources in dir.
type compiler func(ctx context.Context, dir string, p platform, out string, env ...string) error

type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

func (p platform) binary() string {
	name := "issue-assistant-" + p.os + "-" + p.arch
	if p.os == "windows" {
		name += ".exe"
	}
	return name
}

const versionVariable = "github.com/issue-assistant/issue-assistant/internal/version.Version"

func (r release) args() []string { return buildflags.Args(versionVariable + "=" + r.version) }

func (r release) build(ctx context.Context) error {
	for _, dir := range []string{"bin", "dist", "assets"} {
		if err := os.MkdirAll(filepath.Join(r.out, dir), 0o755); err != nil {
			return err
		}
	}
	for _, p := range platforms {
		if err := r.buildOne(ctx, r.root, p, filepath.Join(r.out, "bin", p.binary())); err != nil {
			return err
		}
	}
	if err := r.writeDist(); err != nil {
		return err
	}
	return r.writeAssets()
}

// buildOne builds one platform from the sources in dir and looks at its size.
func (r release) buildOne(ctx context.Context, dir string, p platform, out string, env ...string) error {
	compile := r.compile
	if compile == nil {
		compile = r.goBuild
	}
	if err := compile(ctx, dir, p, out, env...); err != nil {
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	if info.Size() > buildflags.MaxBytes {
		return fmt.Errorf("%s has %d bytes, more than %d", p.binary(), info.Size(), buildflags.MaxBytes)
	}
	fmt.Printf("%-36s %5.2f MB\n", p.binary(), float64(info.Size())/1e6)
	return nil
}

// goBuild runs the compiler. Nothing of the caller's Go settings may change the bytes.
func (r release) goBuild(ctx context.Context, dir string, p platform, out string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(r.args(), "-o", out, "./cmd/issue-assistant")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	cmd.Env = append(cmd.Env, env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.binary(), err, text)
	}
	return nil
}

// writeDist lays out what the release commit adds: the Linux binaries, their checksums, and what they were built from.
func (r release) writeDist() error {
	var sums strings.Builder
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, "bin", p.binary()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, "dist", p.binary()), data, 0o755); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum(data), p.binary())
	}
	if err := os.WriteFile(filepath.Join(r.out, "dist", "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	source := fmt.Sprintf("version: %s\nsource: %s\ngo: %s\ncommand: CGO_ENABLED=0 go '%s' ./cmd/issue-assistant\n",
		r.version, r.source, runtime.Version(), strings.Join(r.args(), "' '"))
	return os.WriteFile(filepath.Join(r.out, "dist", "SOURCE"), []byte(source), 0o644)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// rebuildAndCompare builds the committed sources again, in another folder with an empty build cache.
func (r release) rebuildAndCompare(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "issue-assistant-rebuild-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	src := filepath.Join(dir, "elsewhere")
	if _, err := gitText(ctx, r.root, "clone", "--quiet", "--no-hardlinks", r.root, src); err != nil {
		return err
	}
	if _, err := gitText(ctx, src, "checkout", "--quiet", r.source); err != nil {
		return err
	}
	var differing []string
	for _, p := range platforms {
		again := filepath.Join(dir, p.binary())
		if err := r.buildOne(ctx, src, p, again, "GOCACHE="+filepath.Join(dir, "cache")); err != nil {
			return err
		}
		same, err := sameFile(filepath.Join(r.out, "bin", p.binary()), again)
		if err != nil {
			return err
		}
		if !same {
			differing = append(differing, p.binary())
		}
	}
	if len(differing) > 0 {
		return fmt.Errorf("a second build from other sources or another folder differs: %s (is the working tree clean?)", strings.Join(differing, ", "))
	}
	fmt.Printf("%d of %d binaries are byte-identical in a second build from another folder\n", len(platforms), len(platforms))
	return nil
}

func sameFile(a, b string) (bool, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	y, err := os.ReadFile(b)
	return bytes.Equal(x, y), err
}

func gitText(ctx context.Context, dir string, args ...string) (string, error) {
	return gitWith(ctx, dir, nil, args...)
}

func gitWith(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// releaseCommit adds dist/ to the source commit's tree in an index of its own and commits it as a child of the source.
func (r release) releaseCommit(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "issue-assistant-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := gitWith(ctx, r.root, env, "read-tree", r.source); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(filepath.Join(r.out, "dist"))
	if err != nil {
		return "", err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, e := range entries {
		blob, err := gitText(ctx, r.root, "hash-object", "-w", filepath.Join(r.out, "dist", e.Name()))
		if err != nil {
			return "", err
		}
		mode := "100644"
		if strings.HasPrefix(e.Name(), "issue-assistant-") {
			mode = "100755"
		}
		if _, err := gitWith(ctx, r.root, env, "update-index", "--add", "--cacheinfo", mode+","+blob+",dist/"+e.Name()); err != nil {
			return "", err
		}
	}
	tree, err := gitWith(ctx, r.root, env, "write-tree")
	if err != nil {
		return "", err
	}
	message := fmt.Sprintf("Release %s\n\nBuilt from %s; dist/SOURCE says how.", r.version, r.source)
	date, err := gitText(ctx, r.root, "show", "-s", "--format=%cI", r.source)
	if err != nil {
		return "", err
	}
	// Names and times are fixed, so that whoever builds the same source gets the same hash.
	const name, mail = "github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com"
	env = append(env, "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+mail, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+mail, "GIT_COMMITTER_DATE="+date)
	return gitWith(ctx, r.root, env, "commit-tree", tree, "-p", r.source, "-m", message)
}
