// Package meter holds one run to its budget: a proxy on loopback between an engine's command line and its provider.
//
// Before a call goes out the meter keeps back what it could cost at most; a call that might not fit is refused, in the
// provider's own shape. After it, the provider's exact usage is priced. What cannot be trusted is booked at what was kept
// back. So no run costs more than its budget, whatever the issue says and whatever the engine does with its own flags.
//
// What is special to one provider's API stands behind the small interface provider; the money, the bounds and the
// forwarding are the same for all.
package meter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// Options say what one run may do.
type Options struct {
	Provider  string  // anthropic
	Upstream  string  // base URL of the provider or a gateway; "": the provider's own
	Key       string  // the real key; it goes upstream and nowhere else
	Bearer    bool    // Key is a subscription token: dollars are list prices
	Model     string  // the model the run was asked for; it must have a price
	BudgetUSD float64 // above 0, up to 100
	MaxTurns  int     // 1 to 200
	Prices    Table
	// Held gets what is kept back for a call before the call goes out, Record every call when it has ended; one at a time.
	// They must not call the meter's Close.
	Held   func(engine.HeldRecord)
	Record func(engine.CallRecord)
	Now    func() time.Time
	// Transport reaches the provider; nil: one of the meter's own, through the proxy that Proxy names (nil: none). The key
	// goes to the provider through it in TLS.
	Transport http.RoundTripper
	Proxy     func(*http.Request) (*url.URL, error)
}

// Summary is where the run stands. Dollars are US dollars.
type Summary struct {
	SpentUSD    float64 // of the calls that have ended
	ReservedUSD float64 // kept back for the calls in flight
	BudgetUSD   float64
	Turns       int // answers that arrived
	Calls       int // all requests to the model, also refused and failed ones
	// Refused says why the first refused call did not go out: Turns, Budget, UnknownModel (no price) or ProviderError
	// (a feature whose cost has no bound). "" when none was refused.
	Refused engine.Ended
	Reason  string // fixed words of ours for Refused
	// WorstNextCallUSD is the least that the refused call needed, if Refused is Budget.
	WorstNextCallUSD float64
	LastAsked        bool   // a call was sent with the note to answer now
	LastStatus       int    // the provider's HTTP status of the last call that went out; 0: none, or no response
	LastStopReason   string // of the last answer
	ListPrice        bool   // nothing is billed by the call: the dollars are list prices
}

// Meter is a running proxy.
type Meter struct {
	opts     Options
	api      provider
	upstream *url.URL
	token    string
	dummy    string
	base     string
	ledger   *ledger
	client   http.RoundTripper
	server   *http.Server
	cancel   context.CancelFunc
	served   chan struct{}
	recordMu sync.Mutex
}

const (
	maxBudgetUSD = 100
	maxTurns     = 200
	closeTimeout = 3 * time.Second
)

