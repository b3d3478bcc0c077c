package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// commandsPage writes the reference of all commands from the commands themselves.
func commandsPage() string {
	root := newRootCmd(&app{Env: Env{Getenv: func(string) string { return "" }}})
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten by `go test ./internal/cli -update` from the program itself.\n\n" +
		"A flag `--x-y` is the input `x-y` of the action. Exit codes: 0 done, also nothing to do; 1 a problem was found or a limit\n" +
		"ended it; 2 wrong usage or settings; 3 GitHub, the provider or the machine failed.\n")
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && !c.Hidden {
				describe(&b, c)
			}
		}
	}
	return b.String()
}

func describe(b *strings.Builder, c *cobra.Command) {
	if c.Hidden {
		return
	}
	fmt.Fprintf(b, "\n### `%s`\n\n%s.\n", c.UseLine(), strings.TrimSuffix(c.Short, "."))
	if c.Long != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.TrimSpace(c.Long))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```console\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
	}
	rows := 0
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | default | what it does |\n|---|---|---|\n")
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if name != "" {
			flag += " " + strings.ToUpper(name)
		}
		value := ""
		if f.DefValue != "" && f.DefValue != "false" {
			value = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", flag, value, strings.ReplaceAll(usage, "|", "\\|"))
	})
	for _, sub := range c.Commands() {
		if sub.Name() != "help" {
			describe(b, sub)
		}
	}
}

// actionPage writes the reference of the action from action.yml.
func actionPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs, Outputs yaml.Node
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# The action\n\nWritten by `go test ./internal/cli -update` from `action.yml`.\n")
	for _, part := range []struct {
		title string
		node  yaml.Node
	}{{"Inputs", action.Inputs}, {"Outputs", action.Outputs}} {
		fmt.Fprintf(&b, "\n## %s\n\n| name | what it is |\n|---|---|\n", part.title)
		for i := 0; i+1 < len(part.node.Content); i += 2 {
			var entry struct {
				Description string `yaml:"description"`
			}
			if err := part.node.Content[i+1].Decode(&entry); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", part.node.Content[i].Value, strings.ReplaceAll(entry.Description, "|", "\\|"))
		}
	}
	return b.String()
}

func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{"commands.md": commandsPage(), "action.md": actionPage(t)} {
		path := filepath.Join(testtool.Root(t), "docs", "reference", name)
		if *update {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), page); diff != "" {
			t.Errorf("docs/reference/%s is not what `go test ./internal/cli -update` writes (-want +got):\n%s", name, diff)
		}
	}
}

// TestEveryFlagOfAWorkflowCommandIsAnInput holds action.yml against the commands that the workflows call.
func TestEveryFlagOfAWorkflowCommandIsAnInput(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]any
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(&app{Env: Env{Getenv: func(string) string { return "" }}})
	for _, c := range root.Commands() {
		if c.GroupID != groupWorkflows || c.Hidden {
			continue
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := action.Inputs[f.Name]; !ok && f.Name != "help" && f.Name != "json" {
				t.Errorf("%s --%s is no input of action.yml", c.Name(), f.Name)
			}
		})
	}
}
