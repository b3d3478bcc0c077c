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

// githubHint says what to do about a failure of GitHub, or of what stands before it.
func githubHint(err error) string {
	switch ghapi.KindOf(err) {
	case ghapi.KindUnauthorized:
		return "GITHUB_TOKEN or GH_TOKEN holds no valid token: GH_TOKEN=$(gh auth token)"
	case ghapi.KindRateLimited:
		return "run it again after that time"
	case ghapi.KindForeignHost, ghapi.KindUnreadable, ghapi.KindTooLarge:
		return "this is no answer of GitHub's API: look at GITHUB_API_URL and at the proxy"
	case ghapi.KindServer, ghapi.KindTimeout, ghapi.KindNetwork:
		return "run it again; https://www.githubstatus.com says whether GitHub is down"
	case ghapi.KindForbidden:
		return "the token, or the job's permissions, lack the right to this address"
	case ghapi.KindNotFound, ghapi.KindGone, ghapi.KindMoved:
		return "look at GITHUB_REPOSITORY and at the number, and whether the token may see both"
	case ghapi.KindInvalid, ghapi.KindGraphQL, ghapi.KindConflict, ghapi.KindNotReady:
		return "GitHub refuses this with the words above; please report it when they say nothing of your repository"
	default:
		return ""
	}
}

// tokenHint adds what a token needs where that can be the reason.
func tokenHint(err error, hint string) error {
	switch ghapi.KindOf(err) {
	case ghapi.KindUnauthorized, ghapi.KindForbidden, ghapi.KindNotFound, "":
		return withHint(err, hint)
	default:
		return err
	}
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
