package check_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/issue-assistant/issue-assistant/internal/check"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

const (
	sha    = "@0123456789012345678901234567890123456789"
	action = "anthropics/claude-code-action" + sha
	key    = "          anthropic_api_key: ${{ secrets.ANTHROPIC_API_KEY }}\n"
)

// workflow builds a workflow with one job of an AI: a careful one, unless a part says otherwise.
func workflow(on, permissions, steps string) string {
	return "name: x\non:\n" + on + "jobs:\n  ai:\n    runs-on: ubuntu-latest\n    timeout-minutes: 10\n" + permissions + "    steps:\n" + steps
}

const (
	opened    = "  issues:\n    types: [opened]\n"
	comments  = "  issue_comment:\n    types: [created]\n"
	readOnly  = "    permissions:\n      contents: read\n      issues: read\n"
	issuesTo  = "    permissions:\n      contents: read\n      issues: write\n"
	contentTo = "    permissions:\n      contents: write\n      issues: write\n"
)

func ai(uses, with string) string { return "      - uses: " + uses + "\n        with:\n" + key + with }

// TestWorkflowsOfThePublic holds the mistakes that the recorded workflows of public repositories make, each rebuilt
// from its description, and the two that make none of these.
func TestWorkflowsOfThePublic(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want []string
	}{
		"W01": {workflow("  issues:\n    types: [labeled]\n", contentTo, ai(action, "          claude_args: --max-turns 9 --allowedTools \"Bash(git:*),Bash(gh:*),Bash(npx:*)\"\n")), []string{"ai-contents-write", "ai-wildcard"}},
		"W03": {strings.Replace(workflow(comments, readOnly, ai(action, "          claude_args: --max-turns 40\n")), "jobs:", "concurrency:\n  group: t-${{ github.event.issue.number }}\n  cancel-in-progress: true\njobs:", 1), []string{"comment-cancels"}},
		"W04": {workflow("  issues:\n    types: [opened, labeled]\n", contentTo, ai(action, "          claude_args: --max-turns 30\n          allowed_bots: own\n")), []string{"ai-runs-twice", "ai-contents-write", "ai-bots"}},
		"W06": {workflow(opened, issuesTo, ai("anthropics/claude-code-base-action@beta", "          prompt: /dedupe\n")), []string{"ai-unpinned", "ai-no-cap"}},
		"W07": {workflow(opened, issuesTo, ai("anthropics/claude-code-base-action@beta", "          timeout_minutes: \"5\"\n          max_turns: 5\n          allowed_tools: mcp__github__get_issue,mcp__github__update_issue\n")), []string{"ai-unpinned", "ai-wide-tool"}},
		"W09": {workflow(opened, issuesTo, ai("anthropics/claude-code-action@main", "          prompt: /triage\n")), []string{"ai-unpinned", "ai-no-cap"}},
		"W10": {strings.Replace(workflow(opened+comments, readOnly, ai(action, "          claude_args: --max-turns 5 --allowedTools \"Bash(./scripts/edit.sh:*)\"\n")), "    steps:", "    concurrency:\n      group: t-${{ github.event.issue.number }}\n      cancel-in-progress: true\n    steps:", 1), []string{"comment-cancels"}},
		"W12": {strings.Replace(workflow(opened, issuesTo, "      - uses: actions/checkout@v4\n"+ai(action, "          allowed_non_write_users: \"*\"\n          claude_args: --allowedTools \"Bash,Write,WebFetch,WebSearch\"\n")), "minutes: 10", "minutes: 120", 1), []string{"ai-tools-for-anyone", "ai-credentials", "ai-no-cap", "ai-no-timeout"}},
		"W13": {workflow(opened, readOnly, "      - run: echo \"p<<EOF\" >> $GITHUB_OUTPUT\n"+ai("anthropics/claude-code-base-action"+sha, "          prompt: x\n")), []string{"fixed-delimiter", "ai-no-cap"}},
		"W15": {workflow("  workflow_call:\n", "", ai(action, "          allowed_non_write_users: \"*\"\n          claude_args: --max-turns 9 --allowedTools \"Edit,Write,Bash(git:*)\"\n")), []string{"ai-permissions", "ai-tools-for-anyone", "ai-wildcard"}},
		"W16": {workflow(opened+"  pull_request_target:\n", contentTo, ai(action, "          prompt: x\n")), []string{"ai-pull-request-target", "ai-contents-write", "ai-no-cap"}},
		"W18": {workflow("  workflow_dispatch:\n", contentTo, ai(action, "          claude_args: --max-turns 80\n")), nil}, // by hand only
		"W19": {workflow(opened, readOnly, "      - uses: google-github-actions/run-gemini-cli"+sha+"\n        with:\n          gemini_api_key: ${{ secrets.GEMINI_API_KEY }}\n          prompt: Write LABELS=… to \"${GITHUB_ENV}\"\n"), []string{"ai-env-file"}},
		"W21": {workflow(opened, readOnly, "      - uses: actions/create-github-app-token"+sha+"\n      - run: |\n          echo \"PROMPT<<PROMPT_END\" >> $GITHUB_OUTPUT\n"+ai(action, "          claude_args: --allowedTools \"Bash(gh api:*)\"\n")), []string{"ai-app-token", "fixed-delimiter", "ai-wildcard", "ai-no-cap"}},
		"W22": {workflow(opened+"  pull_request_target:\n", readOnly, "      - uses: actions/create-github-app-token"+sha+"\n"+ai(action, "          allowed_bots: marvin\n          claude_args: --max-turns 5 --allowedTools mcp__github__update_issue\n")), []string{"ai-pull-request-target", "ai-bots", "ai-app-token", "ai-wide-tool"}},
		"W24": {workflow(opened, readOnly, ai(action, "          claude_args: --allowedTools Read\n")), []string{"ai-no-cap"}},
		"W25": {workflow(opened+comments+"  pull_request_target:\n", contentTo, ai(action, "          claude_args: --max-turns 5\n          allowed_bots: a,b,c\n")), []string{"ai-pull-request-target", "ai-bots", "ai-contents-write"}},
		"W27": {workflow(opened, readOnly, ai(action, "          claude_args: --max-turns 5 --json-schema '{}' --disallowedTools \"Bash,WebFetch\"\n")), nil},
		"W28": {workflow(opened, readOnly, "      - run: gh search issues -- \"$TITLE\"\n        env: {TITLE: '${{ github.event.issue.title }}'}\n"+ai(action, "          claude_args: --max-turns 5\n")), nil},
	}
	dir := filepath.Join(testtool.Root(t), "testdata", "cases", "workflows")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct{ ID, Mistakes string }
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		c, ok := cases[recorded.ID]
		if !ok || recorded.Mistakes == "" {
			t.Errorf("%s is not rebuilt", e.Name())
			continue
		}
		ds := check.Workflows(fstest.MapFS{".github/workflows/x.yml": {Data: []byte(c.text)}}, nil)
		codes := []string{}
		for _, d := range ds {
			if d.Line == 0 || d.Col == 0 || d.Hint == "" || d.Severity != diag.Warning {
				t.Errorf("%s: %+v", recorded.ID, d)
			}
			codes = append(codes, d.Code)
		}
		slices.Sort(codes)
		slices.Sort(c.want)
		if codes = slices.Compact(codes); !slices.Equal(codes, c.want) {
			t.Errorf("%s (%s): %v, want %v", recorded.ID, recorded.Mistakes, codes, c.want)
		}
	}
}

