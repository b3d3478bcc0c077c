package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestLayers holds the layers of docs/architecture.md against what the packages import.
func TestLayers(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```text\n(cli\n.*?)```").FindStringSubmatch(pages(t)["docs/architecture.md"])
	if block == nil {
		t.Fatal("docs/architecture.md has no layers")
	}
	layer := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
		for pkg := range strings.FieldsSeq(line) {
			if _, twice := layer[pkg]; twice {
				t.Errorf("%s stands there twice", pkg)
			}
			layer[pkg] = i
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./internal/...")
	cmd.Dir = testtool.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const ours = "github.com/issue-assistant/issue-assistant/internal/"
	helpers := regexp.MustCompile(`^(tools/|e2e|testtool|ghapi/gh|engine/(enginetest|attack))`)
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], ours)
		if helpers.MatchString(pkg) {
			continue
		}
		from, ok := layer[pkg]
		if !ok {
			t.Errorf("%s is in no layer", pkg)
			continue
		}
		seen++
		for _, imported := range words[1:] {
			name, mine := strings.CutPrefix(imported, ours)
			if to, known := layer[name]; mine && (!known && !helpers.MatchString(name) || known && to < from) {
				t.Errorf("%s imports %s, which stands above it", pkg, name)
			} else if mine && helpers.MatchString(name) && pkg != "cli" { // try plays against the fake of the tests
				t.Errorf("%s imports %s, which is for tests", pkg, name)
			}
		}
	}
	if seen != len(layer) {
		t.Errorf("%d packages, %d in the layers", seen, len(layer))
	}
}
