package install

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// earlierSetup is a repository as the earlier tool's install leaves it, with what a maintainer adds: every key of its
// config.toml, labels of every group without those that are new here, findings of each reason, its four workflows.
func earlierSetup() map[string]string {
	uses := "name: X\non: issues\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-24.04-firewall\n    steps:\n      - uses: Dennis-Otto/issue-assistant@" +
		strings.Repeat("a", 40) + " # 1.2.1\n"
	labels := ""
	for _, l := range [][3]string{
		{"bug", "type", ""},
		{"enhancement", "type", "ask = false\n"},
		{"question", "type", ""},
		{"documentation", "type", ""},
		{"parser", "area", "form_options = [\"Parser\", \"Lexer\"]\n"},
		{"performance", "topic", ""},
		{"needs-triage", "lifecycle", ""},
		{"needs-info", "lifecycle", ""},
		{"stale", "lifecycle", ""},
		{"possible-duplicate", "lifecycle", ""},
		{"duplicate", "lifecycle", ""},
		{"invalid", "lifecycle", ""},
		{"fixed-in-next-release", "lifecycle", ""},
		{"wontfix", "decision", ""},
		{"breaking", "release", ""},
		{"dependencies", "dependabot", ""},
	} {
		labels += "[[label]]\nname = \"" + l[0] + "\"\ncolor = \"D73A4A\"\ndescription = \"What " + l[0] + " means\"\ngroup = \"" + l[1] + "\"\n" + l[2] + "\n"
	}
	return map[string]string{
		oldConfig: "[engine]\nname = \"claude\"\nmodel = \"claude-sonnet-5\"\n[links]\nhosts = [\"docs.example.org\", \"https://bad\"]\n[forms]\narea_field = \"Part\"\n" +
			"unmapped_options = [\"Other\"]\n[transparency]\nfiles = [\"SUPPORT.md\"]\n[releases]\nclose_with_release = true\n",
		oldProject: "\ufeffOur project is a parser.\r\n\r\n* Grüße: write to people kindly.\r\n",
		oldLabels:  labels,
		oldFindings: "[[accept]]\ntool = \"CodeQL\"\nrule = \"go/x\"\nreason = \"false positive\"\ncomment = \"checked\"\n\n" +
			"[[accept]]\ntool = \"Scorecard\"\nrule = \"Fuzzing\"\nreason = \"won't fix\"\ncomment = \"no\"\npath = \"tests\"\n",
		".github/workflows/issue-assistant.yml": uses,
		".github/workflows/issue-lifecycle.yml": uses,
		".github/workflows/labels.yml":          uses,
		".github/workflows/findings.yml":        uses,
		".github/workflows/ci.yml":              "on: push\n",
		"SUPPORT.md":                            "We use an AI.\n",
		ignorePath:                              "build/\n/.issue-assistant/\n*.o\n",
	}
}

