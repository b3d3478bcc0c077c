package meter

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func prices(t *testing.T) Table {
	t.Helper()
	tab, err := Prices(day(t, "2026-11-30"))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestCost pins figures that people know: a million tokens of each kind, and the runs whose price others have worked out.
func TestCost(t *testing.T) {
	t.Parallel()
	tab := prices(t)
	const m = 1_000_000
	for _, tt := range []struct {
		model                   string
		in, cached, w5, w1, out int64
		want                    float64
	}{
		{"claude-opus-5-5", 100_000, 0, 0, 0, 0, 0.4},
		{"claude-opus-5-5", 0, 100_000, 0, 0, 0, 0.02},
		{"claude-opus-5-5", 0, 0, m, 0, 0, 5},
		{"claude-opus-5-5", 0, 0, 0, m, 0, 8},
		{"claude-opus-5-5", 0, 0, 0, 0, m, 20},
		{"claude-opus-5-5-20260901", 0, 0, 0, 0, m, 20},
		{"claude-haiku-5-5", 100_000, 0, 0, 0, 1000, 0.0105},
		{"claude-fable-5-2", 0, 0, 0, 0, m, 40},
		{"gpt-5.5", 0, 0, 0, 0, 100_000, 3},
		{"gpt-5.5-2026-04-23", 0, 0, 0, 0, 100_000, 3},
		{"gpt-5.6-sol", 272_000, 0, 0, 0, 0, 2.176},
		{"gpt-6-sol", 272_000, 0, 0, 0, 1000, 0.554},
		{"gpt-6-sol", 272_001, 0, 0, 0, 1000, 1.088004 + 0.015},
		{"gemini-3.1-pro-preview", 200_000, 0, 0, 0, 1000, 0.412},
		{"gemini-3.1-pro-preview", 200_001, 0, 0, 0, 1000, 0.800004 + 0.018},
	} {
		got, ok := tab.Cost(tt.model, tt.in, tt.cached, tt.w5, tt.w1, tt.out)
		if !ok || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.model, got, tt.want)
		}
	}
	// Beyond its tier all of a request costs five times as much.
	if got, _ := tab.Cost("claude-haiku-5-5", 60_000, 40_001, 0, 0, 1000); math.Abs(got-(60_000*0.5+40_001*0.05+1000*2.5)/1e6) > 1e-12 {
		t.Errorf("long prompt of claude-haiku-5-5: %v", got)
	}
	for _, model := range []string{"", "claude-sonnet-5-6", "opus", "claude", "claude-opus-5-5-2026", "claude-opus-5-5-20261332", "gpt-5.5-mini"} {
		if usd, ok := tab.Cost(model, 1, 0, 0, 0, 1); ok {
			t.Errorf("%q costs %v", model, usd)
		}
	}
	if _, ok := tab.Cost("claude-opus-5-5", -1, 0, 0, 0, 0); ok {
		t.Error("negative tokens have a price")
	}
}

func TestCheckNamesWhatToWrite(t *testing.T) {
	t.Parallel()
	tab := prices(t)
	for model, says := range map[string]string{
		"opus": `"claude-opus-5-5"`, "Sonnet": `"claude-sonnet-5-5"`, "claude-sonnet-5-6": `did you mean "claude-sonnet-5-5"`,
		"my-model": `[prices."my-model"]`, "": "no model is set", "claude-opus-4-1": `"claude-opus-5-5"`, "claude-opus-5-5-latest": "no price",
	} {
		if err := tab.Check(model); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", model, err, says)
		}
	}
	for _, id := range tab.Models() {
		if err := tab.Check(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		p, _ := tab.PriceOf(id)
		if p.Source == "" || p.Date == "" || p.ID != id || p.cached > p.input || p.input > p.output || p.LeastBudgetUSD() <= 0 {
			t.Errorf("%s: %+v", id, p)
		}
		for _, tier := range p.tiers {
			if tier.input < p.input || tier.output < p.output || tier.cached < p.cached || tier.write5m < p.write5m {
				t.Errorf("%s: a longer prompt is cheaper", id)
			}
		}
	}
	for alias, id := range tab.aliases {
		if _, ok := tab.models[id]; !ok {
			t.Errorf("alias %s stands for %s, which has no price", alias, id)
		}
	}
}

