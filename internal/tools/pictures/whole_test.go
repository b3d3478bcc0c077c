package main

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

// TestOnlyWhatChangedIsDrawn draws into a folder of its own: new, unchanged, changed and dropped pictures.
func TestOnlyWhatChangedIsDrawn(t *testing.T) {
	t.Parallel()
	testtool.Need(t, "sh")
	root := t.TempDir()
	css := filepath.Join(root, "tools", "pictures", "node_modules", "github-markdown-css")
	for _, theme := range themes() {
		if err := write(filepath.Join(css, "github-markdown-"+theme+".css"), []byte("p{}")); err != nil {
			t.Fatal(err)
		}
	}
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewRGBA(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	d := browser(t, `<body data-height="3" data-failed="">`, shot.Bytes())
	pictures := []picture{{name: "one", text: "The first", width: 300}, {name: "two", text: "The second", width: 300}}
	draw := func(chromium string, pictures []picture, all bool) error {
		return drawAll(t.Context(), root, chromium, pictures, all)
	}
	if err := draw(d.chromium, pictures, false); err != nil {
		t.Fatal(err)
	}
	m, err := readManifest(root)
	if err != nil || len(m) != 4 || m["one-light.png"].Text != "The first" || m["one-light.png"].Source == m["one-dark.png"].Source {
		t.Fatalf("manifest %v, %v", m, err)
	}
	missing := filepath.Join(root, "missing")
	if err := draw(missing, pictures, false); err != nil {
		t.Errorf("nothing changed, and the browser was wanted: %v", err)
	}
	if err := draw(missing, pictures, true); err == nil {
		t.Error("all were to be drawn, and none was")
	}
	pictures[0].width = 301
	if err := draw(missing, pictures, false); err == nil || !strings.Contains(err.Error(), "one-") {
		t.Errorf("a changed picture was not drawn: %v", err)
	}
	if err := draw(d.chromium, pictures[:1], false); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, imageDir, "*.png"))
	if err != nil || len(files) != 2 {
		t.Errorf("a dropped picture stayed: %v %v", files, err)
	}
	if err := os.RemoveAll(css); err != nil {
		t.Fatal(err)
	}
	if err := draw(d.chromium, pictures[:1], true); err == nil || !strings.Contains(err.Error(), "make tools-pictures") {
		t.Errorf("without the style: %v", err)
	}
}

func TestCostsAreWrittenIntoTheGuide(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, filepath.FromSlash(runsDir)), os.DirFS(filepath.Join(testtool.Root(t), filepath.FromSlash(runsDir)))); err != nil {
		t.Fatal(err)
	}
	if err := writeCosts(root); err == nil {
		t.Error("no guide, no error")
	}
	page := filepath.Join(root, filepath.FromSlash(guide))
	if err := write(page, []byte("# Guide\n")); err != nil {
		t.Fatal(err)
	}
	if err := writeCosts(root); err == nil || !strings.Contains(err.Error(), "no place") {
		t.Errorf("a guide without a place: %v", err)
	}
	if err := write(page, []byte("before\n"+costsBegin+"old"+costsEnd+"\nafter\n")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing changes
		if err := writeCosts(root); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(page)
	if s := string(data); err != nil || strings.Contains(s, "old") || !strings.Contains(s, "| triage") && !strings.Contains(s, "`triage`") || !strings.HasSuffix(s, "\nafter\n") {
		t.Errorf("%s %v", s, err)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	none := func(string) (string, error) { return "", errors.New("not there") }
	second := func(name string) (string, error) {
		if name == "chromium" {
			return none(name)
		}
		return "/x/" + name, nil
	}
	if path, err := findChromium(second); err != nil || path != "/x/chromium-browser" {
		t.Errorf("%s %v", path, err)
	}
	for name, tt := range map[string]struct {
		args []string
		look func(string) (string, error)
		want string
	}{
		"unknown flag":        {[]string{"-nope"}, second, "-nope"},
		"no browser":          {nil, none, "chromium is not installed"},
		"no repository":       {nil, second, ""},
		"no engine to record": {[]string{"-record"}, second, "small"},
	} {
		if err := run(t.Context(), root, tt.args, tt.look); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	big := filepath.Join(root, "file")
	if err := write(big, nil); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(big, "below"), nil); err == nil {
		t.Error("a file is no folder")
	}
	if _, err := newRecorder(t.Context(), root, root, size{}); err == nil {
		t.Error("no engine, no error")
	}
	if err := pad(filepath.Join(root, "missing"), 10); err == nil {
		t.Error("no issue, no error")
	}
	if _, err := command(t.Context(), root, began(), nil, "check", "--nope"); err == nil {
		t.Error("a refused command, no error")
	}
	if err := (manifest{}).write(big); err == nil {
		t.Error("a manifest below a file")
	}
	if digestFile(filepath.Join(root, "missing")) != "" {
		t.Error("a digest of nothing")
	}
	if _, err := shrink([]byte("x")); err == nil {
		t.Error("no picture, no error")
	}
	if err := writeRecords(t.Context(), big, make([]month.Run, 1)); err == nil {
		t.Error("records below a file")
	}
}

// TestRecord runs the real Claude Code through a small story.
func TestRecord(t *testing.T) {
	t.Parallel()
	testtool.Need(t, "git")
	testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code", "package.json")
	out := t.TempDir()
	if err := recordOne(t.Context(), testtool.Root(t), out, size{"tiny", 2, 2_000, 500}, ""); err != nil {
		t.Fatal(err)
	}
	if err := recordOne(t.Context(), testtool.Root(t), out, size{"tiny", 2, 0, 0}, light); err != nil {
		t.Fatal(err)
	}
	runs, err := month.Load(out)
	if err != nil || len(runs) != len(task.Names)+2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for name, r := range runs {
		if r.End.Ended != "finished" || r.End.CostUSD <= 0 {
			t.Errorf("%s: %+v", name, r.End)
		}
	}
}
