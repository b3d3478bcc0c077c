package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func TestNoticesAreCurrent(t *testing.T) {
	t.Parallel()
	got, err := notices(t.Context(), testtool.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(testtool.Root(t), "THIRD_PARTY_NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("THIRD_PARTY_NOTICES is not what `go run ./internal/tools/notices` writes (-want +got):\n%s", diff)
	}
	for _, part := range []string{"github.com/spf13/cobra", "github.com/inconshreveable/mousetrap", "gopkg.in/yaml.v3 v3.0.1: NOTICE", "golang.org/x/text v0.14.0: PATENTS", "The Go standard library: LICENSE"} {
		if !strings.Contains(got, part) {
			t.Errorf("nothing is said of %s", part)
		}
	}
	if strings.Contains(got, "google/go-cmp") {
		t.Error("a module that only tests use is named")
	}
}

// The embedded text of Go is that of the distribution which builds; spaces and the (c) changed over the years.
func TestGoLicenseIsThatOfTheToolchain(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "LICENSE"))
	if os.IsNotExist(err) {
		testtool.Unmet(t, "this distribution of Go has no LICENSE beside it")
	}
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(s, "(c) ", "")), " ")
	}
	if diff := cmp.Diff(words(string(theirs)), words(goLicense)); diff != "" {
		t.Errorf("internal/tools/notices/go-license.txt (-toolchain +embedded):\n%s", diff)
	}
}

func TestKindsOfLicenses(t *testing.T) {
	t.Parallel()
	const bsd = "Redistribution and use in source and binary\nforms, with or without"
	for text, want := range map[string]string{
		"Permission is hereby granted,\n\tfree of charge, to any person": "MIT",
		bsd:                                     "BSD-2-Clause",
		bsd + " ... Neither the name of Google": "BSD-3-Clause",
		"Apache License\n  Version 2.0":         "Apache-2.0",
		"Permission to use, copy, modify, and distribute this software for any purpose": "ISC",
	} {
		if got, err := kinds(text); got != want || err != nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "All rights reserved.", "GNU GENERAL PUBLIC\nLICENSE Version 3", "Mozilla Public License Version 2.0",
		"Permission is hereby granted, free of charge ... \"Commons Clause\" License Condition", "Apache License, of a kind",
		bsd + " or under the GNU Lesser General Public License",
	} {
		if got, err := kinds(text); err == nil {
			t.Errorf("%q was taken as %s", text, got)
		}
	}
}

func TestLicensesOfAModule(t *testing.T) {
	t.Parallel()
	const mit = "Permission is hereby granted, free of charge"
	for name, c := range map[string]struct {
		files map[string]string
		names string
		text  []string
		fails string
	}{
		"none":           {files: map[string]string{"license.go": mit, "README.md": mit}, fails: "no license is among its files"},
		"unknown":        {files: map[string]string{"COPYING": "all rights reserved"}, fails: "COPYING: the text is of no license"},
		"of a subfolder": {files: map[string]string{"LICENSE": mit, "third/LICENSE.txt": "Apache License 2.0"}, names: "MIT, Apache-2.0", text: []string{"m v1: third/LICENSE.txt"}},
		"bad subfolder":  {files: map[string]string{"LICENSE": mit, "third/LICENSE-GPL": "GNU General Public License"}, fails: "third/LICENSE-GPL"},
		"with notice":    {files: map[string]string{"LICENSE.md": mit, "NOTICE": "made by us\r\n"}, names: "MIT", text: []string{"\nmade by us\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			third := filepath.Join(dir, "third")
			if err := os.Mkdir(third, 0o750); err != nil {
				t.Fatal(err)
			}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m := &module{"m", "v1", dir, map[string]bool{dir: true, third: true}}
			names, text, err := m.licenses()
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("got %q, %v", names, err)
				}
				return
			}
			if err != nil || names != c.names {
				t.Fatalf("got %q, %v", names, err)
			}
			for _, part := range c.text {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in:\n%s", part, text)
				}
			}
		})
	}
}

func TestFoldersThatAreNoProgram(t *testing.T) {
	t.Parallel()
	if _, err := notices(t.Context(), t.TempDir()); err == nil {
		t.Error("an empty folder has notices")
	}
}
