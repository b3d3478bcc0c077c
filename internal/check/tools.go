package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// toolHint holds for every file here: the runs of the assistant do not load them.
const toolHint = "the assistant's own runs leave this file out, other AIs in this repository's workflows do not: keep it in your user settings, or narrow it"

var (
	readOnlyTool = lazy.Regexp(`^(?:Read|Grep|Glob|LS|TodoWrite|TodoRead)(?:\(.*\))?$`)
	providerVar  = lazy.Regexp(`(?i)^(?:export\s+)?(ANTHROPIC_[A-Z_]*|CLAUDE_[A-Z_]*|OPENAI_[A-Z_]*|CODEX_[A-Z_]*|GEMINI_[A-Z_]*|GOOGLE_[A-Z_]*)\s*=`)
)

// Tools finds files of the repository that give an AI more than reading: whoever can merge a file could steer it.
func Tools(root fs.FS) []diag.Diagnostic {
	var ds []diag.Diagnostic
	for _, t := range []struct {
		path string
		look func(*file)
	}{
		{".claude/settings.json", claudeSettings},
		{".claude/settings.local.json", claudeSettings},
		{".mcp.json", func(f *file) { f.jsonKeys(mcpServer) }},
		{".gemini/settings.json", func(f *file) { f.jsonKeys(geminiSetting) }},
		{".gemini/.env", environmentFile},
		{".codex/config.toml", codexSettings},
	} {
		if f := read(root, t.path); f != nil {
			t.look(f)
			ds = append(ds, f.ds...)
		}
	}
	return ds
}

func claudeSettings(f *file) { f.jsonKeys(claudeSetting) }

func claudeSetting(path []string, v any) string {
	top, text := path[0], fmt.Sprint(v)
	switch {
	case len(path) == 3 && top == "permissions" && path[1] == "allow" && !readOnlyTool().MatchString(text):
		return fmt.Sprintf("the tool %s is allowed", shorten.Quoted(text))
	case len(path) == 2 && top == "permissions" && path[1] == "defaultMode" && text != "default" && text != "plan" && text != "dontAsk":
		return fmt.Sprintf("the mode %s lets it act without asking", shorten.Quoted(text))
	case len(path) == 3 && top == "permissions" && path[1] == "additionalDirectories":
		return fmt.Sprintf("the folder %s outside of the repository is opened", shorten.Quoted(text))
	case len(path) == 2 && top == "hooks":
		return fmt.Sprintf("the hook %s runs a program", shorten.Quoted(path[1]))
	case len(path) == 1 && top == "enableAllProjectMcpServers" && v == true, len(path) == 2 && top == "enabledMcpjsonServers":
		return "servers of .mcp.json start without asking"
	case len(path) == 1 && (top == "apiKeyHelper" || top == "statusLine" || top == "awsAuthRefresh" || top == "awsCredentialExport" || top == "otelHeadersHelper"):
		return fmt.Sprintf("%s runs a program", shorten.Quoted(top))
	case len(path) == 2 && top == "env" && providerVar().MatchString(path[1]+"="):
		return fmt.Sprintf("the variable %s is set: it can send the key elsewhere", shorten.Quoted(path[1]))
	}
	return ""
}

func mcpServer(path []string, _ any) string {
	if len(path) == 2 && path[0] == "mcpServers" {
		return fmt.Sprintf("the server %s gives it tools", shorten.Quoted(path[1]))
	}
	return ""
}

func geminiSetting(path []string, v any) string {
	if m := mcpServer(path, v); m != "" {
		return m
	}
	name := strings.Join(path, ".")
	switch {
	case len(path) == 3 && (strings.HasPrefix(name, "tools.allowed.") || strings.HasPrefix(name, "tools.core.")) && !slices.Contains([]string{"read_file", "glob", "search_file_content", "list_directory", "ReadFileTool", "GlobTool", "GrepTool", "LSTool"}, fmt.Sprint(v)),
		len(path) == 2 && path[0] == "allowedTools":
		return fmt.Sprintf("the tool %s is allowed", shorten.Quoted(fmt.Sprint(v)))
	case slices.Contains([]string{"tools.discoveryCommand", "tools.callCommand", "toolDiscoveryCommand", "toolCallCommand", "mcpServerCommand"}, name):
		return fmt.Sprintf("%s runs a program", shorten.Quoted(name))
	case (name == "autoAccept" || name == "tools.autoAccept") && v == true:
		return "tools run without asking"
	case len(path) == 2 && path[0] == "hooks":
		return fmt.Sprintf("the hook %s runs a program", shorten.Quoted(path[1]))
	}
	return ""
}

