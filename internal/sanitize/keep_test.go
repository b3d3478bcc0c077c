package sanitize

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestPlainTextStays: what is not live comes out byte for byte, in every place that can hold it.
func TestPlainTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The crash comes from the parser.", "1 < 2 && 3 > 2, 5 * 3 * 2 = 30, a_b_c, 100 %", "It costs $5 and then $6.", "#fff and #c0ffee", "see #12 and (#7), not more", "50% \"quoted\" – dash — ellipsis…",
		"Größe, naïve, 日本語, می\u200cخواهم, 👨‍👩‍👧‍👦, 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "x = y[0] + z[1]", "a/b/c.go and /usr/lib/x", "550e8400-e29b-41d4-a716-446655440000", "*emphasis*, **strong**, ~~gone~~", "`code` and ``a ` b``",
		"version 2.3.1-beta.1 of 2024-01-02", "1234567 items", "defaced and effaced facade", "actions/checkout at v4", "C# and F#", "issue 12", "the fix is old", "close to it", "[see](https://github.com/octo/demo/blob/main/a_b.md)", "https://github.com/octo/demo/blob/main/README.md",
		"a: b; c, d? e! (f) {g} 'h'", "&copy; &amp; &", "~/.config", "\\*not emphasis\\*", "I'd say: it's fine", "email is not here", "@", "# ", "a # b", "a @ b",
	} {
		for _, place := range places() {
			if text == "# " && place < AfterNumber {
				continue // an empty heading
			}
			if strings.HasPrefix(text, "https://") && place == BesideCode {
				continue // the code behind it would become part of the address
			}
			if got := Clean(text, place, testPolicy()); got != strings.TrimSpace(text) && strings.TrimSpace(got) != strings.TrimSpace(text) {
				t.Errorf("place %d (-want +got):\n%s", place, cmp.Diff(text, got))
			}
		}
	}
}

// codes are texts whose code must come out byte for byte; the oracle reads the code of both.
var codes = []string{
	"```go\nfunc F[T any](x map[string]List<T>) { @a; #13 }\n```", "~~~xml\n<a b=\"c\"><!-- d --></a>\n~~~", "```\n\n  indented\n\ttab\n\nlast  \n```", "````md\n```\n@x\n```\n````", "text\n\n    <b>indented</b>\n    @code\n\nmore",
	"`@a` and `#13` and `<b>` and `https://e.example`", "``a ` @b``", "- `x`\n- ```js\n  <B onClick={() => f(\"#13\")} />\n  ```", "> ```\n> @quoted\n> ```", "1. a\n\n   ```\n   /close\n   ```", "`fixes #12`", "```#!/bin/sh\nx\n```", "`a|b`", "```c++\n#include <stdio.h>\n```",
	"before @live\n\n```html\n<img src=x>\n```\n\nafter @live", "<b>x</b>\n\n```\n<b>y</b>\n```", "# head\n```\n# no head\n```", "<div>\n\n```\n<div>\n```\n</div>", "<details>\n```\n<div>\n```\n</details>",
}

func TestCodeStays(t *testing.T) {
	t.Parallel()
	second := startMicromark(t)
	for _, text := range codes {
		want, err := second.read(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "<details>") {
			want.Code = []string{"<div>"} // the tag before the fence becomes text, and then the fence is one
		}
		for _, place := range []Place{Paragraph, ListEntry, NestedEntry, Quote} {
			f := place.frame()
			got, err := second.read(f.before + Clean(text, place, testPolicy()))
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range want.Code {
				if !slices.Contains(got.Code, code) {
					t.Errorf("place %d: code %q of %q is not among %q", place, code, text, got.Code)
				}
			}
		}
	}
}

