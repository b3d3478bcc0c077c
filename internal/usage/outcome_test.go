package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// TestOutcomesThatCannotBeRead: a field that says whether the run failed, and that is there and unreadable, proves
// neither a finished run nor a reason. A missing is_error is none, as older logs have it.
func TestOutcomesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const (
		claude = `{"type":"result","subtype":"success",%s"num_turns":3,"session_id":"s","result":"x","structured_output":{}}`
		stream = `{"type":"init","model":"m"}` + "\n" + `{"type":"message","role":"assistant","content":"x"}` + "\n" + `{"type":"result",%s"stats":{}}`
		object = `{"session_id":"s","response":"x",%s"stats":{}}`
	)
	type outcome struct {
		template, field string
		want            engine.Ended
	}
	cases := []outcome{
		{claude, ``, engine.Finished},
		{claude, `"is_error":false,`, engine.Finished},
		{claude, `"is_error":true,"is_error":false,`, engine.Finished}, // the last one counts
		{claude, `"is_error":false,"is_error":"yes",`, engine.Unfinished},
		{claude, `"IS_ERROR":true,`, engine.Finished},
		{claude, `"is_error":true,`, engine.ProviderError},
		{claude, `"is_error":"yes","api_error_status":529,`, engine.ProviderError},
		{stream, `"status":"success",`, engine.Finished},
		{stream, `"status":"success","error":null,`, engine.Finished},
		{stream, `"status":"success","error":"x",`, engine.Unfinished},
		{stream, `"status":"success","error":{"code":429},`, engine.RateLimited},
		{stream, `"status":"error",`, engine.ProviderError},
		{stream, `"status":"Success",`, engine.Unfinished},
		{object, ``, engine.Finished},
		{object, `"error":null,`, engine.Finished},
		{object, `"error":{"code":429},`, engine.RateLimited},
	}
	for _, bad := range []string{`null`, `"yes"`, `"false"`, `0`, `1`, `{}`, `[]`, `[false]`, `"` + strings.Repeat("x", 100) + `"`} {
		cases = append(cases, outcome{claude, `"is_error":` + bad + `,`, engine.Unfinished})
		if bad != `{}` {
			cases = append(cases, outcome{stream, `"status":` + bad + `,`, engine.Unfinished})
		}
		if bad != `null` && bad != `{}` {
			cases = append(cases, outcome{object, `"error":` + bad + `,`, engine.Unfinished})
		}
	}
	for _, c := range cases {
		run := readText(t, fmt.Sprintf(c.template, c.field))
		if run.Ended != c.want {
			t.Errorf("%s in %.30s: %s, want %s", c.field, c.template, run.Ended, c.want)
		}
		if line := Line(run); c.want == engine.Unfinished && strings.Contains(line, "success") {
			t.Errorf("%s: %q", c.field, line)
		}
	}
}

// TestItemsOfUnknownKinds: a text before a tool call is no answer, whatever the tool.
func TestItemsOfUnknownKinds(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]engine.Ended{
		`{"type":"reasoning"}`: engine.Finished, `{"type":"todo_list"}`: engine.Finished, `"x"`: engine.Finished,
		`{"type":"mcp_tool_call"}`: engine.NoAnswer, `{"type":"tool_of_tomorrow"}`: engine.NoAnswer, `{"type":7}`: engine.NoAnswer,
	} {
		run := readText(t, `{"type":"thread.started","thread_id":"t"}`+"\n"+
			`{"type":"item.completed","item":{"type":"agent_message","text":"x"}}`+"\n"+
			`{"type":"item.completed","item":`+item+`}`+"\n"+`{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":1}}`+"\n")
		if run.Ended != want {
			t.Errorf("%s: %s, want %s", item, run.Ended, want)
		}
	}
}
