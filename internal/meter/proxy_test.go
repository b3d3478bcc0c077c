package meter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
)

const plainBody = `{"model":"claude-opus-5-5","max_tokens":2000,"messages":[{"role":"user","content":"hello"}]%s}`

// raw sends a request as it is and returns status, body and the error of a connection that broke.
func (r *rig) raw(t *testing.T, method, path, body string, header map[string]string) (int, string, http.Header, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = []string{v}
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(got), resp.Header, err
}

func (r *rig) messages() string { return r.BaseURL() + "/v1/messages" }

func TestOnlyTheModelEndpointIsServed(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{}, nil)
	host := r.BaseURL()[:strings.LastIndexByte(r.BaseURL(), '/')]
	body := fmt.Sprintf(plainBody, "")
	for _, tt := range []struct{ method, url string }{
		{"GET", r.messages()},
		{"HEAD", r.BaseURL() + "/api/hello"},
		{"PUT", r.messages()},
		{"POST", r.messages() + "/count_tokens"},
		{"POST", r.messages() + "/"},
		{"POST", r.BaseURL() + "/v1/messages/batches"},
		{"POST", r.BaseURL() + "/v1/%6dessages"},
		{"POST", r.BaseURL() + "/v1/../v1/messages"},
		{"POST", r.BaseURL() + "//v1/messages"},
		{"POST", r.BaseURL() + "/v1/files"},
		{"POST", host + "/v1/messages"},
		{"POST", host + "/" + strings.Repeat("0", 32) + "/v1/messages"},
	} {
		if status, _, _, err := r.raw(t, tt.method, tt.url, body, nil); status != 404 || err != nil {
			t.Errorf("%s %s: status %d, %v", tt.method, tt.url, status, err)
		}
	}
	if status, _, _, _ := r.raw(t, "POST", r.messages(), body, map[string]string{"Upgrade": "websocket"}); status != 404 {
		t.Errorf("upgrade: status %d", status)
	}
	if n := len(r.api.Requests()); n != 0 || r.Summary().Calls != 0 {
		t.Errorf("%d requests went upstream, %d calls", n, r.Summary().Calls)
	}
}

func TestTheKeyGoesUpstreamAndNowhereElse(t *testing.T) {
	t.Parallel()
	var seen http.Header
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen = req.Header.Clone()
		w.Header().Set("X-Echo", req.Header.Get("X-Api-Key"))
		w.WriteHeader(401)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key %s"}}`, req.Header.Get("X-Api-Key"))
	}))
	defer echo.Close()
	r := start(t, anthropic.Script{}, func(o *meter.Options) { o.Upstream = echo.URL })
	status, body, header, err := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), map[string]string{
		"X-Api-Key": r.DummyKey(), "Authorization": "Bearer " + r.DummyKey(), "Accept-Encoding": "gzip, br", "Idempotency-Key": "1",
		"Connection": "X-Secret", "X-Secret": "hop", "Anthropic-Beta": "b1,b2", "Proxy-Authorization": "Basic x",
	})
	if err != nil || status != 401 || strings.Contains(body, realKey) || strings.Contains(fmt.Sprint(header), realKey) {
		t.Errorf("status %d, err %v, body %s, header %v", status, err, body, header)
	}
	if !strings.Contains(body, r.DummyKey()) || !strings.HasPrefix(r.DummyKey(), "sk-ant-api03-") || strings.Contains(r.BaseURL(), realKey) {
		t.Errorf("body %s", body)
	}
	for name, want := range map[string]string{
		"X-Api-Key": realKey, "Authorization": "", "Accept-Encoding": "identity", "X-Secret": "", "Anthropic-Beta": "b1,b2",
		"Proxy-Authorization": "", "Idempotency-Key": "1",
	} {
		if got := seen.Get(name); got != want {
			t.Errorf("upstream got %s: %q, want %q", name, got, want)
		}
	}
	if s := r.Summary(); s.SpentUSD != 0 || s.LastStatus != 401 || s.Turns != 0 || s.Calls != 1 {
		t.Errorf("%+v", s)
	}
	raw, err := json.Marshal(r.records)
	if err != nil || strings.Contains(string(raw), realKey) {
		t.Errorf("records %s, %v", raw, err)
	}
}

func TestWhatHasNoBoundIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{}, nil)
	for _, extra := range []string{
		`,"mcp_servers":[{"type":"url","url":"https://x","name":"x"}]`, `,"container":"c1"`, `,"fallbacks":["claude-opus-4-8"]`, `,"fallback_model":"x"`,
		`,"previous_response_id":"r"`, `,"conversation":"c"`, `,"background":true`, `,"cachedContent":"c"`,
		`,"tools":[{"type":"web_search_20250305","name":"web_search"}]`, `,"tools":[{"name":"ok","input_schema":{}},{"name":"b","type":"bash_20250124"}]`,
		`,"context_management":{"edits":[{"type":"compact_20260112"}]}`, `,"context_management":{"compaction":{"on":true}}`,
		`,"m\u0063p_servers":[1]`,
	} {
		status, body, header, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, extra), nil)
		if status != 402 || !strings.Contains(body, "has no bound") || header.Get("X-Should-Retry") != "false" || !strings.Contains(body, `"billing_error"`) {
			t.Errorf("%s: status %d, %s", extra, status, body)
		}
	}
	blocks := `{"model":"claude-opus-5-5","max_tokens":2000,"messages":[{"role":"user","content":[%s]}]}`
	for _, b := range []string{`{"type":"container_upload","file_id":"f"}`, `{"type":"server_tool_use","id":"x"}`, `{"type":"tool_result","tool_use_id":"x","content":[{"type":"server_thing"}]}`} {
		if status, body, _, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(blocks, b), nil); status != 402 {
			t.Errorf("%s: status %d, %s", b, status, body)
		}
	}
	for _, extra := range []string{
		`,"mcp_servers":[]`, `,"container":null`, `,"tools":[{"type":"custom","name":"a","input_schema":{}}]`,
		`,"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`,
	} {
		if status, body, _, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, extra), nil); status != 200 {
			t.Errorf("%s: status %d, %s", extra, status, body)
		}
	}
	if s := r.Summary(); s.Refused != engine.ProviderError || s.Turns != 4 {
		t.Errorf("%+v", s)
	}
}

func TestMalformedRequestsGoNowhere(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{}, nil)
	for _, body := range []string{
		``, `[]`, `{`, `{"model":"claude-opus-5-5"}x`, fmt.Sprintf(plainBody, `,"max_tokens":3`), fmt.Sprintf(plainBody, `,"m\u006fdel":"claude-haiku-5-5"`),
		`{"model":"claude-opus-5-5","max_tokens":1e3,"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"claude-opus-5-5","max_tokens":-1,"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"claude-opus-5-5","max_tokens":10,"messages":[]}`, `{"model":"claude-opus-5-5","max_tokens":10,"messages":"x"}`,
		`{"max_tokens":10,"messages":[{"role":"user","content":"x"}]}`, "{\"model\":\"claude-opus-5-5\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		fmt.Sprintf(plainBody, `,"x":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)),
	} {
		if status, got, _, _ := r.raw(t, "POST", r.messages(), body, nil); status != 400 || !strings.Contains(got, `"invalid_request_error"`) {
			t.Errorf("%.80s: status %d, %s", body, status, got)
		}
	}
	if status, _, _, _ := r.raw(t, "POST", r.messages(), "x", map[string]string{"Content-Encoding": "zstd"}); status != 415 {
		t.Errorf("compressed: status %d", status)
	}
	if status, body, _, err := r.raw(t, "POST", r.messages(), strings.Repeat(" ", 32<<20+1), nil); err == nil && (status != 413 || !strings.Contains(body, "request_too_large")) {
		t.Errorf("too large: status %d, %s", status, body)
	}
	if len(r.api.Requests()) != 0 || r.Summary().SpentUSD != 0 || r.Summary().Refused != "" {
		t.Errorf("%d went upstream, %+v", len(r.api.Requests()), r.Summary())
	}
}

func TestModelsWithoutAPriceAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{}, nil)
	for _, model := range []string{"claude-opus-5-6", "claude-opus-5-5-fast", "opus", "claude-opus-5-5-20261301", "CLAUDE-OPUS-5-5"} {
		if status, body, _, _ := r.raw(t, "POST", r.messages(), strings.Replace(fmt.Sprintf(plainBody, ""), "claude-opus-5-5", model, 1), nil); status != 402 || !strings.Contains(body, "no price") {
			t.Errorf("%s: status %d, %s", model, status, body)
		}
	}
	if s := r.Summary(); s.Refused != engine.UnknownModel || len(r.api.Requests()) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestFaultsArePassedOn(t *testing.T) {
	t.Parallel()
	step := anthropic.Step{Text: strings.Repeat("word ", 100)}
	cut := step
	cut.Cut, cut.CutAfter = true, 300
	r := start(t, anthropic.Script{Steps: []anthropic.Step{
		{Status: 429, Header: map[string]string{"retry-after": "7"}},
		{Status: 529},
		cut, cut,
		{SSEError: &anthropic.Error{Type: "overloaded_error", Message: "Overloaded"}},
		{Raw: "<html>", RawType: "text/html"},
	}}, func(o *meter.Options) { o.BudgetUSD = 10 })
	stream := fmt.Sprintf(plainBody, `,"stream":true`)
	status, body, header, err := r.raw(t, "POST", r.messages(), stream, nil)
	if status != 429 || header.Get("Retry-After") != "7" || err != nil || !strings.Contains(body, "rate_limit_error") {
		t.Errorf("429: %d %s %v", status, body, err)
	}
	if status, _, _, _ := r.raw(t, "POST", r.messages(), stream, nil); status != 529 {
		t.Errorf("529: %d", status)
	}
	if r.Summary().SpentUSD != 0 {
		t.Errorf("errors cost %v", r.Summary().SpentUSD)
	}
	if status, body, _, err := r.raw(t, "POST", r.messages(), stream, nil); status != 200 || err == nil || len(body) > 300 {
		t.Errorf("cut stream: %d, %d bytes, error %v", status, len(body), err)
	}
	if _, _, _, err := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), nil); err == nil {
		t.Error("the cut of a plain answer was hidden")
	}
	if _, body, _, err := r.raw(t, "POST", r.messages(), stream, nil); err != nil || !strings.Contains(body, "overloaded_error") {
		t.Errorf("error event: %s %v", body, err)
	}
	if _, body, _, err := r.raw(t, "POST", r.messages(), stream, nil); err != nil || body != "<html>" {
		t.Errorf("html: %s %v", body, err)
	}
	for i, want := range []engine.Basis{"free", "free", "reserved", "reserved", "reserved", "reserved"} {
		rec := r.records[i]
		if rec.Basis != want || rec.Turn || want == engine.BasisReserved && (rec.CostUSD != rec.ReservedUSD || rec.CostUSD == 0) {
			t.Errorf("call %d: %+v, want %s", i+1, rec, want)
		}
	}
}

func TestEveryCutIsBooked(t *testing.T) {
	t.Parallel()
	whole := 0
	for at := 0; ; at += 97 {
		step := anthropic.Step{Thinking: "hm", Text: strings.Repeat("word ", 30), Tools: []anthropic.Tool{{Name: "Read"}}, Cut: true, CutAfter: at}
		r := start(t, anthropic.Script{Steps: []anthropic.Step{step}}, nil)
		_, body, _, err := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, `,"stream":true`), nil)
		if cerr := r.Close(); cerr != nil {
			t.Error(cerr)
		}
		rec := r.records[0]
		if r.Summary().SpentUSD < r.api.Bill().USD()-1e-12 || err == nil {
			t.Errorf("cut after %d: spent %v, billed %v, err %v", at, r.Summary().SpentUSD, r.api.Bill().USD(), err)
		}
		if strings.HasSuffix(body, "message_stop\"}\n\n") {
			if rec.Basis != engine.BasisUsage {
				t.Errorf("cut after the end: %+v", rec)
			}
			whole++
			break
		}
		if rec.Basis != engine.BasisReserved || rec.Turn {
			t.Errorf("cut after %d: %+v", at, rec)
		}
		r.close()
	}
	if whole != 1 {
		t.Error("no cut came after the end")
	}
}

func TestAClientThatGoesEndsTheCallUpstream(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Steps: []anthropic.Step{{Hang: true}, {Text: strings.Repeat("word ", 2000), StreamDelay: 20 * time.Millisecond}}}, func(o *meter.Options) { o.BudgetUSD = 10 })
	for i := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "POST", r.messages(), strings.NewReader(fmt.Sprintf(plainBody, `,"stream":true`)))
		go func() {
			for len(r.api.Requests()) <= i {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			cancel()
		}()
		if resp, err := r.http.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		waitFor(t, func() bool { return r.api.Requests()[i].Canceled })
		waitFor(t, func() bool { return r.Summary().ReservedUSD == 0 })
		cancel()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, rec := range r.records {
		if rec.Basis != engine.BasisReserved || rec.CostUSD == 0 {
			t.Errorf("%+v", rec)
		}
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not happen within 10 seconds")
}

func TestCloseCutsAndRecordsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Steps: []anthropic.Step{{Hang: true}}}, nil)
	done := make(chan error)
	go func() {
		_, _, _, err := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), nil)
		done <- err
	}()
	waitFor(t, func() bool { return len(r.api.Requests()) == 1 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the engine got an answer")
	}
	if len(r.records) != 1 || r.records[0].Basis != engine.BasisReserved || r.Summary().SpentUSD == 0 || r.Summary().ReservedUSD != 0 {
		t.Errorf("%+v %+v", r.records, r.Summary())
	}
	if _, _, _, err := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), nil); err == nil {
		t.Error("a closed meter answers")
	}
}

