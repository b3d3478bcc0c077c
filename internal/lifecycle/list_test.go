package lifecycle_test

import (
	"archive/zip"
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// each is a list as a sequence, and collect the other way.
func each(lines []lifecycle.Line) iter.Seq2[lifecycle.Line, error] {
	return func(yield func(lifecycle.Line, error) bool) {
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

func collect(lines iter.Seq2[lifecycle.Line, error]) ([]lifecycle.Line, error) {
	var out []lifecycle.Line
	for l, err := range lines {
		if err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

// readList is the list in the order of numbers.
func readList(ctx context.Context, c *ghapi.Client, branch string, now time.Time) ([]lifecycle.Line, error) {
	seq, err := lifecycle.IssueList(ctx, c, branch, now)
	if err != nil {
		return nil, err
	}
	lines, err := collect(seq)
	slices.SortFunc(lines, func(a, b lifecycle.Line) int { return a.Number - b.Number })
	return lines, err
}

// zipOf packs a list as the workflow's upload does.
func zipOf(t *testing.T, lines []lifecycle.Line) []byte {
	t.Helper()
	var b strings.Builder
	if err := lifecycle.WriteList(&b, each(lines)); err != nil {
		t.Fatal(err)
	}
	return zipText(t, lifecycle.ListName+".jsonl", b.String())
}

const lifecyclePath = ".github/workflows/issue-assistant-lifecycle.yml"

// upload leaves a list as the workflow does.
func (r *rig) upload(t *testing.T, lines []lifecycle.Line) {
	t.Helper()
	run := r.AddRun(ghapi.Run{Path: lifecyclePath, Event: "schedule"})
	r.AddArtifact(ghapi.Artifact{Name: lifecycle.ListName, RunID: run}, zipOf(t, lines))
}

// The list is taken from a sweep of the default branch alone. Whoever can let any other run upload an artifact of its name
// would decide what the AI reads of other issues.
func TestForgedListsAreNotRead(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		run      ghapi.Run
		artifact ghapi.Artifact
	}{
		"pull request of a fork":            {ghapi.Run{Path: lifecyclePath, Event: "pull_request", HeadRepo: "mallory/demo"}, ghapi.Artifact{HeadRepoID: 666}},
		"fork's run, own artifact":          {ghapi.Run{Path: lifecyclePath, Event: "schedule", HeadRepo: "mallory/demo"}, ghapi.Artifact{}},
		"repository unknown":                {ghapi.Run{Path: lifecyclePath, Event: "schedule"}, ghapi.Artifact{RepoID: 666, HeadRepoID: 666 + 1}},
		"another branch, both":              {ghapi.Run{Path: lifecyclePath, Event: "workflow_dispatch", HeadBranch: "evil"}, ghapi.Artifact{HeadBranch: "evil"}},
		"another branch by the artifact":    {ghapi.Run{Path: lifecyclePath, Event: "workflow_dispatch"}, ghapi.Artifact{HeadBranch: "evil"}},
		"another branch by the run":         {ghapi.Run{Path: lifecyclePath, Event: "workflow_dispatch", HeadBranch: "evil"}, ghapi.Artifact{}},
		"branch in other letters":           {ghapi.Run{Path: lifecyclePath, Event: "schedule", HeadBranch: "Main"}, ghapi.Artifact{HeadBranch: "Main"}},
		"another workflow":                  {ghapi.Run{Path: ".github/workflows/ci.yml", Event: "schedule"}, ghapi.Artifact{}},
		"a workflow of a similar name":      {ghapi.Run{Path: "x/" + lifecyclePath, Event: "schedule"}, ghapi.Artifact{}},
		"the sweep after somebody's merge":  {ghapi.Run{Path: lifecyclePath, Event: "pull_request_target"}, ghapi.Artifact{}},
		"a run of another workflow's event": {ghapi.Run{Path: lifecyclePath, Event: "workflow_run"}, ghapi.Artifact{}},
		"expired":                           {ghapi.Run{Path: lifecyclePath, Event: "schedule"}, ghapi.Artifact{Expired: true}},
		"another name":                      {ghapi.Run{Path: lifecyclePath, Event: "schedule"}, ghapi.Artifact{Name: lifecycle.ListName + "-x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.days(2)
			n := r.issue()
			r.days(1)
			r.issue()
			lines, err := readList(t.Context(), r.client(), "main", r.now)
			if err != nil {
				t.Fatal(err)
			}
			lines[0].Title = "from the true list"
			r.upload(t, lines)
			r.days(1)
			later := r.issue()
			forged := zipOf(t, []lifecycle.Line{{Number: 666, Title: "forged", Labels: []string{}, Updated: r.now.Add(time.Minute)}})
			x.artifact.RunID = r.AddRun(x.run)
			if x.artifact.Name == "" {
				x.artifact.Name = lifecycle.ListName
			}
			x.artifact.CreatedAt = r.now
			r.AddArtifact(x.artifact, forged)
			lines, err = readList(t.Context(), r.client(), "main", r.now)
			if err != nil || len(lines) != 3 || lines[0].Number != n || lines[0].Title != "from the true list" || lines[2].Number != later {
				t.Errorf("%+v, %v", lines, err)
			}
		})
	}
}

// Since when changes are asked for is the time of the run, which is GitHub's word: times inside of a list hide nothing.
func TestTimesOfAListHideNoChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.days(3)
	r.upload(t, []lifecycle.Line{{Number: 7, Labels: []string{}, Updated: r.now.AddDate(1, 0, 0)}})
	r.days(1)
	n := r.issue()
	lines, err := readList(t.Context(), r.client(), "main", r.now)
	if err != nil || len(lines) != 2 || lines[0].Number != n || lines[1].Number != 7 {
		t.Errorf("%+v, %v", lines, err)
	}
}

// A list that breaks off is not half of one.
func TestUnreadableListIsMadeAnew(t *testing.T) {
	t.Parallel()
	half := zipText(t, lifecycle.ListName+".jsonl", `{"number":666,"title":"x","body":"","state":"open","labels":[]}`+"\n"+`{"number":667,"ti`)
	for name, data := range map[string][]byte{"no zip": []byte("no zip"), "half": half, "another file": zipText(t, "x.jsonl", "{}"), "no number": zipText(t, lifecycle.ListName+".jsonl", `{"title":"x"}`)} {
		r := newRig(t)
		r.days(3)
		n := r.issue()
		own := r.AddRun(ghapi.Run{Path: lifecyclePath, Event: "schedule"})
		r.AddArtifact(ghapi.Artifact{Name: lifecycle.ListName, RunID: own}, data)
		lines, err := readList(t.Context(), r.client(), "main", r.now)
		if err != nil || len(lines) != 1 || lines[0].Number != n {
			t.Errorf("%s: %+v, %v", name, lines, err)
		}
	}
}

func zipText(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestListIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.days(2)
	a, b := r.issue(), r.issue("bug")
	lines, err := readList(t.Context(), r.client(), "main", r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.upload(t, lines)
	r.days(1)
	r.SetStateAs(a, "mona", "closed", "completed")
	c := r.AddIssue(ghapi.Issue{Title: "New", Body: "a <!-- hidden --> b " + strings.Repeat("x", 5000)})
	r.merge("", b)
	lines, err = readList(t.Context(), r.client(), "main", r.now)
	if err != nil || len(lines) != 3 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if lines[0].State != "closed" || lines[0].Closed.IsZero() || lines[1].Labels[0] != "bug" || lines[2].Number != c {
		t.Errorf("%+v", lines)
	}
	if body := lines[2].Body; strings.Contains(body, "hidden") || len(body) > 1600 {
		t.Errorf("%d bytes: %.60s", len(body), body)
	}
}

func TestALongLineOfAListIsNamed(t *testing.T) {
	t.Parallel()
	const one = `{"number":1,"title":"x","body":"","state":"open","labels":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}` + "\n"
	lines, err := collect(lifecycle.Lines(strings.NewReader(one + strings.Repeat("x", 1<<20+1))))
	if want := "line 2 of the list: more than the 1048576 bytes that an issue can have"; len(lines) != 1 || err == nil || err.Error() != want {
		t.Errorf("%d lines, %v; want %q", len(lines), err, want)
	}
}

func FuzzReadList(f *testing.F) {
	f.Add([]byte(`{"number":1,"title":"x","body":"","state":"open","labels":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte("\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := collect(lifecycle.Lines(bytes.NewReader(data)))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if lifecycle.WriteList(&b, each(lines)) != nil {
			return // a year that JSON cannot hold
		}
		again, err := collect(lifecycle.Lines(&b))
		if err != nil || len(again) != len(lines) {
			t.Errorf("%d lines, then %d: %v", len(lines), len(again), err)
		}
	})
}
