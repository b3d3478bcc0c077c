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

// pages are the documentation by path: docs with everything below it, and the pages at the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := testtool.Root(t)
	all := map[string]string{}
	add := func(path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(rel)] = string(data)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		add(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			add(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPagesNameRealTests holds the pages to their word: every test that they name exists.
func TestPagesNameRealTests(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	declared := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d os.DirEntry, err error) error {
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
	for name, page := range pages(t) {
		named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)(?:/[^`]*)?`").FindAllStringSubmatch(page, -1)
		if name == "docs/security.md" && len(named) < 30 {
			t.Errorf("the security page names %d tests", len(named))
		}
		for _, m := range named {
			if !declared[m[1]] {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
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
