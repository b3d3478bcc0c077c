package enginelog

import (
	"math"
	"strconv"
)

// Bounds above which a number of a log is absurd, and therefore unknown.
const (
	MaxDollars = 10_000
	MaxTurns   = 1_000_000
	MaxTokens  = 1_000_000_000_000
	MaxMillis  = 366 * 24 * 3600 * 1000
)

// Number reads a JSON number; words such as NaN and numbers out of range are none.
func (f Field) Number() (float64, bool) {
	if f.Cut || !isNumber(f.Raw) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(f.Raw), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, false
	}
	return x, true
}

// Count reads a whole number from 0 to limit. 3.0 and 3e0 are 3.
func (f Field) Count(limit int64) *int64 {
	x, ok := f.Number()
	if !ok || x < 0 || x > float64(limit) || x != math.Trunc(x) {
		return nil
	}
	n := int64(x)
	return &n
}

// Uncountable reports whether a value is there that is no count: with it, a sum of counts would be too small.
func (f Field) Uncountable(limit int64) bool {
	return (f.Cut || len(f.Raw) > 0 && !f.IsNull()) && f.Count(limit) == nil
}

// Millis reads a time in milliseconds, rounded down.
func (f Field) Millis() *int64 {
	x, ok := f.Number()
	if !ok || x < 0 || x > MaxMillis {
		return nil
	}
	n := int64(x)
	return &n
}

// Dollars reads an amount of dollars from 0 to MaxDollars.
func (f Field) Dollars() *float64 {
	x, ok := f.Number()
	if !ok || x < 0 || x > MaxDollars {
		return nil
	}
	x = math.Abs(x) // -0 is 0
	return &x
}

// isNumber checks the grammar of JSON, which strconv alone does not: no sign +, no hex, no leading zeros, no _.
func isNumber(raw []byte) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(raw) && raw[i] >= '0' && raw[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(raw) && raw[i] == '-' {
		i++
	}
	start := i
	if !digits() || (raw[start] == '0' && i > start+1) {
		return false
	}
	if i < len(raw) && raw[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(raw) && (raw[i] == 'e' || raw[i] == 'E') {
		i++
		if i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(raw)
}
