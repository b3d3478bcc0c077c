package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestStarters: the set-up that install writes is valid, complete, and says the defaults.
func TestStarters(t *testing.T) {
	t.Parallel()
	root := os.DirFS(testtool.Root(t))
	c, ds, err := LoadRepo(root)
	if err != nil || len(ds) > 0 {
		t.Fatalf("config.toml: %v %v", ds, err)
	}
	if diff := cmp.Diff(Default(), c); diff != "" {
		t.Errorf("config.toml shows other values than the defaults:\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(testtool.Root(t), Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range Tables() {
		for _, r := range table.Rules {
			if !strings.Contains(string(text), "\n"+r.Key+" = ") && !strings.Contains(string(text), "\n# "+r.Key+" = ") {
				t.Errorf("config.toml does not show %s.%s", table.Name, r.Key)
			}
		}
	}
	f, ds, err := LoadLabels(root)
	if err != nil || len(ds) > 0 {
		t.Fatalf("labels.toml: %v %v", ds, err)
	}
	if ds := CheckLifecycleLabels(LabelsPath, f, c); len(ds) > 0 {
		t.Errorf("labels.toml: %v", ds)
	}
	for _, name := range c.Lifecycle.ExemptLabels {
		if _, ok := f.Find(name); !ok {
			t.Errorf("config.toml exempts %q, which labels.toml lacks", name)
		}
	}
	for _, commented := range []string{"[chunk]", "[prices."} {
		if !strings.Contains(string(text), "# "+commented) {
			t.Errorf("config.toml does not show %s", commented)
		}
	}
	uncommented := strings.NewReplacer("# [", "[", "# work", "work", "# input", "input", "# output", "output", "# cached", "cached").Replace(string(text))
	if c, ds := Parse(Path, []byte(uncommented)); len(ds) > 0 || c.Chunk == nil || len(c.Prices) != 1 {
		t.Errorf("the commented part of config.toml: %v", ds)
	}
}

const oneLabel = "[[label]]\nname = 'bug'\ncolor = 'D73A4A'\ndescription = 'Broken'\ngroup = 'type'\n"

func TestParseLabels(t *testing.T) {
	t.Parallel()
	f, ds := ParseLabels(LabelsPath, []byte(oneLabel+`
[[label]]
name = "area: cli, commands"
color = "ededed"
description = "ä"
group = "area"
form_options = ["Command line", "CLI"]
ask = false
previous = ["cli", "Commands"]
`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	want := LabelFile{Labels: []Label{
		{Name: "bug", Color: "d73a4a", Description: "Broken", Group: GroupType, Ask: true},
		{
			Name: "area: cli, commands", Color: "ededed", Description: "ä", Group: GroupArea, FormOptions: []string{"Command line", "CLI"},
			Previous: []string{"cli", "Commands"},
		},
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Labels[1:], f.In(GroupArea)); diff != "" {
		t.Error(diff)
	}
	if l, ok := f.Find("BUG"); !ok || l.Name != "bug" {
		t.Error("names are compared without regard to case")
	}
	if _, ok := f.Find("bugs"); ok {
		t.Error("bugs is no label")
	}
}

var badLabels = []string{
	"", "label = 1", "label = ['bug']", "[label]\nname = 'bug'", "labels = []\n" + oneLabel, "[[label]\n", "x = 1",
	"[[label]]\nname = 'bug'",
	oneLabel + "ask = 'no'\nform_options = 'x'\nprevious = [1]\nColor = 'x'\ncolors = 'x'",
	strings.Replace(oneLabel, "D73A4A", "#D73A4A", 1),
	strings.Replace(oneLabel, "'type'", "'kind'", 1),
	strings.Replace(oneLabel, "Broken", "", 1),
	strings.Replace(oneLabel, "Broken", strings.Repeat("x", 101), 1),
	strings.Replace(oneLabel, "'bug'", `"b\nug"`, 1),
	strings.Replace(oneLabel, "bug", strings.Repeat("b", 51), 1),
	strings.Replace(oneLabel, "bug", "Spam", 1),
	oneLabel + strings.Replace(oneLabel, "bug", "BUG", 1),
	oneLabel + "previous = ['bug']",
	oneLabel + "previous = ['Defect']\n" + strings.Replace(oneLabel, "bug", "defect", 1),
	oneLabel + "previous = ['a', 'A']",
	strings.Replace(oneLabel, "type", "lifecycle", 1) + "form_options = ['x']",
	oneLabel + "[[label]]\nname='a'\ncolor='ededed'\ndescription='d'\ngroup='area'\nform_options=['x']\n[[label]]\nname='b'\ncolor='ededed'\ndescription='d'\ngroup='area'\nform_options=['y','x']",
	"\xff", "label = [\n{name = 'bug'},\n{}\n]",
}

func TestLabelFindings(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, text := range badLabels {
		_, ds := ParseLabels("labels.toml", []byte(text))
		if !diag.HasErrors(ds) {
			t.Errorf("%q: nothing is wrong", text)
		}
		fmt.Fprintf(&out, "== %.150q\n", text)
		if err := diag.Write(&out, "human", ds); err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			if d.Line < 1 || d.Hint == "" {
				t.Errorf("%q: a finding without place or remedy: %+v", text, d)
			}
		}
	}
	golden(t, "labels.golden", out.Bytes())
}

func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range MaxLabels + 1 {
		b.WriteString(strings.Replace(oneLabel, "bug", fmt.Sprint("bug", i), 1))
	}
	f, ds := ParseLabels(LabelsPath, []byte(b.String()))
	if len(f.Labels) > 0 || len(ds) != 1 || ds[0].Line != MaxLabels*5+1 {
		t.Errorf("%d labels: %v", len(f.Labels), ds)
	}
}

func TestLoadLabels(t *testing.T) {
	t.Parallel()
	_, ds, err := LoadLabels(fstest.MapFS{})
	if err != nil || len(ds) != 1 || ds[0].Code != "labels-missing" {
		t.Errorf("%v %v", ds, err)
	}
	if _, _, err = LoadLabels(fstest.MapFS{LabelsPath + "/x": {}}); err == nil {
		t.Error("a folder in place of the file is read")
	}
}

func TestCheckLifecycleLabels(t *testing.T) {
	t.Parallel()
	var f LabelFile
	for _, name := range LifecycleLabels {
		f.Labels = append(f.Labels, Label{Name: strings.ToUpper(name), Group: GroupLifecycle})
	}
	c := Default()
	if ds := CheckLifecycleLabels("l", f, c); ds != nil {
		t.Errorf("in upper case: %v", ds)
	}
	f.Labels[0].Group = GroupType
	if ds := CheckLifecycleLabels("l", f, c); len(ds) != 1 || !strings.Contains(ds[0].Message, "needs-triage") {
		t.Errorf("in another group: %v", ds)
	}
	if ds := CheckLifecycleLabels("l", LabelFile{}, c); len(ds) != len(LifecycleLabels) {
		t.Errorf("none is there: %v", ds)
	}
	c.Lifecycle.CloseWithRelease = false
	if ds := CheckLifecycleLabels("l", LabelFile{}, c); len(ds) != len(LifecycleLabels)-1 {
		t.Errorf("without releases: %v", ds)
	}
}

func TestDenyLabel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"~*", "~approved", true},
		{"~*", "a~", false},
		{"*-approved", "qa-Approved", true},
		{"*-approved", "approved", false},
		{"*-approved", "-approved", true},
		{"*", "", true},
		{"a*b*c", "aXbXbc", true},
		{"a*b*c", "abX", false},
		{"bug", "BUG", true},
		{"bug", "bugs", false},
		{"a**", "a", true},
		{"ä*", "Ärger", true},
		{"a.c", "abc", false},
		{"[a]", "a", false},
		{"?", "a", false},
		{strings.Repeat("a*", 25) + "b", strings.Repeat("a", 50), false},
	} {
		if got := DenyLabel([]string{"other", tt.pattern}, tt.name); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.name, got)
		}
	}
	if DenyLabel(nil, "a") {
		t.Error("nothing covers something")
	}
}

func FuzzParseLabels(f *testing.F) {
	for _, text := range badLabels {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, ds := ParseLabels(LabelsPath, data)
		if diag.HasErrors(ds) {
			return
		}
		seen := map[string]bool{}
		for _, l := range file.Labels {
			if seen[FoldLabel(l.Name)] || len(l.Color) != 6 || strings.ContainsAny(l.Name+l.Description, "\n\r\x00") {
				t.Fatalf("accepted: %+v", l)
			}
			seen[FoldLabel(l.Name)] = true
		}
	})
}
