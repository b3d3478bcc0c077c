package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

const partInit = `{"type":"system","subtype":"init","model":"m","session_id":%q,"tools":["Read"]}`

func partResult(id, subtype string, usd float64, more string) string {
	return fmt.Sprintf(`{"type":"result","subtype":%q,"is_error":false,"num_turns":1,"duration_ms":1000,"session_id":%q,"total_cost_usd":%g%s}`, subtype, id, usd, more)
}

// TestAPartThatStandsNowhere: where a log says nothing of a part of its run, or more than is kept, sums are unknown and
// the outcome is not that of an earlier part.
func TestAPartThatStandsNowhere(t *testing.T) {
	t.Parallel()
	first := fmt.Sprintf(partInit, "s") + "\n" + partResult("s", "success", 0.1, "") + "\n"
	message := `{"type":"assistant","parent_tool_use_id":null,"message":{"content":[]}}`
	many := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			id, subtype := fmt.Sprint("s", i), "success"
			if i == n-1 {
				subtype = last
			}
			b.WriteString(fmt.Sprintf(partInit, id) + "\n" + partResult(id, subtype, 1, "") + "\n")
		}
		return b.String()
	}
	models := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"m%d":{"inputTokens":10,"outputTokens":1,"costUSD":0.01}`, i))
		}
		return `,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{` + strings.Join(list, ",") + "}"
	}
	codex := `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"turn.started"}` + "\n" +
		`{"type":"item.completed","item":{"type":"agent_message","text":"ok"}}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":200,"output_tokens":50}}` + "\n"
	var threads strings.Builder
	for i := range 65 {
		threads.WriteString(strings.Replace(codex, `"t"`, fmt.Sprintf(`"t%d"`, i), 1))
	}
	long := strings.Repeat("x", 200)
	array := "[" + strings.ReplaceAll(strings.TrimSpace(first), "\n", ",")
	for name, c := range map[string]struct {
		log   string
		ended engine.Ended
		usd   float64 // less than 0: unknown
		in    int64   // the same; tokens that were not read from a cache
	}{
		"one run":                         {first, engine.Finished, 0.1, -1},
		"a second one began":              {first + fmt.Sprintf(partInit, "s") + "\n", engine.Unfinished, -1, -1},
		"another session began":           {first + fmt.Sprintf(partInit, "t") + "\n", engine.Unfinished, -1, -1},
		"it went on":                      {first + message + "\n", engine.Unfinished, -1, -1},
		"cut in the second result":        {first + fmt.Sprintf(partInit, "s") + "\n" + partResult("s", "success", 0.2, "")[:60], engine.Unfinished, -1, -1},
		"a stranger's result closes none": {first + fmt.Sprintf(partInit, "s") + "\n" + partResult("fake", "success", 0, "") + "\n", engine.Unfinished, -1, -1},
		"as many sessions as are kept":    {many(64, "success"), engine.Finished, 64, -1},
		"one session too many":            {many(65, "success"), engine.Finished, -1, -1},
		"and that one failed":             {many(65, "error_max_turns"), engine.Turns, -1, -1},
		"sessions with long names":        {partResult(long+"1", "success", 1, "") + "\n" + partResult(long+"2", "success", 1, "") + "\n", engine.Finished, -1, -1},
		"as many models as are kept":      {partResult("s", "success", 1, models(64)) + "\n", engine.Finished, 1, 640},
		"one model too many":              {partResult("s", "success", 1, models(65)) + "\n", engine.Finished, 1, -1},
		"more models than are read":       {partResult("s", "success", 1, models(3000)) + "\n", engine.Finished, 1, -1},
		"broken inside of one line":       {array + `,{"type":"assistant" "x":1},` + partResult("s", "success", 0.2, "") + "]", engine.Unfinished, -1, -1},
		"Codex":                           {codex, engine.Finished, -1, 800},
		"Codex, second turn failed":       {codex + `{"type":"turn.started"}` + "\n" + `{"type":"turn.failed","error":{"message":"x"}}` + "\n", engine.ProviderError, -1, -1},
		"Codex, second turn killed":       {codex + `{"type":"turn.started"}` + "\n", engine.Unfinished, -1, -1},
		"Codex, failed and gone on": {
			codex + `{"type":"turn.started"}` + "\n" + `{"type":"turn.failed","error":{"message":"x"}}` + "\n" + strings.SplitAfterN(codex, "\n", 2)[1], engine.Finished, -1, 800,
		},
		"Codex, a thread too many":        {threads.String(), engine.Finished, -1, -1},
		"Codex, parts exceed their whole": {strings.Replace(codex, `:1000`, `:100`, 1), engine.Finished, -1, -1},
	} {
		run := readText(t, c.log)
		if run.Ended != c.ended || (run.CostUSD == nil) != (c.usd < 0) || run.CostUSD != nil && *run.CostUSD != c.usd {
			t.Errorf("%s: %s", name, Line(run))
		}
		if (run.Tokens == nil) != (c.in < 0) || run.Tokens != nil && run.Tokens.Input != c.in {
			t.Errorf("%s: tokens %+v, want %d in", name, run.Tokens, c.in)
		}
	}
}

// TestAResumedSessionOfManyResults: its parts are added up as they come, however many they are.
func TestAResumedSessionOfManyResults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(fmt.Sprintf(partInit, "s") + "\n")
	for i := range 200 {
		b.WriteString(partResult("s", "success", float64(100+i), fmt.Sprintf(
			`,"modelUsage":{"m":{"inputTokens":9,"costUSD":%d}},"model_usage_since_last_result":{"m":{"inputTokens":2,"outputTokens":1,"costUSD":1}}`, 100+i)) + "\n")
	}
	if run := readText(t, b.String()); run.CostUSD == nil || *run.CostUSD != 200 || run.Tokens == nil || run.Tokens.Input != 400 {
		t.Errorf("%s", Line(run))
	}
}

func TestATinyLimitIsShort(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{1e-300: "<$0.000001", 9e-7: "<$0.000001", 1e-6: "$0.000001", 0.0025: "$0.0025", 1: "$1.00"} {
		run := readText(t, partResult("s", "success", 0.5, ""))
		run.Override(Given{MaxBudgetUSD: usd})
		if line := Line(run); !strings.Contains(line, " of "+want) || len(line) > 100 {
			t.Errorf("%g: %q", usd, line)
		}
	}
}