func TestEarlierSetupIsCarriedOverInOneCommand(t *testing.T) {
	t.Parallel()
	files := earlierSetup()
	dir := repository(t, files)
	p := apply(t, dir, Options{Pin: testPin})
	root := os.DirFS(dir)

	// Every old file but the router, whose name is ours, and .gitignore stands as it was.
	for name, text := range files {
		switch got := get(t, dir, name); name {
		case workflowPath(""):
			if authorOf([]byte(got)) != pristine {
				t.Error("the router is not ours")
			}
		case ignorePath:
			if got != "build/\n"+ignoreLine+"\n*.o\n" {
				t.Errorf(".gitignore: %q", got)
			}
		default:
			if got != text {
				t.Errorf("%s was changed", name)
			}
		}
	}

	cfg, ds, err := config.LoadRepo(root)
	if err != nil || len(ds) != 0 || cfg.Engine.Model != "claude-sonnet-5" || cfg.Forms.AreaField != "Part" || !cfg.Lifecycle.CloseWithRelease ||
		!slices.Equal(cfg.Links.Hosts, []string{"docs.example.org"}) {
		t.Errorf("%+v, %v, %v", cfg, ds, err)
	}
	old, _ := config.ParseLabels("", []byte(files[oldLabels]))
	now, ds, err := config.LoadLabels(root)
	if err != nil || diag.HasErrors(ds) || len(old.Labels) != 16 {
		t.Fatal(ds, err)
	}
	for _, l := range old.Labels {
		got, ok := now.Find(l.Name)
		if !ok || got.Group != l.Group || got.Description != l.Description || got.Ask != l.Ask || !slices.Equal(got.FormOptions, l.FormOptions) {
			t.Errorf("label %q became %+v", l.Name, got)
		}
	}
	if ds := config.CheckLifecycleLabels(config.LabelsPath, now, cfg); len(ds) != 0 {
		t.Error(ds)
	}
	if rules := get(t, dir, config.RulesPath); !strings.HasSuffix(rules, "-->\n\nOur project is a parser.\n\n* Grüße: write to people kindly.\n") {
		t.Errorf("rules.md ends in %q", rules[max(0, len(rules)-100):])
	}
	if get(t, dir, findingsPath) != files[oldFindings] || get(t, dir, workflowPath("findings")) == "" {
		t.Error("findings.toml was not carried over with its workflow")
	}
	if ds := Check(root, assets.FS); len(ds) != 0 {
		t.Errorf("check after the migration: %v", ds)
	}

	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{
		oldConfig, oldProject, oldLabels, oldFindings, "transparency.files", "forms.unmapped_options", `"https://bad"`, "issue-lifecycle.yml belongs", "labels.yml belongs",
		"findings.yml belongs", `look at "tests"`, "issue-assistant.yml of the earlier tool is replaced", "ISSUE_ASSISTANT_AI", config.LabelOff,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not name %s:\n%s", want, notes)
		}
	}
	if p := apply(t, dir, Options{}); len(p.written()) != 0 || len(p.Notes) > 6 {
		t.Errorf("a second time wrote %v, said %q", p.written(), p.Notes)
	}
}

// TestRulesAreCommitted asks git itself, with the line of the earlier tool that hid the folder.
func TestRulesAreCommitted(t *testing.T) {
	t.Parallel()
	git := testtool.Need(t, "git")
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("init", "-q")
	for name, text := range earlierSetup() {
		put(t, dir, name, text)
	}
	apply(t, dir, Options{Pin: testPin})
	put(t, dir, ".issue-assistant/material/issue.md", "of a run")
	run("add", "-A")
	staged := strings.Split(run("diff", "--cached", "--name-only"), "\n")
	for _, want := range []string{config.RulesPath, config.Path, config.LabelsPath, findingsPath} {
		if !slices.Contains(staged, want) {
			t.Errorf("%s cannot be committed", want)
		}
	}
	if slices.Contains(staged, ".issue-assistant/material/issue.md") {
		t.Error("the material of a run would be committed")
	}
}

