package check_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/check"
)

// TestLargeFilesEndSoon holds inputs that once took half a minute; the bound is wide, the fault was far beyond it.
func TestLargeFilesEndSoon(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"many tools":      `{"permissions":{"allow":["` + strings.Repeat(`Bash","`, 70_000) + `"]}}`,
		"many scripts":    "on: issues\njobs:\n a:\n  steps:\n  - run: |\n" + strings.Repeat("     ${{ github.event.issue.title }}\n     x<<EOF GITHUB_OUTPUT\n", 7_000),
		"one long script": "on: issues\njobs: {a: {steps: [{run: '" + strings.Repeat("${{ github.event.issue.title }} ", 15_000) + "'}]}}",
		"open expression": "on: issues\njobs: {a: {steps: [{run: '" + strings.Repeat("${{ github.", 45_000) + "'}]}}",
		"open brackets":   strings.Repeat("[", 500_000),
		"open comments":   strings.Repeat("/*", 250_000),
		"dashes":          strings.Repeat("- ", 250_000),
		"anchors":         "on: issues\njobs: [" + strings.Repeat("&a x, ", 80_000) + "]",
		"variables":       strings.Repeat("GEMINI_A=1\n", 45_000),
	} {
		for _, p := range []string{".github/workflows/x.yml", ".claude/settings.json", ".codex/config.toml", ".gemini/.env"} {
			start := time.Now()
			root := fstest.MapFS{p: {Data: []byte(text)}}
			_ = check.Locate(root, append(check.Workflows(root, nil), check.Tools(root)...))
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("%s as %s took %v", name, p, d)
			}
		}
	}
}
