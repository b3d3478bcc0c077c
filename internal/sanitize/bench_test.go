package sanitize

import (
	"strings"
	"testing"
)

// hostile are 64 kB texts made to keep parsers and patterns busy.
func hostile(size int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	var ticks strings.Builder
	for n := 1; ticks.Len() < size; n++ {
		ticks.WriteString(strings.Repeat("`", n) + " ")
	}
	return map[string]string{
		"open brackets":      rep("["),
		"brackets and words": rep("[a "),
		"closed brackets":    rep("[a]("),
		"images":             rep("![a]("),
		"stars":              rep("*a **b "),
		"underscores":        rep("_a __b "),
		"tildes":             rep("~~a ~b "),
		"backticks":          ticks.String()[:size],
		"tags":               rep("<a b=\""),
		"comments":           rep("<!--"),
		"comment lines":      rep("<!-- a\n"),
		"div lines":          rep("<div>\n"),
		"quotes":             rep("> "),
		"quote lines":        rep("> > > a\n"),
		"nested lists":       rep("- "),
		"list lines":         rep("- a\n"),
		"mentions":           rep("@a "),
		"numbers":            rep("#1 "),
		"long words":         rep("a"),
		"hashes":             rep("0a1b2c3d "),
		"addresses":          rep("https://e.example/x "),
		"schemes":            rep("http://"),
		"e-mails":            rep("a@b.c"),
		"dots":               rep("a.b-"),
		"at signs":           rep("a@"),
		"slashes":            rep("a/b"),
		"definitions":        rep("[a]: b\n"),
		"definitions apart":  rep("[a]: b\n\n"),
		"tables":             rep("|a|b|\n|-|-|\n|c|d|\n\n"),
		"table rows":         "|a|b|\n|-|-|\n" + rep("|c|d|\n"),
		"wide table":         rep("a|") + "\n" + rep("-|"),
		"entities":           rep("&amp;"),
		"ampersands":         rep("&a"),
		"backslashes":        rep("\\"),
		"headings":           rep("# a\n"),
		"underlines":         rep("a\n=\n"),
		"fences":             rep("```\na\n"),
		"dollars":            rep("$a "),
		"closing":            rep("fixes "),
		"zero width":         rep("a\u200b\u200d"),
		"joiners":            rep("\U0001F468\u200d"),
		"private keys":       rep("-----BEGIN PRIVATE KEY-----,\n"),
		"base64":             rep("QUFB"),
		"token starts":       rep("ghp_sk-ant-AKIA"),
		"key words":          rep("token key secret: "),
		"urls":               rep("a://b:c"),
		"prose":              rep("The crash comes from the parser, which reads `x.go` twice.\n\nIt *may* help to update.\n"),
	}
}

func eachHostile(b *testing.B, run func(text string)) {
	b.Helper()
	for what, text := range hostile(64 << 10) {
		b.Run(strings.ReplaceAll(what, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				run(text)
			}
		})
	}
}

func BenchmarkCleanHostile(b *testing.B) {
	eachHostile(b, func(text string) { Clean(text, Paragraph, testPolicy()) })
}

func BenchmarkCheckHostile(b *testing.B) {
	eachHostile(b, func(text string) { CheckComment(text, testPolicy()) })
}

func BenchmarkSecretsHostile(b *testing.B) {
	env := []string{strings.Repeat("0123456789abcdef", 40)}
	eachHostile(b, func(text string) { FindSecrets(text, env) })
}

func BenchmarkMaterialHostile(b *testing.B) {
	eachHostile(b, func(text string) { Material(text) })
}

// normalComment is what an analysis looks like.
const normalComment = "The crash comes from `parse()` in the reader: it reads the header twice when the file begins with a byte order mark.\n\n" +
	"```go\nfunc parse(r io.Reader) (List[String], error) {\n\treturn read(r) // @kept #13\n}\n```\n\n- Update to 2.3.1, see #12.\n- Ask @someone, or see https://evil.example/x.\n\n" +
	"A workaround is to save the file without the mark. Commit 61c56cbe12 changed this; [the page](https://evil.example) says more.\n\n"

func BenchmarkNormal(b *testing.B) {
	text := strings.Repeat(normalComment, 4)
	clean := Clean(text, Paragraph, testPolicy())
	b.Run("clean", func(b *testing.B) {
		for b.Loop() {
			Clean(text, Paragraph, testPolicy())
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			CheckComment(clean, testPolicy())
		}
	})
	b.Run("secrets", func(b *testing.B) {
		for b.Loop() {
			FindSecrets(text, []string{"a value of the environment, 40 long....."})
		}
	})
	b.Run("material", func(b *testing.B) {
		for b.Loop() {
			Material(text)
		}
	})
}

// TestHostileTextsComeOut: every hostile text is cleaned to something that passes the check. Times are in
// docs/benchmarks/sanitize.md, not here.
func TestHostileTextsComeOut(t *testing.T) {
	t.Parallel()
	policy := testPolicy()
	texts := hostile(6 << 10)
	for what, text := range hostile(1 << 10) {
		texts[what+", short"] = text // below every cap
	}
	for what, text := range texts {
		for _, place := range []Place{Paragraph, ListEntry, Cell} {
			f := place.frame()
			comment := f.before + Clean(text, place, policy) + f.after
			if problems := CheckComment(comment, policy); len(problems) > 0 {
				t.Errorf("%s in place %d: %v", what, place, problems[:1])
			}
		}
		FindSecrets(text, nil)
		Material(text)
	}
}
