package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

func setup() engine.Setup {
	return engine.Setup{
		CLI: "/tools/claude", Checkout: "/checkout", Material: "/checkout/.issue-assistant/material", Home: "/temp/home",
		RulesFile: "/temp/rules.md", Prompt: []byte("look at issue 12"), Schema: []byte("{\n  \"type\": \"object\"\n}"),
		Model: "claude-opus-5-5", Effort: "high", MaxTurns: 40, MaxBudgetUSD: 0.5, BaseURL: "http://127.0.0.1:1/token",
		Credential: New().Credentials()[0],
	}
}

// TestCommand compares with the whole command line, so that no flag is added or lost without being seen.
func TestCommand(t *testing.T) {
	t.Parallel()
	got, err := New().Command(setup())
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Command{
		Path: "/tools/claude",
		Args: []string{
			"-p", "--output-format", "stream-json", "--verbose", "--restricted", "--tools", "Read,Grep,Glob",
			"--permission-mode", "dontAsk", "--permission-prompts", "none", "--strict-mcp-config", "--setting-sources", "",
			"--disable-slash-commands", "--no-session-persistence", "--append-system-prompt-file", "/temp/rules.md",
			"--model", "claude-opus-5-5", "--max-turns", "40", "--max-budget-usd", "0.5", "--effort", "high",
			"--json-schema", `{"type":"object"}`,
		},
		Env: []string{
			"ANTHROPIC_BASE_URL=http://127.0.0.1:1/token", "ANTHROPIC_API_KEY=sk-ant-api03-the-real-key-is-held-by-the-meter",
			"CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=4", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=16000",
			"CLAUDE_CONFIG_DIR=/temp/home/.claude", "DISABLE_AUTOUPDATER=1",
		},
		Dir: "/checkout", Stdin: []byte("look at issue 12"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCommandVaries(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*engine.Setup)
		args   []string // in a row
		env    string
		stdin  string
		absent string
	}{
		"material elsewhere":  {change: func(s *engine.Setup) { s.Material = "/temp/material" }, args: []string{"--add-dir", "/temp/material"}},
		"material beside":     {change: func(s *engine.Setup) { s.Material = "/checkout-twin" }, args: []string{"--add-dir", "/checkout-twin"}},
		"material inside":     {change: func(*engine.Setup) {}, absent: "--add-dir"},
		"no effort":           {change: func(s *engine.Setup) { s.Effort = "" }, absent: "--effort"},
		"no schema":           {change: func(s *engine.Setup) { s.Schema = nil }, absent: "--json-schema"},
		"thinking budget":     {change: func(s *engine.Setup) { s.Model = "claude-sonnet-4-5" }, env: "MAX_THINKING_TOKENS=4096"},
		"small dollars":       {change: func(s *engine.Setup) { s.MaxBudgetUSD = 0.00001 }, args: []string{"--max-budget-usd", "0.00001"}},
		"a subscription":      {change: func(s *engine.Setup) { s.Credential = New().Credentials()[2] }, env: "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-the-real-token-is-held-by-the-meter", absent: "ANTHROPIC_API_KEY"},
		"command":             {change: func(s *engine.Setup) { s.Prompt = []byte("/cost") }, stdin: "Your task:\n\n/cost"},
		"command after space": {change: func(s *engine.Setup) { s.Prompt = []byte(" \n\t/init") }, stdin: "Your task:\n\n \n\t/init"},
		"command after a BOM": {change: func(s *engine.Setup) { s.Prompt = []byte("\ufeff/init") }, stdin: "Your task:\n\n\ufeff/init"},
		"shell word":          {change: func(s *engine.Setup) { s.Prompt = []byte("!ls") }, stdin: "Your task:\n\n!ls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup()
			test.change(&s)
			got, err := New().Command(s)
			if err != nil {
				t.Fatal(err)
			}
			if len(test.args) > 0 {
				at := slices.Index(got.Args, test.args[0])
				if at < 0 || !slices.Equal(got.Args[at:at+2], test.args) {
					t.Errorf("arguments %q", got.Args)
				}
			}
			if test.env != "" && !slices.Contains(got.Env, test.env) {
				t.Errorf("environment %q", got.Env)
			}
			if test.stdin != "" && string(got.Stdin) != test.stdin {
				t.Errorf("stdin %q", got.Stdin)
			}
			if all := strings.Join(append(got.Args, got.Env...), " "); test.absent != "" && strings.Contains(all, test.absent) {
				t.Errorf("%s stands in %s", test.absent, all)
			}
		})
	}
}

func TestCommandRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*engine.Setup){
		"no model":      func(s *engine.Setup) { s.Model = "" },
		"no turns":      func(s *engine.Setup) { s.MaxTurns = 0 },
		"no budget":     func(s *engine.Setup) { s.MaxBudgetUSD = 0 },
		"broken schema": func(s *engine.Setup) { s.Schema = []byte("{") },
		"long schema":   func(s *engine.Setup) { s.Schema = fmtJSON(strings.Repeat("x", maxSchema)) },
	} {
		s := setup()
		change(&s)
		if c, err := New().Command(s); err == nil {
			t.Errorf("%s: %q", name, c.Args)
		}
	}
}

func fmtJSON(s string) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return data
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for value, refused := range map[string]bool{"": false, "0": false, "false": false, "1": true, "true": true, "yes please": true} {
		for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
			got := New().Refuses(func(n string) string {
				if n == name {
					return value
				}
				return ""
			})
			if (got != "") != refused || refused && !strings.Contains(got, name) {
				t.Errorf("%s=%s: %q", name, value, got)
			}
		}
	}
}

func TestBinaryAndVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := New().Binary(dir, "linux", "amd64"); err == nil || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, system := range [][2]string{{"windows", "amd64"}, {"linux", "riscv64"}} {
		if path, err := New().Binary(dir, system[0], system[1]); err == nil {
			t.Errorf("%v: %s", system, path)
		}
	}
	pack := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-linux-x64-musl")
	if err := os.MkdirAll(pack, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pack, "claude"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	path, err := New().Binary(dir, "linux", "amd64")
	if err != nil || path != filepath.Join(pack, "claude") {
		t.Fatal(path, err)
	}
	const name = `{"name":"@anthropic-ai/claude-code-linux-x64-musl",`
	for text, want := range map[string]string{
		"": "", name + `"version":"2.1.332"}`: "2.1.332", name + `"version":""}`: "", name + `"version":7}`: "", `{`: "",
		name + `"version":"` + strings.Repeat("9", 65) + `"}`: "", name + `"version":"1","x":"` + strings.Repeat("x", 64<<10) + `"}`: "",
		`{"name":"another","version":"2.1.332"}`: "", `{"version":"2.1.332"}`: "",
	} {
		if err := os.WriteFile(filepath.Join(pack, "package.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := New().Version(path); got != want {
			t.Errorf("%.40s: version %q, want %q", text, got, want)
		}
	}
	if got := New().Version(filepath.Join(dir, "gone")); got != "" {
		t.Errorf("no program: version %q", got)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := New().NewStream()
	for range 20 {
		s.Line([]byte(`{"type":"assistant","session_id":"0f0e","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","name":"StructuredOutput","input":{"n":1}},7]}}`))
	}
	for _, hostile := range []string{
		``, `[]`, `{`, `7`, `{"type":7}`, `{"type":"assistant"}`, `{"type":"assistant","message":"x"}`, `{"type":"assistant","message":{"content":"x"}}`,
		`{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"tool_use","name":"StructuredOutput","input":{"helper":1}}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"StructuredOutput"}]}}`,
		`{"Type":"result","subtype":"success","is_error":false,"structured_output":{"n":2}}`,
		`{"type":"user","message":{"type":"result","subtype":"success","structured_output":{"n":3}}}`,
	} {
		s.Line([]byte(hostile))
	}
	out := s.Outcome()
	if out.Closed || out.Ended != engine.Unfinished || out.Answer != nil || len(out.Candidates) != maxCandidates || out.SessionID != "0f0e" {
		t.Errorf("%+v", out)
	}
	if bytes.Contains(bytes.Join(raws(out.Candidates), nil), []byte("helper")) {
		t.Error("a helper's answer is a candidate")
	}
	s.Line([]byte(`{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":0.25,"session_id":"0f0e","permission_denials":[{},{}],"structured_output":{"n":9}}`))
	out = s.Outcome()
	if !out.Closed || out.Ended != engine.Finished || string(out.Answer) != `{"n":9}` || out.Turns != 3 || out.CostUSD != 0.25 || !out.CostKnown || out.ToolsDenied != 2 {
		t.Errorf("%+v", out)
	}
	s.Line([]byte(`{"type":"result","subtype":"success","is_error":true,"session_id":"0f0e","api_error_status":529,"structured_output":{"n":9}}`))
	if out = s.Outcome(); out.Ended != engine.ProviderError || out.Status != 529 || out.Answer != nil {
		t.Errorf("%+v", out)
	}
}

func raws(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, r := range list {
		out[i] = r
	}
	return out
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"type":"result","subtype":"success","structured_output":{}}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"StructuredOutput","input":null}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s := New().NewStream()
		s.Line(line)
		if out := s.Outcome(); !out.Ended.Valid() || out.Answer != nil && out.Ended != engine.Finished {
			t.Errorf("%q: %+v", line, out)
		}
	})
}
