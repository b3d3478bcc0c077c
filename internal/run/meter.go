package run

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/meter"
)

// WithMeter starts the real meter. A model without a price in prices is refused; a nil transport is the meter's own, which
// asks proxy for the way to the provider (nil: straight).
func WithMeter(prices meter.Table, now func() time.Time, transport http.RoundTripper, proxy func(*http.Request) (*url.URL, error)) StartMeter {
	return func(ctx context.Context, o MeterOptions) (Meter, error) {
		m, err := meter.Start(ctx, meter.Options{
			Provider:  o.Provider,
			Upstream:  o.Upstream,
			Key:       o.Key,
			Bearer:    o.Bearer,
			Model:     o.Model,
			BudgetUSD: o.BudgetUSD,
			MaxTurns:  o.MaxTurns,
			Prices:    prices,
			Held:      o.Held,
			Record:    o.Record,
			Now:       now,
			Transport: transport,
			Proxy:     proxy,
		})
		if err != nil {
			return nil, err
		}
		return realMeter{m}, nil
	}
}

type realMeter struct{ *meter.Meter }

func (m realMeter) WorstNextCallUSD() float64 { return m.Summary().WorstNextCallUSD }
