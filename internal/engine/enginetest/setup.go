// Package enginetest holds what the tests of the engines' drivers share.
package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// Setup is a run as a driver gets it that reads through our own tools.
func Setup(d engine.Driver, cli, model, effort string) engine.Setup {
	return engine.Setup{
		CLI: cli, Checkout: "/checkout", Material: "/material", Home: "/temp/home", Self: "/bin/assistant",
		RulesFile: "/temp/rules.md", Prompt: []byte("look"), Schema: []byte(`{"type":"object"}`), Model: model, Effort: effort,
		MaxTurns: 40, MaxBudgetUSD: 0.5, BaseURL: "http://127.0.0.1:1/token", Credential: d.Credentials()[0],
	}
}

// Refusals fails where the driver takes a run without a limit, a model, our tools or a schema that can be read.
func Refusals(t *testing.T, d engine.Driver, s engine.Setup) {
	t.Helper()
	for name, change := range map[string]func(*engine.Setup){
		"no model": func(s *engine.Setup) { s.Model = "" }, "no turns": func(s *engine.Setup) { s.MaxTurns = 0 },
		"no budget": func(s *engine.Setup) { s.MaxBudgetUSD = 0 }, "no tools": func(s *engine.Setup) { s.Self = "" },
		"broken schema": func(s *engine.Setup) { s.Schema = []byte("{") },
	} {
		wrong := s
		change(&wrong)
		if c, err := d.Command(wrong); err == nil {
			t.Errorf("%s: %q", name, c.Args)
		}
	}
}

// Words is a text of n words that never repeats itself. Each seed has its own.
func Words(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 3)) //nolint:gosec // filler, the same in every run
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%x ", r.Uint32())
	}
	return b.String()
}
