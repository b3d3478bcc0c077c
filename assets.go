// Package assets embeds the files that the product writes into repositories: workflow templates, starters, schemas.
package assets

import "embed"

// FS holds workflows/, .issue-assistant/ (starters and this repository's own set-up), schema/, and this repository's own
// triage workflow: install takes the pins of other people's actions from it, where Dependabot moves them.
//
//go:embed all:workflows all:.issue-assistant all:schema .github/workflows/issue-assistant-triage.yml
var FS embed.FS
