package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/tracker"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

func newChunkPollCmd(a *app, o *chunkOptions) *cobra.Command {
	var ran bool
	cmd := &cobra.Command{
		Use:   "poll",
		Short: "Say whether a model may run now; exit 3 after three failed readings of GitHub in a row",
		Long: "Needs no model: reads what the chunk has claimed and its pull requests, renews the leases, repairs the labels, and\n" +
			"switches the schedule of the poll workflow off when nothing is live. Only \"run\" starts a model.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.state != "" {
				s, err := a.chunkState(o)
				if err != nil {
					return err
				}
				v := chunk.Poll(s)
				return a.tell(o, []tracker.Polled{{Verdict: v, Off: v.Disarm}})
			}
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			return c.done(c.poll(cmd.Context(), ran))
		},
	}
	cmd.Flags().BoolVar(&ran, "ran", false, "the run that the last poll allowed has ended well: what it was started for counts as seen")
	return o.useFlags(o.stateFlag(cmd))
}

func (c *chunks) poll(ctx context.Context, ran bool) error {
	id, err := c.o.number()
	if err != nil {
		return err
	}
	p := tracker.PollOptions{Ran: ran, Errors: c.failures()}
	if c.o.transcripts != "" || c.o.execution != "" {
		mine, err := c.one(ctx) // whose use it is
		if exitCode(err) == ExitUsage && err != nil && !errors.Is(err, errNoOpenChunk) {
			return err
		}
		if err == nil {
			id, p.Ran = mine.ID, true
			used, err := c.chunkUse(c.o, &mine.Started)
			if err != nil {
				return err
			}
			p.Use = &tracker.Use{Logs: used.Logs, Context: used.Last()}
		}
	}
	polled, err := c.Poll(ctx, id, p)
	if errors.Is(err, tracker.ErrNoChunk) {
		return usage(err)
	}
	if err != nil {
		c.sayf("GitHub could not be read or written: %v", err)
	}
	c.count(err != nil)
	return c.tell(c.o, polled)
}

// weight sorts what several chunks ask for: the most urgent decides.
var weight = []chunk.Action{chunk.Run, chunk.Release, chunk.Wrap, chunk.Error, chunk.Hold, chunk.Quiet}

// tell prints verdicts. On a runner the later jobs read the output "action".
func (a *app) tell(o *chunkOptions, polled []tracker.Polled) error {
	slices.SortStableFunc(polled, func(x, y tracker.Polled) int {
		return slices.Index(weight, x.Action) - slices.Index(weight, y.Action)
	})
	exit := ExitOK
	for _, p := range polled {
		exit = max(exit, p.Exit)
	}
	// Only on a runner: elsewhere the result would stand in the output a second time.
	if a.Getenv("GITHUB_OUTPUT") != "" {
		out := ghaction.Output{Name: "action", Value: string(polled[0].Action)}
		if err := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).SetOutputs(out); err != nil {
			return err
		}
	}
	type verdict struct {
		chunk.Verdict
		Chunk   int       `json:"chunk,omitempty"`
		Changed []int     `json:"changed,omitempty"`
		Others  []verdict `json:"others,omitempty"`
		off     bool
	}
	var all []verdict
	for _, p := range polled {
		all = append(all, verdict{Verdict: p.Verdict, Chunk: p.Chunk, Changed: p.Changed, off: p.Off})
	}
	var lines []string
	for _, v := range all {
		line := pollLine(v.Verdict, v.off)
		if v.Chunk != 0 {
			line = fmt.Sprintf("chunk %d: %s", v.Chunk, line)
		}
		if v.Action == chunk.Run && len(v.Changed) > 0 {
			line += "; look at " + strings.Trim(strings.ReplaceAll(fmt.Sprint(v.Changed), " ", ", "), "[]")
		}
		lines = append(lines, line)
	}
	var err error
	if o.json {
		all[0].Others = all[1:]
		err = a.writeJSON(all[0])
	} else {
		_, err = fmt.Fprintln(a.Stdout, strings.Join(lines, "\n"))
	}
	err = errors.Join(err, a.inSummary(lines...))
	if err == nil && exit != ExitOK {
		err = silent(exit)
	}
	return err
}

// inSummary shows lines of fixed words and numbers on the run's page, where it says why nothing was started.
func (a *app) inSummary(lines ...string) error {
	r := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr)
	if r.SummaryFile == "" {
		return nil
	}
	err := r.AddSummary("- " + strings.Join(lines, "\n- ") + "\n")
	if err != nil && !errors.Is(err, ghaction.ErrSummaryFull) {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

func pollLine(v chunk.Verdict, off bool) string {
	line := fmt.Sprintf("%s: %s", v.Action, v.Reason)
	if off {
		line += ", the poll is switched off"
	}
	if len(v.Unknown) > 0 {
		line += "; not known: " + strings.Join(v.Unknown, ", ")
	}
	return line
}

// failuresFile counts failed readings in a row where GitHub cannot keep the count: it is what fails.
func (c *chunks) failuresFile() string {
	dir := c.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home := c.Getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "issue-assistant", "poll-"+strings.ReplaceAll(c.Client.Repo(), "/", "-")+"-"+c.o.id)
}

