package cli

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// samples holds a small repository (checkout/, issues.json) and issues with a recorded run each.
//
//go:embed sample
var samples embed.FS

// sampleRepo is the repository of the samples.
const sampleRepo = "example/tidybox"

// sampleCommit stands for the analyzed commit in links.
const sampleCommit = "0123456789abcdef0123456789abcdef01234567"

// sampleNames lists the samples, the one that `try` plays by itself first.
func sampleNames() []string {
	names := []string{"bug"}
	entries, err := samples.ReadDir("sample")
	if err != nil {
		return names
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "checkout" && e.Name() != names[0] {
			names = append(names, e.Name())
		}
	}
	return names
}

// trial is a runner and a repository that exist for one try only.
type trial struct {
	user *app // the real world, for what is shown and read
	app  *app // the commands' world: a temporary folder, GitHub in memory

	server    *ghtest.Server
	dir, temp string
	vars      map[string]string
	task      task.Name
	issue     int
	title     string
	before    []string // labels
	recording []byte

	raw   string // the answer
	ended engine.Ended
	line  string
}

func (a *app) newTrial(ctx context.Context, what string, f tryFlags) (*trial, error) {
	temp, err := os.MkdirTemp("", "issue-assistant-try-")
	if err != nil {
		return nil, failure(err)
	}
	s := &trial{user: a, temp: temp, dir: filepath.Join(temp, "checkout"), ended: engine.NotStarted}
	if err := s.set(ctx, what, f); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *trial) close() { _ = os.RemoveAll(s.temp) } // a temporary folder that stays behind harms nobody

func (s *trial) set(ctx context.Context, what string, f tryFlags) error {
	repo := sampleRepo
	if f.repo != "" {
		repo = f.repo
	}
	s.server = ghtest.New(ghtest.Options{Repo: repo, Now: s.user.Now})
	s.vars = map[string]string{
		"RUNNER_TEMP": s.temp, "GITHUB_REPOSITORY": repo, "GITHUB_STEP_SUMMARY": filepath.Join(s.temp, "summary.md"),
		"GITHUB_API_URL": "https://api.github.com", "GITHUB_TOKEN": "none-needed", "PATH": s.user.Getenv("PATH"), "GITHUB_SHA": sampleCommit,
	}
	env := s.user.Env
	env.Dir, env.HTTP, env.Stdout, env.Stderr, env.Stdin = s.dir, s.server.Transport(), io.Discard, io.Discard, strings.NewReader("")
	env.Getenv = func(name string) string { return s.vars[name] }
	env.Environ = func() []string { return nil }
	s.app = &app{Env: env, checkout: s}
	if err := s.fill(ctx, what, f, repo); err != nil {
		return err
	}
	if err := s.labelsOf(s.dir); err != nil {
		return err
	}
	s.before = s.labels()
	return nil
}

// step runs one command as the runner would and returns its outputs.
func (s *trial) step(ctx context.Context, args ...string) (map[string]string, error) {
	var said bytes.Buffer
	file := filepath.Join(s.temp, "outputs")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, failure(err)
	}
	s.vars["GITHUB_OUTPUT"] = file
	one := *s.app
	one.Args, one.Stderr = args, &said
	if code := execute(ctx, &one); code != ExitOK {
		_, _ = s.user.Stderr.Write(said.Bytes())
		return nil, silent(code)
	}
	return outputsOf(file)
}

// outputsOf reads a file of outputs in the two forms that a runner knows.
func outputsOf(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, failure(err)
	}
	outputs := map[string]string{}
	rest := string(data)
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		name, delimiter, ok := strings.Cut(line, "<<")
		if !ok {
			return nil, failure(errors.New("a step wrote an output that cannot be read"))
		}
		value, after, ok := strings.Cut("\n"+rest, "\n"+delimiter+"\n")
		if !ok {
			return nil, failure(errors.New("a step's output has no end"))
		}
		outputs[name], rest = strings.TrimPrefix(value, "\n"), after
	}
	return outputs, nil
}

// realRun starts the program again for `run`, with the real environment: it needs the key, and may start itself anew to
// hide it.
func (s *trial) realRun(ctx context.Context, f tryFlags, limits, material map[string]string, execution string) error {
	self, err := os.Executable()
	if err != nil {
		return failure(err)
	}
	program := s.user.path(f.cli)
	if program == "" {
		program = limits["cli"]
	}
	outputs := filepath.Join(s.temp, "run-outputs")
	args := []string{
		"run", "--task", string(s.task), "--engine", f.engine, "--cli", program,
		"--model", limits["model"], "--max-turns", limits["max-turns"], "--max-budget-usd", limits["max-budget-usd"],
		"--timeout-minutes", limits["timeout-minutes"], "--material", material["material"], "--rules-file", material["rules-file"],
		"--execution-file", execution,
	}
	cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // this very program, with values that engine has checked
	cmd.Dir = s.dir
	cmd.Env = append(s.user.Environ(), "GITHUB_OUTPUT="+outputs, "RUNNER_TEMP="+s.temp, "GITHUB_STEP_SUMMARY=")
	cmd.Stderr = s.user.Stderr
	failed := cmd.Run()
	got, err := outputsOf(outputs)
	if err != nil {
		return failure(errors.Join(failed, err))
	}
	s.raw, s.ended = got["answer"], engine.Ended(got["ended"])
	return nil
}

func (s *trial) summary() string {
	data, err := os.ReadFile(s.vars["GITHUB_STEP_SUMMARY"])
	if err != nil {
		return ""
	}
	return string(data)
}

// notes are what apply said beside the comment: repaired, skipped, refused.
func (s *trial) notes() []string {
	_, after, found := strings.Cut("\n"+s.summary(), "\n### ")
	if !found {
		return nil
	}
	return []string{"What apply did: " + strings.Join(strings.Fields(after), " ")}
}

// ours are the comments that the assistant wrote.
func (s *trial) ours() []string {
	var bodies []string
	for _, c := range s.server.Comments(s.issue) {
		if c.Author.IsBot() {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

func (s *trial) labels() []string {
	issue, _ := s.server.Issue(s.issue)
	return issue.Labels
}

// Tracked and Read make the trial the checkout of apply: every file of it counts as tracked.
func (s *trial) Tracked(name string) bool {
	info, err := fs.Stat(os.DirFS(s.dir), name)
	return err == nil && info.Mode().IsRegular() && !strings.HasPrefix(name, config.Dir+"/")
}

// Read reads a file of the checkout.
func (s *trial) Read(name string, limit int64) (data []byte, err error) {
	f, err := os.DirFS(s.dir).Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// copyTree writes a tree of files; a suffix that keeps them out of the build is cut off.
func copyTree(from fs.FS, to, suffix string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(name, suffix)))
		if d.IsDir() {
			return os.MkdirAll(target, 0o750)
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
}
