package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
)

// themes are GitHub's two.
func themes() []string { return []string{"light", "dark"} }

// style is what a page needs beside the style sheet of the text.
type style struct {
	css     string // of github-markdown-css, in one theme
	mermaid string // address of mermaid's script
	theme   string
	width   int // of the page
}

// colors of a theme: page, border, head of a comment, text, muted text, own label.
func (s style) colors() string {
	if s.theme == "dark" {
		return "--page:#0d1117;--line:#3d444d;--head:#151b23;--text:#f0f6fc;--muted:#9198a1;--accent:#4493f8"
	}
	return "--page:#ffffff;--line:#d1d9e0;--head:#f6f8fa;--text:#1f2328;--muted:#59636e;--accent:#0969da"
}

const ownCSS = `
html{background:var(--page)}
body{margin:0;padding:16px;width:var(--width);box-sizing:border-box;background:var(--page);color:var(--text);font:14px/1.5 "Noto Sans","Liberation Sans",sans-serif}
.markdown-body{font-family:"Noto Sans","Noto Sans CJK JP","Liberation Sans",sans-serif;font-size:14px;background:transparent}
.markdown-body code,.markdown-body pre,.markdown-body pre code{font-family:"Noto Sans Mono","Liberation Mono",monospace}
.box{border:1px solid var(--line);border-radius:6px;margin:0 0 16px}
.head{background:var(--head);border-bottom:1px solid var(--line);border-radius:6px 6px 0 0;padding:7px 16px;color:var(--muted)}
.head b{color:var(--text)}
.badge{border:1px solid var(--line);border-radius:2em;padding:0 7px;font-size:12px;margin-left:4px}
.body{padding:16px}
.event{color:var(--muted);margin:0 0 16px 18px}
.event b{color:var(--text)}
.event code{border:1px solid var(--line);border-radius:2em;padding:1px 9px;color:var(--text);font:12px "Noto Sans","Liberation Sans",sans-serif}
.mention{font-weight:600;color:var(--text);text-decoration:underline}
.mermaid{text-align:center;margin:0 0 16px}
.mermaid svg{max-height:340px}
body>:last-child{margin-bottom:0}
`

// page is the HTML of a picture's blocks.
func page(blocks []block, s style) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html><head><meta charset=utf-8><style>%s</style><style>:root{%s;--width:%dpx}%s</style></head><body>\n", s.css, s.colors(), s.width, ownCSS)
	for _, bl := range blocks {
		text, err := markdown(bl.Text)
		if err != nil {
			return "", err
		}
		switch bl.Kind {
		case "event":
			fmt.Fprintf(&b, "<div class=event>%s %s</div>\n", person(bl.Login), strings.TrimSuffix(strings.TrimPrefix(text, "<p>"), "</p>\n"))
		case "summary":
			fmt.Fprintf(&b, "<div class=box><div class=head><b>Job summary</b></div><div class=\"body markdown-body\">%s</div></div>\n", text)
		default:
			when := " commented"
			if bl.Badge != "" {
				when += " · " + html.EscapeString(bl.Badge)
			}
			fmt.Fprintf(&b, "<div class=box><div class=head>%s%s</div><div class=\"body markdown-body\">%s</div></div>\n", person(bl.Login), when, text)
		}
	}
	if strings.Contains(b.String(), "language-mermaid") {
		fmt.Fprintf(&b, "<script src=\"%s\"></script>", s.mermaid)
	}
	fmt.Fprintf(&b, script, map[string]string{"light": "default", "dark": "dark"}[s.theme])
	return b.String(), nil
}

// script draws the charts, then says how high the page is.
const script = `<script>
let drawn = Promise.resolve("");
for (const code of document.querySelectorAll("code.language-mermaid")) {
  const div = document.createElement("div"); div.className = "mermaid"; div.textContent = code.textContent; code.parentElement.replaceWith(div);
}
if (window.mermaid) {
  mermaid.initialize({startOnLoad: false, theme: "%s", securityLevel: "strict"});
  drawn = mermaid.run().then(() => "", (e) => String(e));
}
drawn.then((failed) => {
  document.body.dataset.height = Math.ceil(document.body.getBoundingClientRect().height); document.body.dataset.failed = failed;
});
</script></body></html>
`

// person is a login as the head of a comment shows it.
func person(login string) string {
	name, isBot := strings.CutSuffix(login, "[bot]")
	b := "<b>" + html.EscapeString(name) + "</b>"
	if isBot {
		b += "<span class=badge>bot</span>"
	}
	return b
}

// markdown renders text as GitHub does: GFM, without HTML of the author, with alerts, mentions and issue references.
func markdown(text string) (string, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithHardWraps()))
	var b bytes.Buffer
	if err := md.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	out := strings.ReplaceAll(b.String(), "<!-- raw HTML omitted -->\n", "")
	return references(alerts(out)), nil
}

// alerts turns block quotes that begin with [!NOTE] and the like into GitHub's alerts.
func alerts(text string) string {
	begin := regexp.MustCompile(`(?s)<blockquote>\n<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]<br ?/?>\n(.*?)</blockquote>`)
	return begin.ReplaceAllStringFunc(text, func(s string) string {
		m := begin.FindStringSubmatch(s)
		kind := strings.ToLower(m[1])
		return `<div class="markdown-alert markdown-alert-` + kind + `"><p class="markdown-alert-title">` + m[1][:1] + kind[1:] + "</p>\n<p>" + m[2] + "</div>"
	})
}

// references marks mentions and issue references outside of code and links.
func references(text string) string {
	tag := regexp.MustCompile(`<[^>]*>`)
	mention := regexp.MustCompile(`(^|[\s(])@([A-Za-z0-9][A-Za-z0-9-]*)`)
	issue := regexp.MustCompile(`(^|[\s(])#([0-9]+)\b`)
	var b strings.Builder
	depth, at := 0, 0
	plain := func(s string) {
		if depth == 0 {
			s = mention.ReplaceAllString(s, `$1<a class=mention href="#">@$2</a>`)
			s = issue.ReplaceAllString(s, `$1<a href="#">#$2</a>`)
		}
		b.WriteString(s)
	}
	for _, span := range tag.FindAllStringIndex(text, -1) {
		plain(text[at:span[0]])
		switch name := text[span[0]:span[1]]; {
		case strings.HasPrefix(name, "<code"), strings.HasPrefix(name, "<a "):
			depth++
		case name == "</code>", name == "</a>":
			depth--
		}
		b.WriteString(text[span[0]:span[1]])
		at = span[1]
	}
	plain(text[at:])
	return b.String()
}