func TestInvisible(t *testing.T) {
	t.Parallel()
	if got, want := normalize(readCase(t, "B39-bidi-and-zero-width.txt")), "Hello evil x zero bom soft alm lrm iss mvs inv wj"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if text := readCase(t, "B40-joiners-must-survive.txt"); normalize(text) != text {
		t.Errorf("changed (-want +got):\n%s", cmp.Diff(text, normalize(text)))
	}
	for _, c := range []struct{ what, text, want string }{
		{"tags", "a\U000E0041\U000E0042b", "ab"},
		{"the flag of Scotland", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"},
		{"a flag of nowhere", "\U0001F3F4\U000E0061\U000E007F", "\U0001F3F4"},
		{"data in variation selectors", "😀\ufe0f\ufe0e\ufe0f\U000E0100", "😀\ufe0f"},
		{"a joiner in Latin", "pass\u200dword \u200cx", "password x"},
		{"two joiners", "م\u200c\u200cم", "م\u200cم"},
		{"a joiner at the end", "👨\u200d", "👨"},
		{"keycap", "1\ufe0f\u20e3 2\ufe0f", "1\ufe0f\u20e3 2"},
		{"skin", "👩🏽\u200d🚀", "👩🏽\u200d🚀"},
		{"fillers", "a\u3164\u115f\uffa0\u034f\u17b4b", "ab"},
		{"controls", "a\x00\x1b[31m\x7f\u0085b", "a[31m b"},
		{"line ends", "a\r\nb\rc\u2028d", "a\nb\nc d"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"combining stays", "e\u0301 é", "e\u0301 é"},
		{"nested removal", "👨\u200d\u200b👩", "👨👩"},
	} {
		got := normalize(c.text)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
		if normalize(got) != got {
			t.Errorf("%s: no fixed point", c.what)
		}
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	second := startMicromark(t)
	long := readCase(t, "B46-answer-70k.md")
	texts := map[string]string{
		"the case": long, "one word": strings.Repeat("a", 9000), "emoji": strings.Repeat("👨‍👩‍👧‍👦", 2000), "flags": strings.Repeat("🇩🇪", 3000), "combining": strings.Repeat("e\u0301", 5000),
		"a fence": "```go\n" + strings.Repeat("line @x\n", 2000), "a fence in a list": "- a\n  ```\n" + strings.Repeat("  line @x\n", 2000), "details": "<details><summary>x</summary>\n\n" + strings.Repeat("word ", 3000),
		"a long span": "a `" + strings.Repeat("@x ", 4000) + "`", "a long link": "a [" + strings.Repeat("x ", 4000) + "](https://github.com/octo/demo/blob/main/a)", "a long comment": "a <!-- " + strings.Repeat("x ", 4000) + "-->",
		"prose": strings.Repeat("Words and words.\n\n", 1000),
	}
	for what, text := range texts {
		for _, limit := range []int{5000, 4999, 4998, 4997, 1000, 200} {
			got := Truncate(text, limit)
			if n := runeLen(got); n > limit || n < limit/4 && what != "a long span" && what != "a long link" && what != "a long comment" {
				t.Errorf("%s: %d characters of %d", what, n, limit)
			}
			if !utf8.ValidString(got) || !strings.Contains(got, cutMark) {
				t.Errorf("%s: no whole text that says it was cut: %q", what, got[max(0, len(got)-60):])
			}
			r, err := second.read(got)
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range r.Text {
				if strings.Contains(piece.Value, "@x") {
					t.Errorf("%s at %d: code became text", what, limit)
				}
			}
			if strings.Count(got, "<details") != strings.Count(got, "</details") || strings.Count(got, "<!--") != strings.Count(got, "-->") {
				t.Errorf("%s at %d: something stays open", what, limit)
			}
			body, _, _ := strings.Cut(got, cutMark)
			body = strings.TrimRight(strings.TrimRight(strings.TrimRight(body, "\n"), "`"), "\n ")
			if what == "emoji" && !strings.HasSuffix(body, "👦") || what == "flags" && strings.Count(body, "🇩") != strings.Count(body, "🇪") || what == "combining" && strings.HasSuffix(body, "e") {
				t.Errorf("%s at %d: half a character: %q", what, limit, body[max(0, len(body)-20):])
			}
		}
	}
	if got := Truncate("short", 10); got != "short" {
		t.Errorf("a short text is changed to %q", got)
	}
	if got := Truncate(long, MaxComment); runeLen(got) > MaxComment {
		t.Errorf("%d characters", runeLen(got))
	}
}

func TestAllowsURL(t *testing.T) {
	t.Parallel()
	p := testPolicy()
	p.Hosts, p.SHAs, p.Discussions = []string{"docs.example"}, []string{"0123456789abcdef0123456789abcdef01234567"}, map[int]bool{3: true}
	for address, want := range map[string]bool{
		"https://github.com/octo/demo/blob/main/a.md#L1": true, "https://github.com/Octo/Demo/tree/main": true, "https://github.com/octo/demo/releases/tag/v1": true, "https://docs.example/x?y=1#z": true, "https://DOCS.example": true,
		"https://github.com/octo/demo/issues/12": true, "https://github.com/octo/demo/issues/012": false, "https://github.com/octo/demo/issues/13": false, "https://github.com/octo/demo/discussions/3": true, "https://github.com/octo/demo/security/policy": true,
		"https://github.com/octo/demo/commit/0123456789abcdef": true, "https://github.com/octo/demo/commit/1123456": false, "https://github.com/octo/demo": false, "https://github.com/octo/other/blob/x": false, "http://github.com/octo/demo/blob/x": false,
		"HTTPS://github.com/octo/demo/blob/x": false, "https://github.com/octo/demo/blob/../../../x": false, "https://github.com/octo/demo/blob/%2e%2e/x": false, "https://github.com/octo/demo/blob/a%2fb": false, "https://github.com/octo/demo/blob/a%20b": true,
		"https://user@github.com/octo/demo/blob/x": false, "https://github.com:444/octo/demo/blob/x": false, "https://evil.docs.example/": false, "https://docs.example.evil/": false, "https://docs.example@evil/": false, "https://[::1": false, "//github.com/octo/demo/blob/x": false, "https://github.com\\octo": false, "": false,
		"https://github.com/octo/demo/issues/new?title=x": false, "https://github.com/octo/demo/settings": false,
	} {
		if got := p.allowsURL(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
	enterprise := Policy{Owner: "o", Repo: "r", ServerURL: "https://ghe.example/"}
	if !enterprise.allowsURL("https://ghe.example/o/r/blob/main/x") || enterprise.allowsURL("https://github.com/o/r/blob/main/x") {
		t.Error("another server is not the repository's own")
	}
}

// TestCheckComment: each thing that Clean would take out is found when it stands in a comment as it is.
func TestCheckComment(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{
		"mention": "hi @x", "issue reference": "#13", "link": "[a](https://e.example)", "image": "![a](https://e.example)", "raw HTML": "<b>x</b>", "heading": "# x", "closing keyword": "fixes #12", "slash command": "/close", "alert": "> [!NOTE]\n> x",
		"commit reference": "see 61c56cbe12", "e-mail address": "a@e.example", "reference definition": "[a]: https://e.example", "footnote": "[^1]", "task list": "- [ ] x", "live block": "```mermaid\nx\n```", "formula": "$$x$$", "open fence": "```\nx",
		"invisible character": "a\u200bb", "nesting": strings.Repeat("> ", 101) + "x", "length": strings.Repeat("a", MaxComment+1),
	} {
		problems := CheckComment(text, testPolicy())
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Kind == kind }) {
			t.Errorf("%s is not found: %v", kind, problems)
		}
	}
	p := testPolicy()
	p.Template = []string{"### Notes", "> [!WARNING]", "<sub>", "</sub>", "https://assistant.example/docs"}
	good := "@reporter\n\n### Notes\n\n> [!WARNING]\n> x\n\n<sub>[a](https://assistant.example/docs)</sub>"
	if problems := CheckComment(good, p); len(problems) > 0 {
		t.Errorf("the template's own is refused: %v", problems)
	}
	for _, bad := range []string{good + "\n\n### Notes", good + "\n\n@reporter", good + "\n\n<sub>", good + "\n\n[b](https://assistant.example/docs)", good + "\n\n### Other"} {
		if len(CheckComment(bad, p)) == 0 {
			t.Errorf("more than the template's own passes: %q", bad)
		}
	}
}
