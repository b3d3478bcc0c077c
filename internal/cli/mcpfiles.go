package cli

import (
	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
	"github.com/issue-assistant/issue-assistant/internal/version"
)

// newMCPFilesCmd is started by an engine that has no tools of its own for reading; people never call it.
func newMCPFilesCmd(a *app) *cobra.Command {
	var roots []string
	cmd := &cobra.Command{
		Use:    mcpfiles.Command,
		Hidden: true,
		Short:  "Let an engine read files of the checkout and the material, over the Model Context Protocol",
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := mcpfiles.Options{Roots: roots, Version: version.String(), Now: a.Now}
			if err := mcpfiles.Serve(cmd.Context(), o, a.Stdin, a.Stdout); err != nil {
				return failure(err)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&roots, "root", nil, "`folder` that may be read; may be given again")
	return cmd
}
