package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func setup() engine.Setup { return enginetest.Setup(New(), "/tools/codex", "gpt-5.5", "max") }

// TestCommand compares the flags and each option, so that none is added or lost without being seen.
func TestCommand(t *testing.T) {
	t.Parallel()
	c, err := New().Command(setup())
	if err != nil {
		t.Fatal(err)
	}
	var flags, options []string
	for i := 0; i < len(c.Args); i++ {
		switch c.Args[i] {
		case "-c":
			i++
			options = append(options, c.Args[i])
		case "--disable":
			i++
		default:
			flags = append(flags, c.Args[i])
		}
	}
	if diff := cmp.Diff([]string{
		"exec", "--json", "--strict-config", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check", "--ephemeral", "-C", "/checkout",
		"-m", "gpt-5.5", "--output-schema", "/temp/home/.codex/schema.json", "-",
	}, flags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`model_provider="meter"`,
		`model_providers.meter={name="meter",base_url="http://127.0.0.1:1/token/v1",env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=2,stream_max_retries=2}`,
		`model_instructions_file="/temp/rules.md"`, `model_catalog_json="/temp/home/.codex/catalog.json"`,
		`mcp_servers.files={command="/bin/assistant",args=["mcp-files","--root","/checkout","--root","/material"],required=true}`,
		"project_doc_max_bytes=0", "skills.include_instructions=false", "include_environment_context=false", "include_permissions_instructions=false",
		`default_permissions=":read-only"`, `web_search="disabled"`, "analytics.enabled=false", "check_for_update_on_startup=false",
		`shell_environment_policy.inherit="none"`, "tools.experimental_request_user_input.enabled=false", `model_reasoning_effort="xhigh"`,
	}, options); diff != "" {
		t.Error(diff)
	}
	for _, feature := range []string{"shell_tool", "enable_request_compression", "hooks", "plugins", "apps"} {
		if i := slices.Index(c.Args, feature); i < 1 || c.Args[i-1] != "--disable" {
			t.Errorf("%s is not switched off", feature)
		}
	}
	if diff := cmp.Diff([]string{"CODEX_HOME=/temp/home/.codex", "OPENAI_API_KEY=sk-the-real-key-is-held-by-the-meter"}, c.Env); diff != "" {
		t.Error(diff)
	}
	if catalog := string(c.Files[catalogFile]); !strings.Contains(catalog, `"slug":"gpt-5.5"`) || !strings.Contains(catalog, `"shell_type":"disabled"`) || !strings.Contains(catalog, `"apply_patch_tool_type":null`) {
		t.Errorf("catalog: %s", catalog)
	}
	if !bytes.Equal(c.Files[schemaFile], setup().Schema) || !slices.Equal(c.Reads, []string{"/bin/assistant"}) || c.Dir != "/checkout" {
		t.Errorf("%+v", c)
	}
}

