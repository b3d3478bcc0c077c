package sanitize

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// testPolicy is the policy of all tests here: octo/demo, issues 7 and 12 were checked.
func testPolicy() Policy {
	return Policy{
		Owner: "octo", Repo: "demo", Reporter: "reporter",
		Issues: map[int]bool{7: true, 12: true},
		Template: []string{
			"<!-- issue-assistant:analysis lang=en -->", "<sub>", "</sub>",
		},
	}
}

const composedHead = "<!-- issue-assistant:analysis lang=en -->\n\nSENTINELA thanks, @reporter!\n\n"

// compose puts a text into every place of one comment, as the product's comments are built.
func compose(text string, p Policy) string {
	var b strings.Builder
	b.WriteString(composedHead)
	block := func(s string) {
		if s != "" {
			b.WriteString(s + "\n\n")
		}
	}
	block(Clean(text, Paragraph, p))
	b.WriteString("```go\ncode of the template\n```\n\n**SENTINELB**\n\n")
	item := func(prefix string, place Place, suffix string) {
		if s := Clean(text, place, p); s != "" {
			b.WriteString(prefix + s + suffix + "\n")
		}
	}
	item("- ", ListEntry, "")
	b.WriteString("- SENTINELC\n")
	item("  - ", NestedEntry, "")
	b.WriteString("  - SENTINELD\n\nSENTINELE\n\n")
	item("> ", Quote, "")
	b.WriteString("\nSENTINELF\n\n")
	item("- #7: ", AfterNumber, "")
	item("- `a.go`", BesideCode, "`b.go` SENTINELG")
	item("- x: ", Line, "")
	b.WriteString("- SENTINELH\n\n| a | b |\n| --- | --- |\n| x | " + Clean(text, Cell, p) + " |\n| SENTINELI | y |\n\n")
	b.WriteString("<sub>SENTINELJ [rules](https://github.com/octo/demo/blob/main/R.md)</sub>\n")
	return b.String()
}

// judge returns what either oracle finds live in a composed comment.
func judge(markdown string, readings ...reading) []string {
	var bad []string
	for _, r := range readings {
		found := r.findings([]string{"html <!-- issue-assistant:analysis lang=en -->", "html <sub>", "html </sub>"}, 1)
		bad = append(bad, found...)
		var all strings.Builder
		for _, t := range r.Text {
			all.WriteString(t.Value)
		}
		at := 0
		for _, s := range "ABCDEFGHIJ" {
			word := "SENTINEL" + string(s)
			if !strings.Contains(markdown, word) {
				continue // the place was left out with its text
			}
			i := strings.Index(all.String()[at:], word)
			if i < 0 {
				bad = append(bad, word+" is not text in its place")
				break
			}
			at += i
		}
	}
	return bad
}

