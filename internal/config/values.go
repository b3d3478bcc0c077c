package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// Bounds of the values that reach an engine's command line.
const (
	MinTurns     = 1
	MaxTurns     = 200
	MaxBudgetUSD = 100.0
	MinMinutes   = 1
	MaxMinutes   = 60
)

// A budget below budgetFloorUSD and turns below turnsFloor are allowed and warned about: starting an engine and reading
// an issue alone costs about this much.
const (
	budgetFloorUSD = 0.10
	turnsFloor     = 4
)

// Efforts lists the values of engine.effort; the empty one is the engine's default.
var Efforts = []string{"", "low", "medium", "high", "xhigh", "max"}

// modelPattern is the form of a model's name, before the rules that CheckModel adds.
const modelPattern = `^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$`

var modelName = lazy.Regexp(modelPattern)

// aliases are names by which Claude Code means "the newest of a kind": what they cost changes without notice.
var aliases = map[string]string{
	"best":     "claude-opus-5-5",
	"default":  "claude-opus-5-5",
	"opus":     "claude-opus-5-5",
	"opusplan": "claude-opus-5-5",
	"sonnet":   "claude-sonnet-5-5",
	"haiku":    "claude-haiku-4-5",
}

func aliasNames() []string { return slices.Sorted(maps.Keys(aliases)) }

// CheckModel refuses what is no model's full id. The error says what to write instead.
func CheckModel(name string) error {
	switch {
	case name == "":
		return errors.New("no model is named: write a model's full id, such as claude-opus-5-5")
	case !modelName().MatchString(name) || strings.Contains(name, "//"):
		return fmt.Errorf("%s is no model name: write a full id, such as claude-opus-5-5 "+
			"(a letter or digit first, then letters, digits and . _ : / @ [ ] -, at most 200, no //)", shorten.Quoted(name))
	case aliases[name] != "":
		return fmt.Errorf("%q is an alias, whose model and price change without notice: write the full id, such as %s",
			name, aliases[name])
	}
	return nil
}

// CheckEngine refuses what is no engine's name.
func CheckEngine(name string) error {
	if slices.Contains(engine.Names, engine.Name(name)) {
		return nil
	}
	return fmt.Errorf("%s is no engine: write one of %s", shorten.Quoted(name), listed(engine.Names))
}

// CheckEffort refuses an effort that no engine knows.
func CheckEffort(effort string) error {
	if slices.Contains(Efforts, effort) {
		return nil
	}
	return fmt.Errorf("%s is no effort: write one of %s, or leave it empty for the engine's default",
		shorten.Quoted(effort), listed(Efforts[1:]))
}

// CheckTurns refuses turns outside of 1 to 200.
func CheckTurns(turns int) error {
	if turns < MinTurns || turns > MaxTurns {
		return fmt.Errorf("%d turns are out of range: write a whole number from %d to %d", turns, MinTurns, MaxTurns)
	}
	return nil
}

// CheckBudget refuses dollars that are not above 0 and at most 100.
func CheckBudget(usd float64) error {
	if math.IsNaN(usd) || usd <= 0 || usd > MaxBudgetUSD {
		return fmt.Errorf("%s dollars are out of range: write a number above 0 and up to %g", number(usd), MaxBudgetUSD)
	}
	return nil
}

// CheckMinutes refuses minutes outside of 1 to 60.
func CheckMinutes(minutes int) error {
	if minutes < MinMinutes || minutes > MaxMinutes {
		return fmt.Errorf("%d minutes are out of range: write a whole number from %d to %d", minutes, MinMinutes, MaxMinutes)
	}
	return nil
}

var (
	wholeText  = lazy.Regexp(`^[0-9]{1,9}$`)
	dollarText = lazy.Regexp(`^[0-9]{1,9}(\.[0-9]{1,400})?$`)
)

// ParseTurns reads turns from a flag or an input: digits alone, in the range of CheckTurns.
func ParseTurns(text string) (int, error) {
	n, err := parseWhole(text, MinTurns, MaxTurns)
	if err != nil {
		return 0, err
	}
	return n, CheckTurns(n)
}

// ParseMinutes reads minutes from a flag or an input: digits alone, in the range of CheckMinutes.
func ParseMinutes(text string) (int, error) {
	n, err := parseWhole(text, MinMinutes, MaxMinutes)
	if err != nil {
		return 0, err
	}
	return n, CheckMinutes(n)
}

func parseWhole(text string, low, high int) (int, error) {
	if !wholeText().MatchString(text) {
		return 0, fmt.Errorf("%s is no whole number: write one from %d to %d", shorten.Quoted(text), low, high)
	}
	return strconv.Atoi(text)
}

// ParseBudget reads dollars from a flag or an input: a plain decimal number, in the range of CheckBudget.
func ParseBudget(text string) (float64, error) {
	if !dollarText().MatchString(text) {
		return 0, fmt.Errorf("%s is no number of dollars: write a number above 0 and up to %g, such as 0.50",
			shorten.Quoted(text), MaxBudgetUSD)
	}
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is no number of dollars: %w", shorten.Quoted(text), err)
	}
	return usd, CheckBudget(usd)
}

// FormatUSD writes dollars so that ParseBudget and an engine's command line read the same number.
func FormatUSD(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func listed[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
}
