package meter

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// tunnel is a proxy of a company: it opens ways on CONNECT and keeps all it sees.
type tunnel struct {
	*httptest.Server
	refuse bool

	mu       sync.Mutex
	requests []string
	seen     bytes.Buffer
}

func newTunnel(t *testing.T) *tunnel {
	t.Helper()
	p := &tunnel{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *tunnel) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.Write(b)
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests = append(p.requests, r.Method+" "+r.Host)
	_ = r.Header.Write(&p.seen)
	p.mu.Unlock()
	if r.Method != http.MethodConnect || p.refuse {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	far, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(io.MultiWriter(far, p), near); _ = far.Close() }()
	go func() { _, _ = io.Copy(io.MultiWriter(near, p), far); _ = near.Close() }()
}

func (p *tunnel) saw() (requests, bytes string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.requests, ", "), p.seen.String()
}

// TestAProxySeesOnlyTheWay: on a machine behind a proxy the calls go through it, and it learns the provider's address and
// nothing of key, prompt and answer.
func TestAProxySeesOnlyTheWay(t *testing.T) {
	t.Parallel()
	const key, answer = "sk-ant-api03-the-real-key-0123456789", "the-answer-of-the-model"
	var got http.Header
	provider := func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"type":"message","model":"claude-opus-5-5","stop_reason":"end_turn","content":[{"type":"text","text":%q}],"usage":{"input_tokens":500,"output_tokens":50}}`, answer)
	}
	secure, plain := httptest.NewTLSServer(http.HandlerFunc(provider)), httptest.NewServer(http.HandlerFunc(provider))
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	for name, tt := range map[string]struct {
		upstream string
		refuse   bool
		status   int
		way      string
		basis    engine.Basis
	}{
		"TLS":           {secure.URL, false, 200, "CONNECT " + strings.TrimPrefix(secure.URL, "https://"), engine.BasisUsage},
		"refused":       {secure.URL, true, 502, "CONNECT " + strings.TrimPrefix(secure.URL, "https://"), engine.BasisFree},
		"without a way": {plain.URL, false, 200, "", engine.BasisUsage},
	} {
		p := newTunnel(t)
		p.refuse = tt.refuse
		address, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		address.User = url.UserPassword("me", "secret-of-the-proxy")
		table, err := Prices(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		var records []engine.CallRecord
		m, err := Start(context.Background(), Options{
			Provider: "anthropic", Upstream: tt.upstream, Key: key, Model: "claude-opus-5-5", BudgetUSD: 1, MaxTurns: 4, Prices: table, Now: time.Now,
			Proxy: http.ProxyURL(address), Record: func(c engine.CallRecord) { records = append(records, c) },
		})
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AddCert(secure.Certificate())
		m.client.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		resp, err := http.Post(m.BaseURL()+"/v1/messages", "application/json",
			strings.NewReader(`{"model":"claude-opus-5-5","max_tokens":100,"messages":[{"role":"user","content":"the-words-of-the-prompt"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil || m.Close() != nil {
			t.Fatal(err)
		}
		way, seen := p.saw()
		if resp.StatusCode != tt.status || way != tt.way || strings.Contains(string(body), answer) != (tt.status == 200) ||
			strings.Contains(string(body), "secret-of-the-proxy") || len(records) != 1 || records[0].Basis != tt.basis {
			t.Errorf("%s: status %d, the proxy was asked for %q, %s, %+v", name, resp.StatusCode, way, body, records)
		}
		if tt.status == 200 && (got.Get("X-Api-Key") != key || got.Get("Proxy-Authorization") != "") {
			t.Errorf("%s: the provider got %v", name, got)
		}
		for _, secret := range []string{key, answer, "the-words-of-the-prompt", "v1/messages"} {
			if strings.Contains(seen, secret) {
				t.Errorf("%s: the proxy saw %q", name, secret)
			}
		}
	}
}
