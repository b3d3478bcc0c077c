package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/check"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/install"
)

// checkTexts checks the repository's own texts, if it has any.
func checkTexts(root fs.FS) []diag.Diagnostic {
	data, ds := ownText(root, comment.TextsPath, 256<<10)
	if data == nil {
		return ds
	}
	texts, err := comment.Embedded()
	if err != nil {
		return unreadable(comment.TextsPath, err)
	}
	_, ds = texts.Override(comment.TextsPath, data)
	return ds
}

// checkForms compares the issue forms with settings and labels that are right themselves.
func checkForms(root fs.FS) []diag.Diagnostic {
	c, ds, err := config.LoadRepo(root)
	if err != nil || diag.HasErrors(ds) {
		return nil
	}
	labels, ds, err := config.LoadLabels(root)
	if err != nil || diag.HasErrors(ds) {
		return nil
	}
	return check.Forms(root, c, labels)
}

// checkOthers looks at what is not the assistant's own but stands beside it.
func checkOthers(root fs.FS) []diag.Diagnostic {
	return append(check.Workflows(root, install.Known()), check.Tools(root)...)
}

// checkFindings checks findings.toml, and names entries that no longer count.
func (a *app) checkFindings(root fs.FS) []diag.Diagnostic {
	accepts, ds, err := config.LoadFindings(root)
	if err != nil {
		return unreadable(config.FindingsPath, err)
	}
	for _, e := range accepts {
		if e.Expired(a.Now()) && !diag.HasErrors(ds) {
			ds = append(ds, diag.Diagnostic{
				Path: config.FindingsPath, Line: e.Line, Severity: diag.Warning, Code: "findings-expired",
				Message: fmt.Sprintf("the entry for %q of %q expired on %s: its alerts are no longer dismissed", e.Rule, e.Tool, e.Expires.Format(time.DateOnly)),
				Hint:    "look at it again: remove it, or give it a later day",
			})
		}
	}
	return ds
}

// checkPrices needs the clock: prices change on known days.
func (a *app) checkPrices(root fs.FS) ([]diag.Diagnostic, error) {
	c, ds, err := config.LoadRepo(root)
	if err != nil || diag.HasErrors(ds) {
		return nil, nil // said by the check of the settings
	}
	prices, err := a.prices(c)
	if err != nil {
		return nil, failure(err)
	}
	return check.Prices(root, c, prices), nil
}

func (a *app) checkOnline(ctx context.Context, dir string) ([]diag.Diagnostic, error) {
	env := a.Env
	if a.Getenv("GITHUB_REPOSITORY") == "" {
		repo, server := origin(dir)
		if repo == "" {
			return nil, usage(withHint(errors.New("no repository is named"), "set GITHUB_REPOSITORY to owner/name, or clone the repository with a remote origin"))
		}
		env.Getenv = func(name string) string {
			switch {
			case name == "GITHUB_REPOSITORY":
				return repo
			case name == "GITHUB_SERVER_URL" && a.Getenv(name) == "" && a.Getenv("GITHUB_API_URL") == "":
				return server
			}
			return a.Getenv(name)
		}
	}
	client, err := (&app{Env: env}).github()
	if err != nil {
		return nil, err
	}
	root := os.DirFS(dir)
	s := check.Setup{Root: root, Now: a.Now()}
	if s.Config, _, err = config.LoadRepo(root); err != nil {
		s.Config = config.Default() // said by the check of the settings
	}
	if s.Labels, _, err = config.LoadLabels(root); err != nil {
		s.Labels = config.LabelFile{}
	}
	ds, err := check.Online(ctx, client, s)
	if err != nil {
		return nil, failure(tokenHint(err, "a token that may read the repository belongs into GITHUB_TOKEN or GH_TOKEN: GH_TOKEN=$(gh auth token)"))
	}
	return ds, nil
}

// origin reads owner/name and the server from the remote origin of a clone; empty where there is none.
func origin(dir string) (repo, server string) {
	root, err := install.FindRoot(dir)
	if err != nil {
		return "", ""
	}
	data, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	if err != nil {
		return "", ""
	}
	remote := regexp.MustCompile(`^\s*url\s*=\s*(?:https?://|ssh://git@|git@)(?:[^@/\s]*@)?([\w.-]+)(?::\d+)?[:/]([\w-]+/[\w.-]+?)(?:\.git)?/?\s*$`)
	section := ""
	for line := range strings.Lines(string(data)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "[") {
			section = name
			continue
		}
		if m := remote.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil && section == `[remote "origin"]` {
			return m[2], fmt.Sprintf("https://%s", m[1])
		}
	}
	return "", ""
}
