package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

var update = flag.Bool("update", false, "write golden files anew")

// design is config.toml as the design document shows it, with its optional tables.
const design = `#:schema https://raw.githubusercontent.com/issue-assistant/issue-assistant/main/schema/config.schema.json

[engine]
name = "claude"                 # claude, codex or gemini
model = "claude-opus-5-5"       # the analyses and follow-ups; a full id, no alias
light_model = ""                # the yes-or-no replies; empty: model
effort = ""                     # low, medium, high, xhigh, max; empty: the engine's default
max_turns = 40                  # 1 to 200
max_budget_usd = 1.00           # above 0, up to 100
timeout_minutes = 15            # 1 to 60

[limits]
runs_per_person_per_day = 5     # for people without write access
runs_per_day = 50               # started by people without write access
monthly_usd = 20.00             # all runs of a calendar month (UTC); 0: no cap

[post]
mode = "comment"                # comment, or summary: nothing is posted, the job summary shows it

[labels]
deny = ["~*", "*-approved"]     # never set by the AI

[links]
hosts = []                      # besides this repository

[forms]
area_field = "Area"             # the issue form's field that chooses an area label

[lifecycle]
remind_days = 15
close_days = 30
duplicate_days = 3
reopen_days = 30
close_with_release = true
close_duplicates = false
exempt_labels = ["pinned", "security"]

[sessions]
mode = "off"                    # off or shadow

[workflows]
runs_on = "ubuntu-latest"
`

const designOptional = `
[chunk]
work = "./.github/workflows/agent.yml"   # what the poll gate starts

[prices."my-model"]           # dollars per million tokens, for a model the table lacks
input = 2.0
output = 10.0
cached_input = 0.2
`

