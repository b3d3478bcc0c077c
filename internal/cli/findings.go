package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

func newFindingsCmd(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "Dismiss the code-scanning alerts that findings.toml accepts",
		Long: "Dismisses the open alerts that " + config.FindingsPath + " accepts, with its reasons. All others are told by\n" +
			"number and link only, and the exit code is 1. Entries that expired or accept nothing are told.",
		Example: "  issue-assistant findings --dry-run",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.findings(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, show it in the summary")
	return cmd
}

func (a *app) findings(ctx context.Context, dry bool) error {
	entries, ds, err := config.LoadFindings(os.DirFS(a.Dir))
	if err != nil {
		return failure(err)
	}
	if err := a.show(ds); err != nil {
		return err
	}
	if diag.HasErrors(ds) {
		return usage(withHint(errors.New(config.FindingsPath+" is wrong"), "each [[accept]] needs tool, rule, reason and comment"))
	}
	client, err := a.github()
	if err != nil {
		return err
	}
	writer, how := func() ghapi.Writer { return ghapi.NewWriter(client) }, ""
	if dry {
		recorder := ghapi.NewRecorder(nil)
		writer, how = func() ghapi.Writer { return recorder }, "dry run"
	}
	res, err := lifecycle.Findings(ctx, client, writer, entries, a.Now())
	if err != nil {
		return failure(err)
	}
	if err := a.summarize(res.Summary(how)); err != nil {
		return failure(err)
	}
	out := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	for _, x := range res.Open {
		out.Error(fmt.Sprintf("code-scanning alert %d is open: %s", x.Number, x.URL))
	}
	switch {
	case len(res.Failed) > 0 && len(res.Dismissed) == 0:
		return failure(withHint(errors.New("no accepted alert could be dismissed"), "the lines above say why each failed; the token needs `security-events: write`"))
	case len(res.Open) > 0:
		return silent(ExitProblem)
	}
	return nil
}
