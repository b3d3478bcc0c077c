package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/install"
	"github.com/issue-assistant/issue-assistant/internal/version"
)

type installFlags struct {
	action, version, engine string
	force, dryRun, json     bool
}

func newInstallCmd(a *app) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [DIR]",
		Short: "Write the workflows, rules and settings into a repository",
		Long: "Writes the set-up into the git repository that holds DIR, or the working folder. What a maintainer wrote or\n" +
			"edited is kept. It looks at everything first and then writes all of it or nothing; a second time changes nothing.",
		Example: "  issue-assistant install --action issue-assistant/issue-assistant@COMMIT --version TAG --engine claude\n" +
			"  issue-assistant install --action issue-assistant/issue-assistant@COMMIT --version TAG --dry-run",
		GroupID: groupPeople,
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.action, "action", "", "`OWNER/REPO@SHA` of the action; default: as in the files that are there")
	flags.StringVar(&f.version, "version", "", "the `tag` of that commit; default: the version of this program")
	flags.StringVar(&f.engine, "engine", "", "claude, codex or gemini; default: as in the settings, else claude")
	flags.BoolVar(&f.force, "force", false, "write edited files and an edited core block anew")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing, show what would change")
	flags.BoolVar(&f.json, "json", false, "print the files and what becomes of them as JSON")
	return cmd
}

func (a *app) install(_ context.Context, args []string, f installFlags) error {
	dir := a.Dir
	if len(args) == 1 {
		dir = args[0]
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.Dir, dir)
		}
	}
	o := install.Options{Templates: assets.FS, Engine: engine.Name(f.engine), Force: f.force}
	if f.engine != "" {
		if err := config.CheckEngine(f.engine); err != nil {
			return usage(err)
		}
	}
	var err error
	if o.Pin, err = pinFrom(f); err != nil {
		return usage(withHint(err, "--action OWNER/REPO@SHA --version TAG, as the release notes name them"))
	}
	root, err := install.FindRoot(dir)
	if err != nil {
		if errors.Is(err, install.ErrNoRepository) {
			err = withHint(err, "run `git init` first, or name a folder of a repository")
		}
		return usage(err)
	}
	plan, err := install.Make(root, o)
	if err != nil {
		return a.refuseInstall(err)
	}
	if !f.dryRun {
		if err := plan.Apply(); err != nil {
			return failure(withHint(fmt.Errorf("nothing was changed: %w", err), "make the folder writable and run install again"))
		}
	}
	return a.showPlan(plan, f)
}

func pinFrom(f installFlags) (install.Pin, error) {
	if f.action == "" {
		if f.version != "" {
			return install.Pin{}, errors.New("--version needs --action")
		}
		return install.Pin{}, nil
	}
	tag := f.version
	if tag == "" {
		tag = version.String()
	}
	return install.ParsePin(f.action, tag)
}

// refuseInstall says why nothing was written.
func (a *app) refuseInstall(err error) error {
	var settings *install.SettingsError
	if errors.As(err, &settings) {
		if werr := diag.Write(a.Stderr, a.human(a.Stderr), settings.Diags); werr != nil {
			return failure(werr)
		}
		return usage(settings)
	}
	if errors.Is(err, install.ErrNoPin) {
		return usage(withHint(err, "install --action OWNER/REPO@SHA --version TAG, as the release notes name them"))
	}
	return problem(withHint(fmt.Errorf("nothing was written: %w", err), "mend that and run install again; --dry-run shows what it would do"))
}

// showPlan prints what was done, or would be, and what is left to do. Foreign text appears in diffs only, escaped.
func (a *app) showPlan(p *install.Plan, f installFlags) error {
	if f.json {
		type file struct {
			Path  string        `json:"path"`
			State install.State `json:"state"`
			Note  string        `json:"note,omitempty"`
		}
		files := []file{}
		for _, c := range p.Changes {
			files = append(files, file{c.Path, c.State, c.Note})
		}
		enc := json.NewEncoder(diag.JSON(a.Stdout))
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"root": p.Root, "dry_run": f.dryRun, "files": files, "notes": p.Notes}); err != nil {
			return failure(fmt.Errorf("print the plan: %w", err))
		}
		return nil
	}
	var b strings.Builder
	for _, c := range p.Changes {
		word := string(c.State)
		if f.dryRun && c.State != install.Unchanged && c.State != install.Kept {
			word = "would be " + word
		}
		line := fmt.Sprintf("%-9s  %s", word, c.Path)
		if c.Note != "" {
			line += " (" + c.Note + ")"
		}
		b.WriteString(line + "\n")
	}
	for _, c := range p.Changes {
		if c.State == install.Kept || (f.dryRun && c.State != install.Unchanged) {
			for line := range strings.Lines(install.Diff(c.Path, c.Old, c.After())) {
				b.WriteString(diag.Printable(strings.TrimRight(line, "\r\n")) + "\n")
			}
		}
	}
	for _, note := range p.Notes {
		b.WriteString("note: " + diag.Printable(note) + "\n")
	}
	b.WriteString("\n" + install.WorstCase(p.Config) + "\n")
	if !f.dryRun {
		if slices.ContainsFunc(p.Changes, func(c install.Change) bool { return c.State != install.Unchanged }) {
			b.WriteString("\nWhat is left to do, in the repository:\n\n")
		} else { // whether GitHub is set up, too, only check --online sees
			b.WriteString("\nNothing has changed. If it has not been done before, what is left to do, in the repository:\n\n")
		}
		b.WriteString(install.NextSteps(p))
	}
	if _, err := a.Stdout.Write([]byte(b.String())); err != nil {
		return failure(fmt.Errorf("print the plan: %w", err))
	}
	return nil
}

// checkInstalled compares the generated files once a repository has any of them; none is a warning, because somebody
// may use single commands in workflows of their own.
func checkInstalled(root fs.FS) []diag.Diagnostic {
	for _, path := range install.Known() {
		if _, err := fs.Lstat(root, path); err == nil {
			// checkRules says where the file is not UTF-8.
			return slices.DeleteFunc(install.Check(root, assets.FS), func(d diag.Diagnostic) bool { return d.Code == "rules-encoding" })
		} else if !errors.Is(err, os.ErrNotExist) {
			return unreadable(path, err)
		}
	}
	return []diag.Diagnostic{{
		Path: install.Known()[0], Severity: diag.Warning, Code: "not-installed",
		Message: "no workflow of the assistant is here: nothing starts it", Hint: "run issue-assistant install",
	}}
}
