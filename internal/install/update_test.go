package install

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// firstRelease writes the files of the first release anew. Once v0.1.0 is out, they never change again.
var firstRelease = flag.Bool("first-release", false, "write testdata/v0.1.0.txtar anew")

// firstFiles are what the first release wrote into a repository with findings.toml.
func firstFiles(t *testing.T) map[string]string {
	t.Helper()
	path := filepath.Join("testdata", "v0.1.0.txtar")
	if *firstRelease {
		dir := repository(t, map[string]string{findingsPath: "# What code scanning may find.\n"})
		apply(t, dir, Options{Pin: Pin{testPin.Action, strings.Repeat("01", 20), "v0.1.0"}})
		archive := &txtar.Archive{Comment: []byte("What `issue-assistant install` of v0.1.0 writes; see update_test.go.\n")}
		files := tree(t, dir)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !strings.HasSuffix(name, "/") {
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(files[name])})
			}
		}
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	if len(files) != 15 {
		t.Fatalf("%d files", len(files))
	}
	return files
}

var nextPin = Pin{"issue-assistant/issue-assistant", strings.Repeat("02", 20), "v0.2.0"}

// TestUpdateOfTheFirstRelease: files that nobody edited become what this release writes, with the settings as they are.
func TestUpdateOfTheFirstRelease(t *testing.T) {
	t.Parallel()
	first := firstFiles(t)
	dir := repository(t, first)
	apply(t, dir, Options{Pin: nextPin})
	got := tree(t, dir)
	fresh := repository(t, map[string]string{findingsPath: first[findingsPath], config.Path: first[config.Path], config.LabelsPath: first[config.LabelsPath]})
	apply(t, fresh, Options{Pin: nextPin})
	if diff := cmp.Diff(tree(t, fresh), got); diff != "" {
		t.Errorf("updated (+) is not what a new set-up is (-):\n%s", diff)
	}
	for _, path := range []string{config.Path, config.LabelsPath, findingsPath} {
		if got[path] != first[path] {
			t.Errorf("%s changed", path)
		}
	}
	if p := apply(t, dir, Options{}); len(p.written()) != 0 {
		t.Errorf("a second update wrote %v", p.written())
	}
	if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
		t.Errorf("check: %v", ds)
	}
}

// change is what a maintainer did to a file of the first release.
type change struct {
	name string
	path string
	edit func(string) string
	keep []string // parts that must be there after the update
	same bool     // the file stays as it is, byte by byte
	code string   // what check says of it; empty: nothing
}

var checkoutPin = regexp.MustCompile(`actions/checkout@\S+ # \S+`)

func swap(old, now string) func(string) string {
	return func(s string) string {
		if strings.Count(s, old) == 0 {
			return "" // reported below
		}
		return strings.Replace(s, old, now, 1)
	}
}

func appended(text string) func(string) string { return func(s string) string { return s + text } }

func changesOfMaintainers() []change {
	triage, own := workflowPath("triage"), ".github/workflows/issue-assistant-ours.yml"
	return []change{
		{name: "a time limit", path: triage, edit: swap("timeout-minutes: 75", "timeout-minutes: 60"), same: true, code: "pin-differs workflow-differs"},
		{name: "a step", path: workflowPath("cost"), edit: appended("      - name: Ours\n        run: make report\n"), same: true, code: "pin-differs workflow-differs"},
		{name: "a comment", path: workflowPath("labels"), edit: swap("jobs:\n", "jobs: # ours\n"), same: true, code: "pin-differs workflow-differs"},
		{name: "another schedule", path: workflowPath("lifecycle"), edit: swap("41 6 * * *", "5 4 * * *"), same: true, code: "pin-differs workflow-differs"},
		{name: "a moved pin", path: triage, edit: func(s string) string {
			return checkoutPin.ReplaceAllString(s, "actions/checkout@"+strings.Repeat("c", 40)+" # v99.0.0")
		}, keep: []string{"actions/checkout@" + strings.Repeat("c", 40) + " # v99.0.0"}},
		{name: "the pin of the next release", path: workflowPath(""), edit: func(s string) string {
			return strings.ReplaceAll(s, strings.Repeat("01", 20)+" # v0.1.0", nextPin.SHA+" # "+nextPin.Version)
		}, keep: []string{nextPin.String()}},
		{name: "Windows line ends", path: workflowPath("follow-up"), edit: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, keep: []string{"command: apply"}},
		{name: "words below the core", path: config.RulesPath, edit: appended("\n* Our parser lives in src/parser.\n"), keep: []string{"\n* Our parser lives in src/parser.\n"}},
		{name: "words above the core", path: config.RulesPath, edit: func(s string) string { return "# Ours comes first\n\n" + s }, keep: []string{"# Ours comes first\n\n"}},
		{name: "an edited core", path: config.RulesPath, edit: swap("Be kind, plain and short.", "Be grumpy."), same: true, code: "core-differs"},
		{name: "settings", path: config.Path, edit: swap("max_turns = 40", "max_turns = 12 # ours\n"), same: true},
		{name: "a runner", path: config.Path, edit: swap(`runs_on = "ubuntu-latest"`, `runs_on = "ubuntu-24.04"`), same: true},
		{name: "labels", path: config.LabelsPath, edit: appended("\n[[label]]\nname = \"ours\"\ncolor = \"000000\"\ndescription = \"x\"\ngroup = \"topic\"\n"), same: true},
		{name: "accepted findings", path: findingsPath, edit: appended("[[accept]]\ntool = \"x\"\nrule = \"y\"\nreason = \"used in tests\"\ncomment = \"z\"\n"), same: true},
		{name: "ignored files", path: ignorePath, edit: func(s string) string { return "bin/\n" + s + "*.log" }, same: true},
		{name: "a workflow of their own", path: own, edit: appended("name: Ours\non: push\n"), same: true},
		{name: "texts", path: config.Dir + "/texts.toml", edit: appended("[en]\nthanks = \"Hi!\"\n"), same: true},
	}
}

