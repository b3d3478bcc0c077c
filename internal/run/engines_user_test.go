package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestEnginesAsAnotherUser needs root: then the engines run as nobody, own their settings and read through our program.
func TestEnginesAsAnotherUser(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	for _, e := range []realEngine{codexCLI(), geminiCLI()} {
		t.Run(e.folder, func(t *testing.T) {
			t.Parallel()
			if err := readableBy(user{UID: 65534, GID: 65534, Name: "nobody"}, []string{e.program(t)}); err != nil {
				testtool.Unmet(t, "the engine lies where another user cannot read it: "+err.Error())
			}
			dir, self := openFolder(t)
			material := filepath.Join(dir, "checkout", "material")
			o, server := e.options(t, func(o Options) standin.Script {
				return steps(standin.Step{Tools: []standin.Tool{e.read(o, filepath.Join(material, "issue.md"))}}, okStep)
			})
			o.Checkout, o.Material, o.Temp, o.RulesFile = filepath.Join(dir, "checkout"), material, dir, filepath.Join(dir, "rules.md")
			write(t, filepath.Join(material, "issue.md"), "SECRETWORD")
			o.Isolation = Isolation{Other: true, Self: self}
			res, err := Run(t.Context(), o)
			if err != nil || res.Ended != engine.Finished || !strings.Contains(res.Protection, "another user") {
				data, _ := os.ReadFile(o.ExecutionFile)
				t.Fatalf("%+v %v\n%.2000s", res, err, data)
			}
			if results := strings.Join(server.Calls()[1].Results, ""); !strings.Contains(results, "SECRETWORD") {
				t.Errorf("the material could not be read: %s", results)
			}
		})
	}
}
