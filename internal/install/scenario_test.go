package install

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// repository is an empty git repository with the given files.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tree is every file of a repository but .git.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			out[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func apply(t testing.TB, dir string, o Options) *Plan {
	t.Helper()
	p, err := tryApply(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryApply(dir string, o Options) (*Plan, error) {
	o.Templates = assets.FS
	p, err := Make(dir, o)
	if err != nil {
		return nil, err
	}
	return p, p.Apply()
}

// written lists the paths that a plan writes.
func (p *Plan) written() []string {
	var out []string
	for _, c := range p.Changes {
		if c.writes() {
			out = append(out, c.Path)
		}
	}
	slices.Sort(out)
	return out
}

func (p *Plan) change(path string) Change {
	for _, c := range p.Changes {
		if c.Path == path {
			return c
		}
	}
	return Change{}
}

func TestInstallTwice(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names {
		dir := repository(t, nil)
		apply(t, dir, Options{Pin: testPin, Engine: name})
		first := tree(t, dir)
		for path, text := range first {
			if strings.Contains(text, "\r") || strings.Contains(filepath.Base(path), tempPrefix) {
				t.Errorf("%s: %s", name, path)
			}
		}
		for _, o := range []Options{{}, {Pin: testPin}, {Engine: name}, {Force: true}} {
			if p := apply(t, dir, o); len(p.written()) != 0 || !maps.Equal(tree(t, dir), first) {
				t.Errorf("%s: a second install with %+v wrote %v", name, o, p.written())
			}
		}
		if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
			t.Errorf("%s: check found %v", name, ds)
		}
		cfg, ds, err := config.LoadRepo(os.DirFS(dir))
		if err != nil || len(ds) != 0 || cfg.Engine.Name != name || cfg.Engine.Model != config.DefaultModel(name) {
			t.Errorf("%s: settings %+v, %v, %v", name, cfg.Engine, ds, err)
		}
	}
}

func TestInstallAfterOneSetting(t *testing.T) {
	t.Parallel()
	all := []string{
		workflowPath(""), workflowPath("triage"), workflowPath("reanalyze"), workflowPath("follow-up"), workflowPath("maintainer-reply"),
		workflowPath("release-reply"), workflowPath("lifecycle"), workflowPath("labels"), workflowPath("cost"),
	}
	withKeys := all[:6]
	for _, tt := range []struct {
		name, old, now string
		want           []string
	}{
		{"model", `model = "claude-opus-5-5"`, `model = "claude-sonnet-5"`, nil},
		{"max_turns", "max_turns = 40", "max_turns = 10", nil},
		{"monthly_usd", "monthly_usd = 20.00", "monthly_usd = 0", nil},
		{"remind_days", "remind_days = 15", "remind_days = 20", nil},
		{"mode", `mode = "comment"`, `mode = "summary"`, nil},
		{"runs_on", `runs_on = "ubuntu-latest"`, `runs_on = "ubuntu-24.04"`, all},
		{"engine", "name = \"claude\" ", "name = \"codex\" ", withKeys},
		{"chunk", "# [chunk]\n# work", "[chunk]\nwork", []string{workflowPath(""), workflowPath("lifecycle"), workflowPath("poll")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, map[string]string{".github/workflows/agent.yml": workFile})
			apply(t, dir, Options{Pin: testPin})
			before := get(t, dir, config.Path)
			if !strings.Contains(before, tt.old) {
				t.Fatalf("no %q", tt.old)
			}
			changed := strings.Replace(before, tt.old, tt.now, 1)
			if tt.name == "engine" {
				changed = strings.Replace(changed, `"claude-opus-5-5"`, `"gpt-5.5"`, 1)
			}
			put(t, dir, config.Path, changed)
			if ds := Check(os.DirFS(dir), assets.FS); (len(ds) > 0) != (len(tt.want) > 0) {
				t.Errorf("check: %v", ds)
			}
			p := apply(t, dir, Options{})
			want := slices.Sorted(slices.Values(tt.want))
			if got := p.written(); !slices.Equal(got, want) {
				t.Errorf("wrote %v, want %v", got, want)
			}
			if get(t, dir, config.Path) != changed {
				t.Error("the settings changed")
			}
			put(t, dir, config.Path, before)
			apply(t, dir, Options{})
			if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
				t.Errorf("back again: %v", ds)
			}
		})
	}
}

