package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Parse reads config.toml. Path is what the findings call the file. Keys that are missing or wrong have their
// defaults, so the Config must not be used when one of the findings is an error.
func Parse(path string, data []byte) (Config, []diag.Diagnostic) {
	c := Default()
	r := &reader{path: path, prefix: "config"}
	tables := Tables()
	if !r.open(data, tables) {
		return c, r.findings()
	}
	all := settings()
	for _, name := range slices.Sorted(maps.Keys(r.doc.Tree)) {
		r.section(&c, name, all, tables)
	}
	if !r.has("engine", "model") {
		c.Engine.Model = DefaultModel(c.Engine.Name)
	}
	if !diag.HasErrors(r.ds) {
		r.together(c)
	}
	r.warn(c)
	return c, r.findings()
}

// section reads what stands below one top-level key.
func (r *reader) section(c *Config, name string, all []setting, tables []Table) {
	p := tomldoc.Path("").Key(name)
	value := r.doc.Tree[name]
	i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == name })
	tree, isTable := value.(map[string]any)
	switch {
	case i < 0:
		r.unknownSection(p, name, value, tables)
		return
	case !isTable:
		r.fail(r.doc.KeyPos(p), "wrong-type", fmt.Sprintf("%s is %s, not a table", name, describe(value)),
			fmt.Sprintf("write [%s], in single brackets, on a line of its own and its keys below", name))
		return
	case name == "prices":
		r.prices(c, p, tree, tables[i], tables)
		return
	}
	var fields []field
	for _, s := range all {
		if s.table == name {
			fields = append(fields, field{s.rule, s.field(c)})
		}
	}
	r.table(p, name, tree, fields, tables)
}

// unknownSection says where the keys of a table that does not exist belong, and still checks their values.
func (r *reader) unknownSection(p tomldoc.Path, name string, value any, tables []Table) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	tree, isTable := value.(map[string]any)
	if _, isArray := value.([]map[string]any); !isTable && !isArray {
		r.unknownKey(p, "", name, nil, tables)
		return
	}
	pos := r.doc.KeyPos(p)
	message := fmt.Sprintf("unknown table [%s]", shownName(name))
	if near := nearest(name, names); near != "" {
		if strings.EqualFold(near, name) {
			r.fail(pos, "letter-case", message+": the case of letters counts", "write ["+near+"]")
			return
		}
		r.fail(pos, "unknown-table", message, "did you mean ["+near+"]?")
		return
	}
	hint := "remove it, or use one of " + listed(names)
	if name == "tasks" {
		hint = "one set of limits holds for all tasks: write model, max_turns, max_budget_usd and timeout_minutes below [engine]"
	}
	r.fail(pos, "unknown-table", message, hint)
	r.strayKeys(p, shownName(name), tree, tables)
}

func (r *reader) strayKeys(p tomldoc.Path, name string, tree map[string]any, tables []Table) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		if sub, ok := tree[key].(map[string]any); ok {
			r.strayKeys(p.Key(key), name+"."+shownName(key), sub, tables)
			continue
		}
		r.unknownKey(p.Key(key), name, key, nil, tables)
		if rule, ok := ruleOf(key, tables); ok {
			converted, ok := r.checked(p.Key(key), name, rule, tree[key])
			if usd, isNumber := converted.(float64); ok && isNumber && rule.Key == "max_budget_usd" {
				r.warnBudget(r.doc.ValuePos(p.Key(key)), usd)
			}
		}
	}
}

// shownName is a table's name in a message: as it is, or quoted when it is no bare key.
func shownName(name string) string {
	if name != "" && len(name) <= 60 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return shorten.Quoted(name)
}

