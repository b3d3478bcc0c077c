package calls_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/calls"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

var began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func table(t testing.TB) meter.Table {
	t.Helper()
	p, err := meter.Prices(began)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call is one answer as a provider bills it.
type call struct {
	model                              string
	input, cached, write5, write1, out int64
}

func (c call) context() int64 { return c.input + c.cached + c.write5 + c.write1 }

// transcript writes calls as Claude Code keeps them: an answer stands in a line for each of its parts, the numbers of its
// output growing; between them what the tools gave back.
func transcript(t testing.TB, name string, from int, list []call) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	line := func(v any) {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range list {
		n := from + i
		at := began.Add(time.Duration(n) * time.Second).Format(time.RFC3339Nano)
		common := func(kind string, message any) map[string]any {
			return map[string]any{
				"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": "/work", "sessionId": name, "version": "2.1.332",
				"message": message, "type": kind, "uuid": fmt.Sprint(n), "timestamp": at,
			}
		}
		line(common("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "content": strings.Repeat("x", 300), "usage": map[string]any{"input_tokens": 1 << 40}}}}))
		for part, words := range []string{"text", "tool_use"} {
			out := c.out
			if part == 0 {
				out = 1
			}
			line(common("assistant", map[string]any{
				"model": c.model, "id": fmt.Sprintf("msg_%s_%d", name, n), "type": "message", "role": "assistant",
				"content": []any{map[string]any{"type": words, "text": `"usage":{"input_tokens":999999999}`}},
				"usage": map[string]any{
					"input_tokens": c.input, "cache_read_input_tokens": c.cached, "cache_creation_input_tokens": c.write5 + c.write1, "output_tokens": out,
					"cache_creation": map[string]any{"ephemeral_5m_input_tokens": c.write5, "ephemeral_1h_input_tokens": c.write1}, "service_tier": "standard",
				},
			}))
		}
	}
	return b.Bytes()
}

// execution writes the same calls as a run of ours, as its meter records them.
func execution(t testing.TB, list []call) []byte {
	t.Helper()
	prices := table(t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	line := func(v any) {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	line(engine.RunRecord{Type: engine.TypeRun, Schema: engine.RecordSchema, Engine: engine.Claude, Model: list[0].model, MaxTurns: 200, MaxBudgetUSD: 100, Started: began})
	total := 0.0
	for i, c := range list {
		usd, ok := prices.Cost(c.model, c.input, c.cached, c.write5, c.write1, c.out)
		if !ok {
			t.Fatal(c.model)
		}
		total += usd
		line(engine.CallRecord{
			Type: engine.TypeCall, N: i + 1, Model: c.model, Status: 200, Turn: true, Input: c.input, CachedInput: c.cached,
			CacheWrite5m: c.write5, CacheWrite1h: c.write1, Output: c.out, CostUSD: usd, Basis: engine.BasisUsage,
		})
	}
	line(engine.EndRecord{Type: engine.TypeEnd, Ended: engine.Finished, Turns: len(list), Calls: len(list), CostUSD: total, CostBasis: "meter"})
	return b.Bytes()
}

// mixed are n calls of several models, warm and cold, whose contexts are 1, 2, 3, ... thousand tokens, then back to one.
func mixed(n int) []call {
	var list []call
	for i := range n {
		c := call{model: "claude-opus-5-5", input: int64(3 + i%7), out: int64(100 + i%900)}
		context := int64(1000 * (1 + i%200))
		if i%11 == 0 {
			c.model = "claude-haiku-4-5"
		}
		if c.cached = context - c.input; i%50 == 0 {
			c.cached, c.write5 = 0, context-c.input
		}
		if i%13 == 0 {
			c.write1, c.cached = c.cached/2, c.cached-c.cached/2
		}
		list = append(list, c)
	}
	return list
}

func sum(u *calls.Use) (int64, float64) {
	n, usd := chunk.Gate{Use: u.Logs}.Sum()
	if n == nil || usd == nil {
		return -1, -1
	}
	return *n, *usd
}

// TestTranscriptsAgreeWithTheMeter: the same calls, read from transcripts and from a run's own records, to the cent.
func TestTranscriptsAgreeWithTheMeter(t *testing.T) {
	t.Parallel()
	list := mixed(1000)
	fsys := fstest.MapFS{
		"project/a.jsonl":             {Data: transcript(t, "a", 0, list[:400])},
		"project/b.jsonl":             {Data: append(transcript(t, "a", 0, list[:400]), transcript(t, "b", 400, list[400:])...)}, // a resumed session begins with a copy
		"project/notes.txt":           {Data: []byte("{")},
		"project/broken.jsonl":        {Data: []byte("{\"type\":\"assistant\",\"message\":{\"id\":\"x\",\"usa\nnull\n[]\n")},
		"project/sub/agent-old.jsonl": {Data: []byte(`{"type":"assistant","timestamp":"2026-11-29T00:00:00Z","message":{"id":"old","model":"claude-opus-5-5","usage":{"input_tokens":5000000}}}`)},
	}
	price := table(t).Cost
	got, err := calls.Transcripts(fsys, began, price)
	if err != nil {
		t.Fatal(err)
	}
	data := execution(t, list)
	metered, err := calls.Execution(bytes.NewReader(data), int64(len(data)), usage.Options{Price: price})
	if err != nil {
		t.Fatal(err)
	}
	n, usd := sum(&got)
	m, dollars := sum(&metered)
	if n != 1000 || m != 1000 || math.Abs(usd-dollars) > 0.005 || dollars < 1 {
		t.Errorf("transcripts: %d calls, $%.4f; meter: %d calls, $%.4f", n, usd, m, dollars)
	}
	if len(got.Logs) != 2 || got.Logs[0].Calls != 400 || got.Logs[1].Calls != 600 {
		t.Errorf("%+v", got.Logs)
	}
	if a, b := *got.Median(), *metered.Median(); a != b || a != 100_500 {
		t.Errorf("median %d and %d", a, b)
	}
	if a, b := *got.Last(), *metered.Last(); a != b || a != list[999].context() {
		t.Errorf("last %d and %d, want %d", a, b, list[999].context())
	}
}

func TestWhatIsNotKnownStaysSo(t *testing.T) {
	t.Parallel()
	price := table(t).Cost
	none, err := calls.Transcripts(fstest.MapFS{"a.jsonl": {Data: []byte("\n")}}, began, price)
	if err != nil || len(none.Logs) != 0 || none.Median() != nil || none.Last() != nil {
		t.Errorf("%+v, %v", none, err)
	}
	u, err := calls.Transcripts(fstest.MapFS{
		"a.jsonl": {Data: transcript(t, "a", 0, []call{{model: "nobody-knows-1", input: 5, out: 5}})},
		"b.jsonl": {Data: transcript(t, "b", 5, []call{{model: "claude-opus-5-5", input: 7, out: 5}})},
	}, time.Time{}, price)
	if n, usd := (chunk.Gate{Use: u.Logs}).Sum(); err != nil || *n != 2 || usd != nil || *u.Last() != 7 {
		t.Errorf("%d, %v, %v", *n, usd, err)
	}
	side := bytes.ReplaceAll(transcript(t, "s", 9, []call{{model: "claude-opus-5-5", input: 900, out: 5}}), []byte(`"isSidechain":false`), []byte(`"isSidechain":true`))
	u, err = calls.Transcripts(fstest.MapFS{"a.jsonl": {Data: transcript(t, "a", 0, []call{{model: "claude-opus-5-5", input: 7, out: 5}})}, "s.jsonl": {Data: side}}, began, price)
	if n, _ := sum(&u); err != nil || n != 2 || *u.Last() != 7 || *u.Median() != 7 { // a helper's context is not the conversation's
		t.Errorf("%d calls, last %d, %v", n, *u.Last(), err)
	}
	synthetic := bytes.ReplaceAll(transcript(t, "a", 0, []call{{model: "x", input: 7}}), []byte(`"x"`), []byte(`"<synthetic>"`))
	if u, err = calls.Transcripts(fstest.MapFS{"a.jsonl": {Data: synthetic}}, began, price); err != nil || len(u.Logs) != 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestVendorExecutionFiles: the dollars are the file's own, the contexts those of its answers.
func TestVendorExecutionFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		calls int64
		usd   bool
	}{
		"claude-success-3-turns.jsonl": {3, true}, "action-success-3-turns.json": {3, true}, "codex-ok.jsonl": {0, false},
	} {
		file := filepath.Join("..", "..", "..", "testdata", "cases", "engine-logs", name)
		data, err := os.ReadFile(file)
		if os.IsNotExist(err) && name == "codex-ok.jsonl" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		u, err := calls.Execution(bytes.NewReader(data), int64(len(data)), usage.Options{Price: table(t).Cost})
		if err != nil || len(u.Logs) != 1 || u.Logs[0].Calls != want.calls || (u.Logs[0].CostUSD != nil) != want.usd || u.Last() == nil {
			t.Errorf("%s: %+v, %v, %v", name, u.Logs, u.Last(), err)
		}
		again, _ := calls.Execution(bytes.NewReader(data), int64(len(data)), usage.Options{})
		if again.Logs[0].Key != u.Logs[0].Key {
			t.Errorf("%s: its key changes", name)
		}
	}
}

// TestFiftyThousandCalls adds up many calls to the cent. With CHUNK_BENCH=1 (make bench-chunk), where nothing else runs,
// they are 50,000 and two seconds are the limit; else a tenth of that.
func TestFiftyThousandCalls(t *testing.T) {
	t.Parallel()
	each := 500
	if os.Getenv("CHUNK_BENCH") != "" {
		each = 5000
	}
	list := mixed(10 * each)
	fsys := fstest.MapFS{}
	size := 0
	for i := range 10 {
		data := transcript(t, fmt.Sprint(i), i*each, list[i*each:(i+1)*each])
		fsys[fmt.Sprintf("%d.jsonl", i)] = &fstest.MapFile{Data: data}
		size += len(data)
	}
	price := table(t).Cost
	start := time.Now()
	u, err := calls.Transcripts(fsys, began, price)
	took := time.Since(start)
	n, usd := sum(&u)
	t.Logf("%d calls in %d MB: %v, $%.2f, median context %d", n, size>>20, took, usd, *u.Median())
	if err != nil || int(n) != len(list) {
		t.Errorf("%d calls, %v", n, err)
	}
	want := 0.0
	for _, c := range list {
		x, _ := price(c.model, c.input, c.cached, c.write5, c.write1, c.out)
		want += x
	}
	if math.Abs(usd-want) > 0.005 {
		t.Errorf("$%.4f, want $%.4f", usd, want)
	}
	if os.Getenv("CHUNK_BENCH") != "" && took > 2*time.Second {
		t.Errorf("it takes %v", took)
	}
}

// conversation are the calls of a session that starts with f tokens and grows by g with each call: the assumptions of
// session.FreshUSD, played.
func conversation(model string, f, g, out int64, n int) []call {
	list := []call{{model: model, write5: f, out: out}}
	for i := range n - 1 {
		list = append(list, call{model: model, cached: f + int64(i)*g, write5: g, out: out})
	}
	return list
}

// TestTheTwoSessions reproduces what the page on sessions begins with: two sessions made the same six pull requests for
// $316 and $82, and a night of 15 hours cost $56. The page gives the sums, the 983,000 tokens on Opus 5 and the 30 ticks of
// three calls; a large coding task starts with 60,000 tokens and writes 600 a call (the profile of the same page). One
// growth, 1,000 tokens a call, gives all three sums.
func TestTheTwoSessions(t *testing.T) {
	t.Parallel()
	opus5 := session.Price{Write: 6.25, Read: 0.5, Output: 25}
	opus55 := session.Price{Write: 5, Read: 0.2, Output: 20}
	work := session.Profile{FreshTokens: 60_000, GrowthTokens: 1_000, OutputTokens: 600}
	const dear, cheap = 924, 771 // calls: up to 983,000 tokens, and what $82 pay for
	tick := session.Profile{NewTokens: 500, ResumedTurns: 3, GrowthTokens: 700, OutputTokens: 150}
	warm, cold := session.ResumedUSD(983_000, tick, opus5)
	night := 28*warm + 2*cold // twice in the night the cache had run out

	work.FreshTurns = dear
	first := session.FreshUSD(work, opus5)
	work.FreshTurns = cheap
	second := session.FreshUSD(work, opus55)
	for name, x := range map[string][2]float64{"the night": {night, 56}, "the first session": {first + night, 316}, "the second session": {second, 82}} {
		if math.Abs(x[0]-x[1]) > 0.01*x[1] {
			t.Errorf("%s: $%.2f, the page says $%.0f", name, x[0], x[1])
		}
	}
	// Calls that are played so cost the same by the report.
	price := table(t).Cost
	var idle []call
	for i := range 30 {
		c := call{model: "claude-opus-5", cached: 983_000, write5: 500, out: 150}
		if i == 10 || i == 20 {
			c.cached, c.write5 = 0, 983_500
		}
		idle = append(idle, c, call{model: "claude-opus-5", cached: 983_500, write5: 700, out: 150}, call{model: "claude-opus-5", cached: 984_200, write5: 700, out: 150})
	}
	for name, x := range map[string]struct {
		list []call
		want float64
		last int64
	}{
		"first":  {append(conversation("claude-opus-5", 60_000, 1_000, 600, dear), idle...), first + night, 984_900},
		"second": {conversation("claude-opus-5-5", 60_000, 1_000, 600, cheap), second, 830_000},
	} {
		u, err := calls.Transcripts(fstest.MapFS{"s.jsonl": {Data: transcript(t, name, 0, x.list)}}, began, price)
		n, usd := sum(&u)
		if err != nil || int(n) != len(x.list) || math.Abs(usd-x.want) > 0.005 || *u.Last() != x.last {
			t.Errorf("%s: %d calls, $%.4f, want $%.4f, last %d, %v", name, n, usd, x.want, *u.Last(), err)
		}
	}
	// What the gate makes of both: neither would have gone on so long, and the night would have cost nothing.
	if l := chunk.DefaultLimits(); dear <= l.Calls || cheap <= l.Calls || second <= l.CostUSD {
		t.Errorf("the limits %+v would not have ended them", l)
	}
}

func FuzzTranscripts(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","model":"claude-opus-5-5","usage":{"input_tokens":5,"output_tokens":1e99}},"timestamp":"x"}`))
	f.Add(transcript(f, "a", 0, mixed(3)))
	f.Add(execution(f, mixed(3)))
	price := table(f).Cost
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := calls.Transcripts(fstest.MapFS{"a.jsonl": {Data: data}}, time.Time{}, price)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range u.Logs {
			if l.Calls < 1 || (l.CostUSD != nil && (*l.CostUSD < 0 || math.IsNaN(*l.CostUSD))) {
				t.Fatalf("%+v", l)
			}
		}
		if m := u.Median(); m != nil && *m < 0 {
			t.Fatal(*m)
		}
		_, _ = calls.Execution(bytes.NewReader(data), int64(len(data)), usage.Options{Price: price})
	})
}