func TestFindingsFileMakesItsWorkflow(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{findingsPath: ""})
	apply(t, dir, Options{Pin: testPin})
	get(t, dir, workflowPath("findings"))
	if err := os.Remove(filepath.Join(dir, findingsPath)); err != nil {
		t.Fatal(err)
	}
	if p := apply(t, dir, Options{}); !slices.Equal(p.written(), []string{workflowPath("findings")}) || p.change(workflowPath("findings")).State != Removed {
		t.Errorf("wrote %v", p.written())
	}
}

func TestEditedFilesAreKept(t *testing.T) {
	t.Parallel()
	dir := repository(t, nil)
	apply(t, dir, Options{Pin: testPin})
	triage := strings.Replace(get(t, dir, workflowPath("triage")), "timeout-minutes: 75", "timeout-minutes: 60", 1)
	put(t, dir, workflowPath("triage"), triage)
	rules := get(t, dir, config.RulesPath)
	mine := strings.Replace(rules, "Be kind, plain and short.", "Be grumpy.", 1) + "\nOur parser lives in src/parser.\n"
	put(t, dir, config.RulesPath, mine)

	ds := Check(os.DirFS(dir), assets.FS)
	if len(ds) != 2 || ds[0].Code != "workflow-differs" || ds[1].Code != "core-differs" {
		t.Errorf("check: %v", ds)
	}
	if line := strings.Split(triage, "\n")[ds[0].Line-1]; !strings.Contains(line, "timeout-minutes: 60") {
		t.Errorf("the finding points to %q", line)
	}
	p := apply(t, dir, Options{})
	if len(p.written()) != 0 || get(t, dir, workflowPath("triage")) != triage || get(t, dir, config.RulesPath) != mine {
		t.Errorf("wrote %v", p.written())
	}
	c := p.change(workflowPath("triage"))
	diff := Diff(c.Path, c.Old, c.After())
	if c.State != Kept || !strings.Contains(diff, "-    timeout-minutes: 60\n+    timeout-minutes: 75\n") {
		t.Errorf("%s: %s", c.State, diff)
	}
	p = apply(t, dir, Options{Force: true})
	if got := get(t, dir, config.RulesPath); got != rules+"\nOur parser lives in src/parser.\n" {
		t.Error("--force did not write the core anew, or lost the maintainer's words")
	}
	if !slices.Equal(p.written(), []string{workflowPath("triage"), config.RulesPath}) {
		t.Errorf("--force wrote %v", p.written())
	}
}

func TestNewReleaseChangesOnlyPins(t *testing.T) {
	t.Parallel()
	dir := repository(t, nil)
	apply(t, dir, Options{Pin: testPin})
	// Dependabot moved an action further than this release knows.
	path := workflowPath("triage")
	moved := strings.ReplaceAll(get(t, dir, path), "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "actions/checkout@"+strings.Repeat("c", 40)+" # v7.1.0")
	put(t, dir, path, moved)
	if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
		t.Errorf("check minds a moved pin: %v", ds)
	}
	next := Pin{testPin.Action, strings.Repeat("d", 40), "v1.3.0"}
	before := tree(t, dir)
	apply(t, dir, Options{Pin: next})
	for name, text := range tree(t, dir) {
		if string(withoutPins([]byte(text))) != string(withoutPins([]byte(before[name]))) {
			t.Errorf("%s: more than pins changed", name)
		}
	}
	if text := get(t, dir, path); !strings.Contains(text, "# v7.1.0") || !strings.Contains(text, next.String()) || strings.Contains(text, testPin.SHA) {
		t.Error("the newer pin went back, or the action's own did not move")
	}
	// A commit that somebody shortened is a finding.
	put(t, dir, path, strings.Replace(get(t, dir, path), next.SHA, "v1", 1))
	if ds := Check(os.DirFS(dir), assets.FS); len(ds) == 0 || ds[0].Code != "pin" {
		t.Errorf("check: %v", ds)
	}
}

