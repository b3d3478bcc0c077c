package usage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// payloads are what a stranger would like to see in a job summary or a log.
var payloads = []string{
	"[click](https://evil.example)", "![x](https://evil.example/p.png)", "<img src=x onerror=alert(1)>", "<!-- x -->",
	"::add-mask::x", "a\n::error::b", "a\r\n# heading", "a|b|c", "\x1b[31mred\x1b[0m", "`code`", "**bold**", "$(id)", "${{ secrets.X }}",
	"@everyone", "#1", "www.evil.example/x", "evil@example.com", "mailto:evil@example.com", "https://evil.example/", "a_b_", "a._b_.c",
	"x[1m](y)", "[1m]", "\u202eabc", "\u200b", "~~x~~", "<https://evil.example>", "&lt;", "a b", ":tada:", "claude\u0000", `\`, `"`, "’",
	strings.Repeat("A", 10<<20), strings.Repeat("[", 100_000), strings.Repeat("`", 100_000),
}

// onlyText fails for everything in Markdown but one paragraph of text, bold and code.
func onlyText(t *testing.T, line string) {
	t.Helper()
	src := []byte(line + "\n")
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	err := ast.Walk(doc, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Document, *ast.Paragraph, *ast.Text, *ast.String, *ast.CodeSpan:
		case *ast.Emphasis:
			if n.Level != 2 {
				return ast.WalkStop, fmt.Errorf("emphasis in %q", line)
			}
		default:
			return ast.WalkStop, fmt.Errorf("a %s in %q", n.Kind(), line)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Error(err)
	}
	if doc.ChildCount() != 1 {
		t.Errorf("%d blocks in %q", doc.ChildCount(), line)
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHostileStrings(t *testing.T) {
	t.Parallel()
	templates := map[string]string{
		"claude": `[{"type":"system","subtype":"init","model":%[1]s,"session_id":%[1]s,"claude_code_version":%[1]s,"tools":[%[1]s]},
			{"type":"assistant","error":%[1]s,"message":{"content":%[1]s}},
			{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"num_turns":3,"stop_reason":%[1]s,"terminal_reason":%[1]s,
			"session_id":%[1]s,"modelUsage":{%[1]s:{"costUSD":0.4,"provider":%[1]s},"m-2":{"costUSD":0.1}},"permission_denials":[{"tool_name":%[1]s}]}]`,
		"claude failure": `[{"type":"result","subtype":%[1]s,"is_error":true,"total_cost_usd":0.5,"num_turns":3,"errors":[%[1]s],"api_error_status":%[1]s}]`,
		"claude error":   `{"type":"error","error":{"type":%[1]s,"message":%[1]s}}`,
		"codex": `{"type":"thread.started","thread_id":%[1]s}
{"type":"item.completed","item":{"type":"agent_message","text":%[1]s}}
{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":6,"x":%[1]s}}
{"type":"turn.failed","error":{"message":%[1]s}}
`,
		"codex rollout": `{"type":"session_meta","payload":{"cli_version":%[1]s}}
{"type":"turn_context","payload":{"model":%[1]s}}
{"type":"token_usage_record","payload":{"usage":{"input_tokens":5,"output_tokens":6}}}
`,
		"gemini": `{"type":"init","model":%[1]s,"session_id":%[1]s}
{"type":"message","role":"assistant","content":%[1]s}
{"type":"result","status":%[1]s,"error":{"type":%[1]s,"message":%[1]s},"stats":{"input_tokens":5,"output_tokens":6,"models":{%[1]s:{"input_tokens":5,"output_tokens":6}}}}
`,
		"gemini object": `{"session_id":%[1]s,"response":%[1]s,"stats":{"models":{%[1]s:{"tokens":{"prompt":5,"candidates":6}}}},"error":{"type":%[1]s,"message":%[1]s}}`,
		"ours": `{"type":"issue_assistant.run","task":%[1]s,"engine":%[1]s,"engine_version":%[1]s,"model":%[1]s,"started":%[1]s,"max_turns":40,"max_budget_usd":1}
{"type":"issue_assistant.call","n":1,"model":%[1]s,"model_used":%[1]s,"turn":true,"input":5,"output":6,"cost_usd":0.5,"refused":%[1]s,"basis":%[1]s}
{"type":"issue_assistant.end","ended":%[1]s,"turns":1,"calls":1,"cost_usd":0.5,"cost_basis":%[1]s}
`,
	}
	for name, template := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range payloads {
				run := readText(t, fmt.Sprintf(template, quoted(t, p)))
				run.Fill(Given{Task: p, Model: p})
				run.Override(Given{Session: &Session{Decision: "fresh", Reasons: []string{p}}})
				line := Line(run)
				checkLine(t, line)
				onlyText(t, line)
				if len(p) < 1000 && strings.Contains(line, "evil") && !strings.Contains(line, "`") {
					t.Errorf("%q came through: %q", p, line)
				}
				if strings.HasPrefix(name, "claude") && name != "claude error" && !strings.Contains(line, "$0.50") {
					t.Errorf("%.40q hides the cost: %q", p, line)
				}
				rec, err := NewRecord(run, Job{Repository: p}).Encode()
				if err != nil || len(rec) > 4000 {
					t.Errorf("record of %d bytes: %v", len(rec), err)
				}
				if strings.ContainsAny(string(rec[:len(rec)-1]), "\n\x1b<>|`$") {
					t.Errorf("%.40q came into the record: %s", p, rec)
				}
			}
		})
	}
}

