package anthropic

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func post(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func serve(t *testing.T, script Script) *Server {
	t.Helper()
	s := New(script)
	t.Cleanup(s.Close)
	return s
}

const hello = `{"model":"claude-opus-5-5","max_tokens":1000,"system":[{"type":"text","text":"rules","cache_control":{"type":"ephemeral"}}],` +
	`"messages":[{"role":"user","content":[{"type":"text","text":"0123456789012345678901234567890123456789","cache_control":{"type":"ephemeral"}}]}]%s}`

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{Thinking: "hm", Text: "hello", Tools: []Tool{{Name: "Read", Input: map[string]string{"file_path": "a"}}}}}})
	status, body, err := post(t, s.URL+"/v1/messages?beta=true", fmt.Sprintf(hello, ""))
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
	var m struct {
		StopReason string `json:"stop_reason"`
		Content    []struct{ Type string }
		Usage      map[string]any
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	if m.StopReason != "tool_use" || len(m.Content) != 3 {
		t.Errorf("got %s", body)
	}
	r := s.Requests()[0]
	if r.System != "rules" || !strings.HasPrefix(r.User, "0123") || r.Query != "beta=true" || r.Status != 200 || r.Main != 1 {
		t.Errorf("request %+v", r)
	}
	if got := int64(m.Usage["output_tokens"].(float64)); got != s.Bill().Output || s.Bill().Calls != 1 {
		t.Errorf("reported %d, bill %+v", got, s.Bill())
	}
}

func TestBillAndCache(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{Text: "hello"}}, Counter: Counter{Min: 1, Max: 1}})
	for range 2 {
		if _, _, err := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, "")); err != nil {
			t.Fatal(err)
		}
	}
	rs := s.Requests()
	first, second := rs[0].Billed, rs[1].Billed
	if first.CachedInput != 0 || first.CacheWrite5m == 0 || second.CacheWrite5m != 0 || second.CachedInput != first.CacheWrite5m {
		t.Errorf("cache: first %+v, second %+v", first, second)
	}
	want := first.CacheWrite5m*5e6 + first.Output*20e6
	if first.Pico != want {
		t.Errorf("bill %d, want %d", first.Pico, want)
	}
	if first.Prompt() < 45 || first.Prompt() > 45+24 {
		t.Errorf("prompt of 45 bytes at one token per byte: %d tokens", first.Prompt())
	}
}

func TestTokensComeBackAtTheirPrice(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{HiddenTokens: 500, Tools: []Tool{{Name: "Read", ID: "toolu_1", Input: map[string]string{"a": "b"}}}}}, Counter: Counter{Min: 0.15, Max: 1}})
	body := `{"model":"claude-opus-5-5","max_tokens":1000,"messages":[{"role":"user","content":"x"}%s]}`
	if _, _, err := post(t, s.URL+"/v1/messages", fmt.Sprintf(body, "")); err != nil {
		t.Fatal(err)
	}
	back := `,{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2lnbmF0dXJl00000001"},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"a":"b"}}]}`
	if _, _, err := post(t, s.URL+"/v1/messages", fmt.Sprintf(body, back)); err != nil {
		t.Fatal(err)
	}
	rs := s.Requests()
	if got := rs[1].Billed.Prompt() - rs[0].Billed.Prompt(); got != rs[0].Billed.Output {
		t.Errorf("the answer of %d tokens came back as %d", rs[0].Billed.Output, got)
	}
}

func TestStreamAndEveryCut(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{Text: strings.Repeat("word ", 30), Chunk: 10}}})
	_, whole, err := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, `,"stream":true`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sc := bufio.NewScanner(strings.NewReader(whole))
	for sc.Scan() {
		if name, ok := strings.CutPrefix(sc.Text(), "event: "); ok && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for _, at := range []int{0, 1, 100, len(whole) / 2, len(whole) - 1, len(whole)} {
		c := serve(t, Script{Steps: []Step{{Text: strings.Repeat("word ", 30), Chunk: 10, Cut: true, CutAfter: at}}})
		_, got, err := post(t, c.URL+"/v1/messages", fmt.Sprintf(hello, `,"stream":true`))
		if err == nil || len(got) > at {
			t.Errorf("cut after %d: %d bytes, error %v", at, len(got), err)
		}
		if c.Bill().Calls != 1 || !c.Requests()[0].Cut {
			t.Errorf("cut after %d: bill %+v", at, c.Bill())
		}
	}
}

