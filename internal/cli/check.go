package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/check"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/install"
)

// checker looks at the files of a repository. It reports what it cannot read as a finding.
type checker func(root fs.FS) []diag.Diagnostic

// checkers lists everything that `check` looks at without a network, in no particular order: the findings are sorted.
var checkers = []checker{
	checkSettings,
	checkLabels,
	checkTexts,
	checkRules,
	checkInstalled,
	checkForms,
	checkOthers,
}

func newCheckCmd(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Check the settings, the labels and the workflows of a repository",
		Long: "Checks the set-up of the repository in DIR, or in the working folder. Exit code 2: config.toml is wrong;\n" +
			"1: something else is; 0: nothing is, warnings aside. --online also looks at the repository on GitHub, by reads alone,\n" +
			"with the token of GITHUB_TOKEN or GH_TOKEN; the repository is that of GITHUB_REPOSITORY, else of the remote origin.",
		Example: "  issue-assistant check\n" +
			"  issue-assistant check --online --format json",
		GroupID: groupPeople,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.online, "online", false, "also compare with the repository on GitHub: environment, secret, labels, Actions")
	cmd.Flags().StringVar(&f.format, "format", "", "`form` of the findings: "+strings.Join(diag.Formats, ", ")+
		" (default human, annotations on a runner)")
	return cmd
}

type checkFlags struct {
	format string
	online bool
}

func (a *app) check(ctx context.Context, args []string, f checkFlags) error {
	format := f.format
	if format == "" {
		format = "human"
		if a.Getenv("GITHUB_ACTIONS") == "true" {
			format = "annotations"
		}
	}
	if !slices.Contains(diag.Formats, format) {
		return usage(withHint(fmt.Errorf("unknown format %q", format), "use one of "+strings.Join(diag.Formats, ", ")))
	}
	dir := a.Dir
	switch {
	case len(args) == 0: // below the root of a repository, as install finds it
		if root, err := install.FindRoot(dir); err == nil {
			dir = root
		}
	default:
		dir = args[0]
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.Dir, dir)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usage(withHint(fmt.Errorf("%q is not a folder", dir), "name the folder of a repository"))
	}
	root := os.DirFS(dir)
	var ds []diag.Diagnostic
	for _, look := range checkers {
		ds = append(ds, look(root)...)
	}
	ds = append(ds, a.checkFindings(root)...)
	more, err := a.checkPrices(root)
	if err != nil {
		return err
	}
	if len(more) > 0 { // the model's own least budget says more than the one for all models
		ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool {
			return d.Code == "config-low-budget" && slices.ContainsFunc(more, func(m diag.Diagnostic) bool { return m.Code == "budget-too-small" })
		})
	}
	ds = check.Locate(root, append(ds, more...))
	if f.online {
		if more, err = a.checkOnline(ctx, dir); err != nil {
			return err
		}
		ds = append(ds, more...)
	}
	diag.Sort(ds)
	if format == "human" {
		format = a.human(a.Stdout)
	}
	if err := diag.Write(a.Stdout, format, ds); err != nil {
		return failure(fmt.Errorf("write the findings: %w", err))
	}
	a.sayf("%s", summaryOf(ds))
	return checkResult(ds)
}

// checkResult is the exit code of findings: wrong settings are wrong usage, everything else is a problem.
func checkResult(ds []diag.Diagnostic) error {
	switch {
	case diag.HasErrors(slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool { return d.Path != config.Path })):
		return silent(ExitUsage)
	case diag.HasErrors(ds):
		return silent(ExitProblem)
	}
	return nil
}

func summaryOf(ds []diag.Diagnostic) string {
	counts := map[diag.Severity]int{}
	for _, d := range ds {
		counts[d.Severity]++
	}
	unknown := ""
	if n := counts[diag.Notice]; n > 0 {
		unknown = fmt.Sprintf(", %d unknown", n)
	}
	switch {
	case counts[diag.Error] > 0:
		return fmt.Sprintf("%s, %s", plural(counts[diag.Error], "error"), plural(counts[diag.Warning], "warning")) + unknown
	case counts[diag.Warning] > 0:
		return "everything fits, " + plural(counts[diag.Warning], "warning") + unknown
	}
	return "everything fits" + unknown
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func checkSettings(root fs.FS) []diag.Diagnostic {
	_, ds, err := config.LoadRepo(root)
	return append(ds, unreadable(config.Path, err)...)
}

// checkLabels checks labels.toml alone and with the settings; wrong settings are the business of checkSettings.
func checkLabels(root fs.FS) []diag.Diagnostic {
	f, ds, err := config.LoadLabels(root)
	if err != nil {
		return unreadable(config.LabelsPath, err)
	}
	if diag.HasErrors(ds) {
		return ds
	}
	c, _, err := config.LoadRepo(root)
	if err != nil {
		return ds // checkSettings says it
	}
	return append(ds, check.Lifecycle(root, config.CheckLifecycleLabels(config.LabelsPath, f, c), f)...)
}

// checkRules makes sure that rules.md reaches an engine as it was written. Without the file the built-in rules hold.
func checkRules(root fs.FS) []diag.Diagnostic {
	_, ds := ownText(root, config.RulesPath, config.MaxRulesBytes)
	return ds
}

// ownText reads a file of text that a repository may have; nil: it has none, or the findings say what is wrong with it.
func ownText(root fs.FS, path string, most int) ([]byte, []diag.Diagnostic) {
	data, err := config.ReadFile(root, path, int64(most))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	if ds := config.CheckText(path, data, most); len(ds) > 0 {
		return nil, ds
	}
	return data, nil
}

func unreadable(path string, err error) []diag.Diagnostic {
	if err == nil {
		return nil
	}
	return []diag.Diagnostic{{
		Path: path, Severity: diag.Error, Code: "unreadable",
		Message: fmt.Sprintf("the file cannot be read: %q", err.Error()), Hint: "make it a plain file that this user may read",
	}}
}
