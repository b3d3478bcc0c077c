package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/material"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// materialDir is the folder of the material below the checkout; it stands in .gitignore.
const materialDir = config.Dir + "/material"

// maxRules bounds rules.md: it is sent with every call.
const maxRules = 64 << 10

func newContextCmd(a *app) *cobra.Command {
	var name, issue, woke string
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Write the material that the AI reads",
		Long: "Writes the issue, its comments, similar issues, labels, the task and the schema of its answer into\n" +
			materialDir + ". Outputs: material, rules-file, prompt-file, schema-file, comment (the last one that was\n" +
			"read, for apply) and prompt (rules and task together).",
		GroupID: groupWorkflows,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := readTaskInputs(name, issue, woke)
			if err != nil {
				return usage(err)
			}
			return a.context(cmd.Context(), in)
		},
	}
	cmd.Flags().StringVar(&name, "task", "", "the `task`: "+listOf(task.Names))
	cmd.Flags().StringVar(&issue, "issue", "", "the issue's `number`")
	cmd.Flags().StringVar(&woke, "comment", "", "the `id` of the comment that started the task")
	return cmd
}

// taskInputs are what every step of a task is given.
type taskInputs struct {
	task    task.Name
	issue   int
	comment int64
}

func readTaskInputs(name, issue, woke string) (in taskInputs, err error) {
	if in.task, err = task.Parse(name); err != nil {
		return in, err
	}
	if in.task == task.None {
		return in, withHint(errors.New("the task none has nothing to do"), "skip this job when the output task of event is none")
	}
	if in.issue, err = issueNumber(issue); err != nil {
		return in, err
	}
	if in.issue == 0 {
		return in, errors.New("no issue is named: give --issue")
	}
	in.comment, err = commentID(woke)
	return in, err
}

func (a *app) context(ctx context.Context, in taskInputs) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	rules, rulesFile, err := a.rules()
	if err != nil {
		return err
	}
	client, err := a.github()
	if err != nil {
		return err
	}
	dir, reader := filepath.Join(a.Dir, filepath.FromSlash(materialDir)), &newsReader{Client: client}
	o := material.Options{
		Task: in.task, Issue: in.issue, Comment: in.comment, Dir: dir, Shown: dir,
		Labels: answer.LabelsOf(s.labels, s.config.Labels.Deny), Languages: s.texts.Languages(), Secrets: a.secrets(),
		Issues: a.keptIssues(ctx, reader, in.task),
	}
	o.Cleaned = o.Issues != nil
	sessions := sessionContext{app: a, client: client, settings: s, in: in, rules: rules}
	if s.config.Sessions.Mode != config.SessionsOff {
		o.Earlier = sessions.earlier(ctx)
	}
	res, err := material.Write(ctx, reader, o)
	out := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	switch kind := ghapi.KindOf(err); {
	case kind == ghapi.KindGone || kind == ghapi.KindNotFound || kind == ghapi.KindMoved:
		// It went away between two jobs: nothing is left to do, and nothing is wrong.
		a.sayf("#%d: the issue is gone, nothing is written", in.issue)
		out.Notice(fmt.Sprintf("issue #%d is gone", in.issue))
		return nil
	case errors.Is(err, material.ErrPullRequest):
		return usage(err)
	case err != nil:
		return failure(err)
	}
	for _, note := range res.Notes {
		a.sayf("%s", note)
	}
	if err := sessions.leave(); err != nil {
		return failure(err)
	}
	if rulesFile == "" {
		rulesFile = filepath.Join(dir, "rules.md")
		if err := os.WriteFile(rulesFile, []byte(rules), 0o644); err != nil {
			return failure(fmt.Errorf("write the rules: %w", err))
		}
	}
	a.sayf("%s of #%d: material in %s, %d requests", in.task, in.issue, materialDir, client.Requests())
	err = out.SetOutputs(
		ghaction.Output{Name: "material", Value: dir},
		ghaction.Output{Name: "rules-file", Value: rulesFile},
		ghaction.Output{Name: "prompt-file", Value: filepath.Join(dir, material.FilePrompt)},
		ghaction.Output{Name: "schema-file", Value: filepath.Join(dir, material.FileSchema)},
		ghaction.Output{Name: "comment", Value: strconv.FormatInt(res.LastRead, 10)},
		ghaction.Output{Name: "prompt", Value: strings.TrimRight(rules, "\n") + "\n\n" + res.Prompt},
	)
	if err != nil {
		return failure(err)
	}
	return nil
}

// rules reads rules.md of the checkout, the engine's system prompt; without the file it is the embedded core, and the
// name is empty.
func (a *app) rules() (text, file string, err error) {
	file = filepath.Join(a.Dir, filepath.FromSlash(config.RulesPath))
	data, err := config.ReadFile(os.DirFS(a.Dir), config.RulesPath, maxRules)
	if errors.Is(err, os.ErrNotExist) {
		core, err := coreRules()
		return core, "", err
	}
	if err != nil {
		return "", "", failure(fmt.Errorf("read the rules: %w", err))
	}
	ds := config.CheckText(config.RulesPath, data, maxRules)
	if err := diag.Write(a.Stderr, a.human(a.Stderr), ds); err != nil {
		return "", "", failure(fmt.Errorf("write the findings: %w", err))
	}
	if diag.HasErrors(ds) {
		return "", "", usage(errors.New("the rules cannot be handed to the engine"))
	}
	return string(data), file, nil
}

// coreRules is the core block of the rules that the product carries, without what this repository adds to it.
func coreRules() (string, error) {
	data, err := assets.FS.ReadFile(config.RulesPath)
	if err != nil {
		return "", failure(fmt.Errorf("read the embedded rules: %w", err))
	}
	const end = "<!-- /issue-assistant:core -->"
	core, _, ok := strings.Cut(string(data), end)
	if !ok {
		return "", failure(errors.New("the embedded rules have no core block"))
	}
	return core + end + "\n", nil
}