func TestMaxTokensCuts(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{Text: strings.Repeat("x", 100_000), Tools: []Tool{{Name: "Read"}}}}, Counter: Counter{Min: 1, Max: 1}})
	_, body, err := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
	if err != nil || !strings.Contains(body, `"stop_reason":"max_tokens"`) || s.Bill().Output != 1000 || strings.Contains(body, "tool_use") {
		t.Errorf("err %v, bill %+v", err, s.Bill())
	}
}

func TestErrorsCostNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{
		Steps:  []Step{{Status: 529, Header: map[string]string{"retry-after": "1"}, Repeat: 2}, {Status: 401, Message: "no", Type: "odd"}, {Text: "ok"}},
		Models: map[string]Step{"gone": {Status: 404}},
	})
	var got []string
	for range 3 {
		status, body, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
		got = append(got, fmt.Sprint(status, strings.Contains(body, "overloaded_error"), strings.Contains(body, "odd")))
	}
	if diff := cmp.Diff([]string{"529 true false", "529 true false", "401 false true"}, got); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{`{`, `{"model":"m"}`, `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"x"}]}`} {
		if status, _, _ := post(t, s.URL+"/v1/messages", body); status != 400 {
			t.Errorf("%s: status %d", body, status)
		}
	}
	for _, model := range []string{"gone", "unheard-of"} {
		if status, _, _ := post(t, s.URL+"/v1/messages", strings.Replace(fmt.Sprintf(hello, ""), "claude-opus-5-5", model, 1)); status != 404 {
			t.Errorf("%s: status %d", model, status)
		}
	}
	if s.Bill() != (Bill{}) {
		t.Errorf("bill %+v", s.Bill())
	}
}

func TestUsageCanLie(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{{Usage: func(u Usage) (*Usage, *Usage) { u.Output = 0; return nil, &u }}, {Usage: func(Usage) (*Usage, *Usage) { return nil, nil }}}})
	_, first, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
	_, second, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, `,"stream":true`))
	if !strings.Contains(first, `"output_tokens":0`) || strings.Contains(second, "usage") {
		t.Errorf("%s\n%s", first, second)
	}
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{})
	body := strings.Replace(fmt.Sprintf(hello, ""), `"max_tokens":1000,`, "", 1)
	_, counted, _ := post(t, s.URL+"/v1/messages/count_tokens", body)
	_, _, _ = post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
	if want := fmt.Sprintf(`{"input_tokens":%d}`, s.Bill().Prompt()); counted != want {
		t.Errorf("counted %s, billed %s", counted, want)
	}
}

func TestHangEndsWithTheClientAndTheServer(t *testing.T) {
	t.Parallel()
	s := New(Script{Steps: []Step{{Hang: true}}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/messages", strings.NewReader(fmt.Sprintf(hello, "")))
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("it answered")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
	}()
	for len(s.Requests()) < 2 {
		time.Sleep(time.Millisecond)
	}
	s.Close()
	<-done
	s.Close()
}

func TestSSEErrorAndRaw(t *testing.T) {
	t.Parallel()
	s := serve(t, Script{Steps: []Step{
		{SSEError: &Error{Type: "overloaded_error", Message: "Overloaded"}, Delay: time.Millisecond, StreamDelay: time.Millisecond},
		{Raw: "<html>", RawType: "text/html"},
		{Text: "s", Plain: &Step{Text: "plain"}},
	}, Side: &Step{Text: "side"}})
	tools := `,"tools":[{"name":"Read","input_schema":{"type":"object"}}]`
	_, a, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, tools+`,"stream":true`))
	_, b, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, tools))
	_, c, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, tools))
	_, d, _ := post(t, s.URL+"/v1/messages", fmt.Sprintf(hello, ""))
	if !strings.HasSuffix(strings.TrimSpace(a), `{"error":{"type":"overloaded_error","message":"Overloaded"},"type":"error"}`) {
		t.Errorf("got %s", a)
	}
	if b != "<html>" || !strings.Contains(c, `"plain"`) || !strings.Contains(d, `"side"`) || len(s.MainRequests()) != 3 {
		t.Errorf("got %s %s %s", b, c, d)
	}
}
