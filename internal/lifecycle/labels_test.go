package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

func label(name string, previous ...string) config.Label {
	return config.Label{Name: name, Color: "ededed", Description: "x", Previous: previous}
}

func TestPlanLabels(t *testing.T) {
	t.Parallel()
	have := func(names ...string) (out []ghapi.Label) {
		for _, n := range names {
			out = append(out, ghapi.Label{Name: n, Color: "EDEDED", Description: "x"})
		}
		return out
	}
	for name, x := range map[string]struct {
		file  []config.Label
		have  []ghapi.Label
		want  string
		extra int
		notes int
	}{
		"same, color in capitals":     {[]config.Label{label("bug")}, have("bug"), "", 0, 0},
		"missing":                     {[]config.Label{label("bug")}, nil, ">bug", 0, 0},
		"other case":                  {[]config.Label{label("bug")}, have("Bug"), "Bug>bug", 0, 0},
		"other color":                 {[]config.Label{label("bug")}, []ghapi.Label{{Name: "bug", Color: "000000", Description: "x"}}, "bug>bug", 0, 0},
		"other description":           {[]config.Label{label("bug")}, []ghapi.Label{{Name: "bug", Color: "ededed"}}, "bug>bug", 0, 0},
		"renamed":                     {[]config.Label{label("bug", "defect")}, have("defect"), "defect>bug", 0, 0},
		"renamed, other case":         {[]config.Label{label("bug", "DEFECT")}, have("Defect"), "Defect>bug", 0, 0},
		"renamed, two former names":   {[]config.Label{label("bug", "fault", "defect")}, have("defect"), "defect>bug", 0, 0},
		"both exist":                  {[]config.Label{label("bug", "defect")}, have("bug", "defect"), "", 0, 1},
		"both former names exist":     {[]config.Label{label("bug", "fault", "defect")}, have("defect", "fault"), "fault>bug", 0, 1},
		"only the repository has it":  {nil, have("mine"), "", 1, 0},
		"a former name is one in use": {[]config.Label{label("bug", "defect"), label("defect")}, have("defect"), ">bug", 0, 0},
		"two labels share a former":   {[]config.Label{label("a", "old"), label("b", "old")}, have("old"), "old>a >b", 0, 0},
	} {
		changes, extra, notes := lifecycle.PlanLabels(config.LabelFile{Labels: x.file}, x.have)
		var got []string
		for _, c := range changes {
			got = append(got, c.From+">"+c.To.Name)
		}
		if strings.Join(got, " ") != x.want || len(extra) != x.extra || len(notes) != x.notes {
			t.Errorf("%s: %v, extra %v, notes %v", name, got, extra, notes)
		}
	}
}