func TestRedirectsAndDeadProviders(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer other.Close()
	redirect := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	r := start(t, anthropic.Script{}, func(o *meter.Options) { o.Upstream = redirect.URL })
	status, _, header, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), nil)
	if status != 502 || header.Get("Location") != "" || hits.Load() != 0 {
		t.Errorf("redirect: status %d, %v, %d requests elsewhere", status, header, hits.Load())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String()
	_ = l.Close()
	r = start(t, anthropic.Script{}, func(o *meter.Options) { o.Upstream = dead })
	if status, body, _, _ := r.raw(t, "POST", r.messages(), fmt.Sprintf(plainBody, ""), nil); status != 502 || !strings.Contains(body, "cannot be reached") {
		t.Errorf("dead provider: %d %s", status, body)
	}
	if r.Summary().SpentUSD != 0 {
		t.Errorf("a request that never left cost %v", r.Summary().SpentUSD)
	}
}

func TestTurnsAreHeldByTheMeter(t *testing.T) {
	t.Parallel()
	r := start(t, anthropic.Script{Steps: []anthropic.Step{read(100)}}, func(o *meter.Options) { o.MaxTurns = 4; o.BudgetUSD = 100 })
	c := r.client(1)
	c.run(t.Context(), "issue", 20)
	s := r.Summary()
	if c.status != 402 || s.Turns != 4 || s.Calls != 5 || s.Refused != engine.Turns || s.WorstNextCallUSD != 0 {
		t.Errorf("status %d, %+v", c.status, s)
	}
	for i, q := range r.api.MainRequests() {
		if got := q.Says(meter.LastNote); got != (i == 3) {
			t.Errorf("call %d was told it is the last: %v", i+1, got)
		}
	}
	for _, word := range []string{"credit balance", "prompt is too long"} {
		if strings.Contains(strings.ToLower(c.said), word) {
			t.Errorf("the refusal says %q, on which Claude Code acts", word)
		}
	}
}

func TestStartRefusesWhatIsNotSafe(t *testing.T) {
	t.Parallel()
	good := meter.Options{Provider: "anthropic", Upstream: "https://api.example", Key: realKey, Model: "claude-opus-5-5", BudgetUSD: 1, MaxTurns: 4, Prices: table(t), Now: time.Now}
	for name, tt := range map[string]struct {
		change func(*meter.Options)
		says   string
	}{
		"provider":         {func(o *meter.Options) { o.Provider = "bedrock" }, "no meter"},
		"no key":           {func(o *meter.Options) { o.Key = "" }, "key is empty"},
		"multi-line key":   {func(o *meter.Options) { o.Key = "sk-ant\nX-Evil: 1" }, "line break"},
		"http":             {func(o *meter.Options) { o.Upstream = "http://api.example" }, "https://"},
		"user in the URL":  {func(o *meter.Options) { o.Upstream = "https://u:p@api.example" }, "not valid"},
		"no budget":        {func(o *meter.Options) { o.BudgetUSD = 0 }, "budget"},
		"too much":         {func(o *meter.Options) { o.BudgetUSD = 100.01 }, "budget"},
		"no turns":         {func(o *meter.Options) { o.MaxTurns = 0 }, "turns"},
		"too many turns":   {func(o *meter.Options) { o.MaxTurns = 201 }, "turns"},
		"alias":            {func(o *meter.Options) { o.Model = "opus" }, `"claude-opus-5-5"`},
		"unknown model":    {func(o *meter.Options) { o.Model = "claude-opus-9" }, "[prices."},
		"no clock":         {func(o *meter.Options) { o.Now = nil }, "clock"},
		"table of nothing": {func(o *meter.Options) { o.Prices = meter.Table{} }, "no price"},
	} {
		o := good
		tt.change(&o)
		m, err := meter.Start(t.Context(), o)
		if err == nil {
			_ = m.Close()
			t.Errorf("%s: it started", name)
			continue
		}
		if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), realKey) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
