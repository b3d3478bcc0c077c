package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// codeOf gives the code of a page: its spans and the lines of its blocks.
func codeOf(page string) []string {
	var code []string
	fenced := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			code = append(code, strings.TrimSpace(line))
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				code = append(code, m[1])
			}
		}
	}
	return code
}

var (
	ourProgram = regexp.MustCompile(`(?:^|[ /$])issue-assistant ([a-z][^#<|;&]*)`)
	wholeFlag  = regexp.MustCompile(`(?:^|[ \[(])--([a-z][a-z-]*)`)
)

// TestCommandLinesOfThePagesExist takes every command line of ours out of the documentation: its words are a command and
// its flags are that command's.
func TestCommandLinesOfThePagesExist(t *testing.T) {
	t.Parallel()
	root := newRootCmd(&app{Env: Env{Getenv: func(string) string { return "" }}})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	checked := 0
	for name, page := range pages(t) {
		for _, code := range codeOf(page) {
			words := strings.Fields(code)
			found, rest, err := root.Find(words)
			switch m := ourProgram.FindStringSubmatch(code); {
			case m != nil:
				if found, rest, err = root.Find(strings.Fields(m[1])); err != nil || found == root {
					t.Errorf("%s: %q is no command of ours", name, code)
					continue
				}
			case len(words) > 1 && err == nil && found != root && (found.Parent() != root || strings.HasPrefix(words[1], "--")):
				// A command without the program before it, such as `chunk poll --state`.
			default:
				continue
			}
			checked++
			for _, flag := range wholeFlag.FindAllStringSubmatch(" "+strings.Join(rest, " "), -1) {
				if flag[1] != "help" && found.Flags().Lookup(flag[1]) == nil && found.InheritedFlags().Lookup(flag[1]) == nil {
					t.Errorf("%s: %q: %s has no flag --%s", name, code, found.CommandPath(), flag[1])
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d command lines were found: the pattern is wrong", checked)
	}
}

// TestOtherCommandsOfThePagesExist: make targets, programs below internal/tools, packages that are tested.
func TestOtherCommandsOfThePagesExist(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?:^|[ (])make ([a-z][a-z0-9-]*)`)
	folder := regexp.MustCompile(`\./((?:internal|cmd)/[a-z/-]+[a-z])`)
	checked := 0
	for name, page := range pages(t) {
		for _, code := range codeOf(page) {
			for _, m := range target.FindAllStringSubmatch(code, -1) {
				checked++
				if !strings.Contains(string(makefile), "\n"+m[1]+":") {
					t.Errorf("%s: %q: there is no such target", name, code)
				}
			}
			if !strings.HasPrefix(code, "go ") {
				continue
			}
			for _, m := range folder.FindAllStringSubmatch(code, -1) {
				checked++
				if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || !info.IsDir() {
					t.Errorf("%s: %q: there is no such folder", name, code)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands were found: the pattern is wrong", checked)
	}
}

// TestSettingsOfThePagesExist: what stands as `[section] key` is a setting.
func TestSettingsOfThePagesExist(t *testing.T) {
	t.Parallel()
	var known []string
	for _, table := range config.Tables() {
		for _, rule := range table.Rules {
			known = append(known, table.Name+"."+rule.Key)
		}
	}
	setting := regexp.MustCompile(`^\[([a-z]+)\] ([a-z_]+)(?:$| =)`)
	checked := 0
	for name, page := range pages(t) {
		for _, code := range codeOf(page) {
			if m := setting.FindStringSubmatch(code); m != nil {
				checked++
				if !slices.Contains(known, m[1]+"."+m[2]) {
					t.Errorf("%s: there is no setting %q", name, code)
				}
			}
		}
	}
	if checked < 4 {
		t.Errorf("only %d settings were found: the pattern is wrong", checked)
	}
}

// TestEveryCommandIsInTheReadme: the list of commands there is complete.
func TestEveryCommandIsInTheReadme(t *testing.T) {
	t.Parallel()
	page := pages(t)["README.md"]
	root := newRootCmd(&app{Env: Env{Getenv: func(string) string { return "" }}})
	for _, c := range root.Commands() {
		if !c.Hidden && !slices.Contains(codeOf(page), c.Name()) {
			t.Errorf("README.md does not name the command %s", c.Name())
		}
	}
}
