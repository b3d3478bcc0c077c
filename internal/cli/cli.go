// Package cli holds the commands: flags and environment in, outputs and an exit code out, nothing else.
//
// One file per command. A flag --x-y has the action input x-y; the action's wrapper hands inputs over as
// environment variables INPUT_X_Y, which stand in for flags that are not given.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/issue-assistant/issue-assistant/internal/apply"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/version"
)

// The two groups of the help text.
const (
	groupPeople    = "people"
	groupWorkflows = "workflows"
)

// app is what the commands share.
type app struct {
	Env
	checkout apply.Checkout  // nil: what git tracks in the working folder
	done     <-chan struct{} // closed when the command is told to end; nil: never
}

// commands lists the constructors of all commands in the order of the help text.
func commands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		newTryCmd,
		newCostCmd,
		newSweepCmd,
		newLabelsCmd,
		newFindingsCmd,
		newSessionCmd,
		newChunkCmd,
		newCheckCmd,
		newEngineCmd,
		newVersionCmd,
		newRunCmd,
		newLauncherCmd,
		newMCPFilesCmd,
		newUsageCmd,
		newEventCmd,
		newContextCmd,
		newApplyCmd,
		newSanitizeCmd,
		newInstallCmd,
		newSimilarCmd,
	}
}

// Main runs one command and returns its exit code.
func Main(ctx context.Context, env Env) int {
	return execute(ctx, &app{Env: env})
}

func execute(ctx context.Context, a *app) int {
	a.done = ctx.Done()
	root := newRootCmd(a)
	if slices.Equal(a.Args, []string{"--version"}) { // what people type first
		a.Args = []string{"version"}
	}
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			onlySubcommands(cmd)
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	a.report(cmd, err)
	return exitCode(err)
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "issue-assistant",
		Short:         "Looks after the issues of a GitHub repository with an AI that only reads",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddGroup(
		&cobra.Group{ID: groupPeople, Title: "Commands for people:"},
		&cobra.Group{ID: groupWorkflows, Title: "Commands used by the workflows:"},
	)
	root.SetHelpCommandGroupID(groupPeople)
	root.SetCompletionCommandGroupID(groupPeople)
	for _, construct := range commands() {
		cmd := construct(a)
		walk(cmd, func(c *cobra.Command) {
			if c.Args != nil {
				c.Args = inOurWords(c.Args)
			}
			pre := c.PreRunE
			c.PreRunE = func(cmd *cobra.Command, args []string) error {
				if err := a.flagsFromInputs(cmd.Flags()); err != nil {
					return err
				}
				if pre == nil {
					return nil
				}
				return pre(cmd, args)
			}
		})
		root.AddCommand(cmd)
	}
	return root
}

// inOurWords says which argument is missing or too much, and shows how the command is written.
func inOurWords(accept cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if accept(cmd, args) == nil {
			return nil
		}
		for n := range args {
			if accept(cmd, args[:n]) == nil && accept(cmd, args[:n+1]) != nil {
				return fmt.Errorf("%q is one argument too many: %s", args[n], cmd.UseLine())
			}
		}
		return fmt.Errorf("an argument is missing: %s", cmd.UseLine())
	}
}

// onlySubcommands makes a command without work of its own refuse a word that is none of its subcommands. Cobra would
// show its help and report success, so that a mistyped gate in a script passes.
func onlySubcommands(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
		}
		return cmd.Help()
	}
	cmd.DisableFlagsInUseLine = true
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

// flagsFromInputs fills flags that were not given from INPUT_X_Y; an empty variable is an input that was left out.
func (a *app) flagsFromInputs(flags *pflag.FlagSet) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" {
			return
		}
		value := a.Getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
		if value == "" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("input %s: %w", f.Name, err))
		}
	})
	return errors.Join(errs...)
}

// report prints what is wrong and what to do, each line with the program's name before it.
func (a *app) report(cmd *cobra.Command, err error) {
	var e *exitError
	if errors.As(err, &e) && e.err == nil {
		return
	}
	a.sayf("%s", err)
	var h *hintError
	switch hint := githubHint(err); {
	case errors.As(err, &h):
		a.sayf("hint: %s", h.hint)
	case hint != "":
		a.sayf("hint: %s", hint)
	}
	if !errors.As(err, &e) {
		a.sayf("hint: %s --help", cmd.CommandPath())
	}
}

// sayf writes lines for people to stderr. Every line gets the program's name, so that no text can start a workflow
// command, and control characters are escaped.
func (a *app) sayf(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, _ = io.WriteString(a.Stderr, "issue-assistant: "+diag.Printable(strings.TrimRight(line, "\r\n"))+"\n")
	}
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, "issue-assistant "+version.String())
			return err
		},
	}
}