// payloads are things that must not be live, alone.
var payloads = []string{
	"@someone", "@org/team", "ping @someone-else now", "#13", "octo/other#7", "GH-5", "torvalds/linux#1", "someone#12", "user@0123abcd", "torvalds/linux@61c56cbe",
	"61c56cbe12", "0123456789abcdef0123456789abcdef01234567", "[text](https://evil.example/x)", "[text](<https://evil.example/x> \"t\")", "[text](http://github.com/octo/demo/blob/main/x)",
	"[t](javascript:alert(1))", "[t](//evil.example)", "[t](docs/x.md)", "[t]()", "![alt](https://evil.example/p.png)", "![alt][ref]\n\n[ref]: https://evil.example/p.png", "[![a](https://evil.example/i)](https://evil.example/l)",
	"<img src=x onerror=alert(1)>", "<b>bold</b>", "<script>alert(1)</script>", "<!-- hidden -->", "<!-- never closed", "<details><summary>x</summary>y</details>", "<a href=\"https://evil.example\">x</a>", "<?php x ?>", "<![CDATA[x]]>", "</div>", "<div\nclass=x>",
	"# heading", "###### heading ######", "heading\n===", "heading\n---", "heading\nmore\n---", "#", "> # heading", "- # heading",
	"https://evil.example/path", "HTTPS://EVIL.EXAMPLE", "ftp://evil.example/x", "www.evil.example", "WWW.EVIL.EXAMPLE", "mailto:someone@evil.example", "someone@evil.example", "<https://evil.example>", "<someone@evil.example>", "<mailto:someone@evil.example>", "xmpp:a@b.example/x",
	"https://github.com/octo/other/issues/1", "https://github.com/octo/demo/issues/13", "https://github.com/octo/demo/../other", "https://github.com/octo/demo/blob/../../../evil/x", "https://user:secret@github.com/octo/demo/blob/main/x", "https://github.com.evil.example/octo/demo/blob/x", "https://evil.example#@github.com/octo/demo/blob/main",
	"[label]: https://evil.example\n\n[label]", "[a]\n\n[a]: <https://evil.example> 'title'", "[^1]\n\n[^1]: note", "- [ ] task", "- [x] task", "1. [X] task",
	"fixes #12", "Closes: #12", "RESOLVED #7", "This does NOT fix #12.", "fix https://github.com/octo/demo/issues/12", "closes GH-12", "resolve octo/demo#12", "Duplicate of #12", "duplicate of https://github.com/octo/demo/issues/12", "fixes **#12**", "closes\u00a0#12", "fixes:\u2003#12", "closes&nbsp;#12", "reſolves #12", "Duplicate\u00a0of\u3000#12", "closes" + strings.Repeat(" ", 60) + "#12", "fixes\n#12", "fixes [#12](https://github.com/octo/demo/issues/12)", "*fixes* #12",
	"/close", "/assistant analyze", "text\n/duplicate of", "/label bug\n/assign me", "> [!NOTE]\n> alert", "> [!caution]\n> alert", "[!TIP]\nx", "```mermaid\ngraph TD\n```", "~~~math\nx\n~~~", "```geojson\n{}\n```", "$$x^2$$", "$$\nx\n$$", "$`x`$", "```{mermaid}\nx\n```",
	"&#64;someone", "&commat;someone", "\\@someone", "@<b></b>someone", "@<!-- -->someone", "@**someone**", "**@someone**", "_@someone_", "__@someone__x", "~~@someone~~", "a*@someone*", "&num;13", "&#35;13", "\\#13", "&#x40;someone", "h&#116;tps://evil.example", "www&period;evil.example", "&lt;b>", "&#47;close", "[&#33;NOTE]",
	"`code` @someone", "`` ` `` @someone", "` @someone", "`` @someone `", "\\` @someone `", "`a`@someone`b`", "```\n@in code\n```\n@someone", "```\n@someone never closed", "~~~\n@someone", "    @indented\n\n@someone", "text\n    @someone", "- ```\n@someone\n```", "- ```\n  code\n@someone", "> ```\n@someone", "1. a\n\n       @code\n\n   @someone", "```js `x`\n@someone", "`a\n\nb` @someone",
	"@someone@someone", "@@someone", "#13#14", "#13_", "_#13_", "(#13)", "[#13]", "#013", "#12a #12", "##13", "/#13", "x/#13", "é@someone", "日本@someone語", "a.@someone", "-@someone", "http://@someone", "www.@someone", "https://[::1", "[x](https://[::1)", "[[[[x](https://evil.example)", "[a](b)[c](d)", "[a [b](https://evil.example)](https://evil.example)", "[a\nb](https://evil.example\n\"t\")", "![a\nb](c)", "[`@x`](https://evil.example)", "[a]( https://evil.example )", "[a](https://evil.example/(x)y)", "[a](https://evil.example \"a)b\")", "[a](<b)c>)",
	"***", "---", "- - -", "* * *", "===", "-", "- ", "1.", "+", ">", "> > > deep", "| a | b |\n|---|---|\n| @someone | `@x|y` |", "a | b\n- | -\n@someone | #13", "|", "\\", "a\\", "`", "``", "```", "~~~", "<", "<a", "&", "[", "]", "![", "](", "[]", "()", "*", "**", "_", "$", "$$", "|a|", "`|`", "\\|", "a\\|b", "`a\\|b`", ":", "!", "!@someone", "![@someone", "!\\[x](https://evil.example)",
	"\ttabbed @someone", "\t- x\n\t\t@someone", "a\r\n@someone\r\n", "a\r@someone", "a\x00@someone", "@\u200bsomeone", "@\u2060some\u00adone", "\u202e@someone\u202c", "\ufeff# heading", "\u2028# heading", "@some\x07one", "#\u200b13", "fix\u200bes #12", "a\vb\fc",
}

// wrappers put a payload where parsers differ most.
var wrappers = []string{
	"%", "before % after", "- %\n- second", "> %", "1. %\n   more", "**%**", "[%](https://evil.example)", "`code` % `code`", "text\n\n%", "%\n\n```\ncode\n```", "<div>\n%\n</div>", "| a | b |\n|---|---|\n| % | x |", "<!-- % -->%", "\\%", "\"%\"", "(%)",
}

// corpus is every text that the tests clean: payloads in wrappers, the cases, and what fuzzing found.
func corpus(t testing.TB) []string {
	t.Helper()
	var texts []string
	for i, payload := range payloads {
		texts = append(texts, payload)
		// Each payload goes through a part of the wrappers, its neighbors through the others; SANITIZE_ALL=1 is every pair.
		step := 10
		if os.Getenv("SANITIZE_ALL") != "" {
			step = 1
		}
		for j := i % step; j < len(wrappers); j += step {
			texts = append(texts, strings.ReplaceAll(wrappers[j], "%", payload))
		}
	}
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "bugs", "B*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	found, err := filepath.Glob(filepath.Join("testdata", "corpus", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, found...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 8<<10 {
			texts = append(texts, string(data))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
