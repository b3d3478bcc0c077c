package meter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

const (
	maxRequest   = 32 << 20
	maxErrorBody = 1 << 20
	countTimeout = 5 * time.Second
	copyBuffer   = 16 << 10
)

// ServeHTTP answers one request of the engine. Only POST to the model's endpoint below the run's token goes further.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ours := strings.CutPrefix(r.URL.EscapedPath(), "/"+m.token)
	if !ours || r.Method != http.MethodPost || r.Header.Get("Upgrade") != "" || !m.api.serves(path) {
		m.send(w, refusal{status: http.StatusNotFound, reason: "no such path"})
		return
	}
	n, ok := m.ledger.begin()
	if !ok {
		panic(http.ErrAbortHandler)
	}
	defer m.ledger.running.Done()
	c := &call{m: m, n: n, began: m.opts.Now(), record: engine.CallRecord{N: n, Basis: engine.BasisFree}}
	abort := c.serve(w, r, path)
	c.end()
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// send answers with a refusal in the provider's shape.
func (m *Meter) send(w http.ResponseWriter, f refusal) int {
	status, header, body := m.api.refusal(f)
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
	return status
}

// call is one request to the model on its way.
type call struct {
	m      *Meter
	n      int
	began  time.Time
	record engine.CallRecord
	ended  bool // it is recorded

	req   *request
	grant *grant // nil: it does not go out
}

// end records the call, once.
func (c *call) end() {
	if c.ended {
		return
	}
	c.ended = true
	c.record.DurationMS = c.m.opts.Now().Sub(c.began).Milliseconds()
	c.m.record(c.record)
}

// serve does it all; abort says that the client's connection must break.
func (c *call) serve(w http.ResponseWriter, in *http.Request, path string) (abort bool) {
	req, err := c.read(w, in, path)
	if err != nil {
		return c.refuse(w, err)
	}
	c.record.Model = word(req.model, 200)
	price, ok := c.m.opts.Prices.PriceOf(req.model)
	if !ok {
		return c.refuse(w, &refusal{ended: engine.UnknownModel, reason: "the model has no price, so no budget can be held: the request is not sent"})
	}
	header := c.header(in.Header)
	grant, err := c.m.ledger.admit(in.Context(), c.n, req, price, func(ctx context.Context) int64 { return c.m.count(ctx, req, header) })
	if err != nil {
		return c.refuse(w, err)
	}
	c.req, c.grant = req, grant
	c.record.Last, c.record.ReservedUSD = grant.last, grant.reserved.usd()
	c.m.held(c.n, grant.reserved)
	o, abort := c.forward(w, in.Context(), header)
	c.settle(o)
	return abort
}

// read takes the request's body and parses it.
func (c *call) read(w http.ResponseWriter, in *http.Request, path string) (*request, error) {
	if e := in.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, reason: "the request is compressed: it cannot be counted"}
	}
	var body []byte
	var err error
	if n := in.ContentLength; n > maxRequest {
		err = &http.MaxBytesError{Limit: maxRequest}
	} else {
		var b bytes.Buffer
		b.Grow(int(max(n, 0)) + bytes.MinRead)
		_, err = b.ReadFrom(http.MaxBytesReader(w, in.Body, maxRequest))
		body = b.Bytes()
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, reason: "the request is larger than 32 MB"}
	case err != nil:
		return nil, err
	}
	req, err := c.m.api.parse(path, in.Header, body)
	if err != nil {
		var f *refusal
		if errors.As(err, &f) {
			return nil, f
		}
		return nil, &refusal{status: http.StatusBadRequest, reason: err.Error()}
	}
	req.query = in.URL.RawQuery
	return req, nil
}

// refuse answers instead of the provider. A client that is gone gets nothing.
func (c *call) refuse(w http.ResponseWriter, err error) (abort bool) {
	var f *refusal
	if !errors.As(err, &f) {
		return true
	}
	c.m.ledger.refused(f)
	c.record.Refused = f.ended
	c.record.Status = c.m.send(w, *f)
	return false
}

// hopByHop are headers of one connection. The others are about the key or made anew.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Expect", "Content-Length", "Accept-Encoding",
}

// header are the engine's headers as they go upstream, still with its dummy key.
func (c *call) header(in http.Header) http.Header {
	h := in.Clone()
	for name := range strings.SplitSeq(strings.Join(in["Connection"], ","), ",") {
		h.Del(strings.TrimSpace(name))
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
	// The transport takes these for leave to send the call a second time.
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if v, ok := h[name]; ok {
			h.Del(name)
			h[strings.ToLower(name)] = v
		}
	}
	h.Set("Accept-Encoding", "identity")
	if h.Get("User-Agent") == "" {
		h["User-Agent"] = nil // the transport would add its own
	}
	return h
}

// outgoing is a request to the provider with the real key.
func (m *Meter) outgoing(ctx context.Context, path, query string, header http.Header, body []byte) (*http.Request, error) {
	u := *m.upstream
	u.Path = strings.TrimSuffix(m.upstream.Path, "/") + path
	u.RawQuery = query
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = header.Clone()
	q := out.URL.Query()
	before := q.Encode()
	m.api.authorize(out.Header, q, m.opts.Key, m.opts.Bearer)
	if after := q.Encode(); after != before {
		out.URL.RawQuery = after
	}
	return out, nil
}

// count asks the provider's own counter once; 0 without an answer.
func (m *Meter) count(ctx context.Context, r *request, header http.Header) int64 {
	ask := m.api.count(r)
	if ask == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	out, err := m.outgoing(ctx, ask.path, r.query, header, ask.body)
	if err != nil {
		return 0
	}
	resp, err := m.client.RoundTrip(out)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0
	}
	n, _ := number(field(body, ask.answer))
	return n
}

// settle books the call and fills its record, once.
func (c *call) settle(o outcome) {
	if c.grant == nil {
		return
	}
	grant := c.grant
	c.grant = nil
	if used := o.answer.model; used != "" && used != c.req.model {
		c.record.ModelUsed = used
		if p, ok := c.m.opts.Prices.PriceOf(used); ok {
			o.prices = append(o.prices, p)
		}
	}
	b := c.m.ledger.settle(grant, c.req, o)
	r := &c.record
	r.CostUSD, r.Basis = b.cost.usd(), b.basis
	r.Turn, r.StopReason = o.answer.turn && !o.free, o.answer.stop
	if u := o.answer.usage; b.basis == engine.BasisUsage {
		r.Input, r.CachedInput, r.CacheWrite5m, r.CacheWrite1h, r.Output = u.Input, u.CachedInput, u.CacheWrite5m, u.CacheWrite1h, u.Output
	}
}
