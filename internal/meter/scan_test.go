package meter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRequest holds the reader of requests against the standard decoder: what it accepts is JSON, it never counts less
// text than there is, and what it writes is JSON with the max tokens that were granted.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hello \u00e9\n"}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","data":"QUJD"}},{"type":"text","text":"b"}]}]}],"system":"s","tools":[{"name":"n","input_schema":{"a":[1,2.5e3,null,true]}}]}`,
		`{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":4000,"model":"m","messages":[{"role":"system","content":"x"}]}`,
		`{"model":"m","model":"n"}`, `{"a":"\ud800"}`, `[`, `{"model":"m","max_tokens":10,"messages":[{"role":"assistant","content":[]}] }`,
	} {
		f.Add([]byte(s))
	}
	api := anthropicAPI{newHasher()}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := api.parse(anthropicPath, http.Header{}, body)
		if err != nil {
			return
		}
		var v map[string]any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("accepted what is not JSON: %v", err)
		}
		if v["model"] != r.model {
			t.Fatalf("model %q, the standard decoder reads %v", r.model, v["model"])
		}
		var bound int64
		for _, b := range r.blocks {
			if b.bound < 0 {
				t.Fatalf("a bound of %d", b.bound)
			}
			bound += b.bound
		}
		if text := texts(v["messages"]) + texts(v["system"]); bound < text {
			t.Fatalf("bound %d, %d bytes of text", bound, text)
		}
		out := api.body(r, 2048, true)
		var w map[string]any
		if err := json.Unmarshal(out, &w); err != nil {
			t.Fatalf("wrote what is not JSON: %v\n%s", err, out)
		}
		if w["max_tokens"] != 2048.0 || w["model"] != v["model"] || !reflect.DeepEqual(w["tools"], v["tools"]) {
			t.Fatalf("wrote %s", out)
		}
		if !strings.Contains(string(out), LastNote) && len(r.blocks) > 0 && v["messages"] != nil {
			t.Fatalf("no note in %s", out)
		}
		if ask := api.count(r); !json.Valid(ask.body) {
			t.Fatalf("asks for a count with %s", ask.body)
		}
	})
}

// texts is the number of bytes of the texts that a message surely sends.
func texts(v any) (n int64) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			n += texts(x)
		}
	case map[string]any:
		if s, ok := v["text"].(string); ok {
			n += int64(len(s))
		}
		if s, ok := v["content"].(string); ok {
			n += int64(len(s))
		}
	case string:
		n = int64(len(v))
	}
	return n
}

// FuzzAnswer: whatever a provider sends, reading it ends, tells no negative numbers, and does not depend on how it comes
// in pieces.
func FuzzAnswer(f *testing.F) {
	stream := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\r\r" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	f.Add(stream, 3, true)
	f.Add(`{"type":"message","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":5,"output_tokens":7}}`, 10, false)
	f.Add("data: {\ndata: \"type\":\"error\"}\n\n", 1, true)
	api := anthropicAPI{newHasher()}
	f.Fuzz(func(t *testing.T, body string, at int, streamed bool) {
		kind := "application/json"
		if streamed {
			kind = "text/event-stream"
		}
		read := func(pieces ...string) answer {
			r := api.reader(nil, kind)
			for _, p := range pieces {
				_, _ = r.Write([]byte(p))
			}
			return r.answer(true)
		}
		whole := read(body)
		at = max(0, min(at, len(body)))
		if parts := read(body[:at], body[at:]); !reflect.DeepEqual(whole, parts) {
			t.Fatalf("in one piece %+v, in two %+v", whole, parts)
		}
		u := whole.usage
		if u.Input < 0 || u.CachedInput < 0 || u.CacheWrite5m < 0 || u.CacheWrite1h < 0 || u.Output < 0 {
			t.Fatalf("usage %+v", u)
		}
		if whole.final && (!whole.turn || u.Prompt() == 0 || u.Output == 0) {
			t.Fatalf("final without an answer: %+v", whole)
		}
	})
}

