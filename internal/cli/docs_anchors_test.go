package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestAnchorsOfThePagesExist follows the relative links of every page, those of the folders below docs/ too, to the
// heading that they name.
func TestAnchorsOfThePagesExist(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#\s:]*)(?:#([^)\s]+))?\)`)
	fence := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	links := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(data), ""), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			}
			text, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); err != nil && (statErr != nil || !info.IsDir()) {
				t.Errorf("%s: %s is not there", page, m[1])
				continue
			}
			links++
			if m[2] != "" && strings.HasSuffix(target, ".md") && !anchors(string(text))[m[2]] {
				t.Errorf("%s: %s has no heading #%s", page, filepath.Base(target), m[2])
			}
		}
	}
	if links < 5 { // most pages name paths, which another test follows
		t.Errorf("only %d links were followed", links)
	}
}

// anchors are GitHub's names for the headings of a page, and those that it gives itself.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	drop := regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#*$`).FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		for n := 0; ; n++ {
			numbered := name
			if n > 0 {
				numbered += "-" + string(rune('0'+n%10))
			}
			if !found[numbered] {
				found[numbered] = true
				break
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?:id|name)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

func TestAnchorsAreNamedAsOnGitHub(t *testing.T) {
	t.Parallel()
	got := anchors("# Set-up & go!\n## `x_y` of **z**\n## Same\n## Same ##\n<a id=\"own\">\n### 日本 語\n")
	for _, name := range []string{"set-up--go", "x_y-of-z", "same", "same-1", "own", "日本-語"} {
		if !got[name] {
			t.Errorf("%s is missing in %v", name, got)
		}
	}
}
