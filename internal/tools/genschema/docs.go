package main

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

const (
	readmePath = "README.md"
	markBegin  = "<!-- settings:begin -->"
	markEnd    = "<!-- settings:end -->"
)

// fragment is the table of the README.
func fragment() string {
	var b strings.Builder
	b.WriteString("\n| setting | default | what it does |\n|---|---|---|\n")
	for _, t := range config.Tables() {
		name := t.Name
		if t.Named {
			name += `."…"`
		}
		for _, r := range t.Rules {
			fmt.Fprintf(&b, "| `[%s]` `%s` | %s | %s |\n", cell(name), r.Key, defaultCell(r), cell(r.Doc))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// replaceFragment puts the table between the markers; false when they are not there.
func replaceFragment(readme, table string) (string, bool) {
	head, rest, ok := strings.Cut(readme, markBegin)
	if !ok {
		return "", false
	}
	_, tail, ok := strings.Cut(rest, markEnd)
	if !ok {
		return "", false
	}
	return head + markBegin + "\n" + table + markEnd + tail, true
}

// reference is docs/reference/settings.md.
func reference() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Settings

`+"`%s`"+` holds the settings. The file and every key in it may be left out. Names count as they stand here, letter case
included; what is unknown, of the wrong type or out of range is an error that says where and what to write instead:
`+"`issue-assistant check`"+`. The file is UTF-8 and at most %d bytes long.

An editor completes the keys when the first line is

`+"```toml\n#:schema %sconfig.schema.json\n```"+`

This page is generated (`+"`go run ./internal/tools/genschema`"+`).
`, config.Path, config.MaxBytes, baseID)
	for _, t := range config.Tables() {
		heading := "[" + t.Name + "]"
		if t.Named {
			heading = "[" + t.Name + `."my-model"]`
		}
		writeTable(&b, heading, t.Doc, t.Rules)
	}
	fmt.Fprintf(&b, `
# Labels

`+"`%s`"+` lists the labels of the repository, one `+"`[[label]]`"+` each, at most %d. One of them at least is in the group type.
The assistant sets these itself, so they must be there, in the group lifecycle: %s.
`, config.LabelsPath, config.MaxLabels, "`"+strings.Join(config.LifecycleLabels, "`, `")+"`")
	writeTable(&b, "[[label]]", "One label.", config.LabelRules())
	fmt.Fprintf(&b, `
# Accepted findings

`+"`%s`"+` lists findings of code scanning that `+"`issue-assistant findings`"+` dismisses, one `+"`[[accept]]`"+` each, at most %d. An entry may
also hold its last day, `+"`expires = 2027-01-31`"+`. An editor completes the keys by `+"`%sfindings.schema.json`"+`.
`, config.FindingsPath, config.MaxAccepts, baseID)
	writeTable(&b, "[[accept]]", "One accepted finding, or several of one kind.", config.FindingRules())
	return b.String()
}

func writeTable(b *strings.Builder, heading, doc string, rules []config.Rule) {
	fmt.Fprintf(b, "\n## `%s`\n\n%s\n\n| key | what to write | default | what it does |\n|---|---|---|---|\n", heading, doc)
	for _, r := range rules {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.Key, cell(r.Want()), defaultCell(r), cell(r.Doc))
	}
}

func defaultCell(r config.Rule) string {
	switch {
	case r.Required:
		return "required"
	case r.Default == nil:
		return ""
	}
	return "`" + cell(config.FormatValue(r.Default)) + "`"
}

// cell keeps a text inside of a table's cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