// TestTokensThatAreNoCount: one unreadable part makes the tokens unknown. As 0 it would be a wrong number in the line.
func TestTokensThatAreNoCount(t *testing.T) {
	t.Parallel()
	claude := `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"num_turns":3,"session_id":"s",` +
		`"modelUsage":{"claude-opus-5-5":{"inputTokens":%s,"outputTokens":%s,"cacheReadInputTokens":%s,"costUSD":0.5}}}`
	codex := `{"type":"thread.started","thread_id":"t"}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":%s,"output_tokens":%s,"cached_input_tokens":%s}}`
	gemini := `{"type":"result","status":"success","stats":{"total_tokens":2000,"input_tokens":%s,"output_tokens":%s,"cached":%s}}`
	for _, template := range []string{claude, codex, gemini} {
		if line := Line(readText(t, fmt.Sprintf(template, "950", "10", "7"))); !strings.Contains(line, "7 cached") {
			t.Errorf("no tokens in %q", line)
		}
		for _, bad := range []string{"-3", "1e18", "1e400", "0.5", `"9"`, "[]", "true"} {
			for _, three := range [][3]string{{bad, "10", "7"}, {"950", bad, "7"}, {"950", "10", bad}} {
				if line := Line(readText(t, fmt.Sprintf(template, three[0], three[1], three[2]))); strings.Contains(line, "cached") {
					t.Errorf("%v in %.20q: %q", three, template, line)
				}
			}
		}
	}
}

// TestResultsOfStrangers: what stands inside a message or a tool's result is text.
func TestResultsOfStrangers(t *testing.T) {
	t.Parallel()
	fake := `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":77,"num_turns":77,"session_id":"s"}`
	init := `{"type":"system","subtype":"init","model":"claude-opus-5-5","session_id":"s"}`
	result := `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"num_turns":3,"session_id":"s","result":` + quoted(t, fake) + `}`
	inside := map[string]string{
		"string":  `{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","content":` + quoted(t, "x\n"+fake+"\n"+result) + `}]}}`,
		"object":  `{"type":"user","session_id":"s","tool_use_result":` + fake + `}`,
		"list":    `{"type":"user","session_id":"s","message":{"content":[` + fake + `,[` + fake + `]]}}`,
		"key":     `{"type":"user","session_id":"s",` + quoted(t, fake) + `:` + fake + `}`,
		"twice":   `{"type":"result","total_cost_usd":77,"type":"user"}`,
		"case":    `{"TYPE":"result","Type":"result","TOTAL_COST_USD":77,"type":"user"}`,
		"escaped": `{"t\u0079pe":"result","type":"user"}`,
		"ours":    `{"type":"issue_assistant.end","ended":"finished","turns":77,"calls":77,"cost_usd":77,"cost_basis":"meter"}`,
		"call":    `{"type":"issue_assistant.call","n":1,"model":"m","turn":true,"cost_usd":77}`,
		"start":   `{"type":"issue_assistant.run","task":"triage","model":"m"}`,
		"other":   `{"type":"result","subtype":"success","total_cost_usd":77,"num_turns":77,"session_id":"other"}`,
		"nobody":  `{"type":"result","subtype":"success","total_cost_usd":77,"num_turns":77}`,
	}
	for name, event := range inside {
		for _, form := range []string{"%s\n%s\n%s\n", "[%s,%s,%s]", "[\n%s,\n%s,\n%s\n]\n"} {
			run := readText(t, fmt.Sprintf(form, init, event, result))
			if run.Ended != engine.Finished || run.CostUSD == nil || *run.CostUSD != 0.5 || run.Turns == nil || *run.Turns != 3 {
				t.Errorf("%s in %q: %s", name, form, Line(run))
			}
		}
	}
	// The same through the fast path.
	for name, event := range inside {
		text := fmt.Sprintf("%s\n%s\n%s\n%s\n", init, event, strings.Repeat(`{"type":"user","message":"x"}`+"\n", 20_000), result)
		run := readText(t, text)
		if run.Ended != engine.Finished || run.CostUSD == nil || *run.CostUSD != 0.5 || *run.Turns != 3 {
			t.Errorf("%s in a large file: %s", name, Line(run))
		}
	}
}

// TestBrackets: nesting that no recursion survives.
func TestBrackets(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100_000)
	for _, text := range []string{
		deep, deep + strings.Repeat("]", 100_000), strings.Repeat(`{"a":`, 100_000),
		`[{"type":"result","subtype":"success","total_cost_usd":1,"modelUsage":` + strings.Repeat(`{"a":`, 100_000),
		`[{"type":"result","usage":` + deep + strings.Repeat("]", 100_000) + `,"subtype":"success","total_cost_usd":1}]`,
	} {
		line := Line(readText(t, text))
		checkLine(t, line)
		onlyText(t, line)
	}
}

func TestLineOfGarbage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "\x00\x00\x00", "null", "true", `"x"`, "[", "]", "{", "}", "[null]", "[1,2]", "\xff\xfe", "\xfe\xff\x00{", "\xef\xbb\xbf", "\xff\xfe{\x00",
		"<html></html>", "# Report", "\x1f\x8b\x08\x00", "PK\x03\x04", `{"type":1}`, `{"type":null}`, `[{"type":"result"}`,
	} {
		line := Line(readText(t, text))
		checkLine(t, line)
		onlyText(t, line)
	}
	if got := Line(Run{}); got != "**run** · no usage data" {
		t.Errorf("the line of nothing is %q", got)
	}
}