func TestMaintainersTextSurvives(t *testing.T) {
	t.Parallel()
	mine := "# Ours\n\n# 1. never close issues\n--not-a-flag\n\"quotes\" and \\ backslash\n"
	dir := repository(t, map[string]string{config.RulesPath: mine, ignorePath: "bin/\n/.issue-assistant/\n# end"})
	apply(t, dir, Options{Pin: testPin})
	if got := get(t, dir, config.RulesPath); !strings.HasSuffix(got, "-->\n\n"+mine) || !strings.HasPrefix(got, coreBegin) {
		t.Errorf("%q", got)
	}
	if got := get(t, dir, ignorePath); got != "bin/\n/.issue-assistant/material/\n# end" {
		t.Errorf(".gitignore: %q", got)
	}
	for name, broken := range map[string]string{
		"one marker":    coreBegin + " -->\ntext\n",
		"other marker":  "text\n" + coreEnd + "\n",
		"two blocks":    strings.Repeat(coreBlock("x\n")+"\n", 2),
		"reversed":      coreEnd + "\n" + coreBegin + " -->\n",
		"indented":      "  " + coreBegin + " -->\ntext\n",
		"not UTF-8":     "\xff\xfet\x00",
		"Latin-1 words": "caf\xe9",
	} {
		dir := repository(t, map[string]string{config.RulesPath: broken})
		before := tree(t, dir)
		if _, err := tryApply(dir, Options{Pin: testPin, Force: true}); err == nil || !maps.Equal(tree(t, dir), before) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestWindowsCheckout(t *testing.T) {
	t.Parallel()
	dir := repository(t, nil)
	apply(t, dir, Options{Pin: testPin})
	for name, text := range tree(t, dir) {
		if !strings.HasSuffix(name, "/") {
			put(t, dir, name, strings.ReplaceAll(text, "\n", "\r\n"))
		}
	}
	before := tree(t, dir)
	if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
		t.Errorf("check: %v", ds)
	}
	if p := apply(t, dir, Options{}); len(p.written()) != 0 || !maps.Equal(tree(t, dir), before) {
		t.Errorf("wrote %v", p.written())
	}
	mine := "# Ours\r\nwords\r\n"
	put(t, dir, config.RulesPath, mine)
	apply(t, dir, Options{})
	if got := get(t, dir, config.RulesPath); !strings.HasSuffix(got, mine) || !isCRLF([]byte(got)) {
		t.Errorf("the file's line ends are mixed: %q", got[len(got)-60:])
	}
}

// refused are repositories that install must leave exactly as they are.
func TestRefusals(t *testing.T) {
	t.Parallel()
	link := func(from, to string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name    string
		files   map[string]string
		prepare func(t *testing.T, dir string)
		o       Options
		want    string
	}{
		{"a symlinked .github", map[string]string{"elsewhere/x": ""}, link(".github", "elsewhere"), Options{Pin: testPin}, ".github is a symbolic link"},
		{"a symlink out of the repository", nil, link(".issue-assistant", "/tmp"), Options{Pin: testPin}, ".issue-assistant is a symbolic link"},
		{"a dangling .gitignore", nil, link(".gitignore", "nowhere"), Options{Pin: testPin}, ".gitignore is a symbolic link"},
		{".github is a file", map[string]string{".github": "x"}, nil, Options{Pin: testPin}, ".github is no folder"},
		{"a workflow is a folder", map[string]string{workflowPath("cost") + "/x": ""}, nil, Options{Pin: testPin}, "is no regular file"},
		{"another tool's workflow", map[string]string{workflowPath(""): "name: Mine\n"}, nil, Options{Pin: testPin}, "was not written by install"},
		{"broken settings", map[string]string{config.Path: "[engine]\nnme = 1\n"}, nil, Options{Pin: testPin}, "is wrong"},
		{"an expression as runner", map[string]string{config.Path: "[workflows]\nruns_on = \"${{ github.event.issue.title }}\"\n"}, nil, Options{Pin: testPin}, ""},
		{"a newline as runner", map[string]string{config.Path: "[workflows]\nruns_on = \"x\\n    env: {}\"\n"}, nil, Options{Pin: testPin}, ""},
		{"another engine", map[string]string{config.Path: "[engine]\nname = \"codex\"\nmodel = \"gpt-5.5\"\n"}, nil, Options{Pin: testPin, Engine: engine.Claude}, "is wrong"},
		{"no pin", nil, nil, Options{}, ErrNoPin.Error()},
		{"work that is not there", map[string]string{config.Path: "[chunk]\nwork = \"./.github/workflows/agent.yml\"\n"}, nil, Options{Pin: testPin}, "cannot be read"},
		{"work outside", map[string]string{config.Path: "[chunk]\nwork = \"./../../etc/passwd.yml\"\n"}, nil, Options{Pin: testPin}, ""},
		{"a huge file", map[string]string{config.RulesPath: strings.Repeat("x", maxFile+1)}, nil, Options{Pin: testPin}, "larger than 1 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, tt.files)
			if tt.prepare != nil {
				tt.prepare(t, dir)
			}
			before := listing(t, dir)
			_, err := tryApply(dir, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n"+err.Error()) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if after := listing(t, dir); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			out = append(out, path+" "+d.Type().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFindRoot(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a/b/c.txt": ""})
	if got, err := FindRoot(filepath.Join(dir, "a", "b")); err != nil || got != dir {
		t.Errorf("%s, %v", got, err)
	}
	worktree := t.TempDir()
	put(t, worktree, ".git", "gitdir: ../x\n")
	if got, err := FindRoot(worktree); err != nil || got != worktree {
		t.Errorf("worktree: %s, %v", got, err)
	}
	if _, err := FindRoot(t.TempDir()); !errors.Is(err, ErrNoRepository) {
		t.Errorf("without git: %v", err)
	}
	if _, err := FindRoot(filepath.Join(dir, "nowhere")); err == nil || errors.Is(err, ErrNoRepository) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestHalfWrittenRun(t *testing.T) {
	t.Parallel()
	dir := repository(t, nil)
	apply(t, dir, Options{Pin: testPin})
	whole := tree(t, dir)
	// A run that was killed between two renames.
	for _, name := range []string{workflowPath("cost"), config.LabelsPath, ignorePath} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, workflowDir+"/"+tempPrefix+"0011", "half")
	put(t, dir, config.Dir+"/"+tempPrefix+"0022", "half")
	apply(t, dir, Options{})
	if got := tree(t, dir); !maps.Equal(got, whole) {
		t.Errorf("%v", slices.Sorted(maps.Keys(got)))
	}
}

// TestFailureUndoes makes a rename fail in the middle, by a folder that appears where a file should go.
func TestFailureUndoes(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{config.RulesPath: "mine\n", ignorePath: "bin/\n"})
	before := tree(t, dir)
	p, err := Make(dir, Options{Templates: assets.FS, Pin: testPin})
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	w := &writer{root: root}
	for i := range p.Changes {
		if p.Changes[i].writes() {
			if err := w.stage(&p.Changes[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range w.staged[:len(w.staged)-1] {
		if err := w.commit(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.undo(); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); !maps.Equal(got, before) {
		t.Errorf("%v", slices.Sorted(maps.Keys(got)))
	}
	put(t, dir, config.RulesPath, "changed meanwhile\n")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "changed while install was working") {
		t.Errorf("an old plan was written: %v", err)
	}
}

// TestReadOnly runs as somebody who may not write; root may always.
func TestReadOnly(t *testing.T) {
	if dir := os.Getenv("TEST_READ_ONLY_DIR"); dir != "" {
		p, err := Make(dir, Options{Templates: assets.FS, Pin: testPin})
		if err == nil {
			err = p.Apply()
		}
		if err == nil {
			os.Exit(9)
		}
		_, _ = os.Stdout.WriteString(err.Error())
		os.Exit(0)
	}
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "repo")
	for _, d := range []string{dir, filepath.Join(dir, ".git"), filepath.Join(dir, ".github"), filepath.Join(dir, ".github", "workflows")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestReadOnly$")
	cmd.Env = append(os.Environ(), "TEST_READ_ONLY_DIR="+dir)
	if os.Geteuid() == 0 {
		// Another user owns one of the folders, so that staging fails after it has begun.
		if err := os.Chown(filepath.Join(dir, ".github", "workflows"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		for at := parent; at != "/"; at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && info.Mode().Perm()&0o001 == 0 {
				if err := os.Chmod(at, info.Mode().Perm()|0o055); err != nil {
					t.Fatal(err)
				}
			}
		}
		binary := filepath.Join(parent, "test")
		data, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(binary, data, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.Path = binary
		cmd.Dir = parent
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	} else if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "permission denied") {
		t.Fatalf("%v: %s", err, out)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}

func TestCarriesOver(t *testing.T) {
	t.Parallel()
	router := "name: x\non: issues\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: Dennis-Otto/issue-assistant@" + strings.Repeat("a", 40) + "\n"
	files := map[string]string{
		oldConfig:                               "[engine]\nname = \"claude\"\nmodel = \"claude-sonnet-5\"\n[links]\nhosts = [\"docs.example.org\"]\n[forms]\narea_field = \"Part\"\n[releases]\nclose_with_release = false\n[transparency]\nfiles = [\"SUPPORT.md\"]\n",
		oldProject:                              "Our project is a parser.\n",
		".github/workflows/issue-lifecycle.yml": router,
		ignorePath:                              "/.issue-assistant/\n",
	}
	dir := repository(t, files)
	p := apply(t, dir, Options{Pin: testPin})
	cfg, ds, err := config.LoadRepo(os.DirFS(dir))
	if err != nil || len(ds) != 0 || cfg.Engine.Model != "claude-sonnet-5" || !slices.Equal(cfg.Links.Hosts, []string{"docs.example.org"}) ||
		cfg.Forms.AreaField != "Part" || cfg.Lifecycle.CloseWithRelease {
		t.Errorf("%+v, %v, %v", cfg, ds, err)
	}
	if !strings.HasSuffix(get(t, dir, config.RulesPath), "-->\n\nOur project is a parser.\n") || get(t, dir, ignorePath) != ignoreLine+"\n" {
		t.Error("the rules or .gitignore were not carried over")
	}
	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{oldConfig, oldProject, "transparency.files", "issue-lifecycle.yml belongs to the earlier tool"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not name %s:\n%s", want, notes)
		}
	}
	if p := apply(t, dir, Options{}); len(p.written()) != 0 {
		t.Errorf("it is carried over once; wrote %v", p.written())
	}
	// A router that is not the earlier tool's stays, and so does the earlier tool's where its settings are gone.
	for _, files := range []map[string]string{
		{oldProject: "x", workflowPath(""): "name: mine\non: push\n"},
		{workflowPath(""): router},
	} {
		dir = repository(t, files)
		if _, err := tryApply(dir, Options{Pin: testPin}); err == nil {
			t.Error("another tool's router was overwritten")
		}
	}
	apply(t, dir, Options{Pin: testPin, Force: true})
}

func TestWords(t *testing.T) {
	t.Parallel()
	c := config.Default()
	if got := WorstCase(c); !strings.Contains(got, "$20.00 a day") || !strings.Contains(got, "50 runs, 5 for each person, at $1.00") || !strings.Contains(got, "$20.00 a month") {
		t.Error(got)
	}
	c.Limits.MonthlyUSD = 0
	if got := WorstCase(c); !strings.Contains(got, "$50.00 a day") || !strings.Contains(got, "$1550.00 in a month") {
		t.Error(got)
	}
	for _, name := range engine.Names {
		dir := repository(t, nil)
		text := NextSteps(apply(t, dir, Options{Pin: testPin, Engine: name}))
		for _, want := range append(Secrets(name)[:1], "deployment-branch-policies", "issue-assistant-labels.yml", "git add", "check --online") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the next steps lack %s", name, want)
			}
		}
		// The steps are a script: bash must be able to read it.
		cmd := exec.Command("bash", "-n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	text, err := Core(assets.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, vendor := range []string{"Claude", "Anthropic", "OpenAI", "Codex", "GPT", "Gemini", "Google", "Copilot"} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(vendor)) {
			t.Errorf("the rules name %s", vendor)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add([]byte("mine\n"))
	f.Add([]byte(coreBlock("old\n") + "\nmine"))
	f.Add([]byte("a\r\n" + coreBlock("x\n") + "\r\nb"))
	f.Fuzz(func(t *testing.T, old []byte) {
		c, err := planRules(old, "rules\n", "starter\n", "", true)
		if err != nil || old == nil {
			return
		}
		again, err := planRules(c.New, "rules\n", "starter\n", "", true)
		if err != nil || again.State != Unchanged || !bytes.Equal(again.New, c.New) {
			t.Errorf("a second time: %v, %s", err, again.State)
		}
	})
}
