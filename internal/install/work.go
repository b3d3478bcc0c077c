package install

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// Work is the maintainer's workflow that the poll gate calls. A calling job must grant what the jobs of the called
// file ask for, and pass its secrets by name.
type Work struct {
	Path    string // ./.github/workflows/NAME.yml
	Scopes  []scope
	Secrets []string
}

// Permissions is the block of the calling job.
func (w *Work) Permissions() string { return block(w.Scopes) }

// scopeNames are the scopes that a permissions block may name.
var scopeNames = []string{
	"actions", "attestations", "checks", "contents", "deployments", "discussions", "id-token",
	"issues", "models", "packages", "pages", "pull-requests", "security-events", "statuses",
}

var (
	workPath   = lazy.Regexp(`^\./\.github/workflows/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.ya?ml$`)
	scopeWord  = lazy.Regexp(`(?m)(?:^|[{,])\s*([a-z-]+):\s*(read|write)\b`)
	secretWord = lazy.Regexp(`\bsecrets\.([A-Za-z_][A-Za-z0-9_]*)`)
	callWord   = lazy.Regexp(`(?m)^\s*(?:workflow_call\s*:|- workflow_call\b)|^(?:on|"on"):.*\bworkflow_call\b`)
	allWord    = lazy.Regexp(`(?m)^\s*permissions:\s*(?:read-all|write-all)\b`)
)

// readWork finds out what the called workflow asks for: the scopes and secrets that its text names. Naming one too
// many only raises the ceiling of the calling job; the called jobs keep their own blocks.
func readWork(root fs.FS, path string) (*Work, error) {
	if !workPath().MatchString(path) {
		return nil, fmt.Errorf("[chunk] work is %q: write the path of a workflow of this repository, ./.github/workflows/NAME.yml", path)
	}
	data, err := fs.ReadFile(root, strings.TrimPrefix(path, "./"))
	if err != nil {
		return nil, fmt.Errorf("[chunk] work names %s, which cannot be read", path)
	}
	text := string(toLF(data))
	if !callWord().MatchString(text) {
		return nil, fmt.Errorf("[chunk] work names %s, which has no workflow_call trigger", path)
	}
	if allWord().MatchString(text) || !strings.Contains(text, "permissions:") {
		return nil, fmt.Errorf("[chunk] work names %s: name the scopes of its jobs one by one under permissions", path)
	}
	w := &Work{Path: path}
	for _, m := range scopeWord().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(scopeNames, m[1]) {
			continue
		}
		i := slices.IndexFunc(w.Scopes, func(s scope) bool { return s.Name == m[1] })
		switch {
		case i < 0:
			w.Scopes = append(w.Scopes, scope{m[1], m[2], "asked for by " + strings.TrimPrefix(path, "./.github/workflows/")})
		case m[2] == "write":
			w.Scopes[i].Level = "write"
		}
	}
	slices.SortStableFunc(w.Scopes, func(a, b scope) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range secretWord().FindAllStringSubmatch(text, -1) {
		if m[1] != "GITHUB_TOKEN" && !slices.Contains(w.Secrets, m[1]) {
			w.Secrets = append(w.Secrets, m[1])
		}
	}
	slices.Sort(w.Secrets)
	return w, nil
}
