package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/tracker"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// chunkOptions are the flags that several verbs share.
type chunkOptions struct {
	id, repo, state        string
	transcripts, execution string
	json                   bool
}

func newChunkCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "chunk",
		Short:   "Bound the work of a long-lived agent: claims, poll gate, wrap-up",
		Long:    "A chunk is a set of issues that one agent has claimed. The set is fixed when the work begins; the gate starts the agent\nonly while something of it is live and has changed; the wrap-up is checked. docs/chunks.md shows one from its start to its end.",
		GroupID: groupPeople,
	}
	var o chunkOptions
	flags := cmd.PersistentFlags()
	flags.StringVar(&o.id, "chunk", "", "the chunk's `number`; it can be left out while there is only one")
	flags.StringVar(&o.repo, "repo", "", "`owner/name` (default: GITHUB_REPOSITORY)")
	flags.BoolVar(&o.json, "json", false, "print the result as JSON")
	cmd.AddCommand(
		newChunkStartCmd(a, &o), newChunkClaimCmd(a, &o), newChunkReleaseCmd(a, &o), newChunkNoteCmd(a, &o),
		newChunkPollCmd(a, &o), newChunkStatusCmd(a, &o), newChunkReportCmd(a, &o), newChunkWrapCmd(a, &o),
	)
	return cmd
}

func (o *chunkOptions) stateFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&o.state, "state", "", "a JSON `file` with the chunk and the facts (schema/chunk.schema.json): decide offline; - is the standard input")
	return cmd
}

func (o *chunkOptions) useFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&o.transcripts, "transcripts", "", "`folder` of the agent's transcripts (Claude Code: ~/.claude/projects/...)")
	cmd.Flags().StringVar(&o.execution, "execution-file", "", "execution `file` of a run of the agent")
	return cmd
}

func (a *app) chunkState(o *chunkOptions) (chunk.State, error) {
	var s chunk.State
	return s, a.readChecked(o.state, "chunk.schema.json", &s)
}

// chunks is one command on GitHub.
type chunks struct {
	*app
	*tracker.Tracker
	o *chunkOptions
}

func (a *app) chunks(o *chunkOptions) (*chunks, error) {
	if o.repo != "" {
		with, env := *a, a.Getenv
		with.Getenv = func(name string) string {
			if name == "GITHUB_REPOSITORY" {
				return o.repo
			}
			return env(name)
		}
		a = &with
	}
	client, err := a.github()
	if err != nil {
		return nil, err
	}
	out := ghaction.FromEnv(a.Getenv, a.Stderr, a.Stderr)
	return &chunks{a, &tracker.Tracker{
		Client: client, Writer: ghapi.NewWriter(client), Now: a.Now, Sleep: a.Sleep, Nonce: nonce,
		Warn:   func(text string) { out.Warning("chunk: " + text) },
		Budget: a.monthAllows,
	}, o}, nil
}

// nonce marks one write, so that it is found again when its answer is lost.
func nonce() string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// id is the number given with --chunk; 0: none.
func (o *chunkOptions) number() (int, error) {
	n, err := issueNumber(o.id)
	if err != nil {
		return 0, usage(fmt.Errorf("--chunk: %w", err))
	}
	return n, nil
}

var errNoOpenChunk = errors.New("there is no open chunk")

// one is the chunk that is meant: the given one, or the only one there is.
func (c *chunks) one(ctx context.Context) (*tracker.Chunk, error) {
	n, err := c.o.number()
	if err != nil {
		return nil, err
	}
	if n != 0 {
		got, err := c.Load(ctx, n)
		if errors.Is(err, tracker.ErrNoChunk) {
			return nil, usage(err)
		}
		if err != nil {
			return nil, failure(err)
		}
		return got, nil
	}
	all, err := c.All(ctx)
	switch {
	case err != nil:
		return nil, failure(err)
	case len(all) == 0:
		return nil, usage(withHint(errNoOpenChunk, "issue-assistant chunk start"))
	case len(all) > 1:
		ids := make([]string, len(all))
		for i, x := range all {
			ids[i] = strconv.Itoa(x.ID)
		}
		return nil, usage(withHint(errors.New("there are several open chunks: "+strings.Join(ids, ", ")), "say which one with --chunk NUMBER"))
	}
	return all[0], nil
}