func TestParseDesign(t *testing.T) {
	t.Parallel()
	c, ds := Parse(Path, []byte(design))
	if len(ds) > 0 {
		t.Fatalf("findings: %v", ds)
	}
	if diff := cmp.Diff(Default(), c); diff != "" {
		t.Errorf("the file shows the defaults (-default +file):\n%s", diff)
	}

	c, ds = Parse(Path, []byte(design+designOptional))
	if len(ds) > 0 {
		t.Fatalf("findings: %v", ds)
	}
	want := Default()
	want.Chunk = &Chunk{Work: "./.github/workflows/agent.yml"}
	want.Prices = map[string]Price{"my-model": {Input: 2, Output: 10, CachedInput: 0.2}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParseEveryKey sets every key to something else than its default.
func TestParseEveryKey(t *testing.T) {
	t.Parallel()
	c, ds := Parse(Path, []byte(strings.ReplaceAll(`
engine = { name = "codex", model = "gpt-5.6-sol", light_model = "openrouter/x:free", effort = "xhigh", max_turns = 200, max_budget_usd = 100, timeout_minutes = 60.0 }
limits.runs_per_person_per_day = 0
limits.runs_per_day = 10_000
limits.monthly_usd = 0
"post" . 'mode' = """summary"""
[labels]
deny = [
  'a,b', # a comment with ]
  "ä \"b\"",
]
[links]
hosts = ["docs.example.org", "localhost"]
[forms]
area_field = ""
[lifecycle]
remind_days = 0x10
close_days = 31
duplicate_days = 1
reopen_days = 0
close_with_release = false
close_duplicates = true
exempt_labels = []
[sessions]
mode = "shadow"
[workflows]
runs_on = "my-runner_1.2"
[prices]
"a/b:c@d[1]" = { input = 1e-3, output = 1_000 }
`, "\n", "\r\n")))
	if len(ds) > 0 {
		t.Fatalf("findings: %v", ds)
	}
	want := Config{
		Engine: Engine{
			Name: engine.Codex, Model: "gpt-5.6-sol", LightModel: "openrouter/x:free", Effort: "xhigh", MaxTurns: 200,
			MaxBudgetUSD: 100, TimeoutMinutes: 60,
		},
		Limits: Limits{RunsPerDay: 10_000},
		Post:   Post{Mode: PostSummary},
		Labels: Labels{Deny: []string{"a,b", `ä "b"`}},
		Links:  Links{Hosts: []string{"docs.example.org", "localhost"}},
		Lifecycle: Lifecycle{
			RemindDays: 16, CloseDays: 31, DuplicateDays: 1, CloseDuplicates: true,
			ExemptLabels: []string{},
		},
		Sessions:  Sessions{Mode: SessionsShadow},
		Workflows: Workflows{RunsOn: "my-runner_1.2"},
		Prices:    map[string]Price{"a/b:c@d[1]": {Input: 0.001, Output: 1000, CachedInput: 0.001}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestModelOfEngine(t *testing.T) {
	t.Parallel()
	for name, want := range map[engine.Name]string{
		engine.Claude: "claude-opus-5-5", engine.Codex: "gpt-5.5", engine.Gemini: "gemini-3.1-pro-preview",
	} {
		c, ds := Parse(Path, fmt.Appendf(nil, "engine.name = %q", name))
		if len(ds) > 0 || c.Engine.Model != want {
			t.Errorf("%s: model %s, findings %v", name, c.Engine.Model, ds)
		}
	}
}

// badFiles are whole files with something wrong; the golden file holds what is said about each.
var badFiles = []string{
	"max_turns = 3",
	"a = 1",
	"[engine",
	"[engine]\nname = claude",
	"[engine]\nname = \"claude",
	"[engine]\nmax_turns = 99999999999999999999",
	"[engine]\nmax_turns = forty",
	"[engine]\nmax_turns = 4\nname = 'codex'\nmax_turns = 5",
	"[engine]\n[limits]\n[engine]",
	"\uFEFF[engine]\r\nmax_turns = 0\r\n",
	"[engine]\nname = \"caf\xe9\"",
	"\xff\xfe[\x00e\x00",
	"[engin]\nmax_turns = 500",
	"[Engine]\nname = 'codex'",
	"[foo.bar]\nbaz = 1\nmax_turns = 0",
	"[\"a b\".\"c\\nd\"]\n\"x\\u0007y\" = 1",
	"engine = 'claude'",
	"[[engine]]\nname = 'claude'",
	"[releases]\nclose_with_release = true\n[transparency]\nfiles = []\n[forms]\nunmapped_options = ['Other']",
	"[links]\nhosts = 'docs.example.org'",
	"[links]\nhosts = ['ok.example', 'https://evil.example/x', 3, 'a b', '*.example.org', 'host:80', '']",
	"[labels]\ndeny = ['', ' x', \"a\\nb\"]",
	"[lifecycle]\nexempt_labels = ['" + strings.Repeat("x", 51) + "']",
	"[lifecycle]\nremind_days = 30",
	"[lifecycle]\nremind_days = 30\nclose_days = 20",
	"[lifecycle]\nclose_with_release = 'yes'\nremind_days = 0\nclose_days = 731\nreopen_days = true\nduplicate_days = 2026-01-01",
	"[workflows]\nruns_on = '${{ github.event.issue.title }}'",
	"[workflows]\nruns_on = \"x\\n    steps: []\"",
	"[chunk]",
	"[chunk]\nwork = '../agent.yml'\nwark = 1",
	"[chunk]\nwork = './.github/workflows/../../x.yml'",
	"[prices.x]\ninput = 0",
	"[prices.\"a b\"]\ninput = 1\noutput = 1",
	"prices = 1",
	"[prices]\nmy-model = 3",
	"[prices.m]\ninput = nan\noutput = inf\ncached_input = -1\nextra = 1",
	"[engine]\nname = 'codex'\nmodel = 'claude-opus-5-5'\nlight_model = 'gemini-3-flash'",
	"[engine]\nmax_turns = 3\nmax_budget_usd = 0.05",
	"[engine]\nmax_budget_usd = 5\n[limits]\nmonthly_usd = 2",
	"[post]\nmode = 'sumary'",
	"[sessions]\nmode = 'on'",
	"[sessions]\nmode = 'auto'",
	"[limits]\nmonthly_usd = -1\nruns_per_day = 1.5\nruns_per_person_per_day = '5'",
}

// badEngineLines stand below [engine]: everything that may reach a command line.
var badEngineLines = []string{
	`max_turns = "40"`, `max_turns = 0`, `max_turns = 201`, `max_turns = 3.5`, `max_turns = -1`, `Max_turns = 3`, `max-turns = 3`,
	`maxTurns = 3`, `max_turn = 3`, `max_turns = true`, `max_turns = [1]`, `max_turns = {}`, `max_turns = nan`,
	`max_budget_usd = 0`, `max_budget_usd = 100.01`, `max_budget_usd = nan`, `max_budget_usd = inf`, `max_budget_usd = -inf`,
	`max_budget_usd = -1`, `max_budget_usd = "1"`, `max_budget_usd = -0.0`, `budget = 1`,
	`model = "a b"`, `model = "$(id)"`, `model = "-x"`, `model = "a\nb"`, `model = "a\n"`, "model = '''\na\nb'''", `model = "https://evil.example/x"`,
	`model = ""`, `model = 5`, `model = "opus"`, `model = "claude-opus-5-5;id"`, `model = "ｃlaude"`, `light_model = "sonnet"`, `light_model = "--help"`,
	`model = "` + strings.Repeat("m", 201) + `"`,
	`effort = "huge"`, `effort = "High"`, `effort = 3`,
	`timeout_minutes = 61`, `timeout_minutes = 0`, `timeout_minutes = "15"`,
	`name = "Claude"`, `name = "copilot"`, `name = ""`, `name = ["claude"]`, `mode = "comment"`,
	`what_is_this = 1`, `"\u001b[31m" = 1`,
}

func TestFindings(t *testing.T) {
	t.Parallel()
	files := append([]string{}, badFiles...)
	for _, line := range badEngineLines {
		files = append(files, "[engine]\n"+line)
	}
	bugs, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "bugs", "B*.toml"))
	if err != nil || len(bugs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out bytes.Buffer
	show := func(title, name string, data []byte) {
		_, ds := Parse(name, data)
		if len(ds) == 0 {
			t.Errorf("%q: nothing is wrong", data)
		}
		for _, d := range ds {
			if d.Line < 1 || d.Col < 1 || d.Hint == "" || d.Code == "" || d.Message == "" {
				t.Errorf("%q: a finding without place, code or remedy: %+v", data, d)
			}
			if strings.ContainsFunc(d.Message+d.Hint, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
				t.Errorf("%q: raw control characters: %+v", data, d)
			}
		}
		fmt.Fprintf(&out, "== %s\n", title)
		if err := diag.Write(&out, "human", ds); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range bugs {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		show(filepath.Base(f), filepath.Base(f), data)
	}
	for _, f := range files {
		show(fmt.Sprintf("%.120q", f), "config.toml", []byte(f))
	}
	golden(t, "findings.golden", out.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

// TestWrongValuesKeepDefaults: whatever is wrong, what comes back may not hold a value that was refused.
func TestWrongValuesKeepDefaults(t *testing.T) {
	t.Parallel()
	for _, line := range badEngineLines {
		c, ds := Parse(Path, []byte("[engine]\n"+line))
		if !diag.HasErrors(ds) {
			t.Errorf("%q is accepted", line)
		}
		if diff := cmp.Diff(Default(), c); diff != "" {
			t.Errorf("%q reached the settings:\n%s", line, diff)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "x%d.y = 1\n", i)
	}
	_, ds := Parse(Path, []byte(b.String()))
	if len(ds) != maxFindings+1 || ds[maxFindings].Code != "config-more" || ds[maxFindings].Severity != diag.Error {
		t.Errorf("%d findings, the last is %+v", len(ds), ds[len(ds)-1])
	}
	_, ds = Parse(Path, bytes.Repeat([]byte("#"), MaxBytes+1))
	if len(ds) != 1 || ds[0].Code != "config-too-large" {
		t.Errorf("too large: %v", ds)
	}
	b.Reset()
	for i := range maxPrices + 1 {
		fmt.Fprintf(&b, "prices.m%d = {input = 1, output = 1}\n", i)
	}
	_, ds = Parse(Path, []byte(b.String()))
	if len(ds) != 1 || ds[0].Code != "config-out-of-range" {
		t.Errorf("too many prices: %v", ds)
	}
}

func TestLoadRepo(t *testing.T) {
	t.Parallel()
	c, ds, err := LoadRepo(fstest.MapFS{})
	if diff := cmp.Diff(Default(), c); diff != "" || ds != nil || err != nil {
		t.Errorf("without a file: %v %v\n%s", ds, err, diff)
	}
	c, ds, err = LoadRepo(fstest.MapFS{Path: {Data: []byte("engine.max_turns = 7")}})
	if c.Engine.MaxTurns != 7 || ds != nil || err != nil {
		t.Errorf("with a file: %v %v %v", c, ds, err)
	}
	_, ds, err = LoadRepo(fstest.MapFS{Path: {Data: bytes.Repeat([]byte("#"), MaxBytes+9)}})
	if err != nil || len(ds) != 1 || ds[0].Path != Path {
		t.Errorf("a large file: %v %v", ds, err)
	}
	if _, _, err = LoadRepo(fstest.MapFS{Path + "/x": {}}); err == nil {
		t.Error("a folder in place of the file is read")
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testtool.Root(t), "testdata", "cases", "bugs")
	for _, name := range []string{"B60-rules-not-utf8-latin1.md", "B60-rules-not-utf8-utf16.md"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		ds := CheckText(name, data, MaxRulesBytes)
		if len(ds) != 1 || ds[0].Path != name || ds[0].Code != "text-encoding" || ds[0].Line < 1 || ds[0].Hint == "" {
			t.Errorf("%s: %v", name, ds)
		}
	}
	if ds := CheckText("rules.md", []byte("\uFEFFÄ \U0001F600\r\n"), 100); ds != nil {
		t.Errorf("UTF-8: %v", ds)
	}
	if ds := CheckText("rules.md", []byte("\uFEFFÄ"), 2); len(ds) != 1 || ds[0].Code != "text-too-large" {
		t.Errorf("too large: %v", ds)
	}
}

// FuzzParse: no input crashes the reader, every finding has a place and a remedy, and what is accepted passes every
// check of a command line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(design + designOptional))
	for _, file := range badFiles {
		f.Add([]byte(file))
	}
	for _, line := range badEngineLines {
		f.Add([]byte("[engine]\n" + line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ds := Parse(Path, data)
		for _, d := range ds {
			if d.Line < 1 || d.Col < 1 || d.Hint == "" || strings.ContainsAny(d.Message+d.Hint, "\n\r\x1b") {
				t.Fatalf("finding %+v", d)
			}
		}
		checks := []error{
			CheckEngine(string(c.Engine.Name)), CheckModel(c.Engine.Model), CheckEffort(c.Engine.Effort),
			CheckTurns(c.Engine.MaxTurns), CheckBudget(c.Engine.MaxBudgetUSD), CheckMinutes(c.Engine.TimeoutMinutes),
		}
		if c.Engine.LightModel != "" {
			checks = append(checks, CheckModel(c.Engine.LightModel))
		}
		for _, err := range checks {
			if err != nil {
				t.Fatalf("accepted: %v", err)
			}
		}
		if strings.ContainsAny(c.Workflows.RunsOn, " \n${}'\":#") {
			t.Fatalf("runs_on %q", c.Workflows.RunsOn)
		}
	})
}
