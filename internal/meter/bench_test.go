package meter_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestOverhead measures the meter beside the standard library's reverse proxy in one run (make bench-run). Absolute
// times mean nothing on a loaded machine, so it only runs when it is asked for.
func TestOverhead(t *testing.T) { //nolint:paralleltest // it measures time
	testtool.Asked(t, "METER_BENCH", "make bench-run")
	up := httptest.NewServer(http.HandlerFunc(upstream))
	defer up.Close()
	target, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1})
	defer proxy.Close()
	m, err := meter.Start(context.Background(), meter.Options{
		Provider: "anthropic", Upstream: up.URL, Key: realKey, Model: "claude-haiku-5-5",
		BudgetUSD: 100, MaxTurns: 200, Prices: table(t), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	for _, kb := range []int{14, 200} {
		// Turns are limited to 200: each round has a meter's worth of calls.
		a, b := medians(t, 90, proxy.URL, m.BaseURL(), request(kb<<10, false))
		t.Logf("request of %d kB, plain answer: reverse proxy %s, meter %s, added %s (median of 90)", kb, a, b, b-a)
		if b-a > time.Millisecond {
			t.Errorf("a request of %d kB takes %s longer", kb, b-a)
		}
		_ = m.Close()
		if m, err = meter.Start(context.Background(), meter.Options{
			Provider: "anthropic", Upstream: up.URL, Key: realKey, Model: "claude-haiku-5-5",
			BudgetUSD: 100, MaxTurns: 200, Prices: table(t), Now: time.Now,
		}); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
	}
	aMed, a99 := chunks(t, proxy.URL)
	bMed, b99 := chunks(t, m.BaseURL())
	t.Logf("chunk of a stream: reverse proxy median %s p99 %s, meter median %s p99 %s, added %s and %s (4,000 chunks each)", aMed, a99, bMed, b99, bMed-aMed, b99-a99)
	if bMed-aMed > 100*time.Microsecond || b99-a99 > 300*time.Microsecond {
		t.Errorf("a chunk takes %s (median) and %s (p99) longer", bMed-aMed, b99-a99)
	}
	grown := parallelStreams(t, m.BaseURL())
	t.Logf("100 parallel streams: %.1f MB more (client, meter and provider in one process)", float64(grown)/1e6)
	if grown > 50e6 {
		t.Errorf("100 parallel streams take %d bytes", grown)
	}
}

func request(size int, stream bool) []byte {
	text := strings.Repeat("\\tif x == 1 {\\n\\t\\treturn \\\"y\\\"\\n\\t}\\n", size/42)
	return fmt.Appendf(nil, `{"model":"claude-haiku-5-5","max_tokens":1000,"stream":%v,"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}]}`, stream, text)
}

func medians(t *testing.T, n int, a, b string, body []byte) (time.Duration, time.Duration) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	times := [2][]time.Duration{}
	for i := range n + 10 {
		for k, base := range []string{a, b} { // in turns, so that load hits both
			began := time.Now()
			resp, err := client.Post(base+"/v1/messages", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != 200 {
				t.Fatal(resp.StatusCode, err)
			}
			if i >= 10 {
				times[k] = append(times[k], time.Since(began))
			}
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return times[0][n/2], times[1][n/2]
}

// upstream answers a plain message, or a stream whose chunks tell when they were sent.
func upstream(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","model":"claude-haiku-5-5","stop_reason":"end_turn","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":50000,"output_tokens":5}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	f := w.(http.Flusher)
	_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-haiku-5-5\",\"usage\":{\"input_tokens\":5000,\"output_tokens\":1}}}\n\n")
	f.Flush()
	for i := range 1000 {
		_, _ = fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word %d\"},\"at\":%d}\n\n", i, time.Now().UnixNano())
		f.Flush()
		time.Sleep(time.Millisecond)
	}
	_, _ = io.WriteString(w, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3000}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

func chunks(t *testing.T, base string) (median, p99 time.Duration) {
	t.Helper()
	var all []time.Duration
	for range 4 {
		resp, err := http.Post(base+"/v1/messages", "application/json", bytes.NewReader(request(14<<10, true)))
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(resp.Body)
		for sc.Scan() {
			now := time.Now().UnixNano()
			_, at, ok := strings.Cut(sc.Text(), `"at":`)
			if !ok {
				continue
			}
			sent, err := strconv.ParseInt(strings.TrimSuffix(at, "}"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, time.Duration(now-sent))
		}
		_ = resp.Body.Close()
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}

// parallelStreams is how much more memory is in use while 100 streams pass.
func parallelStreams(t *testing.T, base string) int64 {
	t.Helper()
	use := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	before, peak := use(), int64(0)
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	defer client.CloseIdleConnections()
	for range 100 {
		wg.Go(func() {
			resp, err := client.Post(base+"/v1/messages", "application/json", bytes.NewReader(request(14<<10, true)))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 100_000 {
				t.Errorf("status %d, %d bytes, %v", resp.StatusCode, n, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return peak - before
		case <-time.After(200 * time.Millisecond):
			peak = max(peak, use())
		}
	}
}