func TestReaderOfAnswers(t *testing.T) {
	t.Parallel()
	const start = `{"type":"message_start","message":{"model":"m-1","usage":%s}}`
	const end = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":%s}`
	for name, tt := range map[string]struct {
		start, end string
		extra      string
		final      bool
		want       Usage
	}{
		"plain":             {start: `{"input_tokens":5,"output_tokens":1}`, end: `{"output_tokens":9}`, final: true, want: Usage{Input: 5, Output: 9}},
		"all at the end":    {start: `null`, end: `{"input_tokens":5,"output_tokens":9}`, final: true, want: Usage{Input: 5, Output: 9}},
		"split":             {start: `{"input_tokens":1,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5}}`, end: `{"output_tokens":9}`, final: true, want: Usage{Input: 1, CacheWrite5m: 4, CacheWrite1h: 5, Output: 9}},
		"split lacks some":  {start: `{"input_tokens":1,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":5}}`, end: `{"output_tokens":9}`, final: true, want: Usage{Input: 1, CacheWrite1h: 9, Output: 9}},
		"searches":          {start: `{"input_tokens":1}`, end: `{"output_tokens":9,"server_tool_use":{"web_search_requests":2}}`, final: true, want: Usage{Input: 1, Output: 9, Searches: 2}},
		"no end":            {start: `{"input_tokens":5,"output_tokens":1}`, end: `null`, want: Usage{Input: 5, Output: 1}},
		"falls":             {start: `{"input_tokens":500}`, end: `{"input_tokens":5,"output_tokens":9}`, want: Usage{Input: 5, Output: 9}},
		"negative":          {start: `{"input_tokens":-5}`, end: `{"output_tokens":9}`, want: Usage{Output: 9}},
		"a string":          {start: `{"input_tokens":"5"}`, end: `{"output_tokens":9}`, want: Usage{Output: 9}},
		"a fraction":        {start: `{"input_tokens":5.5}`, end: `{"output_tokens":9}`, want: Usage{Output: 9}},
		"wrong case":        {start: `{"INPUT_TOKENS":5}`, end: `{"output_tokens":9}`, want: Usage{Output: 9}},
		"no output":         {start: `{"input_tokens":5}`, end: `{"output_tokens":0}`, want: Usage{Input: 5}},
		"several calls":     {start: `{"input_tokens":5}`, end: `{"output_tokens":9,"iterations":[{},{}]}`, want: Usage{Input: 5, Output: 9}},
		"less than seen":    {start: `{"input_tokens":5}`, end: `{"output_tokens":9}`, extra: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("x", 200) + `"}}`, want: Usage{Input: 5, Output: 9}},
		"an error midway":   {start: `{"input_tokens":5}`, end: `{"output_tokens":9}`, extra: `{"type":"error","error":{}}`, want: Usage{Input: 5, Output: 9}},
		"unknown event":     {start: `{"input_tokens":5}`, end: `{"output_tokens":9}`, extra: `{"type":"new_thing"}`, final: true, want: Usage{Input: 5, Output: 9}},
		"not JSON, ignored": {start: `{"input_tokens":5}`, end: `{"output_tokens":9}`, extra: `x`, final: true, want: Usage{Input: 5, Output: 9}},
	} {
		r := anthropicAPI{newHasher()}.reader(nil, "text/event-stream; charset=utf-8")
		for _, data := range []string{fmt.Sprintf(start, tt.start), tt.extra, fmt.Sprintf(end, tt.end), `{"type":"message_stop"}`} {
			_, _ = fmt.Fprintf(r, "event: x\ndata: %s\n\n", data)
		}
		a := r.answer(true)
		if a.final != tt.final || a.usage != tt.want || a.model != "m-1" || a.stop != "end_turn" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestASecondStartIsNotBelieved: it would hide what the first one said.
func TestASecondStartIsNotBelieved(t *testing.T) {
	t.Parallel()
	r := anthropicAPI{newHasher()}.reader(nil, "text/event-stream")
	const start = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":%d}}}\n\n"
	_, _ = fmt.Fprintf(r, start+start, 50_000, 5)
	_, _ = fmt.Fprint(r, "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
	if a := r.answer(true); a.final || a.turn {
		t.Errorf("%+v", a)
	}
}

// TestTextLen: a raw string is never counted shorter than it is decoded.
func TestTextLen(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`""`, `"abc"`, `"a\nb\"\\\/"`, `"\u00e9"`, `"é"`, `"\u4e2d中"`, `"\ud83d\ude00"`, `"\ud800"`, `"\ud800\u0041"`, `"\u0000"`} {
		var s string
		if err := json.Unmarshal([]byte(raw), &s); err != nil || !utf8.ValidString(s) {
			t.Fatal(err)
		}
		got := textLen([]byte(raw))
		if got < int64(len(s)) || !strings.Contains(raw, `\u`) && got != int64(len(s)) {
			t.Errorf("%s: %d, decoded %d", raw, got, len(s))
		}
		if text([]byte(raw)) != s {
			t.Errorf("%s: %q, want %q", raw, text([]byte(raw)), s)
		}
	}
}

// TestKnownSets: what an answered call says about one conversation says nothing about another, and a block counts as
// often as it was seen.
func TestKnownSets(t *testing.T) {
	t.Parallel()
	b := func(name string, n int64) block { return block{key: key{uint64(len(name)), uint64(name[0])}, bound: n} }
	big, small, rule := b("big", 100_000), b("s", 1000), b("rules", 500)
	var k known
	if got := k.bound([]block{rule, small}).tokens; got != 1500+2*perBlock+perRequest {
		t.Errorf("nothing known: %d", got)
	}
	k.learn([]block{rule, big}, []block{b("answer", 50)}, 30_000)
	k.learn([]block{rule, small}, nil, 400)
	for name, tt := range map[string]struct {
		blocks []block
		want   int64
	}{
		"the first again":     {[]block{rule, big}, 30_000 + perRequest},
		"with its answer":     {[]block{rule, big, b("answer", 50)}, 30_000 + perRequest},
		"the side one again":  {[]block{rule, small}, 400 + perRequest},
		"both in one":         {[]block{rule, big, small}, 30_000 + 1000 + perBlock + perRequest},
		"the same block more": {[]block{rule, small, small, small}, 400 + 2*(1000+perBlock) + perRequest},
		"something new":       {[]block{rule, small, b("new-one", 70)}, 400 + 70 + perBlock + perRequest},
	} {
		if got := k.bound(tt.blocks).tokens; got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	for i := range 3 * maxSets {
		k.learn([]block{b(strings.Repeat("x", 10+i), 1)}, nil, int64(i))
	}
	if len(k.sets) > maxSets {
		t.Errorf("%d sets", len(k.sets))
	}
}

func TestHiddenThinkingReturnsAtItsTokens(t *testing.T) {
	t.Parallel()
	var k known
	thought := block{key: key{1, 2}, bound: 80, hidden: true}
	k.hide([]block{thought}, 6000)
	if got := k.bound([]block{{key: key{1, 2}, bound: 80}}).tokens; got != 6000+perBlock+perRequest {
		t.Errorf("bound %d", got)
	}
}
