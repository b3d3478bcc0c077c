package main

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/session"
)

// profile is a row of the tables.
type profile struct {
	name string
	session.Profile
}

// profiles are the kinds of work that are compared, the assistant's and one that is much larger.
func profiles() []profile {
	return []profile{
		{"reply", session.ProfileOf("maintainer-reply", nil)},
		{"follow-up", session.ProfileOf("follow-up", nil)},
		{"analysis", session.ProfileOf("triage", nil)},
		{"large coding task", session.Profile{FreshTokens: 60_000, NewTokens: 1_500, ResumedTurns: 10, FreshTurns: 40, GrowthTokens: 3_000, OutputTokens: 600}},
	}
}

// models are those of the tables.
var models = [...]string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-5", "claude-sonnet-5"}

func priceTable(price func(string) session.Price) string {
	var b strings.Builder
	b.WriteString("| model | write w | read r | output o |\n|---|---:|---:|---:|\n")
	for _, m := range models {
		p := price(m)
		fmt.Fprintf(&b, "| %s | $%.2f | $%.2f | $%.2f |\n", m, p.Write, p.Read, p.Output)
	}
	return b.String()
}

// breakEven is the largest context whose resumption costs at most nine tenths of a fresh start. Costs are linear in it.
func breakEven(p session.Profile, price session.Price, warm bool) float64 {
	cost := func(c int64) float64 {
		w, cold := session.ResumedUSD(c, p, price)
		if warm {
			return w
		}
		return cold
	}
	const step = 1_000_000
	base := cost(0)
	return (0.9*session.FreshUSD(p, price) - base) / (cost(step) - base) * step
}

func breakEvenTable(price func(string) session.Price) string {
	var b strings.Builder
	b.WriteString("| work (F, turns resumed and fresh, g, out) |")
	for _, m := range models {
		b.WriteString(" " + m + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(models)) + "\n")
	for _, p := range profiles() {
		fmt.Fprintf(&b, "| %s: %s, %d and %d, %s, %d |", p.name, tokens(float64(p.FreshTokens)), p.ResumedTurns, p.FreshTurns, tokens(float64(p.GrowthTokens)), p.OutputTokens)
		for _, m := range models {
			fmt.Fprintf(&b, " %s / %s |", tokens(breakEven(p.Profile, price(m), false)), tokens(breakEven(p.Profile, price(m), true)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stepsTable works one case out, number by number: a follow-up whose conversation holds 45,000 tokens.
func stepsTable(price session.Price) string {
	p := session.ProfileOf("follow-up", nil)
	const c = 45_000
	warm, cold := session.ResumedUSD(c, p, price)
	fresh := session.FreshUSD(p, price)
	further := func(x, turns int64) (reads, writes, output float64) {
		n := float64(turns - 1)
		reads = price.Read * (n*float64(x) + float64(p.GrowthTokens)*n*(n-1)/2) / 1e6
		return reads, n * float64(p.GrowthTokens) * price.Write / 1e6, price.Output * float64(turns*p.OutputTokens) / 1e6
	}
	var b strings.Builder
	b.WriteString("| a follow-up, C = 45,000 | first call | reads of the further calls | writes | output | together |\n|---|---:|---:|---:|---:|---:|\n")
	row := func(name string, first, total float64, x, turns int64) {
		reads, writes, output := further(x, turns)
		fmt.Fprintf(&b, "| %s | $%.4f | $%.4f | $%.4f | $%.4f | $%.4f |\n", name, first, reads, writes, output, total)
	}
	added := float64(p.NewTokens) * price.Write / 1e6
	row("resumed, the cache is warm", c*price.Read/1e6+added, warm, c+p.NewTokens, p.ResumedTurns)
	row("resumed, the cache is cold", c*price.Write/1e6+added, cold, c+p.NewTokens, p.ResumedTurns)
	row("fresh", float64(p.FreshTokens)*price.Write/1e6, fresh, p.FreshTokens, p.FreshTurns)
	return b.String()
}

// tokens writes a count in thousands.
func tokens(n float64) string {
	k := n / 1000
	if k < 100 && k != float64(int64(k)) {
		return fmt.Sprintf("%.1fk", k)
	}
	return fmt.Sprintf("%.0fk", k)
}
