package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

func newSweepCmd(a *app) *cobra.Command {
	var backlog, dollars, event string
	var dry bool
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Remind, close, reopen, and lead fixed issues to their release",
		Long: "Does everything that is due: reminders and closing of issues that wait for their reporter, reopening, duplicates,\n" +
			"issues that are fixed or released, triages that were postponed. No AI. After a merge or a release it does only what\n" +
			"that brings. One issue that fails stops no other; exit code 3 only when all failed.",
		Example: "  issue-assistant sweep --dry-run\n" +
			"  issue-assistant sweep --triage-backlog 20 --max-usd 5",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, usd, err := backlogOf(backlog, dollars)
			if err != nil {
				return usage(err)
			}
			mode, err := sweepMode(event, a.Getenv("GITHUB_EVENT_NAME"))
			if err != nil {
				return usage(err)
			}
			if n > 0 && mode != lifecycle.ModeAll {
				return usage(errors.New("--triage-backlog belongs to the daily sweep"))
			}
			return a.sweep(cmd.Context(), mode, n, usd, dry)
		},
	}
	cmd.Flags().StringVar(&backlog, "triage-backlog", "", "start the triage of the `N` oldest open issues without one")
	cmd.Flags().StringVar(&dollars, "max-usd", "", "`dollars` that these may cost together at worst")
	cmd.Flags().StringVar(&event, "event", "", "do only what follows a `merge` or a release; by itself after such an event")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "write nothing, show every step in the summary")
	return cmd
}

// backlogOf reads both flags. A number without an amount would have no bound.
func backlogOf(backlog, dollars string) (n int, usd float64, err error) {
	const most = 1000
	if backlog != "" {
		if n, err = strconv.Atoi(backlog); err != nil || n < 0 || n > most {
			return 0, 0, fmt.Errorf("--triage-backlog is no whole number from 0 to %d", most)
		}
	}
	if dollars != "" {
		if usd, err = strconv.ParseFloat(dollars, 64); err != nil || math.IsNaN(usd) || usd <= 0 || usd > 10_000 {
			return 0, 0, errors.New("--max-usd is no number of dollars above 0 and up to 10000")
		}
	}
	if n > 0 && usd == 0 {
		return 0, 0, withHint(errors.New("--triage-backlog needs a bound in dollars"), "add --max-usd 5, for example")
	}
	return n, usd, nil
}

func sweepMode(flag, event string) (lifecycle.Mode, error) {
	switch flag {
	case string(lifecycle.ModeMerge), string(lifecycle.ModeRelease), string(lifecycle.ModeAll):
		return lifecycle.Mode(flag), nil
	case "":
	default:
		return "", fmt.Errorf("--event is merge, release or all, not %q", flag)
	}
	switch event {
	case "pull_request_target":
		return lifecycle.ModeMerge, nil
	case "release":
		return lifecycle.ModeRelease, nil
	}
	return lifecycle.ModeAll, nil
}

func (a *app) sweep(ctx context.Context, mode lifecycle.Mode, backlog int, usd float64, dry bool) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	client, err := a.github()
	if err != nil {
		return err
	}
	writer, how := a.writers(ctx, client, s.config.Post.Mode, dry)
	res := lifecycle.Sweep(ctx, client, lifecycle.Options{
		Config: s.config, Texts: s.texts, Now: a.Now(), Mode: mode, Writer: writer, Backlog: backlog, MaxUSD: usd,
	})
	var failed error
	if mode == lifecycle.ModeAll {
		if err := a.keepList(ctx, client); err != nil {
			res.Notes = append(res.Notes, "the list of issues was not kept: "+err.Error())
		}
	}
	if s.config.Chunk != nil && mode == lifecycle.ModeMerge && !dry {
		a.wakePoll(ctx, client)
	}
	if err := a.summarize(res.Summary(how)); err != nil {
		failed = failure(err)
	}
	if res.Failed > 0 || res.Fatal != "" || res.Broken > 0 {
		ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).Warning(fmt.Sprintf("sweep: %d of %d issues failed, see the summary", res.Failed, res.Worked))
	}
	if res.AllFailed() {
		return errors.Join(failed, failure(withHint(errors.New("nothing that the sweep tried worked"), "the next sweep tries again; the summary says what failed")))
	}
	return failed
}

// writers gives a bounded writer for each issue, or the same recorder for all when nothing may be written.
func (a *app) writers(ctx context.Context, client *ghapi.Client, mode string, dry bool) (func() ghapi.Writer, string) {
	w, how := a.writer(ctx, client, mode, dry)
	if _, records := w.(*ghapi.Recorder); records {
		return func() ghapi.Writer { return w }, how
	}
	return func() ghapi.Writer { return ghapi.NewWriter(client) }, how
}

// keepList leaves the list of issues where the workflow uploads it.
func (a *app) keepList(ctx context.Context, client *ghapi.Client) (err error) {
	dir := a.Getenv("RUNNER_TEMP")
	if dir == "" {
		return nil // not on a runner
	}
	branch, err := a.branchOf(ctx, client)
	if err != nil {
		return err
	}
	lines, err := lifecycle.IssueList(ctx, client, branch, a.Now())
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, lifecycle.ListName+"-*.part")
	if err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	if err := errors.Join(lifecycle.WriteList(f, lines), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, lifecycle.ListName+".jsonl"))
}

// summarize shows a summary on the run's page and on stderr.
func (a *app) summarize(markdown string) error {
	a.sayf("%s", markdown)
	err := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).AddSummary(markdown)
	if err != nil && !errors.Is(err, ghaction.ErrSummaryFull) {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}