func TestPricesChangeOnTheirDay(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]float64{"2026-12-31": 0.75, "2027-01-01": 1.5} {
		tab, err := Prices(day(t, date))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := tab.Cost("gemini-3.8-flash", 1_000_000, 0, 0, 0, 0); got != want {
			t.Errorf("%s: %v, want %v", date, got, want)
		}
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	tab, err := prices(t).With(map[string]Override{
		"my-model": {Input: 2, Output: 10, CachedInput: 0.2}, "opus": {Input: 1, Output: 1}, "claude-opus-5-5": {Input: 100, Output: 200},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		model string
		want  float64
	}{{"my-model", 2 + 0.2 + 2.5 + 4 + 10}, {"opus", 1 + 1 + 1.25 + 2 + 1}, {"claude-opus-5-5", 100 + 100 + 125 + 200 + 200}, {"claude-haiku-4-5", 1 + 0.1 + 1.25 + 2 + 5}} {
		if got, ok := tab.Cost(tt.model, 1e6, 1e6, 1e6, 1e6, 1e6); !ok || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.model, got, tt.want)
		}
	}
	if got, _ := prices(t).Cost("claude-opus-5-5", 1e6, 0, 0, 0, 0); got != 4 {
		t.Error("an override changed the table it was made from")
	}
	for name, o := range map[string]Override{"no output": {Input: 1}, "negative": {Input: -1, Output: 1}, "not a number": {Input: math.NaN(), Output: 1}, "too much": {Input: 1, Output: math.Inf(1)}, "zero": {}} {
		if _, err := prices(t).With(map[string]Override{name: o}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBrokenTables(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{`, `{"models":{"a":{"input":1}}}`, `{"models":{"a":{"input":1,"output":1.1234567}}}`, `{"models":{"a":{"input":-1,"output":1}}}`,
		`{"models":{"a":{"input":1,"output":1,"search":1e3}}}`, `{"models":{"a":{"input":1,"output":1,"tiers":[{"above":1}]}}}`,
	} {
		if _, err := parseTable([]byte(data), day(t, "2026-11-30")); err == nil {
			t.Errorf("%s was read", data)
		}
	}
}

// foreign is a model in testdata/genai-prices, as internal/tools/genprices writes it.
type foreign struct {
	ID     string           `json:"id"`
	Exact  []string         `json:"exact"`
	Prices []map[string]any `json:"prices"`
}

// TestDifferencesToGenaiPrices lists where the table and @pydantic/genai-prices disagree: `make prices` fetches a newer
// one, and what it then lists is to be looked up at the provider and either taken over or added here.
func TestDifferencesToGenaiPrices(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/genai-prices/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version string
		Models  []foreign
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	theirs := map[string]foreign{}
	for _, m := range file.Models {
		for _, id := range append(m.Exact, m.ID) {
			theirs[id] = m
		}
	}
	now := "2026-11-30"
	tab := prices(t)
	var got []string
	for _, id := range tab.Models() {
		m, ok := theirs[id]
		if !ok {
			got = append(got, id+": not there")
			continue
		}
		var current map[string]any
		for _, p := range m.Prices {
			if from, _ := p["from"].(string); from <= now {
				current = p
			}
		}
		p, _ := tab.PriceOf(id)
		for name, ours := range map[string]pico{"input": p.input, "output": p.output, "cached_input": p.cached, "cache_write_5m": p.write5m, "cache_write_1h": p.write1h} {
			their, ok := current[name].(float64)
			if !ok {
				continue // it has no such price; ours falls back to a dearer one
			}
			if math.Abs(their-ours.usd()*1e6) > 1e-9 {
				got = append(got, fmt.Sprintf("%s %s: %v here, %v there", id, name, ours.usd()*1e6, their))
			}
		}
		if tiers, _ := current["tiers"].([]any); len(tiers) != len(p.tiers) {
			got = append(got, fmt.Sprintf("%s: %d tiers here, %d there", id, len(p.tiers), len(tiers)))
		}
	}
	slices.Sort(got)
	want := []string{
		// Known to Claude Code 2.1.332 only; others would price them as their predecessors.
		"claude-3-5-haiku: not there", "claude-fable-5-2: not there", "claude-haiku-5-5: not there", "claude-sonnet-5-5: not there",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("against genai-prices %s (-known +now):\n%s", file.Version, diff)
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]pico{0.05: 50_000_000_000, 100: 100_000_000_000_000, 0: 0, -1: 0, math.Inf(1): maxPico, math.NaN(): 0, 1e9: maxPico} {
		if got := fromUSD(usd); got != want {
			t.Errorf("%v: %d, want %d", usd, got, want)
		}
	}
	if maxPico.plus(1) != maxPico || pico(5e6).times(math.MaxInt64) != maxPico || pico(5).times(-1) != 0 || pico(10).share(11, 10) != 11 ||
		pico(11).share(11, 10) != 13 || pico(7).share(1, 1) != 7 || maxPico.share(22, 10) != maxPico {
		t.Error("sums run over or are rounded down")
	}
	for s, want := range map[string]pico{"4": 4_000_000, "0.0375": 37_500, "0.2": 200_000, "12.5": 12_500_000} {
		if got, err := parseRate(s); err != nil || got != want {
			t.Errorf("%s: %d %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "1e3", "-1", ".5", "0.1234567", "1234567"} {
		if got, err := parseRate(s); err == nil {
			t.Errorf("%q is %d", s, got)
		}
	}
}
