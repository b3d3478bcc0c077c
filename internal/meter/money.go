package meter

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// pico is an amount of money in picodollars (1e-12 dollars): a price of one dollar per million tokens is 1,000,000 pico a
// token, so every listed price is a whole number and sums are exact. Amounts saturate instead of running over.
type pico int64

const (
	picoPerUSD   = 1e12
	maxPico      = pico(math.MaxInt64)
	picoPerToken = 1_000_000 // of a price of one dollar per million tokens
)

func fromUSD(usd float64) pico {
	if !(usd > 0) {
		return 0
	}
	if usd >= float64(maxPico)/picoPerUSD {
		return maxPico
	}
	return pico(math.Round(usd * picoPerUSD))
}

func (p pico) usd() float64 { return float64(p) / picoPerUSD }

func (p pico) plus(o pico) pico {
	if o > 0 && p > maxPico-o {
		return maxPico
	}
	return p + o
}

// times is p for n tokens; both are at least 0.
func (p pico) times(n int64) pico {
	if p <= 0 || n <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(p), uint64(n))
	if hi != 0 || lo > math.MaxInt64 {
		return maxPico
	}
	return pico(lo)
}

// share is p * num / den, rounded up.
func (p pico) share(num, den int64) pico {
	if num == den {
		return p
	}
	hi, lo := bits.Mul64(uint64(p), uint64(num)) //nolint:gosec // amounts are never negative
	if hi >= uint64(den) {                       //nolint:gosec // den is a small constant
		return maxPico
	}
	q, rem := bits.Div64(hi, lo, uint64(den)) //nolint:gosec // den is a small constant
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return maxPico
	}
	return pico(q)
}

// parseRate reads a price in dollars per million tokens, exactly: at most six digits behind the point.
func parseRate(s string) (pico, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 6 || len(frac) > 6 {
		return 0, fmt.Errorf("price %q: write dollars per million tokens, at most six digits behind the point", s)
	}
	var p pico
	for _, c := range whole + frac + strings.Repeat("0", 6-len(frac)) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("price %q is not a number", s)
		}
		p = p*10 + pico(c-'0')
	}
	return p, nil
}
