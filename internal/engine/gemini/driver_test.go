package gemini

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func setup() engine.Setup {
	return enginetest.Setup(New(), "/tools/gemini.js", "gemini-3.1-pro-preview", "high")
}

// TestCommand compares with the whole command line and all files.
func TestCommand(t *testing.T) {
	t.Parallel()
	got, err := New().Command(setup())
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Command{
		Path: "/tools/gemini.js",
		Args: []string{"-m", "gemini-3.1-pro-preview", "-o", "stream-json", "--admin-policy", "/temp/home/policy.toml", "--allowed-mcp-server-names", "files", "--extensions", "none"},
		Env: []string{
			"GEMINI_CLI_HOME=/temp/home", "GEMINI_API_KEY=the-real-key-is-held-by-the-meter", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1/token",
			"GEMINI_SYSTEM_MD=/temp/rules.md", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true", "NO_COLOR=1",
		},
		Dir: "/temp/home/empty", Stdin: []byte("look"), Reads: []string{"/bin/assistant"},
		Files: map[string][]byte{
			"empty/": nil,
			"policy.toml": []byte("[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n\n[[rule]]\n" +
				"toolName = [\"mcp_files_list_files\", \"mcp_files_view_file\", \"mcp_files_search_files\"]\ndecision = \"allow\"\npriority = 950\n"),
			".gemini/settings.json": []byte(`{"context":{"discoveryMaxDirs":0,"includeDirectoryTree":false},` +
				`"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false,"maxAttempts":3},` +
				`"mcpServers":{"files":{"args":["mcp-files","--root","/checkout","--root","/material"],"command":"/bin/assistant"}},"model":{"maxSessionTurns":40},` +
				`"modelConfigs":{"overrides":[{"match":{"overrideScope":"core"},"modelConfig":{"generateContentConfig":{"responseJsonSchema":{"type":"object"},` +
				`"responseMimeType":"application/json","thinkingConfig":{"thinkingLevel":"HIGH"}}}}]},` +
				`"privacy":{"usageStatisticsEnabled":false},"security":{"auth":{"selectedType":"gemini-api-key"}}}`),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCommandVaries(t *testing.T) {
	t.Parallel()
	s := setup()
	s.Model, s.Effort, s.Prompt = "gemini-2.5-flash", "low", []byte("/quit")
	c, err := New().Command(s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(c.Stdin), "Your task:\n\n/quit") || !strings.HasSuffix(string(c.Stdin), "{\"type\":\"object\"}\n") {
		t.Errorf("stdin %q", c.Stdin)
	}
	if settings := string(c.Files[settingsFile]); strings.Contains(settings, "modelConfigs") || !json.Valid([]byte(settings)) {
		t.Errorf("a model of 2.5 gets no schema with its tools: %s", settings)
	}
	for effort, want := range map[string]string{"low": "LOW", "medium": "", "": "", "xhigh": "HIGH", "max": "HIGH"} {
		if got := thinkingLevel(effort); got != want {
			t.Errorf("%s: %s", effort, got)
		}
	}
	enginetest.Refusals(t, New(), setup())
}

func TestNamesAndRefusals(t *testing.T) {
	t.Parallel()
	d := New()
	if d.Name() != engine.Gemini || d.Provider() != "gemini" || d.UpstreamVar() != "GOOGLE_GEMINI_BASE_URL" || d.DefaultUpstream() == "" {
		t.Error("a name is wrong")
	}
	for value, refused := range map[string]bool{"": false, "false": false, "0": false, "true": true, "1": true, "yes": true} {
		got := d.Refuses(func(name string) string {
			if name == "GOOGLE_GENAI_USE_VERTEXAI" {
				return value
			}
			return ""
		})
		if (got != "") != refused {
			t.Errorf("%q: %q", value, got)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
	if _, err := d.Binary(dir, "linux", "amd64"); err == nil || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{path: "x", filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"): `{"name":"@google/gemini-cli","version":"0.61.0"}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.Binary(dir, "linux", "arm64"); got != path || err != nil || d.Version(path) != "0.61.0" {
		t.Errorf("%s %v", got, err)
	}
	if _, err := d.Binary(dir, "windows", "amd64"); err == nil {
		t.Error("windows")
	}
}

func TestCapturedLogs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]engine.Outcome{
		"gemini-success.jsonl":               {Closed: true, Ended: engine.BadAnswer},
		"gemini-schema.jsonl":                {Closed: true, Ended: engine.Finished, Answer: json.RawMessage("x")},
		"gemini-max-output-tokens.jsonl":     {Closed: true, Ended: engine.BadAnswer},
		"gemini-turn-limit.jsonl":            {Closed: true, Ended: engine.Turns},
		"gemini-error-quota.jsonl":           {Closed: true, Ended: engine.AccountLimit},
		"gemini-error-model-not-found.jsonl": {Closed: true, Ended: engine.ProviderError},
		"gemini-loop-detected.jsonl":         {Closed: true, Ended: engine.NoAnswer},
	} {
		data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs", name))
		if err != nil {
			t.Fatal(err)
		}
		s := New().NewStream()
		for line := range bytes.Lines(data) {
			s.Line(line)
		}
		got := s.Outcome()
		if got.SessionID == "" || (got.Answer != nil) != (want.Answer != nil) || got.Answer != nil && !json.Valid(got.Answer) {
			t.Errorf("%s: %+v", name, got)
		}
		got.SessionID, got.Answer, want.Answer = "", nil, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := New().NewStream()
	for _, line := range []string{
		`{"type":"init","session_id":"s","model":"m"}`, `{"type":"message","role":"user","content":"{\"user\":1}"}`,
		`{"type":"message","role":"assistant","content":"{\"early\":1}","delta":true}`, `{"type":"tool_use","tool_name":"x"}`,
		`{"type":"message","role":"assistant","content":"{\"v\":","delta":true}`, `{"type":"message","role":"assistant","content":"1}","delta":true}`, "nonsense",
	} {
		s.Line([]byte(line))
	}
	if got := s.Outcome(); got.Closed || got.Answer != nil || len(got.Candidates) != 1 || string(got.Candidates[0]) != `{"v":1}` || got.SessionID != "s" {
		t.Errorf("%+v", got)
	}
	s.Line([]byte(`{"type":"result","status":"success","stats":{}}`))
	if got := s.Outcome(); string(got.Answer) != `{"v":1}` || got.Ended != engine.Finished {
		t.Errorf("%+v", got)
	}
}

// TestEveryCapturedLog reads each file, and the numbers of those that have some.
func TestEveryCapturedLog(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs", "gemini-*.json*"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	turns := map[string]int64{"gemini-success.json": 3, "gemini-schema.json": 2, "gemini-success-and-resume.chat.jsonl": 5}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var whole bytes.Buffer
		if strings.HasSuffix(file, ".json") {
			if err := json.Compact(&whole, data); err != nil {
				t.Fatal(err)
			}
			data = whole.Bytes()
		}
		var l Log
		for line := range bytes.Lines(data) {
			if ev, ok := enginelog.Parse(line, Keys()); ok {
				l.Event(ev)
			}
		}
		s := l.Summary()
		name := filepath.Base(file)
		if !l.Seen() || s.Engine != engine.Gemini || l.Results() == 0 && !strings.Contains(name, "chat") {
			t.Errorf("%s: %+v, %d results", name, s, l.Results())
		}
		if want := turns[name]; want > 0 && (s.Turns == nil || *s.Turns != want || s.Tokens == nil || s.Tokens.Output == 0) {
			t.Errorf("%s: turns %v, tokens %+v", name, s.Turns, s.Tokens)
		}
	}
}