func TestSyncLabelsNeverDeletesAndIsIdempotent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.AddLabel(ghapi.Label{Name: "Defect"}, ghapi.Label{Name: "mine"})
	n := r.issue("Defect", "mine")
	var file config.LabelFile
	for i := range 500 {
		file.Labels = append(file.Labels, label(fmt.Sprintf("area %d/ü", i)))
	}
	file.Labels = append(file.Labels, label("fault", "defect"))
	before := len(r.Labels())
	c := r.client()
	sync := func() lifecycle.LabelsResult {
		res, err := lifecycle.SyncLabels(t.Context(), c, func() ghapi.Writer { return ghapi.NewWriter(c) }, file)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	// A label that GitHub refuses fails alone.
	r.AddFault(ghtest.Fault{Times: 1, Status: 403, Skip: 1, Match: ghtest.Request.Write})
	if res := sync(); len(res.Done) != 500 || len(res.Failed) != 1 || res.AllFailed() {
		t.Errorf("%d done, failed %v", len(res.Done), res.Failed)
	}
	if res := sync(); len(res.Done) != 1 || len(res.Failed) != 0 {
		t.Errorf("%d done, failed %v", len(res.Done), res.Failed)
	}
	r.ClearLog()
	res := sync()
	if r.writes() != 0 || res.Same != 501 {
		t.Errorf("%d writes, %d the same", r.writes(), res.Same)
	}
	for _, q := range r.Log() {
		if q.Method == "DELETE" {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
	if got := len(r.Labels()); got != before+500 {
		t.Errorf("%d labels, want %d", got, before+500)
	}
	if i := r.get(n); !i.HasLabel("fault") || !i.HasLabel("mine") {
		t.Errorf("the issue lost its labels: %v", i.Labels)
	}
	if s := res.Summary("dry run"); !strings.Contains(s, "Nothing to do") || !strings.Contains(s, "left alone") {
		t.Error(s)
	}
}

func TestLabelsAllFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var file config.LabelFile
	for i := range 30 {
		file.Labels = append(file.Labels, label(fmt.Sprint("new", i)))
	}
	r.AddFault(ghtest.Fault{Times: -1, Status: 403, Match: ghtest.Request.Write})
	c := r.client()
	res, err := lifecycle.SyncLabels(t.Context(), c, func() ghapi.Writer { return ghapi.NewWriter(c) }, file)
	if err != nil || !res.AllFailed() || len(res.Failed) != 11 {
		t.Errorf("%v %v", res, err)
	}
	r.AddFault(ghtest.Fault{Times: -1, Status: 500})
	r.Calm()
	r.AddFault(ghtest.Fault{Times: -1, Status: 500})
	if _, err := lifecycle.SyncLabels(t.Context(), r.client(), nil, file); err == nil {
		t.Error("labels that cannot be read are no error")
	}
}

func accept(path string) config.Accept {
	return config.Accept{Tool: "codeql", Rule: "go/x", Reason: "used in tests", Comment: "Only a test", Path: path, Line: 3}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	add := func(tool, rule, path string) int { return r.AddAlert(ghapi.Alert{Tool: tool, Rule: rule, Path: path}) }
	yes := add("CodeQL", "go/x", "tests/a_test.go")
	no := []int{add("CodeQL", "go/x", "tests_old/a.go"), add("CodeQL", "go/X", "tests/b.go"), add("Scorecard", "go/x", "tests/c.go"), add("CodeQL", "go/x", "late/d.go")}
	expired := accept("late/**")
	expired.Expires = start.AddDate(0, 0, -2).Truncate(24 * time.Hour)
	unused := accept("nowhere/**")
	unused.Line = 9
	c := r.client()
	run := func() (lifecycle.FindingsResult, string) {
		res, err := lifecycle.Findings(t.Context(), c, func() ghapi.Writer { return ghapi.NewWriter(c) }, []config.Accept{accept("tests"), expired, unused}, r.now)
		if err != nil {
			t.Fatal(err)
		}
		return res, res.Summary("")
	}
	res, s := run()
	var open []int
	for _, a := range res.Open {
		open = append(open, a.Number)
	}
	if d := cmp.Diff(no, open); d != "" || len(res.Dismissed) != 1 || res.Dismissed[0].Number != yes {
		t.Errorf("%s\n%s", d, s)
	}
	if a, _ := r.Alert(yes); a.State != "dismissed" {
		t.Errorf("alert %d is %s", yes, a.State)
	}
	for _, want := range []string{"line 9: accepts no open alert", "line 3: expired on", fmt.Sprintf("[%d](https://github.com/octo/demo/security/code-scanning/%d)", no[0], no[0])} {
		if !strings.Contains(s, want) {
			t.Errorf("the summary lacks %q:\n%s", want, s)
		}
	}
	for _, secret := range []string{"go/x", "tests_old", "CodeQL"} {
		if strings.Contains(s, secret) {
			t.Errorf("the summary tells %q of an open alert:\n%s", secret, s)
		}
	}
}

func TestFindingsNotSetUpAndFailures(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.client()
	w := func() ghapi.Writer { return ghapi.NewWriter(c) }
	n := r.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/x", Path: "tests/a.go"})
	r.AddFault(ghtest.Fault{Times: -1, Status: 500, Match: ghtest.Request.Write})
	res, err := lifecycle.Findings(t.Context(), c, w, []config.Accept{accept("")}, r.now)
	if err != nil || len(res.Open) != 1 || res.Failed[n] == "" || len(res.Unused) != 0 {
		t.Errorf("%+v %v", res, err)
	}
	r.Calm()
	r.DisableCodeScanning()
	if res, err = lifecycle.Findings(t.Context(), c, w, nil, r.now); err != nil || !res.NotSetUp || !strings.Contains(res.Summary(""), "not set up") {
		t.Errorf("%+v %v", res, err)
	}
	for body, setUp := range map[string]bool{`{"message":"Code scanning is not enabled for this repository."}`: true, `{"message":"Resource not accessible by integration"}`: false} {
		r.Calm()
		r.AddFault(ghtest.Fault{Times: -1, Status: 403, Body: body})
		res, err = lifecycle.Findings(t.Context(), r.client(), w, nil, r.now)
		if res.NotSetUp != setUp || (err == nil) != setUp {
			t.Errorf("%s: %+v %v", body, res, err)
		}
	}
}

func TestLongDismissalFits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.AddAlert(ghapi.Alert{Tool: "CodeQL", Rule: "go/x", Path: "a"})
	e := accept("")
	e.Comment = strings.Repeat("ü", 200)
	c := r.client()
	res, err := lifecycle.Findings(t.Context(), c, func() ghapi.Writer { return ghapi.NewWriter(c) }, []config.Accept{e}, r.now)
	if err != nil || len(res.Dismissed) != 1 {
		t.Errorf("%+v %v", res, err)
	}
}
