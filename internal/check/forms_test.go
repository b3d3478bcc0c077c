package check_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/check"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

const labelsText = `[[label]]
name = "bug"
color = "d73a4a"
description = "x"
group = "type"
previous = ["defect"]
[[label]]
name = "area: cli"
color = "d73a4a"
description = "x"
group = "area"
form_options = ["CLI", "Lost"]
`

func positions(ds []diag.Diagnostic) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, d.Position()+" "+d.Code)
	}
	return strings.Join(lines, "\n")
}

func TestForms(t *testing.T) {
	t.Parallel()
	field := func(kind, label, options string) string {
		return "body:\n- type: " + kind + "\n  attributes:\n    label: " + label + "\n    options: " + options + "\n"
	}
	const dir, lost = ".github/ISSUE_TEMPLATE/", ".issue-assistant/labels.toml:12:24 form-option"
	for name, tc := range map[string]struct {
		forms  map[string]string
		area   string
		config string
		want   []string
	}{
		"no form":         {nil, "Area", "", nil},
		"dropdown":        {map[string]string{"a.yml": field("dropdown", "Area", "[CLI, Lost, Other]")}, "Area", "", nil},
		"checkboxes":      {map[string]string{"a.yaml": field("checkboxes", "Area", "[{label: CLI}, {label: Lost}, {label: Docs}]")}, "Area", "", []string{dir + "a.yaml:5:52 form-option"}},
		"two forms":       {map[string]string{"a.yml": field("dropdown", "Area", "[CLI]"), "b.yml": field("dropdown", "Area", "[Lost]")}, "Area", "", nil},
		"unused option":   {map[string]string{"a.yml": field("dropdown", "Area", "[CLI]")}, "Area", "", []string{lost}},
		"empty options":   {map[string]string{"a.yml": field("dropdown", "Area", "['', CLI, Lost]")}, "Area", "", nil},
		"no such field":   {map[string]string{"a.yml": field("dropdown", "Part", "[CLI]")}, "Area", "", []string{".issue-assistant/labels.toml:1:1 form-area"}},
		"named in config": {map[string]string{"a.yml": field("dropdown", "Part", "[CLI]")}, "Aera", "[forms]\narea_field = \"Aera\"\n", []string{".issue-assistant/config.toml:2:14 form-area"}},
		"no field wanted": {map[string]string{"a.yml": field("dropdown", "Part", "[CLI]")}, "", "", []string{".issue-assistant/labels.toml:12:17 form-option", lost}},
		"former name":     {map[string]string{"a.yml": "labels: defect\n" + field("dropdown", "Area", "[CLI, Lost]")}, "Area", "", []string{dir + "a.yml:1:9 form-label"}},
		"no table":        {map[string]string{"a.yml": "- a\n"}, "Area", "", []string{dir + "a.yml:1:1 form-shape", ".issue-assistant/labels.toml:1:1 form-area"}},
		"repeated keys": {
			map[string]string{"a.yml": "name: &n a\nname: *n\nx: {<<: {y: 1}, <<: {z: 1}, y: 1, 'y': 2}\n" + field("dropdown", "Area", "[CLI, Lost]")},
			"Area", "",
			[]string{dir + "a.yml:2:1 form-syntax", dir + "a.yml:3:35 form-syntax"},
		},
		"empty": {map[string]string{"a.yml": "# nothing\n"}, "Area", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{config.LabelsPath: {Data: []byte(labelsText)}}
			if tc.config != "" {
				root[config.Path] = &fstest.MapFile{Data: []byte(tc.config)}
			}
			for file, text := range tc.forms {
				root[dir+file] = &fstest.MapFile{Data: []byte(text)}
			}
			labels, ds := config.ParseLabels(config.LabelsPath, []byte(labelsText))
			if diag.HasErrors(ds) {
				t.Fatal(ds)
			}
			c := config.Default()
			c.Forms.AreaField = tc.area
			got := check.Forms(root, c, labels)
			if positions(got) != strings.Join(tc.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", positions(got), strings.Join(tc.want, "\n"))
			}
			if name == "former name" && !strings.Contains(got[0].Hint, `"bug"`) {
				t.Errorf("the new name is not given: %s", got[0].Hint)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	table, err := meter.Prices(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "",
		"[engine]\nmodel = \"claude-opus-5-5\"\nlight_model = \"claude-haiku-4-5\"\n": "",
		"[engine]\nmodel = \"claude-opus-9\"\n":                                       config.Path + ":2:9 model-price",
		"[engine]\nmax_budget_usd = 0.01\n":                                           config.Path + ":2:18 budget-too-small",
		"[engine]\nlight_model = \"x-9\"\nmax_budget_usd = 0.01\n":                    config.Path + ":3:18 budget-too-small\n" + config.Path + ":2:15 model-price",
	} {
		c, _ := config.Parse(config.Path, []byte(text))
		if got := positions(check.Prices(fstest.MapFS{config.Path: {Data: []byte(text)}}, c, table)); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", text, got, want)
		}
	}
	if ds := check.Prices(fstest.MapFS{}, config.Default(), table); len(ds) > 0 {
		t.Error(ds)
	}
	// The defaults of every engine are in order, so that a repository without settings is.
	for _, name := range []string{"claude", "codex", "gemini"} {
		text := "[engine]\nname = \"" + name + "\"\n"
		c, _ := config.Parse(config.Path, []byte(text))
		if ds := check.Prices(fstest.MapFS{config.Path: {Data: []byte(text)}}, c, table); len(ds) > 0 {
			t.Errorf("%s: %+v", name, ds)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	labels, _ := config.ParseLabels(config.LabelsPath, []byte(strings.ReplaceAll(labelsText, `"area: cli"`, `"Stale"`)))
	text := strings.ReplaceAll(labelsText, `"area: cli"`, `"Stale"`)
	root := fstest.MapFS{config.LabelsPath: {Data: []byte(text)}, "x": {Data: []byte("a\n\tb\n")}}
	got := check.Lifecycle(root, config.CheckLifecycleLabels(config.LabelsPath, labels, config.Default()), labels)
	if len(got) != len(config.LifecycleLabels) {
		t.Fatal(positions(got))
	}
	for _, d := range got {
		want := config.LabelsPath + ":12:1"
		if strings.Contains(d.Message, `"stale"`) {
			want = config.LabelsPath + ":11:9"
		}
		if d.Position() != want {
			t.Errorf("%s: %s, want %s", d.Message, d.Position(), want)
		}
	}
	ds := check.Locate(root, []diag.Diagnostic{{Path: "x"}, {Path: "x", Line: 2}, {Path: "x", Line: 9}, {Path: "x", Line: 1, Col: 7}, {Path: "gone"}, {Path: "../x"}})
	if got := positions(ds); got != "x:1:1 \nx:2:2 \nx:9:1 \nx:1:7 \ngone \n../x " {
		t.Errorf("%q", got)
	}
}
