package meter

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// Usage is what one answer used, in tokens.
type Usage struct {
	Input        int64 // not from the cache
	CachedInput  int64
	CacheWrite5m int64
	CacheWrite1h int64
	Output       int64 // thinking included
	Searches     int64 // web searches that the provider ran
}

// Prompt is all input, cached or not: what long-context prices go by.
func (u Usage) Prompt() int64 { return u.Input + u.CachedInput + u.CacheWrite5m + u.CacheWrite1h }

// rates are prices in picodollars a token.
type rates struct {
	input, cached, write5m, write1h, output pico
}

// dearest is the highest price at which a token of the prompt can be billed.
func (r rates) dearest(w ttl) pico {
	p := max(r.input, r.cached)
	switch w {
	case write1h:
		p = max(p, r.write1h, r.write5m)
	case write5m:
		p = max(p, r.write5m)
	case noWrite:
	}
	return p
}

// tier are the rates of a whole request whose prompt is longer than above tokens.
type tier struct {
	above int64
	rates
}

// Price is what one model costs. The zero value is no price.
type Price struct {
	ID     string // the full id
	Source string // where the figures are from
	Date   string // when they were read there, YYYY-MM-DD
	rates
	tiers  []tier // by rising above
	search pico   // one web search
}

// at are the rates of a request with so many tokens of prompt.
func (p Price) at(prompt int64) rates {
	r := p.rates
	for _, t := range p.tiers {
		if prompt > t.above {
			r = t.rates
		}
	}
	return r
}

func (p Price) cost(u Usage) pico {
	r := p.at(u.Prompt())
	return r.input.times(u.Input).plus(r.cached.times(u.CachedInput)).plus(r.write5m.times(u.CacheWrite5m)).
		plus(r.write1h.times(u.CacheWrite1h)).plus(r.output.times(u.Output)).plus(p.search.times(u.Searches))
}

// PerMillion are the dollars per million tokens of short prompts, for people to read.
func (p Price) PerMillion() (input, cached, output float64) {
	return p.input.usd() * 1e6, p.cached.usd() * 1e6, p.output.usd() * 1e6
}

// LeastBudgetUSD is what one useful call can cost at most: the engine's own first prompt and a short answer. A budget
// below it ends without an answer.
func (p Price) LeastBudgetUSD() float64 {
	const firstPrompt = 12_000
	return p.at(firstPrompt).dearest(write5m).times(firstPrompt).plus(p.output.times(maxFloor)).usd()
}

// Override is a price from the settings, in dollars per million tokens. A rate of 0 that is not set is derived: cached
// input from input, cache writes from input by the usual surcharge (1.25 and 2 times).
type Override struct {
	Input        float64
	Output       float64
	CachedInput  float64
	CacheWrite5m float64
	CacheWrite1h float64
}

// Table holds the prices of the models that can be metered. The zero value knows none.
type Table struct {
	models  map[string]Price
	aliases map[string]string
}

//go:embed prices.json
var pricesJSON []byte

type jsonRates struct {
	Input       json.Number `json:"input"`
	CachedInput json.Number `json:"cached_input"`
	Write5m     json.Number `json:"cache_write_5m"`
	Write1h     json.Number `json:"cache_write_1h"`
	Output      json.Number `json:"output"`
}

type jsonModel struct {
	jsonRates
	Search json.Number `json:"search"` // dollars for one web search
	Tiers  []struct {
		Above int64 `json:"above"`
		jsonRates
	} `json:"tiers"`
	From []struct { // later prices
		Date string `json:"date"`
		jsonRates
	} `json:"from"`
	Source string `json:"source"`
	Date   string `json:"date"`
}

// Prices is the table that comes with the program, with the prices that hold at now.
func Prices(now time.Time) (Table, error) { return parseTable(pricesJSON, now) }

