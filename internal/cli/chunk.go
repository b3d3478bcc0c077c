package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
)

// chunkOptions are the flags that all verbs share.
type chunkOptions struct {
	state string
	json  bool
}

func newChunkCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "chunk",
		Short:   "Bound the work of a long-lived agent: claims, poll gate, wrap-up",
		GroupID: groupPeople,
	}
	var o chunkOptions
	cmd.PersistentFlags().StringVar(&o.state, "state", "", "a JSON `file` with the chunk and the facts (schema/chunk.schema.json): decide offline; - is the standard input")
	cmd.PersistentFlags().BoolVar(&o.json, "json", false, "print the decision as JSON")
	cmd.AddCommand(newChunkPollCmd(a, &o), newChunkWrapCmd(a, &o))
	return cmd
}

func (a *app) chunkState(o *chunkOptions) (chunk.State, error) {
	var s chunk.State
	if o.state == "" {
		return s, usage(withHint(errors.New("no state is given"), "--state FILE.json"))
	}
	return s, a.readChecked(o.state, "chunk.schema.json", &s)
}

func newChunkPollCmd(a *app, o *chunkOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "poll",
		Short: "Say whether a model may run now; exit 3 after three failed readings of GitHub in a row",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.chunkState(o)
			if err != nil {
				return err
			}
			v := chunk.Poll(s)
			// Only on a runner: elsewhere the result would stand in the output a second time.
			if a.Getenv("GITHUB_OUTPUT") != "" {
				out := ghaction.Output{Name: "action", Value: string(v.Action)}
				if err := ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).SetOutputs(out); err != nil {
					return err
				}
			}
			if o.json {
				err = a.writeJSON(v)
			} else {
				_, err = fmt.Fprintln(a.Stdout, pollLine(v))
			}
			if err == nil && v.Exit != ExitOK {
				err = silent(v.Exit)
			}
			return err
		},
	}
}

func pollLine(v chunk.Verdict) string {
	line := fmt.Sprintf("%s: %s", v.Action, v.Reason)
	if v.Disarm {
		line += ", the poll is switched off"
	}
	if len(v.Unknown) > 0 {
		line += "; not known: " + strings.Join(v.Unknown, ", ")
	}
	return line
}

func newChunkWrapCmd(a *app, o *chunkOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "wrap",
		Short: "Check that everything claimed is done; without --json exit 1 while it is not",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
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
			if r.State == chunk.StateWrapped {
				_, err = fmt.Fprintln(a.Stdout, "wrapped, ready for reset")
				return err
			}
			words := make([]string, 0, len(r.Unmet))
			for _, u := range r.Unmet {
				words = append(words, string(u))
			}
			if _, err := fmt.Fprintf(a.Stdout, "%s: %s\n", r.State, strings.Join(words, ", ")); err != nil {
				return err
			}
			return silent(ExitProblem)
		},
	}
}
