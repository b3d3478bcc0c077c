// Package engines embeds the package.json and lockfile of each engine's command line, which `npm ci` installs from.
package engines

import "embed"

// FS holds one folder per engine. The lockfiles carry integrity hashes and no addresses, so that any registry serves.
//
//go:embed */package.json */package-lock.json
var FS embed.FS
