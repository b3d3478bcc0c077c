// Package assets embeds the files that the product writes into repositories: workflow templates, starters, schemas.
package assets

import "embed"

// FS holds workflows/, .issue-assistant/ (starters and this repository's own set-up) and schema/.
//
//go:embed all:workflows all:.issue-assistant all:schema
var FS embed.FS
