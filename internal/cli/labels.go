package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

func newLabelsCmd(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "labels",
		Short: "Make the repository's labels what labels.toml says",
		Long: "Creates labels that are missing, brings colors, descriptions and the case of letters up to date, and renames labels\n" +
			"by their former names (previous). No label is ever deleted.",
		Example: "  issue-assistant labels --dry-run",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.labels(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, show it in the summary")
	return cmd
}

func (a *app) labels(ctx context.Context, dry bool) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	client, err := a.github()
	if err != nil {
		return err
	}
	writer, how := a.writers(ctx, client, config.PostComment, dry)
	res, err := lifecycle.SyncLabels(ctx, client, writer, s.labels)
	if err != nil {
		return failure(err)
	}
	if err := a.summarize(res.Summary(how)); err != nil {
		return failure(err)
	}
	if len(res.Failed) > 0 {
		ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).Warning(fmt.Sprintf("labels: %d could not be changed, see the summary", len(res.Failed)))
	}
	if res.AllFailed() {
		return failure(withHint(errors.New("no label could be changed"), "the lines above say why each failed; the token needs `issues: write`"))
	}
	return nil
}
