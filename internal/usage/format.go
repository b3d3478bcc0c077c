package usage

import (
	"fmt"
	"strconv"
)

// formatUSD writes dollars with two digits; less than a cent is said to be less.
func formatUSD(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return "<$0.01"
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// formatLimit writes a limit, which may be less than a cent.
func formatLimit(usd float64) string {
	switch {
	case usd > 0 && usd < 1e-6: // no provider bills so little
		return "<$0.000001"
	case usd < 0.01:
		return "$" + strconv.FormatFloat(usd, 'f', -1, 64)
	}
	return formatUSD(usd)
}

// formatTime writes milliseconds as 8s, 1m12s or 1h03m; no time at all is left out.
func formatTime(ms int64) string {
	if ms <= 0 {
		return ""
	}
	s := (ms + 500) / 1000
	switch {
	case s == 0:
		return "<1s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	m := (s + 30) / 60
	return fmt.Sprintf("%dh%02dm", m/60, m%60)
}

// formatTokens writes 950, 12.3k, 210k or 1.2M.
func formatTokens(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	x := float64(n)
	for _, unit := range []string{"k", "M"} {
		x /= 1000
		switch {
		case x < 99.95:
			return strconv.FormatFloat(x, 'f', 1, 64) + unit
		case x < 999.5:
			return strconv.FormatFloat(x, 'f', 0, 64) + unit
		}
	}
	return strconv.FormatFloat(x/1000, 'f', 1, 64) + "B"
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}
