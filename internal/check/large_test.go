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
	for name, tc := range map[string]struct{ path, text string }{
		"many tools":      {".claude/settings.json", `{"permissions":{"allow":["` + strings.Repeat(`Bash","`, 70_000) + `"]}}`},
		"many scripts":    {".github/workflows/x.yml", "on: issues\njobs:\n a:\n  steps:\n  - run: |\n" + strings.Repeat("     ${{ github.event.issue.title }}\n     x<<EOF GITHUB_OUTPUT\n", 1_500)},
		"one long script": {".github/workflows/x.yml", "on: issues\njobs: {a: {steps: [{run: '" + strings.Repeat("${{ github.event.issue.title }} ", 3_000) + "'}]}}"},
		"open expression": {".github/workflows/x.yml", "on: issues\njobs: {a: {steps: [{run: '" + strings.Repeat("${{ github.", 9_000) + "'}]}}"},
		"open brackets":   {".github/workflows/x.yml", strings.Repeat("[", 500_000)},
		"open comments":   {".claude/settings.json", strings.Repeat("/*", 250_000)},
		"dashes":          {".github/workflows/x.yml", strings.Repeat("- ", 250_000)},
		"anchors":         {".github/workflows/x.yml", "on: issues\njobs: [" + strings.Repeat("&a x, ", 80_000) + "]"},
		"variables":       {".gemini/.env", strings.Repeat("GEMINI_A=1\n", 9_000)},
	} {
		start := time.Now()
		root := fstest.MapFS{tc.path: {Data: []byte(tc.text)}}
		_ = check.Locate(root, append(check.Workflows(root, nil), check.Tools(root)...))
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
