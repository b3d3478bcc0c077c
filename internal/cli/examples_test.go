package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// eachCommand visits the commands that do something, by their words: "chunk poll".
func eachCommand(visit func(words string, c *cobra.Command)) {
	root := newRootCmd(&app{Env: Env{Getenv: func(string) string { return "" }}})
	walk(root, func(c *cobra.Command) {
		words, _ := strings.CutPrefix(c.CommandPath(), "issue-assistant ")
		if c != root && !c.HasSubCommands() && !c.Hidden && !strings.HasPrefix(words, "completion") && !strings.HasPrefix(words, "help") {
			visit(words, c)
		}
	})
}

// exampleStage is a place where every example of the help finds what it names.
func exampleStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", s.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	s.AddIssue(ghapi.Issue{Number: 12, Title: "It crashes at the start", Body: "It crashes when a path has a space."})
	sample := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(testtool.Root(t), "testdata", "cases", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	rows, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "sessions", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var r struct {
			Command string          `json:"command"`
			Input   json.RawMessage `json:"input"`
			Exit    int             `json:"exit"`
		}
		if err := json.Unmarshal([]byte(sample("sessions/"+filepath.Base(row))), &r); err != nil {
			t.Fatal(err)
		}
		if r.Command == "session decide" {
			s.write(t, "decision.json", string(r.Input))
			break
		}
	}
	s.write(t, ".issue-assistant/findings.toml", "")
	s.write(t, "answer.md", "Words of an answer.\n")
	s.write(t, "issues.jsonl", `{"number":3,"title":"Crash at the start","body":"It crashes.","state":"open","labels":[]}`+"\n"+
		`{"number":12,"title":"It crashes at the start","body":"It crashes when a path has a space.","state":"open","labels":[]}`+"\n")
	s.write(t, "issue.json", `{"number":7,"title":"Crash","body":"It crashes.","state":"open","user":{"login":"alice"},"labels":[],"comments_list":[]}`)
	s.write(t, "answer.json", `{"language":"en","kind":"","areas":[],"topics":[],"label_rationale":"","summary":"It crashes.","analysis":"","next_steps":[],`+
		`"missing_information":[],"duplicates":[],"related":[],"references":[],"sensitive_data":"none","security_report":false,"spam":false}`)
	if err := os.Mkdir(filepath.Join(s.dir, "records"), 0o750); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHelpExamplesRun plays every example of the help text. An engine's key and a history on GitHub are not there; such
// examples are named here and held to their flags by TestCommandLinesOfThePagesExist.
func TestHelpExamplesRun(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{
		"issue-assistant try 12 --repo octo-org/demo --engine claude": true, // a real engine
		"issue-assistant cost --since 30d --by task":                  true, // held by cost.txt and ledger_test.go
		"issue-assistant check --online --format json":                true, // held by check_online_test.go
	}
	played := 0
	eachCommand(func(words string, c *cobra.Command) {
		if c.GroupID == groupPeople && c.Example == "" && words != "version" {
			t.Errorf("the help of %s has no example", words)
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "issue-assistant "+words) {
				t.Errorf("%s has an example of another command: %s", words, line)
				continue
			}
			if elsewhere[line] {
				continue
			}
			played++
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				s := exampleStage(t)
				command, file, _ := strings.Cut(line, " < ")
				if file != "" {
					s.in = s.read(t, file)
				}
				command = strings.NewReplacer("@COMMIT", "@"+strings.Repeat("a1", 20), "TAG", "v1.2.3").Replace(command)
				if code := s.run(t, strings.Fields(command)[1:]...); code != ExitOK {
					t.Errorf("exit %d\n%s%s", code, s.out, s.err)
				}
			})
		}
	})
	if played < 10 {
		t.Errorf("only %d examples were played", played)
	}
}
