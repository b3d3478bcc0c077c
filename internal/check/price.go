package check

import (
	"fmt"
	"io/fs"
	"math"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Prices finds models that have no price, so that no run would start, and a budget below what one useful call of the
// model can cost, so that runs would end without an answer. prices are those of the program with those of the settings.
func Prices(root fs.FS, c config.Config, prices meter.Table) []diag.Diagnostic {
	f := read(root, config.Path)
	if f == nil {
		return nil // the defaults hold, which a test prices
	}
	doc, bad := tomldoc.Parse([]byte(f.text), config.MaxBytes)
	if bad != nil {
		return nil // said by the check of the settings
	}
	at := func(table, key string) tomldoc.Pos { return doc.ValuePos(tomldoc.Path("").Key(table).Key(key)) }
	for _, m := range []struct{ key, id string }{{"model", c.Engine.Model}, {"light_model", c.Engine.LightModel}} {
		if m.id == "" {
			continue
		}
		if err := prices.Check(m.id); err != nil {
			pos := at("engine", m.key)
			f.say(diag.Error, pos.Line, pos.Col, "model-price", err.Error(),
				fmt.Sprintf("write a known model's id, or [prices.%q] with input and output, in dollars per million tokens", m.id))
			continue
		}
		price, _ := prices.PriceOf(m.id)
		least := math.Ceil(price.LeastBudgetUSD()*100) / 100
		if c.Engine.MaxBudgetUSD >= price.LeastBudgetUSD() {
			continue
		}
		pos := at("engine", "max_budget_usd")
		f.say(diag.Warning, pos.Line, pos.Col, "budget-too-small",
			fmt.Sprintf("max_budget_usd is %g, but one useful call of %s can cost %.2f", c.Engine.MaxBudgetUSD, shorten.Quoted(m.id), least),
			fmt.Sprintf("write max_budget_usd = %.2f or more, or choose a cheaper model", least))
	}
	return f.ds
}