// TestWhatCannotBeCarriedOverIsNamed: nothing is dropped in silence.
func TestWhatCannotBeCarriedOverIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path, text, want string
	}{
		"broken settings":  {oldConfig, "[engine\n", "cannot be read"},
		"unknown engine":   {oldConfig, "[engine]\nname = \"copilot\"\n", `"copilot" is not known`},
		"alias":            {oldConfig, "[engine]\nmodel = \"opus\"\n", "the model was left out"},
		"injected model":   {oldConfig, "[engine]\nmodel = \"x --yolo\"\n", "the model was left out"},
		"area of lines":    {oldConfig, "[forms]\narea_field = \"a\\nb\"\n", "forms.area_field"},
		"Latin-1":          {oldProject, "Gr\xfc\xdfe", "is not UTF-8"},
		"marker":           {oldProject, "<!-- issue-assistant:core -->", "holds our marker"},
		"large":            {oldProject, strings.Repeat("x", 40_000), "has 40000 bytes"},
		"broken labels":    {oldLabels, "[[label]]\nname = \"bug\"\ncolor = \"red\"\ndescription = \"d\"\ngroup = \"type\"\n", "line 3"},
		"broken findings":  {oldFindings, "[[accept]]\ntool = \"x\"\n", ".github/findings.toml does not fit"},
		"labels in a list": {oldLabels, "label = [{ name = \"bug\", color = \"d73a4a\", description = \"d\", group = \"type\" }]\n", "add these labels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{oldProject: "A parser.\n"}
			files[tc.path] = tc.text
			dir := repository(t, files)
			p := apply(t, dir, Options{Pin: testPin})
			if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, tc.want) {
				t.Errorf("no note says %q:\n%s", tc.want, notes)
			}
			if get(t, dir, tc.path) != tc.text {
				t.Error("the old file was changed")
			}
			if _, ds, err := config.LoadRepo(os.DirFS(dir)); err != nil || diag.HasErrors(ds) {
				t.Error(ds, err)
			}
			if _, ds, err := config.LoadLabels(os.DirFS(dir)); err != nil || diag.HasErrors(ds) {
				t.Error(ds, err)
			}
		})
	}
}

// TestUpdateFromAnEarlierRelease: the files of a release of ours with older pins, settings and rules of the maintainer;
// the new one changes lines of pins and nothing else, and leaves what people wrote as it is.
func TestUpdateFromAnEarlierRelease(t *testing.T) {
	t.Parallel()
	for _, newline := range []string{"\n", "\r\n"} {
		dir := repository(t, nil)
		apply(t, dir, Options{Pin: testPin})
		put(t, dir, config.RulesPath, get(t, dir, config.RulesPath)+"\nOur own rule.\n")
		put(t, dir, config.Path, "[engine]\nmax_turns = 12\n")
		put(t, dir, ".github/workflows/own.yml", "on: push\n")
		for _, p := range Known() {
			data, err := os.ReadFile(dir + "/" + p)
			if err != nil {
				continue // not asked for by the settings
			}
			old := strings.NewReplacer("3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", strings.Repeat("1", 40)+" # v6.0.0",
				"043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1", strings.Repeat("2", 40)+" # v6.0.0", "\n", newline).Replace(string(data))
			if old == string(data) {
				t.Fatalf("%s holds no pin that could be older", p)
			}
			put(t, dir, p, old)
		}
		if ds := Check(os.DirFS(dir), assets.FS); len(ds) != 0 {
			t.Errorf("check minds older pins: %v", ds)
		}
		before := tree(t, dir)
		next := Pin{testPin.Action, strings.Repeat("d", 40), "v9.0.0"}
		apply(t, dir, Options{Pin: next})
		after := tree(t, dir)
		if len(after) != len(before) {
			t.Errorf("%d files became %d", len(before), len(after))
		}
		moved := 0
		for name, text := range after {
			was, now := strings.Split(strings.ReplaceAll(before[name], "\r\n", "\n"), "\n"), strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
			if len(was) != len(now) {
				t.Errorf("%s: %d lines became %d", name, len(was), len(now))
				continue
			}
			for i := range was {
				if was[i] == now[i] {
					continue
				}
				moved++
				if !usesLine().MatchString(was[i]) || !usesLine().MatchString(now[i]) || !strings.HasPrefix(name, workflowDir+"/issue-assistant") {
					t.Errorf("%s:%d: %q became %q", name, i+1, was[i], now[i])
				}
			}
			if strings.Contains(text, testPin.SHA) || strings.Contains(text, "# v6.0.0") {
				t.Errorf("%s keeps an older pin", name)
			}
		}
		if moved < 20 {
			t.Errorf("only %d pins moved", moved)
		}
		if p := apply(t, dir, Options{}); len(p.written()) != 0 {
			t.Errorf("a second time wrote %v", p.written())
		}
	}
}