func environmentFile(f *file) {
	for i, line := range f.lines {
		if m := providerVar().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			f.say(diag.Warning, i+1, 1+len(line)-len(strings.TrimLeft(line, " \t")), "repo-tools", fmt.Sprintf("the variable %s is set for every AI that runs here", shorten.Quoted(m[1])), toolHint)
		}
	}
}

func codexSettings(f *file) {
	doc, bad := tomldoc.Parse([]byte(f.text), maxFileBytes)
	if bad != nil {
		f.say(diag.Warning, bad.Line, bad.Col, "repo-tools", "this is not TOML: "+bad.Message, "mend it, so that it can be checked")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(doc.Tree)) {
		at, v := tomldoc.Path("").Key(key), doc.Tree[key]
		tell := func(pos tomldoc.Pos, message string) {
			f.say(diag.Warning, pos.Line, pos.Col, "repo-tools", message, toolHint)
		}
		switch text := fmt.Sprint(v); {
		case key == "sandbox_mode" && text != "read-only", key == "approval_policy" && text == "never":
			tell(doc.ValuePos(at), fmt.Sprintf("%s is %s", key, shorten.Quoted(text)))
		case key == "notify", key == "openai_base_url", key == "chatgpt_base_url", key == "shell_environment_policy", key == "model_provider", key == "profile":
			tell(doc.KeyPos(at), fmt.Sprintf("%s is set: it runs a program, or sends the key elsewhere", key))
		case key == "mcp_servers" || key == "model_providers" || key == "hooks":
			if table, ok := v.(map[string]any); ok {
				for _, name := range slices.Sorted(maps.Keys(table)) {
					tell(doc.KeyPos(at.Key(name)), fmt.Sprintf("%s has %s", key, shorten.Quoted(name)))
				}
			}
		}
	}
}

// jsonKeys walks through a JSON file and says what look finds about a place. Comments are allowed, as the tools that
// read these files allow them.
func (f *file) jsonKeys(look func(path []string, v any) string) {
	if strings.TrimSpace(f.text) == "" {
		return
	}
	dec := json.NewDecoder(strings.NewReader(withoutComments(f.text)))
	if err := f.walkJSON(dec, nil, look); err != nil {
		line, col := f.place(dec.InputOffset())
		f.say(diag.Warning, line, col, "repo-tools", "this is not JSON", "mend it, so that it can be checked")
	}
}

const maxJSONDepth = 50

func (f *file) walkJSON(dec *json.Decoder, path []string, look func([]string, any) string) error {
	if len(path) > maxJSONDepth {
		return errors.New("too deep")
	}
	start := dec.InputOffset()
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if len(path) > 0 && !f.full() {
		if message := look(path, token); message != "" {
			line, col := f.place(f.skipTo(start))
			f.say(diag.Warning, line, col, "repo-tools", "this file widens what an AI may do here: "+message, toolHint)
		}
	}
	switch token {
	case json.Delim('{'):
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if err := f.walkJSON(dec, append(slices.Clone(path), fmt.Sprint(key)), look); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for n := 0; dec.More(); n++ {
			if err := f.walkJSON(dec, append(slices.Clone(path), strconv.Itoa(n)), look); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token()
	return err
}

// skipTo leaves out what stands between two tokens.
func (f *file) skipTo(offset int64) int64 {
	rest := f.text[offset:]
	return offset + int64(len(rest)-len(strings.TrimLeft(rest, " \t\r\n:,")))
}

func (f *file) place(offset int64) (line, col int) {
	before := f.text[:min(int(offset), len(f.text))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
}

// withoutComments blanks // and /* */ outside of strings, byte for byte, so that places stay.
func withoutComments(text string) string {
	out := []byte(text)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"' && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case bytes.HasPrefix(out[i:], []byte("/*")):
			for end := false; i < len(out) && !end; i++ {
				end = i+1 < len(out) && out[i] == '*' && out[i+1] == '/'
				if end {
					out[i+1] = ' '
				}
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
	return string(out)
}
