package task

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

func TestLimitsFor(t *testing.T) {
	t.Parallel()
	for maxTurns, want := range map[int][]int{
		40:  {40, 40, 20, 4, 4},
		25:  {25, 25, 13, 4, 4},
		1:   {1, 1, 1, 4, 4},
		3:   {3, 3, 2, 4, 4},
		41:  {41, 41, 21, 5, 5},
		50:  {50, 50, 25, 5, 5},
		200: {200, 200, 100, 20, 20},
	} {
		c := config.Default()
		c.Engine.MaxTurns = maxTurns
		c.Engine.LightModel = "claude-haiku-4-5"
		c.Engine.Effort = "low"
		for i, name := range Names {
			want := Limits{Task: name, Engine: engine.Claude, Model: "claude-opus-5-5", Effort: "low", MaxTurns: want[i], MaxBudgetUSD: 1, TimeoutMinutes: 15}
			if name == MaintainerReply || name == ReleaseReply {
				want.Model = "claude-haiku-4-5"
			}
			got := LimitsFor(c, name)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("max_turns %d, %s (-want +got):\n%s", maxTurns, name, diff)
			}
			if err := got.Check(); err != nil {
				t.Errorf("max_turns %d, %s: %v", maxTurns, name, err)
			}
		}
	}
	if got := LimitsFor(config.Default(), ReleaseReply).Model; got != "claude-opus-5-5" {
		t.Errorf("without a light model a reply gets %q", got)
	}
}

func TestLimitsTravel(t *testing.T) {
	t.Parallel()
	for _, name := range Names {
		want := LimitsFor(config.Default(), name)
		want.MaxBudgetUSD = 1.0 / 3
		data, err := EncodeLimits(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeLimits(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

const goodLimits = `{"task":"triage","engine":"claude","model":"m","effort":"","max_turns":40,"max_budget_usd":1,"timeout_minutes":15}`

func TestDecodeLimitsRefuses(t *testing.T) {
	t.Parallel()
	if _, err := DecodeLimits([]byte(goodLimits)); err != nil {
		t.Fatal(err)
	}
	change := func(old, changed string) string { return strings.Replace(goodLimits, old, changed, 1) }
	for name, text := range map[string]string{
		"nothing":          "",
		"another type":     "[]",
		"null":             "null",
		"cut":              goodLimits[:40],
		"two":              goodLimits + goodLimits,
		"an unknown key":   change(`"task"`, `"x":1,"task"`),
		"a model option":   change(`"m"`, `"--dangerously-skip-permissions"`),
		"a shell":          change(`"m"`, `"$(id)"`),
		"a line":           change(`"m"`, `"a\nb"`),
		"an alias":         change(`"m"`, `"opus"`),
		"no model":         change(`"m"`, `""`),
		"an unknown task":  change("triage", "deploy"),
		"no engine":        change("claude", ""),
		"an effort":        change(`"effort":""`, `"effort":"huge"`),
		"0 turns":          change("40", "0"),
		"201 turns":        change("40", "201"),
		"half a turn":      change("40", "3.5"),
		"turns as text":    change("40", `"40"`),
		"no budget":        change(`"max_budget_usd":1`, `"max_budget_usd":0`),
		"101 dollars":      change(`"max_budget_usd":1`, `"max_budget_usd":101`),
		"a negative one":   change(`"max_budget_usd":1`, `"max_budget_usd":-1`),
		"a huge one":       change(`"max_budget_usd":1`, `"max_budget_usd":1e999`),
		"61 minutes":       change("15", "61"),
		"no minutes":       change(`,"timeout_minutes":15`, ""),
		"too large a file": goodLimits + strings.Repeat(" ", maxLimitsFile),
	} {
		if l, err := DecodeLimits([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, l)
		} else if l != (Limits{}) {
			t.Errorf("%s: limits besides the error: %+v", name, l)
		}
	}
	if data, err := EncodeLimits(Limits{Task: Triage}); err == nil {
		t.Errorf("encoded: %s", data)
	}
}

func TestParseName(t *testing.T) {
	t.Parallel()
	for _, name := range append([]Name{None}, Names...) {
		if got, err := Parse(string(name)); err != nil || got != name {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	for _, text := range []string{"", "Triage", "triage ", "followup", strings.Repeat("x", 1000), "a\nb"} {
		_, err := Parse(text)
		if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%.50q: %v", text, err)
		}
	}
}

func FuzzDecodeLimits(f *testing.F) {
	f.Add([]byte(goodLimits))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := DecodeLimits(data)
		if err != nil {
			return
		}
		again, err := EncodeLimits(l)
		if err != nil {
			t.Fatalf("%+v: %v", l, err)
		}
		if same, err := DecodeLimits(again); err != nil || same != l {
			t.Fatalf("%+v comes back as %+v: %v", l, same, err)
		}
	})
}
