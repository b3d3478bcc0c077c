package config

import (
	"math"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

func TestCheckModel(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"claude-opus-5-5", "a", "0", "openrouter/x:free", "us.anthropic.claude@20260101", "claude-opus-5-5[1m]",
		strings.Repeat("m", 200), "Opus", "haiku-4-5", "a-", "a_b.c",
	} {
		if err := CheckModel(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", " ", "a b", "$(id)", "`id`", "-x", "--model", "a\nb", "a\n", "\na", "a\x00", "https://evil.example/x", "a//b", "/etc/passwd",
		"../x", ".x", "a;b", "a|b", "a&b", "a'b", `a"b`, "a\\b", "a*b", "a?b", "a=b", "a,b", "ä", "a\u200b", "ａ", "\uFEFFa", strings.Repeat("m", 201),
		"opus", "sonnet", "haiku", "default", "best", "opusplan",
	} {
		err := CheckModel(bad)
		if err == nil {
			t.Errorf("%.80q is accepted", bad)
			continue
		}
		if !strings.Contains(err.Error(), "write") || strings.ContainsAny(err.Error(), "\n\x00\u200b") || len(err.Error()) > 400 {
			t.Errorf("%.80q: %v", bad, err)
		}
	}
}

// TestAliasesNameFullIDs: what an alias is replaced by must itself be accepted.
func TestAliasesNameFullIDs(t *testing.T) {
	t.Parallel()
	for alias, full := range aliases {
		if err := CheckModel(full); err != nil || !modelName().MatchString(alias) {
			t.Errorf("%s: %v", alias, err)
		}
	}
	for _, name := range engine.Names {
		if err := CheckModel(DefaultModel(name)); err != nil || makerOf(DefaultModel(name)) != name {
			t.Errorf("default of %s: %v", name, err)
		}
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		ok   bool
	}{
		{"0 turns", CheckTurns(0), false},
		{"1 turn", CheckTurns(1), true},
		{"200 turns", CheckTurns(200), true},
		{"201 turns", CheckTurns(201), false},
		{"-1 turns", CheckTurns(-1), false},
		{"0 minutes", CheckMinutes(0), false},
		{"1 minute", CheckMinutes(1), true},
		{"60 minutes", CheckMinutes(60), true},
		{"61 minutes", CheckMinutes(61), false},
		{"$0", CheckBudget(0), false},
		{"-$0", CheckBudget(math.Copysign(0, -1)), false},
		{"smallest budget", CheckBudget(math.SmallestNonzeroFloat64), true},
		{"$100", CheckBudget(100), true},
		{"$100.01", CheckBudget(100.01), false},
		{"nan", CheckBudget(math.NaN()), false},
		{"inf", CheckBudget(math.Inf(1)), false},
		{"-inf", CheckBudget(math.Inf(-1)), false},
		{"effort low", CheckEffort("low"), true},
		{"no effort", CheckEffort(""), true},
		{"effort huge", CheckEffort("huge"), false},
		{"effort LOW", CheckEffort("LOW"), false},
		{"engine claude", CheckEngine("claude"), true},
		{"no engine", CheckEngine(""), false},
		{"engine Claude", CheckEngine("Claude"), false},
	} {
		if (tt.err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, tt.err)
		}
		if tt.err != nil && !strings.Contains(tt.err.Error(), "write") {
			t.Errorf("%s says nothing to do: %v", tt.name, tt.err)
		}
	}
}

// notNumbers are texts that some parsers take for numbers.
var notNumbers = []string{
	"", " ", "x", "+1", "-1", "1e1", "0x10", "1_0", "1 ", " 1", "1\n", "NaN", "Inf", "infinity", "1,5", "１", "1.", ".5", "--", "$(id)",
	"9999999999", "1.5.5", "1;id",
}

func TestParseNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range append([]string{"0", "201", "3.5", "40.0"}, notNumbers...) {
		if n, err := ParseTurns(text); err == nil || !strings.Contains(err.Error(), "write") {
			t.Errorf("ParseTurns(%q) = %d, %v", text, n, err)
		}
	}
	for _, text := range append([]string{"0", "61", "3.5"}, notNumbers...) {
		if n, err := ParseMinutes(text); err == nil {
			t.Errorf("ParseMinutes(%q) = %d", text, n)
		}
	}
	for _, text := range append([]string{"0", "0.0", "100.01", "101", "-0"}, notNumbers...) {
		if usd, err := ParseBudget(text); err == nil || !strings.Contains(err.Error(), "write") {
			t.Errorf("ParseBudget(%q) = %g, %v", text, usd, err)
		}
	}
	if n, err := ParseTurns("200"); n != 200 || err != nil {
		t.Error(n, err)
	}
	if n, err := ParseMinutes("60"); n != 60 || err != nil {
		t.Error(n, err)
	}
	for _, usd := range []float64{100, 1, 0.5, 0.05, 1.0 / 3, 1e-9, math.SmallestNonzeroFloat64, 99.999999999999} {
		got, err := ParseBudget(FormatUSD(usd))
		if err != nil || got != usd {
			t.Errorf("%g comes back as %g: %v", usd, got, err)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"max_turns", "max_budget_usd", "model", "light_model", "timeout_minutes", "", "mode"}
	for name, want := range map[string]string{
		"maxTurns": "max_turns", "max-turns": "max_turns", "MAX_TURNS": "max_turns", "maxturns": "max_turns", "max_turn": "max_turns",
		"MaxBudgetUsd": "max_budget_usd", "budget": "max_budget_usd", "timeout": "timeout_minutes", "modell": "model", "lightmodel": "light_model",
		"": "", "x": "", "shade": "", "zzzzzzzzzz": "", strings.Repeat("max_turns", 100): "", "日本": "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%.40q) = %q, want %q", name, got, want)
		}
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	if got := listed([]string{"a"}); got != "a" {
		t.Error(got)
	}
	if got := listed([]string{"a", "b", "c"}); got != "a, b or c" {
		t.Error(got)
	}
	if got := shorten.Quoted(strings.Repeat("ä", 100)); got != `"`+strings.Repeat("ä", 60)+`"…` {
		t.Error(got)
	}
}

// TestEveryRuleExplainsItself: a rule without words or a valid sample could say nothing about a wrong value.
func TestEveryRuleExplainsItself(t *testing.T) {
	t.Parallel()
	tables := append(Tables(), Table{Name: "label", Rules: LabelRules()})
	seen := 0
	for _, table := range tables {
		if table.Doc == "" && table.Name != "label" {
			t.Errorf("[%s] has no words", table.Name)
		}
		for _, r := range table.Rules {
			seen++
			if r.Doc == "" || strings.HasPrefix(r.Want(), ",") || r.Want() == "" || strings.Contains(r.Sample(), "<nil>") {
				t.Errorf("%s.%s: %q, %q, %q", table.Name, r.Key, r.Doc, r.Want(), r.Sample())
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d rules", seen)
	}
}
