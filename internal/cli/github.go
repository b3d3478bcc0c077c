package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/version"
)

// github is a client for the run's repository with the run's token.
func (a *app) github() (*ghapi.Client, error) {
	token := a.Getenv("GITHUB_TOKEN")
	if token == "" {
		token = a.Getenv("GH_TOKEN")
	}
	return a.githubWith(token)
}

func (a *app) githubWith(token string) (*ghapi.Client, error) {
	repo := a.Getenv("GITHUB_REPOSITORY")
	if repo == "" {
		return nil, usage(withHint(errors.New("no repository is named"), "set GITHUB_REPOSITORY to owner/name"))
	}
	c, err := ghapi.New(ghapi.Options{
		APIURL: a.Getenv("GITHUB_API_URL"), GraphQLURL: a.Getenv("GITHUB_GRAPHQL_URL"), ServerURL: a.Getenv("GITHUB_SERVER_URL"),
		Token: token, Repo: repo, HTTP: a.HTTP, Now: a.Now, Sleep: a.Sleep, UserAgent: "issue-assistant/" + version.String(),
	})
	if err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// settings reads config.toml, labels.toml and texts.toml of the checkout. What is wrong in them is printed; wrong
// settings end the command.
type settings struct {
	config config.Config
	labels config.LabelFile
	texts  comment.Catalog
}

func (a *app) settings() (settings, error) {
	var s settings
	root := os.DirFS(a.Dir)
	c, ds, err := config.LoadRepo(root)
	if err != nil {
		return s, failure(err)
	}
	labels, more, err := config.LoadLabels(root)
	if err != nil {
		return s, failure(err)
	}
	ds = append(ds, more...)
	texts, err := comment.Embedded()
	if err != nil {
		return s, failure(err)
	}
	data, err := config.ReadFile(root, comment.TextsPath, comment.MaxTexts)
	switch {
	case err == nil:
		texts, more = texts.Override(comment.TextsPath, data)
		ds = append(ds, more...)
	case !errors.Is(err, os.ErrNotExist):
		return s, failure(fmt.Errorf("read the texts: %w", err))
	}
	if err := a.show(ds); err != nil {
		return s, err
	}
	if diag.HasErrors(ds) {
		return s, usage(withHint(errors.New("the settings are wrong"), "issue-assistant check shows this on your machine"))
	}
	return settings{c, labels, texts}, nil
}

// show prints diagnostics; on a runner, what ends the job stands on the run's page too, with its file and line.
func (a *app) show(ds []diag.Diagnostic) error {
	err := diag.Write(a.Stderr, a.human(a.Stderr), ds)
	if err == nil && diag.HasErrors(ds) && a.Getenv("GITHUB_ACTIONS") == "true" {
		err = diag.Write(a.Stdout, "annotations", ds)
	}
	if err != nil {
		return failure(fmt.Errorf("write the findings: %w", err))
	}
	return nil
}

// issueNumber reads an issue's number; an empty text is 0.
func issueNumber(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q is no issue's number: write digits alone", text)
	}
	return n, nil
}

// commentID reads a comment's id; an empty text is 0.
func commentID(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, fmt.Errorf("%q is no comment's id: write digits alone", text)
	}
	return n, nil
}

// secretNames end the names of variables whose values are never shown to the AI and never posted.
var secretNames = []string{"_TOKEN", "_KEY", "_SECRET", "_PASSWORD", "_PASSWD", "_PAT", "_CREDENTIALS", "_PRIVATE"}

// secrets are the values of the environment that look like secrets by their variables' names.
func (a *app) secrets() []string {
	var out []string
	for _, entry := range a.Environ() {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || value == "" {
			continue
		}
		name = "_" + strings.ToUpper(name)
		for _, end := range secretNames {
			if strings.HasSuffix(name, end) {
				out = append(out, value)
				break
			}
		}
	}
	return out
}
