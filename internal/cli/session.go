package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

func newSessionCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Short:   "Decide whether a saved conversation is resumed",
		GroupID: groupPeople,
	}
	cmd.AddCommand(newSessionDecideCmd(a))
	return cmd
}

// decisionDocument is the answer of `session decide --json`.
type decisionDocument struct {
	Decision string            `json:"decision"`
	Reasons  []session.Reason  `json:"reasons"`
	Notes    []session.Note    `json:"notes"`
	Estimate *session.Estimate `json:"estimate,omitempty"`
}

func newSessionDecideCmd(a *app) *cobra.Command {
	var input string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "decide",
		Short:   "Say resume or fresh, every reason, and what both would cost",
		Example: "  issue-assistant session decide --input decision.json --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if input == "" {
				return usage(withHint(fmt.Errorf("no input is given"), "--input FILE.json (schema/session-input.schema.json); - is the standard input"))
			}
			var in session.Input
			if err := a.readChecked(input, "session-input.schema.json", &in); err != nil {
				return err
			}
			prices, err := meter.Prices(in.Now)
			if err != nil {
				return failure(err)
			}
			d := session.Decide(in, session.PriceOf(prices.Cost, in.Current.Model, session.TTL(in.CacheTTLSeconds)))
			if asJSON {
				return a.writeJSON(document(d))
			}
			_, err = fmt.Fprintln(a.Stdout, sessionLine(d))
			return err
		},
	}
	cmd.Flags().StringVar(&input, "input", "", "a JSON `file` with everything the decision looks at; - is the standard input")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the decision as JSON")
	return cmd
}

func document(d session.Decision) decisionDocument {
	doc := decisionDocument{
		Decision: d.Word(),
		Reasons:  append([]session.Reason{}, d.Reasons...),
		Notes:    append([]session.Note{}, d.Notes...),
	}
	if d.Estimate != nil {
		doc.Estimate = &session.Estimate{
			Warm:      fourDigits(d.Estimate.Warm),
			ResumeUSD: fourDigits(d.Estimate.ResumeUSD),
			FreshUSD:  fourDigits(d.Estimate.FreshUSD),
		}
	}
	return doc
}

func fourDigits(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// sessionLine is the decision in one line of numbers and fixed words.
func sessionLine(d session.Decision) string {
	line := d.Word()
	if d.Fresh() {
		words := make([]string, 0, len(d.Reasons))
		for _, r := range d.Reasons {
			words = append(words, string(r))
		}
		line += ": " + strings.Join(words, ", ")
	}
	if len(d.Notes) > 0 {
		words := make([]string, 0, len(d.Notes))
		for _, n := range d.Notes {
			words = append(words, string(n))
		}
		line += "; note " + strings.Join(words, ", ")
	}
	if e := d.Estimate; e != nil {
		line += fmt.Sprintf("; resume $%.2f, fresh $%.2f, %.0f%% warm", e.ResumeUSD, e.FreshUSD, 100*e.Warm)
	}
	return line
}