// TestUpdateKeepsWhatMaintainersChanged: each change alone, and all together, with and without --force.
func TestUpdateKeepsWhatMaintainersChanged(t *testing.T) {
	t.Parallel()
	first := firstFiles(t)
	dir := repository(t, first)
	apply(t, dir, Options{Pin: nextPin})
	updated := tree(t, dir)
	all := maps.Clone(first)
	for _, c := range changesOfMaintainers() {
		edited := maps.Clone(first)
		edited[c.path] = c.edit(first[c.path])
		if edited[c.path] == first[c.path] || edited[c.path] == "" {
			t.Fatalf("%s: nothing changed in %s", c.name, c.path)
		}
		if all[c.path] = c.edit(all[c.path]); all[c.path] == "" {
			t.Fatalf("%s: does not go with the changes before", c.name)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, edited)
			p := apply(t, dir, Options{Pin: nextPin})
			after := get(t, dir, c.path)
			if c.same && after != edited[c.path] {
				t.Errorf("%s was changed:\n%s", c.path, cmp.Diff(edited[c.path], after))
			}
			for _, part := range c.keep {
				if !strings.Contains(after, part) {
					t.Errorf("%s lost %q", c.path, part)
				}
			}
			if c.code != "" {
				was := p.change(c.path)
				if was.State != Kept || Diff(was.Path, was.Old, was.After()) == "" {
					t.Errorf("%s is %s, without a difference to read", c.path, was.State)
				}
			}
			var codes []string
			for _, d := range Check(os.DirFS(dir), assets.FS) {
				if d.Severity == diag.Error && !slices.Contains(codes, d.Code) {
					codes = append(codes, d.Code)
				}
			}
			slices.Sort(codes)
			if got := strings.Join(codes, " "); got != c.code {
				t.Errorf("check says %q, want %q", got, c.code)
			}
			if p := apply(t, dir, Options{}); len(p.written()) != 0 {
				t.Errorf("a second update wrote %v", p.written())
			}
			for path := range first {
				if path != c.path && c.name != "a runner" && string(withoutPins([]byte(get(t, dir, path)))) != string(withoutPins([]byte(updated[path]))) {
					t.Errorf("the change kept %s from its update", path)
				}
			}
		})
	}
	t.Run("all together", func(t *testing.T) {
		t.Parallel()
		dir := repository(t, all)
		apply(t, dir, Options{Pin: nextPin})
		for _, c := range changesOfMaintainers() {
			if after := get(t, dir, c.path); c.same && after != all[c.path] {
				t.Errorf("%s: %s was changed", c.name, c.path)
			}
		}
		apply(t, dir, Options{Pin: nextPin, Force: true})
		for _, c := range changesOfMaintainers() {
			after := get(t, dir, c.path)
			if c.same && c.code == "" && after != all[c.path] {
				t.Errorf("--force, %s: %s was changed", c.name, c.path)
			}
			for _, part := range c.keep {
				if c.path == config.RulesPath && !strings.Contains(after, part) {
					t.Errorf("--force, %s: %s lost %q", c.name, c.path, part)
				}
			}
		}
	})
}

// TestUpdateRefusesForeignFiles: a workflow without install's first line is somebody else's; nothing at all is written.
func TestUpdateRefusesForeignFiles(t *testing.T) {
	t.Parallel()
	files := firstFiles(t)
	text := files[workflowPath("findings")]
	files[workflowPath("findings")] = text[strings.IndexByte(text, '\n')+1:]
	dir := repository(t, files)
	before := tree(t, dir)
	if _, err := tryApply(dir, Options{Pin: nextPin}); err == nil || !strings.Contains(err.Error(), "was not written by install") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}
