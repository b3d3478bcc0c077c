package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

// standIn is a ccusage whose sums lie ready: without prices, with them, and of the developer's own machine.
func standIn(t *testing.T, shift float64) string {
	t.Helper()
	testtool.Need(t, "sh")
	recorded, err := month.Load(filepath.Join(testtool.Root(t), filepath.FromSlash(runsDir)))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := month.Make(recorded)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	homes := map[string]string{"actions": filepath.Join(dir, "a"), "developer": filepath.Join(dir, "d")}
	for _, r := range runs {
		if err := writeTranscript(homes["actions"], fmt.Sprintf("run-%d", r.ID), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeTranscript(homes["developer"], "interactive", interactive(recorded)); err != nil {
		t.Fatal(err)
	}
	for name, home := range homes {
		s := asCCUsage(t, home)
		s.Daily[0].USD += shift
		plain := s
		plain.Daily = append([]day{}, s.Daily...)
		for i := range plain.Daily {
			plain.Daily[i].USD = 0
		}
		plain.Totals.USD = 0
		for file, sums := range map[string]sums{name + ".json": s, name + "-plain.json": plain} {
			data, err := json.Marshal(sums)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	script := "#!/bin/sh\ncase \"$*\" in\n--version) echo 'ccusage 0.0.0';;\n*--config*) cat '" + dir + "'/\"$(basename \"$HOME\")\".json;;\n*) cat '" + dir + "'/\"$(basename \"$HOME\")\"-plain.json;;\nesac\n"
	program := filepath.Join(dir, "ccusage")
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

func TestThePageIsWrittenWhenBothAgree(t *testing.T) {
	t.Parallel()
	root, out := testtool.Root(t), filepath.Join(t.TempDir(), "cost.md")
	if err := bench(t.Context(), root, standIn(t, 0), out); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(data), "ccusage 0.0.0") {
		t.Errorf("%s %v", data, err)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "ccusage")
	for name, script := range map[string]string{"fails": "#!/bin/sh\necho no >&2; exit 3\n", "is silent": "#!/bin/sh\n", "shows nothing": "#!/bin/sh\necho '{}'\n", "is odd": "#!/bin/sh\necho x\n"} {
		if err := os.WriteFile(broken, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := bench(t.Context(), root, broken, out); err == nil {
			t.Errorf("a ccusage that %s is believed", name)
		}
	}
	for name, err := range map[string]error{
		"another sum": bench(t.Context(), root, standIn(t, 0.02), out),
		"no ccusage":  bench(t.Context(), root, "", out),
		"no runs":     bench(t.Context(), t.TempDir(), broken, out),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a page was written although something was wrong")
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	if code := run(t.Context(), []string{"-nope"}, &said); code != 2 || !strings.Contains(said.String(), "-nope") {
		t.Errorf("exit %d: %s", code, said.String())
	}
	said.Reset()
	if code := run(t.Context(), nil, &said); code != 1 || !strings.Contains(said.String(), "-ccusage is missing") {
		t.Errorf("exit %d: %s", code, said.String())
	}
	if _, err := command(t.Context(), t.TempDir(), nil, "cost", "--since", "never"); err == nil || !strings.Contains(err.Error(), "exit 2") {
		t.Errorf("a command that is refused: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeTranscript(file, "x", month.Run{}); err == nil {
		t.Error("a file is no home")
	}
	if _, err := cost(t.Context(), file, nil); err == nil {
		t.Error("a file is no folder of records")
	}
}