func parseTable(data []byte, now time.Time) (Table, error) {
	var file struct {
		Models  map[string]jsonModel `json:"models"`
		Aliases map[string]string    `json:"aliases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Table{}, fmt.Errorf("read the price table: %w", err)
	}
	t := Table{models: map[string]Price{}, aliases: file.Aliases}
	for id, m := range file.Models {
		p, err := m.price(id, now)
		if err != nil {
			return Table{}, fmt.Errorf("price table, %s: %w", id, err)
		}
		t.models[id] = p
	}
	return t, nil
}

func (m jsonModel) price(id string, now time.Time) (Price, error) {
	p := Price{ID: id, Source: m.Source, Date: m.Date}
	var err error
	current := m.jsonRates
	for _, f := range m.From {
		if now.UTC().Format(time.DateOnly) >= f.Date {
			current = f.jsonRates
		}
	}
	if p.rates, err = current.rates(); err != nil {
		return Price{}, err
	}
	for _, t := range m.Tiers {
		r, err := t.rates()
		if err != nil {
			return Price{}, err
		}
		p.tiers = append(p.tiers, tier{above: t.Above, rates: r})
	}
	slices.SortStableFunc(p.tiers, func(a, b tier) int { return int(a.above - b.above) })
	if m.Search != "" {
		perSearch, err := parseRate(m.Search.String())
		if err != nil {
			return Price{}, err
		}
		p.search = perSearch.times(picoPerToken)
	}
	return p, nil
}

func (j jsonRates) rates() (r rates, err error) {
	read := func(n json.Number, missing pico) pico {
		if n == "" || err != nil {
			return missing
		}
		var p pico
		p, err = parseRate(n.String())
		return p
	}
	if j.Input == "" || j.Output == "" {
		return rates{}, errors.New("input and output must have a price")
	}
	r.input, r.output = read(j.Input, 0), read(j.Output, 0)
	r.cached = read(j.CachedInput, r.input)
	r.write5m = read(j.Write5m, r.input)
	r.write1h = read(j.Write1h, r.write5m)
	return r, err
}

// With is the table with the prices of the settings on top. The error names the model whose price is not usable.
func (t Table) With(overrides map[string]Override) (Table, error) {
	out := Table{models: maps.Clone(t.models), aliases: maps.Clone(t.aliases)}
	if out.models == nil {
		out.models = map[string]Price{}
	}
	for _, id := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[id]
		p := Price{ID: id, Source: "settings"}
		for _, f := range []struct {
			usd     float64
			to      *pico
			missing func() pico
		}{
			{o.Input, &p.input, nil},
			{o.Output, &p.output, nil},
			{o.CachedInput, &p.cached, func() pico { return p.input }},
			{o.CacheWrite5m, &p.write5m, func() pico { return p.input.share(5, 4) }},
			{o.CacheWrite1h, &p.write1h, func() pico { return max(p.input.share(2, 1), p.write5m) }},
		} {
			switch {
			case math.IsNaN(f.usd) || f.usd < 0 || f.usd > 100_000:
				return Table{}, fmt.Errorf("the price of %q is not a number of dollars per million tokens from 0 to 100000", id)
			case f.usd == 0 && f.missing == nil:
				return Table{}, fmt.Errorf("the price of %q lacks input or output: without them no budget can be held", id)
			case f.usd == 0:
				*f.to = f.missing()
			default:
				*f.to = pico(math.Ceil(f.usd*picoPerToken - 1e-6))
			}
		}
		p.search = picoPerUSD / 100
		out.models[id] = p
		delete(out.aliases, id)
	}
	return out, nil
}

// dated is an id with a date behind it, as providers name the fixed version of a model.
var dated = lazy.Regexp(`^(.+)-(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$`)

// PriceOf is the price of a model: by its exact id, or by its id and a date behind it, never by a prefix. A newer model
// whose name begins like an older one's has no price until the table has it.
func (t Table) PriceOf(model string) (Price, bool) {
	if p, ok := t.models[model]; ok {
		return p, true
	}
	if m := dated().FindStringSubmatch(model); m != nil {
		p, ok := t.models[m[1]]
		return p, ok
	}
	return Price{}, false
}

// Check is nil when the model has a price. Its error says what to write instead.
func (t Table) Check(model string) error {
	if _, ok := t.PriceOf(model); ok {
		return nil
	}
	if model == "" {
		return errors.New("no model is set: write its full id")
	}
	if id, ok := t.aliases[strings.ToLower(model)]; ok {
		return fmt.Errorf("%q is an alias, and what it stands for changes: write the full id, now %q", model, id)
	}
	if near := t.near(model); near != "" {
		return fmt.Errorf("model %q has no price (did you mean %q?): without one no budget can be held; "+
			"write its price under [prices.%q]", model, near, model)
	}
	return fmt.Errorf("model %q has no price: without one no budget can be held; write its price under [prices.%q]", model, model)
}

// near is the known id that shares the longest beginning, if that is most of the name.
func (t Table) near(model string) string {
	best, length := "", 0
	for _, id := range slices.Sorted(maps.Keys(t.models)) {
		n := 0
		for n < len(id) && n < len(model) && id[n] == model[n] {
			n++
		}
		if n > length && n*4 >= len(id)*3 {
			best, length = id, n
		}
	}
	return best
}

// Models are the ids in the table, sorted.
func (t Table) Models() []string { return slices.Sorted(maps.Keys(t.models)) }

// Cost is the price of one request in dollars; ok is false when the model has no price. in is input that was neither
// read from the cache nor written to it. Long-context prices go by one request: sums of several give another result.
func (t Table) Cost(model string, in, cached, write5m, write1h, out int64) (usd float64, ok bool) {
	p, ok := t.PriceOf(model)
	if !ok || in < 0 || cached < 0 || write5m < 0 || write1h < 0 || out < 0 {
		return 0, false
	}
	return p.cost(Usage{Input: in, CachedInput: cached, CacheWrite5m: write5m, CacheWrite1h: write1h, Output: out}).usd(), true
}