func TestOtherWaysToWriteAWorkflow(t *testing.T) {
	t.Parallel()
	file := func(text string) fstest.MapFS { return fstest.MapFS{".github/workflows/x.yaml": {Data: []byte(text)}} }
	for name, tc := range map[string]struct {
		text string
		want string // code at line:col, or empty
	}{
		"event as a text":            {"on: issues\njobs: {a: {runs-on: x, steps: [{run: 'codex exec -'}]}}\n", "ai-permissions"},
		"events in a list":           {"on: [push, issue_comment]\njobs: {a: {runs-on: x, steps: [{run: 'gemini -p x'}]}}\n", "ai-permissions"},
		"key of the whole workflow":  {"on: issues\nenv: {K: \"${{ secrets['OPENAI_API_KEY'] }}\"}\npermissions: {}\njobs: {a: {runs-on: x, timeout-minutes: 5, steps: [{uses: a/b@v1}]}}\n", "ai-unpinned"},
		"head of a pull request":     {"on: pull_request_target\njobs: {a: {runs-on: x, steps: [{uses: actions/checkout@v7, with: {ref: '${{ github.head_ref }}'}}]}}\n", "head-checkout"},
		"merge of a comment's pull":  {"on: issue_comment\njobs: {a: {runs-on: x, steps: [{uses: actions/checkout@v7, with: {ref: 'refs/pull/${{ github.event.issue.number }}/merge'}}]}}\n", "head-checkout"},
		"script of an action":        {"on: issues\njobs: {a: {runs-on: x, steps: [{uses: actions/github-script@v9, with: {script: 'x(\"${{ github.event.issue.body }}\")'}}]}}\n", "script-injection"},
		"a key twice":                {"on: push\njobs: {}\non: issues\n", "workflow-syntax"},
		"aliases":                    {"on: issues\njobs:\n  a: &a\n    runs-on: x\n    steps: [{run: 'echo ${{ github.event.issue.title }}'}]\n  b: *a\n", "script-injection"},
		"yolo":                       {"on: issues\npermissions: {}\njobs: {a: {runs-on: x, timeout-minutes: 5, steps: [{run: 'gemini -p x --yolo'}]}}\n", "ai-guards-off"},
		"not UTF-8":                  {"on: push\nname: caf\xe9\njobs: {}\n", "not-utf8"},
		"not UTF-8, with a fault":    {"on: issues\nname: caf\xe9\njobs: {a: {runs-on: x, steps: [{run: 'echo ${{ github.event.issue.title }}'}]}}\n", "script-injection"},
		"a called workflow":          {"on: issues\njobs: {a: {uses: a/b/.github/workflows/x.yml@v1, secrets: {K: '${{ secrets.ANTHROPIC_API_KEY }}'}}}\n", ""},
		"nothing":                    {"", ""},
		"a list":                     {"- a\n", ""},
		"jobs of the wrong kind":     {"on: issues\njobs: [1, {a: b}]\n", ""},
		"an event of the wrong kind": {"on: {issues: [1]}\njobs: {a: 1}\n", ""},
	} {
		ds := check.Workflows(file(tc.text), nil)
		found := slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == tc.want })
		if tc.want == "" && len(ds) > 0 || tc.want != "" && !found {
			t.Errorf("%s: want %q, got %+v", name, tc.want, ds)
		}
		if ds := check.Workflows(file(tc.text), []string{".github/workflows/x.yaml"}); len(ds) > 0 {
			t.Errorf("%s: a generated file was judged: %+v", name, ds)
		}
	}
}

func TestToolsOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, text string
		want       int
	}{
		{".claude/settings.json", `{"permissions": {"allow": ["Bash", "WebFetch", "mcp__x__y", "Read(/etc/**)"], "additionalDirectories": [".."]}, "enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["x"], "apiKeyHelper": "./x"}`, 7},
		{".claude/settings.json", `{"permissions": {"deny": ["Bash"], "defaultMode": "plan"}, "enableAllProjectMcpServers": false, "env": {"FOO": "1"}}`, 0},
		{".claude/settings.json", "{\"permissions\": /* a */ {\"allow\": [\"Bash\"] } // b\n}", 1},
		{".claude/settings.json", `{"permissions": `, 1},
		{".claude/settings.json", strings.Repeat("[", 200), 1},
		{".claude/settings.json", ``, 0},
		{".mcp.json", `{"mcpServers": {"a": {}, "b": {}}}`, 2},
		{".gemini/settings.json", `{"tools": {"allowed": ["read_file", "run_shell_command(git)"], "discoveryCommand": "x", "autoAccept": true}, "allowedTools": ["x"], "hooks": {"BeforeTool": []}}`, 5},
		{".gemini/.env", "FOO=1\n  export GEMINI_API_KEY=x\n", 1},
		{".codex/config.toml", "approval_policy = \"never\"\nsandbox_mode = \"read-only\"\nnotify = [\"x\"]\nmodel = \"y\"\n[model_providers.evil]\nbase_url = \"https://evil.example\"\n", 3},
		{".codex/config.toml", "x = [\n", 1},
		{".codex/other.toml", "notify = 1\n", 0},
	} {
		ds := check.Tools(fstest.MapFS{tc.path: {Data: []byte(tc.text)}})
		if len(ds) != tc.want {
			t.Errorf("%s %s: %d findings, want %d: %+v", tc.path, tc.text, len(ds), tc.want, ds)
		}
		for _, d := range ds {
			if d.Line == 0 || d.Col == 0 || d.Hint == "" || d.Severity != diag.Warning || strings.ContainsAny(d.Message, "\n\x1b") {
				t.Errorf("%+v", d)
			}
		}
	}
}

// TestHostileFilesEndSoon: bombs, depth, links and sizes of a repository that anybody may have made.
func TestHostileFilesEndSoon(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x]\n"
	for c := 'b'; c < 'z'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [*" + p + ", *" + p + ", *" + p + "]\n"
	}
	dir := t.TempDir()
	flows := filepath.Join(dir, ".github", "workflows")
	if err := os.MkdirAll(flows, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bomb.yml": "on: issues\njobs: *y\n" + bomb, "bomb2.yml": bomb + "on: issues\njobs: {a: {steps: *y, x: *y}}\n",
		"deep.yml": "on: issues\njobs: " + strings.Repeat("{a: ", 2000), "large.yml": "on: issues # " + strings.Repeat("x", 600<<10),
		"binary.yml": "\xff\xfe\x00", "loop.yml": "on: issues\njobs: &a {a: *a}\n",
	} {
		if err := os.WriteFile(filepath.Join(flows, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(flows, "zero.yml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	root := os.DirFS(dir)
	for _, d := range append(check.Workflows(root, nil), check.Tools(root)...) {
		if d.Code != "workflow-syntax" && (d.Code != "not-utf8" || !strings.HasSuffix(d.Path, "binary.yml")) {
			t.Errorf("%+v", d)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte("on: issues\njobs: {a: {steps: [{run: 'claude -p x'}]}}\n"))
	f.Add([]byte(`{"permissions": {"allow": ["Bash"]}} // x`))
	f.Add([]byte("sandbox_mode = \"x\"\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := fstest.MapFS{}
		for _, p := range []string{".github/workflows/x.yml", ".claude/settings.json", ".mcp.json", ".codex/config.toml", ".gemini/settings.json", ".gemini/.env"} {
			root[p] = &fstest.MapFile{Data: data}
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, d := range check.Locate(root, append(check.Workflows(root, nil), check.Tools(root)...)) {
			if d.Line < 1 || d.Line > lines || d.Col < 1 || d.Hint == "" || strings.ContainsAny(d.Message, "\n\r") {
				t.Errorf("%+v", d)
			}
		}
	})
}
