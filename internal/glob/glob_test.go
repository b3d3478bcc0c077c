package glob_test

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/glob"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/**", "a/b/c", true},
		{"a/**", "a", true},
		{"**", "a/b", true},
		{"**/c", "a/b/c", true},
		{"**/c", "c", true},
		{"**/b/**/d", "b/x/b/c/d", true},
		{"**/b/d", "b/c/b/d", true},
		{"**/b/d", "b/d/b", false},
		{"a/[b-c].go", "a/c.go", true},
		{"a/[b-c].go", "a/d.go", false},
		{"a/?", "a/bb", false},
		{"a/[", "a/[", false},
		{"", "a", false},
		{strings.Repeat("**/", 200) + "x", strings.Repeat("a/", 2000) + "b", false},
	} {
		if got := glob.Path(c.pattern, c.name); got != c.want {
			t.Errorf("%.40q and %.40q: %t", c.pattern, c.name, got)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"a", "a", true},
		{"a", "ab", false},
		{"*-approved", "x-approved", true},
		{"*-approved", "x-approved-y", false},
		{"~*", "~x", true},
		{"a*b*c", "a1b2b3c", true},
		{"a*b*c", "a1b2c3", false},
		{"[a]", "a", false},
		{strings.Repeat("a*", 1000) + "b", strings.Repeat("a", 4000), false},
	} {
		if got := glob.Text(c.pattern, c.text); got != c.want {
			t.Errorf("%.40q and %.40q: %t", c.pattern, c.text, got)
		}
	}
}

// FuzzPath asks a slow match that tries everything.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a/**/b a/x/b", "**/** a", "*/**/? a/b/c", "**/a/**/a b/a/a", "a/** b"} {
		pattern, name, _ := strings.Cut(s, " ")
		f.Add(pattern, name)
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 24 || len(name) > 24 {
			return
		}
		want := everything(strings.Split(pattern, "/"), strings.Split(name, "/"))
		if got := glob.Path(pattern, name); got != want {
			t.Errorf("%q and %q: %t", pattern, name, got)
		}
	})
}

func everything(pattern, names []string) bool {
	switch {
	case len(pattern) == 0:
		return len(names) == 0
	case pattern[0] == "**":
		return everything(pattern[1:], names) || len(names) > 0 && everything(pattern, names[1:])
	}
	return len(names) > 0 && glob.Path(pattern[0], names[0]) && everything(pattern[1:], names[1:])
}