func (c *chunks) failures() int {
	file := c.failuresFile()
	if file == "" {
		return 0
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || n < 0 || n > 1000 {
		return 0
	}
	return n
}

func (c *chunks) count(failed bool) {
	file := c.failuresFile()
	switch {
	case file == "":
	case !failed:
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			c.sayf("the count of failed readings: %v", err)
		}
	default:
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(strconv.Itoa(c.failures()+1)), 0o600)
		}
		if err != nil {
			c.sayf("the count of failed readings: %v", err)
		}
	}
}

// monthAllows reports whether the month's cap leaves room. Outside of a workflow, and without settings, there is no cap.
func (a *app) monthAllows(ctx context.Context) bool {
	if a.Getenv("GITHUB_RUN_ID") == "" {
		return true
	}
	cfg, ds, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil || diag.HasErrors(ds) || cfg.Limits.MonthlyUSD <= 0 {
		return true
	}
	month := ledger.MonthOf(a.Now())
	got, err := a.readLedger(ctx, month)
	if err != nil {
		a.sayf("the records of earlier runs cannot be read, so no run is started: %v", err)
		return false
	}
	sum := got.Ledger.Sum(month, cfg.Engine.MaxBudgetUSD, got.Lost)
	return sum.Admits(0, cfg.Limits.MonthlyUSD) && sum.USD+sum.Reserved < cfg.Limits.MonthlyUSD
}

func newChunkWrapCmd(a *app, o *chunkOptions) *cobra.Command {
	var ran bool
	cmd := &cobra.Command{
		Use:   "wrap",
		Short: "Check that everything claimed is done, and finish the chunk; without --json exit 1 while it is not",
		Long: "Releases what a limit ends, checks every condition, then empties the list of pull requests, switches the poll off,\n" +
			"reports and closes the chunk's issue. Needs no model. With --state it only checks.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.state == "" {
				c, err := a.chunks(o)
				if err != nil {
					return err
				}
				return c.done(c.wrap(cmd.Context(), ran))
			}
			s, err := a.chunkState(o)
			if err != nil {
				return err
			}
			if s.Chunk == nil {
				return usage(errors.New("the state holds no chunk to wrap up"))
			}
			r := chunk.WrapUp(s.Chunk, s.Facts)
			if o.json {
				return a.writeJSON(r)
			}
			if _, err := fmt.Fprintln(a.Stdout, wrapLine(r)); err != nil || r.State == chunk.StateWrapped {
				return err
			}
			return silent(ExitProblem)
		},
	}
	cmd.Flags().BoolVar(&ran, "ran", false, "after a run that ended well: note it, and wrap up only what the gate sends to its end")
	return o.useFlags(o.stateFlag(cmd))
}

// wrap ends the named chunk, or the only one; after a run, those of all chunks that are due.
func (c *chunks) wrap(ctx context.Context, ran bool) error {
	var list []*tracker.Chunk
	var err error
	if ran && c.o.id == "" {
		if list, err = c.All(ctx); err != nil {
			return failure(err)
		}
	} else {
		mine, err := c.one(ctx)
		if err != nil {
			return err
		}
		list = append(list, mine)
	}
	code, results := ExitOK, []tracker.Wrapped{}
	for _, mine := range list {
		p := tracker.PollOptions{Ran: true, DueOnly: ran}
		used, err := c.chunkUse(c.o, &mine.Started)
		if err != nil {
			return err
		}
		if used != nil {
			p.Use = &tracker.Use{Logs: used.Logs, Context: used.Last()}
		}
		r, err := c.Wrap(ctx, mine, p)
		if err != nil {
			c.sayf("chunk %d: %v", mine.ID, err)
			code = ExitFailure
		} else if r.State != chunk.StateWrapped && !c.o.json && (!ran || !r.Live()) {
			code = max(code, ExitProblem)
		}
		results = append(results, r)
		if c.o.json {
			continue
		}
		for _, n := range r.Released {
			if _, err := fmt.Fprintf(c.Stdout, "released %d\n", n); err != nil {
				return err
			}
		}
		line := fmt.Sprintf("chunk %d: %s", mine.ID, wrapLine(r.WrapResult))
		if err := c.inSummary(line); err != nil {
			return err
		}
		if r.State == chunk.StateWrapped {
			line += "\n" + tracker.Figures(&mine.Record)
		}
		if _, err := fmt.Fprintln(c.Stdout, line); err != nil {
			return err
		}
	}
	if c.o.json {
		var v any = results
		if len(results) == 1 {
			v = results[0]
		}
		if err := c.writeJSON(v); err != nil {
			return err
		}
	}
	if code != ExitOK {
		return silent(code)
	}
	return nil
}
