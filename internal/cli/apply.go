package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/apply"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

func newApplyCmd(a *app) *cobra.Command {
	var name, issue, woke, engineName, raw, file, kept string
	var dry bool
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Check an answer and do on GitHub what it says",
		Long: "Checks the answer of a task (schema, references, secrets, Markdown) and writes the comment and the labels of that\n" +
			"issue, nothing else. Running it again completes what broke off and posts nothing twice.",
		GroupID: groupWorkflows,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := readTaskInputs(name, issue, woke)
			if err != nil {
				return usage(err)
			}
			if file != "" {
				if raw != "" {
					return usage(errors.New("give --answer or --answer-file, not both"))
				}
				data, err := a.readInput(file)
				if err != nil {
					return usage(err)
				}
				raw = string(data)
			}
			return a.apply(cmd.Context(), in, engineName, raw, kept, dry)
		},
	}
	cmd.Flags().StringVar(&name, "task", "", "the `task`: "+listOf(task.Names))
	cmd.Flags().StringVar(&issue, "issue", "", "the issue's `number`")
	cmd.Flags().StringVar(&woke, "comment", "", "the `id` of the last comment that was read, as context names it")
	cmd.Flags().StringVar(&engineName, "engine", "", "the `engine` that answered: "+listOf(engine.Names))
	cmd.Flags().StringVar(&raw, "answer", "", "the answer as `JSON`")
	cmd.Flags().StringVar(&file, "answer-file", "", "a `file` with the answer; - is the standard input")
	cmd.Flags().StringVar(&kept, "session", "", "the `record` of the run's conversation, as run gives it")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, show it in the summary")
	return cmd
}

func (a *app) apply(ctx context.Context, in taskInputs, engineName, raw, kept string, dry bool) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if engineName == "" {
		engineName = string(s.config.Engine.Name)
	}
	if err := config.CheckEngine(engineName); err != nil {
		return usage(err)
	}
	client, err := a.github()
	if err != nil {
		return err
	}
	o := apply.Options{
		Task: in.task, Issue: in.issue, Comment: in.comment, Engine: engine.Name(engineName), Raw: raw, Session: kept, Secrets: a.secrets(),
		ByHand: a.Getenv("GITHUB_EVENT_NAME") == "workflow_dispatch", Edit: a.edited(),
		Config: s.config, Labels: s.labels, Texts: s.texts, Commit: a.Getenv("GITHUB_SHA"), Now: a.Now(),
	}
	if o.Checkout = a.checkout; o.Checkout == nil {
		if o.Checkout, err = apply.OpenCheckout(ctx, a.Dir); err != nil {
			a.sayf("references are left out: %v", err)
			o.Checkout = nil
		}
	}
	writer, how := a.writer(ctx, client, s.config.Post.Mode, dry)
	res, failed := apply.Apply(ctx, client, writer, o)
	return a.reportApply(in, res, how, failed)
}

// writer is the bounded writer, or a recorder when nothing may be written; how says why, for the summary.
func (a *app) writer(ctx context.Context, client *ghapi.Client, mode string, dry bool) (w ghapi.Writer, how string) {
	switch {
	case dry:
		how = "dry run"
	case mode == config.PostSummary:
		how = "[post] mode is summary"
	default:
		return ghapi.NewWriter(client), ""
	}
	known, err := client.Labels(ctx)
	if err != nil {
		known = nil // the answer's own check of labels fails on the same read and says so
	}
	return ghapi.NewRecorder(known), how
}

// edited reports whether an edit woke the task: GitHub gives a called workflow its caller's event.
func (a *app) edited() bool {
	path := a.Getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return false
	}
	p, err := readPayload(path)
	return err == nil && p.Action == "edited"
}

// reportApply writes the summary and says how it ended.
func (a *app) reportApply(in taskInputs, res apply.Result, how string, failed error) error {
	out := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	summary := res.Summary(fmt.Sprintf("%s of #%d", in.task, in.issue), how)
	if errors.Is(failed, apply.ErrEmpty) { // fixed words; "nothing to do" would be no truth
		summary = fmt.Sprintf("### %s of #%d\n\n- failed: %s\n", in.task, in.issue, apply.ErrEmpty)
		out.Error(apply.ErrEmpty.Error())
	}
	if err := out.AddSummary(summary); err != nil && !errors.Is(err, ghaction.ErrSummaryFull) {
		failed = errors.Join(failed, fmt.Errorf("write the summary: %w", err))
	}
	a.sayf("%s", summary)
	if res.Refused != "" {
		out.Warning(fmt.Sprintf("%s of #%d: nothing posted: %s", in.task, in.issue, res.Refused))
	}
	for _, w := range res.Warnings {
		out.Warning(w)
	}
	switch {
	case failed == nil:
		return nil
	case errors.Is(failed, apply.ErrPrincipal):
		return failure(withHint(failed, "run this job again: it posts the answer without a new run of the AI"))
	}
	return failure(failed)
}