// done reports the writes that did not go through at once and passes the error on.
func (c *chunks) done(err error) error {
	if table := ghapi.ReportMarkdown(c.Writer.Results()); table != "" {
		// Never on stdout, where the result stands.
		if err2 := ghaction.FromEnv(c.Getenv, c.Stderr, c.Stderr).AddSummary(table); err2 != nil {
			c.sayf("%v", err2)
		}
	}
	return err
}

func printClaim(r tracker.ClaimResult) string {
	line := fmt.Sprintf("%s %d", r.Result, r.Issue)
	if r.Reason != "" {
		line += ": " + r.Reason
	}
	if r.From != 0 {
		line += fmt.Sprintf(", taken over from chunk %d", r.From)
	}
	return line
}

func newChunkStartCmd(a *app, o *chunkOptions) *cobra.Command {
	var label string
	cmd := &cobra.Command{
		Use:   "start [NUMBER...]",
		Short: "Open a chunk, claim issues for it, and print what its agent has to keep to",
		RunE: func(cmd *cobra.Command, args []string) error {
			issues, err := issueNumbers(args)
			if err != nil {
				return err
			}
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			return c.done(c.start(cmd.Context(), label, issues))
		},
	}
	cmd.Flags().StringVar(&label, "label", "", "take only issues that carry this `label`, so that several agents share one tracker")
	return cmd
}

func (c *chunks) start(ctx context.Context, label string, issues []int) error {
	made, err := c.Start(ctx, label)
	if err != nil {
		if made != nil {
			c.sayf("chunk %d was opened, but its log could not be written", made.ID)
		}
		return failure(err)
	}
	results, err := c.Claim(ctx, made, issues)
	if err != nil {
		c.sayf("nothing was claimed: %v", err)
	}
	if c.o.json {
		if err := c.writeJSON(struct {
			Chunk       int                   `json:"chunk"`
			Claims      []tracker.ClaimResult `json:"claims"`
			Instruction string                `json:"instruction"`
		}{made.ID, nonNil(results), tracker.Instruction(made.ID)}); err != nil {
			return err
		}
		return claimExit(c.app, results, err)
	}
	if _, err := fmt.Fprintf(c.Stdout, "chunk %d\n", made.ID); err != nil {
		return err
	}
	for _, r := range results {
		if _, err := fmt.Fprintln(c.Stdout, printClaim(r)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(c.Stdout, "\n"+tracker.Instruction(made.ID)); err != nil {
		return err
	}
	return claimExit(c.app, results, err)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// claimExit is 3 when a claim could not be written, 1 when one was refused or lost.
func claimExit(a *app, results []tracker.ClaimResult, err error) error {
	code := ExitOK
	if err != nil {
		code = ExitFailure
	}
	for _, r := range results {
		switch r.Result {
		case tracker.Claimed, tracker.Ours:
		case tracker.Failed:
			a.sayf("#%d is not claimed: %v", r.Issue, r.Err)
			code = ExitFailure
		default:
			code = max(code, ExitProblem)
		}
	}
	if code == ExitOK {
		return nil
	}
	return silent(code)
}

func issueNumbers(args []string) ([]int, error) {
	var out []int
	for _, text := range args {
		n, err := issueNumber(strings.TrimPrefix(text, "#"))
		if err != nil || n == 0 {
			return nil, usage(fmt.Errorf("%q is no issue's number: write digits alone", text))
		}
		out = append(out, n)
	}
	return out, nil
}

func newChunkClaimCmd(a *app, o *chunkOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "claim NUMBER...",
		Short: "Claim issues; exit 1 when one was refused or another agent was first",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			issues, err := issueNumbers(args)
			if err != nil {
				return err
			}
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			mine, err := c.one(cmd.Context())
			if err != nil {
				return err
			}
			results, err := c.Claim(cmd.Context(), mine, issues)
			if err != nil {
				return c.done(failure(err))
			}
			if o.json {
				err = c.writeJSON(nonNil(results))
			} else {
				for _, r := range results {
					if _, err = fmt.Fprintln(c.Stdout, printClaim(r)); err != nil {
						break
					}
				}
			}
			if err != nil {
				return err
			}
			return c.done(claimExit(a, results, nil))
		},
	}
}
