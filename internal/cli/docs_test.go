package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestSecurityPageNamesRealTests holds the page to its word: every test that it names exists.
func TestSecurityPageNamesRealTests(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`").FindAllSubmatch(page, -1)
	if len(named) < 30 {
		t.Fatalf("the page names %d tests", len(named))
	}
	for _, m := range named {
		if !declared[string(m[1])] {
			t.Errorf("docs/security.md names %s, which does not exist", m[1])
		}
	}
}

// TestLinksOfThePagesLeadSomewhere follows every relative link and every path in code spans of the documentation.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	links := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)|`+"`((?:docs|internal|engines|workflows|schema)/[A-Za-z0-9_./-]+)`").FindAllSubmatch(data, -1) {
			target := string(bytes.Join(m[1:], nil))
			if strings.Contains(target, "://") {
				continue
			}
			links++
			from := root
			if len(m[1]) > 0 {
				from = filepath.Dir(page)
			}
			if _, err := os.Stat(filepath.Join(from, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: %s is not there", filepath.Base(page), target)
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links were followed: the pattern is wrong", links)
	}
}