// TestOptionsAreTOML: no path and no address may end a value and begin another.
func TestOptionsAreTOML(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{`a"b`, `a\`, "a\nb = 1", "a\x7f\x01", "\u2028é", `"}` + "\nshell_tool=true", "a'b{}[],="} {
		s := setup()
		s.Checkout, s.Material, s.RulesFile, s.BaseURL, s.Self = evil, evil, evil, evil, evil
		for _, option := range New().config(s, "high") {
			var v map[string]any
			if _, err := toml.Decode(option, &v); err != nil || len(v) != 1 {
				t.Errorf("%q: %v %v", option, v, err)
			}
		}
		var v struct {
			V string `toml:"v"`
		}
		if _, err := toml.Decode("v="+quote(evil), &v); err != nil || v.V != evil {
			t.Errorf("%q became %q: %v", evil, v.V, err)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	t.Parallel()
	enginetest.Refusals(t, New(), setup())
}

func TestBinary(t *testing.T) {
	t.Parallel()
	for arch, sub := range map[string]string{"amd64": "codex-linux-x64/vendor/x86_64", "arm64": "codex-linux-arm64/vendor/aarch64"} {
		dir := t.TempDir()
		want := filepath.Join(dir, "node_modules", "@openai", sub+"-unknown-linux-musl", "bin", "codex")
		if _, err := New().Binary(dir, "linux", arch); err == nil || !strings.Contains(err.Error(), "npm ci") {
			t.Errorf("an empty folder: %v", err)
		}
		if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
			t.Fatal(err)
		}
		pkg := filepath.Join(dir, "node_modules", "@openai", strings.Split(sub, "/")[0], "package.json")
		for path, text := range map[string]string{want: "x", pkg: `{"name":"@openai/codex","version":"0.171.0-linux-x64"}`} {
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := New().Binary(dir, "linux", arch); got != want || err != nil {
			t.Errorf("%s %v", got, err)
		}
		if v := New().Version(want); v != "0.171.0" {
			t.Errorf("version %q", v)
		}
	}
	for _, sys := range [][2]string{{"windows", "amd64"}, {"linux", "386"}} {
		if _, err := New().Binary("/x", sys[0], sys[1]); err == nil || !strings.Contains(err.Error(), "no Codex for") {
			t.Errorf("%v: %v", sys, err)
		}
	}
}

// outcome reads a captured log line by line.
func outcome(t *testing.T, name string) engine.Outcome {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs", name))
	if err != nil {
		t.Fatal(err)
	}
	s := New().NewStream()
	for line := range bytes.Lines(data) {
		s.Line(line)
	}
	return s.Outcome()
}

func TestCapturedLogs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]engine.Outcome{
		"codex-success.jsonl":                 {Closed: true, Ended: engine.BadAnswer},
		"codex-schema-not-json.jsonl":         {Closed: true, Ended: engine.BadAnswer},
		"codex-error-500.jsonl":               {Closed: true, Ended: engine.ProviderError},
		"codex-error-quota.jsonl":             {Closed: true, Ended: engine.AccountLimit},
		"codex-budget-proxy-400.jsonl":        {Closed: true, Ended: engine.ProviderError},
		"codex-error-max-output-tokens.jsonl": {Closed: true, Ended: engine.ProviderError},
	} {
		got := outcome(t, name)
		if got.SessionID == "" {
			t.Errorf("%s: no session", name)
		}
		got.SessionID = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	message := `{"type":"item.completed","item":{"type":"agent_message","text":"{\"v\":1}"}}`
	call := `{"type":"item.started","item":{"type":"mcp_tool_call"}}`
	done := `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`
	for _, c := range []struct {
		lines      []string
		ended      engine.Ended
		answer     string
		candidates int
	}{
		{[]string{message, done}, engine.Finished, `{"v":1}`, 0},
		{[]string{message}, engine.Unfinished, "", 1},
		{[]string{message, call}, engine.Unfinished, "", 0},
		{[]string{message, `{"type":"turn.failed","error":{"message":"x"}}`}, engine.ProviderError, "", 1},
		{[]string{message, `{"type":"turn.started"}`, done}, engine.NoAnswer, "", 0},
		{[]string{"nonsense", `{"type":"item.completed","item":7}`, done}, engine.NoAnswer, "", 0},
		{[]string{`{"TYPE":"turn.completed"}`}, engine.Unfinished, "", 0},
	} {
		s := New().NewStream()
		for _, l := range c.lines {
			s.Line([]byte(l))
		}
		got := s.Outcome()
		if got.Ended != c.ended || string(got.Answer) != c.answer || len(got.Candidates) != c.candidates {
			t.Errorf("%v: %+v", c.lines, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	d := New()
	if d.Name() != engine.Codex || d.Provider() != "openai" || d.UpstreamVar() != "OPENAI_BASE_URL" || d.Refuses(os.Getenv) != "" || !strings.HasSuffix(d.DefaultUpstream(), "/v1") {
		t.Error("a name is wrong")
	}
}

// TestEveryCapturedLog reads each file, and the numbers of those that have some.
func TestEveryCapturedLog(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs", "codex-*.jsonl"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var l Log
		for line := range bytes.Lines(data) {
			if ev, ok := enginelog.Parse(line, Keys()); ok {
				l.Event(ev)
			}
		}
		s, name := l.Summary(), filepath.Base(file)
		if !l.Seen() || s.Engine != engine.Codex || l.Results() == 0 {
			t.Errorf("%s: %+v, %d results", name, s, l.Results())
		}
		switch name {
		case "codex-success.jsonl":
			if s.Ended != engine.Finished || s.Tokens == nil || s.Tokens.Input+s.Tokens.Cached+s.Tokens.CacheWrite != 4200 {
				t.Errorf("%s: %+v", name, s)
			}
		case "codex-success.rollout.jsonl":
			if s.Turns == nil || *s.Turns != 3 || s.Ended != engine.Finished || s.ModelAsked != "gpt-5.5" || s.Version != "0.171.0" {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}
