package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestNoPictureIsStale plays everything that is drawn again: what the program writes today is what the pictures show.
func TestNoPictureIsStale(t *testing.T) {
	t.Parallel()
	testtool.Need(t, "git")
	root := testtool.Root(t)
	pictures, err := list(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readManifest(root)
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for _, p := range pictures {
		for _, theme := range themes() {
			name := p.name + "-" + theme + ".png"
			from, err := p.drawnFrom(theme)
			if err != nil {
				t.Fatal(err)
			}
			e := known[name]
			if e.Source != from {
				t.Errorf("%s shows what the program no longer writes: run `make pictures` and look at it", name)
			}
			data, err := os.ReadFile(filepath.Join(root, imageDir, name))
			if err != nil {
				t.Error(err)
				continue
			}
			if digest(data) != e.Picture || len(data) > maxBytes || e.Text == "" {
				t.Errorf("%s is not the picture of the manifest, has %d bytes, or has no words: run `make pictures`", name, len(data))
			}
			config, err := png.DecodeConfig(bytes.NewReader(data))
			if err != nil || config.Width != p.width*zoom || config.Height < 200 {
				t.Errorf("%s: %d x %d, %v", name, config.Width, config.Height, err)
			}
			drawn++
		}
	}
	if len(known) != drawn || drawn < 20 {
		t.Errorf("the manifest has %d pictures, the program makes %d", len(known), drawn)
	}
}

// TestLinkedPicturesExist holds that every picture of a page is there, in both themes, with words for those who do not
// see it.
func TestLinkedPicturesExist(t *testing.T) {
	t.Parallel()
	root := testtool.Root(t)
	known, err := readManifest(root)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]int{}
	pattern := regexp.MustCompile(`(?:srcset|src)="([^"]*images/([^"/]+\.png))"|!\[[^\]]*\]\(([^)]*)\)`)
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pattern.FindAllStringSubmatch(string(data), -1) {
			if m[3] != "" { // not one of these
				if strings.HasSuffix(m[3], ".png") {
					t.Errorf("%s: %s is shown in one theme only", filepath.Base(path), m[3])
				}
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Error(err)
			}
			if _, ok := known[m[2]]; !ok {
				t.Errorf("%s links %s, which `make pictures` does not make", filepath.Base(path), m[2])
			}
			linked[m[2]]++
		}
		if strings.Count(string(data), "<img ") != strings.Count(string(data), "alt=\"") {
			t.Errorf("%s has a picture without words", filepath.Base(path))
		}
	}
	for name := range known {
		if linked[name] == 0 {
			t.Errorf("no page shows %s", name)
		}
	}
}

// TestCostsOfTheGuide holds the guide's dollars against the recorded runs.
func TestCostsOfTheGuide(t *testing.T) {
	t.Parallel()
	old, now, err := withCosts(testtool.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, now) {
		t.Error("the guide's costs are not those of the recorded runs: run `make pictures`")
	}
}

func TestMarkdownLooksAsOnGitHub(t *testing.T) {
	t.Parallel()
	got, err := markdown("<!-- x -->\n\n@mona see #3, `@x #4` and [#5](https://x.y)\n\n> [!WARNING]\n> Careful, @eve.\n\n> plain\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `<p><a class=mention href="#">@mona</a> see <a href="#">#3</a>, <code>@x #4</code> and <a href="https://x.y">#5</a></p>
<div class="markdown-alert markdown-alert-warning"><p class="markdown-alert-title">Warning</p>
<p>Careful, <a class=mention href="#">@eve</a>.</p>
</div>
<blockquote>
<p>plain</p>
</blockquote>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