func (r *reader) prices(c *Config, p tomldoc.Path, tree map[string]any, table Table, tables []Table) {
	if len(tree) > maxPrices {
		r.fail(r.doc.KeyPos(p), "out-of-range", fmt.Sprintf("%d models have a price here", len(tree)),
			fmt.Sprintf("write at most %d", maxPrices))
		return
	}
	c.Prices = map[string]Price{}
	for _, model := range slices.Sorted(maps.Keys(tree)) {
		at := p.Key(model)
		keys, ok := tree[model].(map[string]any)
		if !ok {
			r.fail(r.doc.KeyPos(at), "wrong-type", fmt.Sprintf("prices.%s is %s, not a table", shownName(model), describe(tree[model])),
				`write [prices."my-model"] on a line of its own and its keys below`)
			continue
		}
		if err := CheckModel(model); err != nil {
			r.fail(r.doc.KeyPos(at), "bad-value", "prices: "+err.Error(), `quote the model's full id, such as [prices."my-model"]`)
			continue
		}
		price := Price{CachedInput: -1}
		r.table(at, "prices."+shownName(model), keys, []field{
			{table.Rules[0], &price.Input}, {table.Rules[1], &price.Output}, {table.Rules[2], &price.CachedInput},
		}, tables)
		if price.CachedInput < 0 {
			price.CachedInput = price.Input
		}
		c.Prices[model] = price
	}
}

// has reports whether the file itself sets the key.
func (r *reader) has(table, key string) bool {
	tree, _ := r.doc.Tree[table].(map[string]any)
	_, ok := tree[key]
	return ok
}

// at is where a key's value stands, or its table when the value is a default.
func (r *reader) at(table, key string) tomldoc.Pos {
	p := tomldoc.Path("").Key(table)
	if r.has(table, key) {
		return r.doc.ValuePos(p.Key(key))
	}
	return r.doc.KeyPos(p)
}

// together checks what two keys say together. The schema cannot say it.
func (r *reader) together(c Config) {
	if remind, until := c.Lifecycle.RemindDays, c.Lifecycle.CloseDays; until <= remind {
		key := "close_days"
		if !r.has("lifecycle", key) {
			key = "remind_days"
		}
		r.fail(r.at("lifecycle", key), "conflict",
			fmt.Sprintf("lifecycle.close_days is %d: an issue would be closed before the reminder of day %d", until, remind),
			fmt.Sprintf("write close_days = %d or more, or a smaller remind_days", remind+1))
	}
}

// warn says what is allowed and rarely meant.
func (r *reader) warn(c Config) {
	if turns := c.Engine.MaxTurns; turns < turnsFloor {
		r.say(diag.Warning, r.at("engine", "max_turns"), "low-turns",
			fmt.Sprintf("engine.max_turns is %d: an analysis needs several turns to read and one to answer", turns),
			fmt.Sprintf("write max_turns = %d or more; the replies get %d turns in any case", Default().Engine.MaxTurns, turnsFloor))
	}
	r.warnBudget(r.at("engine", "max_budget_usd"), c.Engine.MaxBudgetUSD)
	if month := c.Limits.MonthlyUSD; month > 0 && month < c.Engine.MaxBudgetUSD {
		r.say(diag.Warning, r.at("limits", "monthly_usd"), "low-month",
			fmt.Sprintf("limits.monthly_usd is %s, less than one run may cost (%s)", number(month), number(c.Engine.MaxBudgetUSD)),
			"raise monthly_usd, or lower max_budget_usd")
	}
	for _, key := range []string{"model", "light_model"} {
		model := c.Engine.Model
		if key == "light_model" {
			model = c.Engine.LightModel
		}
		if maker := makerOf(model); r.has("engine", key) && maker != "" && maker != c.Engine.Name {
			r.say(diag.Warning, r.at("engine", key), "other-engine",
				fmt.Sprintf("engine.%s is %s, a model of the engine %s, but engine.name is %s", key, shorten.Quoted(model), maker, c.Engine.Name),
				fmt.Sprintf("write a model of %s, such as %s = %q", c.Engine.Name, key, DefaultModel(c.Engine.Name)))
		}
	}
}

func (r *reader) warnBudget(pos tomldoc.Pos, usd float64) {
	if usd >= budgetFloorUSD {
		return
	}
	r.say(diag.Warning, pos, "low-budget",
		fmt.Sprintf("max_budget_usd is %s: starting the engine and reading one issue may cost as much as %.2f", number(usd), budgetFloorUSD),
		fmt.Sprintf("write max_budget_usd = %.2f or more, or runs may end without an answer", budgetFloorUSD))
}

// makerOf guesses the engine that a model belongs to; unknown names give nothing.
func makerOf(model string) engine.Name {
	for prefix, name := range map[string]engine.Name{"claude-": engine.Claude, "gpt-": engine.Codex, "gemini-": engine.Gemini} {
		if strings.HasPrefix(model, prefix) {
			return name
		}
	}
	return ""
}
