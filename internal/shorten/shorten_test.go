package shorten_test

import (
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

func TestTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit      int
		text, want string
	}{
		{4, "", ""},
		{4, "abcd", "abcd"},
		{4, "abcde", "abc…"},
		{4, "äöüß", "äöüß"},
		{4, "äöüßx", "äöü…"},
		{1, "ab", "…"},
		{3, "a\xff\xffb", "a\ufffd…"},
	} {
		if got := shorten.To(c.limit, c.text); got != c.want {
			t.Errorf("%q in %d: got %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	long := "0123456789012345678901234567890123456789012345678901234567890"
	for text, want := range map[string]string{
		"":        `""`,
		"a\n\"b":  `"a\n\"b"`,
		long[:60]: `"` + long[:60] + `"`,
		long:      `"` + long[:60] + `"…`,
	} {
		if got := shorten.Quoted(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