// Start listens on a free port of 127.0.0.1. The error is about the options (a model without a price, an address that is
// not safe for the key) or the machine; it never holds the key. ctx ends the run: calls in flight are cut.
func Start(ctx context.Context, opts Options) (*Meter, error) {
	api, err := newProvider(opts.Provider)
	if err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Upstream == "" {
		opts.Upstream = api.home()
	}
	upstream, err := parseUpstream(opts.Upstream)
	if err != nil {
		return nil, err
	}
	secrets := make([]byte, 32)
	if _, err := rand.Read(secrets); err != nil {
		return nil, fmt.Errorf("make the run's path: %w", err)
	}
	m := &Meter{
		opts: opts, api: api, upstream: upstream, token: hex.EncodeToString(secrets[:16]), client: opts.Transport,
		dummy: api.dummyKey(opts.Bearer, hex.EncodeToString(secrets[16:])), served: make(chan struct{}),
		ledger: newLedger(fromUSD(opts.BudgetUSD), opts.MaxTurns),
	}
	if m.client == nil {
		m.client = newTransport(opts.Proxy)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	m.base = "http://" + l.Addr().String() + "/" + m.token
	ctx, m.cancel = context.WithCancel(ctx)
	m.server = &http.Server{
		Handler: m, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 256 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		// What it would print is about the engine's own requests; the records say it.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(m.served)
		_ = m.server.Serve(l) // it always ends with ErrServerClosed, at Close
	}()
	context.AfterFunc(ctx, func() { m.ledger.close() })
	return m, nil
}

func (o Options) check() error {
	switch {
	case o.Now == nil:
		return errors.New("the meter needs a clock")
	case o.Key == "":
		return errors.New("the key is empty: check the secret")
	case !validKey(o.Key):
		return errors.New("the key holds a line break or another character that no key has: check how the secret was stored")
	case !(o.BudgetUSD > 0 && o.BudgetUSD <= maxBudgetUSD):
		return fmt.Errorf("the budget is %v dollars: it must be above 0 and at most %d", o.BudgetUSD, maxBudgetUSD)
	case o.MaxTurns < 1 || o.MaxTurns > maxTurns:
		return fmt.Errorf("the turns are %d: they must be from 1 to %d", o.MaxTurns, maxTurns)
	}
	return o.Prices.Check(o.Model)
}

// validKey accepts visible ASCII only: anything else could end a header.
func validKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != ""
}

// parseUpstream accepts https, and http on loopback: the key must not cross a network in the clear.
func parseUpstream(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the provider's base URL is not valid: write https://HOST, without user, query or fragment")
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return nil, errors.New("the provider's base URL must begin with https:// (http:// only on this machine): the key would be readable on the way")
	}
	return u, nil
}

func newTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if proxy == nil || r.URL.Scheme != "https" { // a proxy for http would see the key
				return nil, nil
			}
			return proxy(r)
		},
		ForceAttemptHTTP2:   true,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
		// Connections that the provider may have closed meanwhile are not used: a request lost on one would be booked.
		IdleConnTimeout:     20 * time.Second,
		MaxIdleConnsPerHost: 64,
		DisableCompression:  true,
		ReadBufferSize:      16 << 10,
	}
}

// BaseURL is what the engine is given as its provider: http://127.0.0.1:PORT/TOKEN, the token fresh for each run.
func (m *Meter) BaseURL() string { return m.base }

// DummyKey is what the engine is given as its key: of the same kind as the real one, and worth nothing.
func (m *Meter) DummyKey() string { return m.dummy }

// Summary says where the run stands, also after Close.
func (m *Meter) Summary() Summary {
	s := m.ledger.summary()
	s.ListPrice = m.opts.Bearer
	return s
}

// Close cuts the calls in flight, books them and waits until they are recorded. It may be called again.
func (m *Meter) Close() error {
	m.cancel()
	m.ledger.close()
	err := m.server.Close()
	<-m.served
	done := make(chan struct{})
	go func() { m.ledger.running.Wait(); close(done) }()
	t := time.NewTimer(closeTimeout)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		return errors.New("calls in flight did not end: they are counted at what was kept back for them")
	}
	if tr, ok := m.client.(*http.Transport); ok && m.opts.Transport == nil {
		tr.CloseIdleConnections()
	}
	if err != nil {
		return fmt.Errorf("close the meter: %w", err)
	}
	return nil
}

// record hands one call over; the records of a run are handed over one after another.
func (m *Meter) record(r engine.CallRecord) {
	m.recordMu.Lock()
	defer m.recordMu.Unlock()
	if r.Type = engine.TypeCall; m.opts.Record != nil {
		m.opts.Record(r)
	}
}

// held hands over what is kept back for call n.
func (m *Meter) held(n int, kept pico) {
	m.recordMu.Lock()
	defer m.recordMu.Unlock()
	if m.opts.Held != nil {
		m.opts.Held(engine.HeldRecord{Type: engine.TypeHeld, N: n, ReservedUSD: kept.usd()})
	}
}
