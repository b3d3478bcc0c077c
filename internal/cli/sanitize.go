package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

// maxSanitizeInput is more than any answer or comment holds, in bytes.
const maxSanitizeInput = 1 << 20

func newSanitizeCmd(a *app) *cobra.Command {
	var issueURL string
	cmd := &cobra.Command{
		Use:   "sanitize",
		Short: "Clean a text as apply would post it",
		Long: `Reads a text from stdin and prints it as apply would post it: no live mention, foreign link, image, HTML, heading,
reference that was not checked, closing keyword or command; code stays as it is. The issue of --issue-url is the only
number that counts as checked. Ends with 1 and prints nothing when the text must be refused, and says why.`,
		Example: "  issue-assistant sanitize --issue-url https://github.com/octo/demo/issues/12 < answer.md",
		GroupID: groupPeople,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			policy, err := a.sanitizePolicy(issueURL)
			if err != nil {
				return err
			}
			return a.sanitize(policy)
		},
	}
	cmd.Flags().StringVar(&issueURL, "issue-url", "", "address of the issue, such as https://github.com/octo/demo/issues/12 (default: the repository of the run)")
	return cmd
}

// sanitize prints the cleaned text or says, without quoting anything of it, why it is refused.
func (a *app) sanitize(policy sanitize.Policy) error {
	data, err := io.ReadAll(io.LimitReader(a.stdin(), maxSanitizeInput+1))
	if err != nil {
		return failure(fmt.Errorf("read stdin: %w", err))
	}
	if len(data) > maxSanitizeInput {
		return problem(fmt.Errorf("the text is longer than %d bytes", maxSanitizeInput))
	}
	text := string(data)
	if found := sanitize.FindSecrets(text, sanitize.SecretValues(a.Environ())); len(found) > 0 {
		for _, f := range found {
			a.sayf("line %d: %s", 1+strings.Count(text[:f.Start], "\n"), f.Kind)
		}
		return problem(withHint(errors.New("the text holds secrets and is refused"), "take them out; a secret that was posted anywhere must be replaced"))
	}
	if sanitize.TooDeep(text) {
		return problem(withHint(errors.New("the text nests quotes, lists or brackets deeper than 100 and is refused"), "flatten it"))
	}
	out := sanitize.Truncate(sanitize.Clean(text, sanitize.Paragraph, policy), sanitize.MaxComment)
	if problems := sanitize.CheckComment(out, policy); len(problems) > 0 {
		for _, p := range problems {
			a.sayf("line %d of the cleaned text: %s", 1+strings.Count(out[:p.Start], "\n"), p.Kind)
		}
		return problem(errors.New("the text stays live after cleaning and is refused"))
	}
	if out != "" {
		out += "\n"
	}
	if _, err := io.WriteString(a.Stdout, out); err != nil {
		return failure(fmt.Errorf("write stdout: %w", err))
	}
	return nil
}

// sanitizePolicy is what apply allows on that issue: its repository, its own number, and the hosts of the settings.
func (a *app) sanitizePolicy(issueURL string) (sanitize.Policy, error) {
	var p sanitize.Policy
	if issueURL == "" {
		p.ServerURL = a.Getenv("GITHUB_SERVER_URL")
		p.Owner, p.Repo, _ = strings.Cut(a.Getenv("GITHUB_REPOSITORY"), "/")
	} else {
		u, err := url.Parse(issueURL)
		if err != nil {
			return p, usage(fmt.Errorf("--issue-url: %w", err))
		}
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if u.Scheme != "https" || u.Host == "" || u.User != nil || len(parts) != 4 || parts[2] != "issues" {
			return p, usage(withHint(errors.New("--issue-url is not the address of an issue"), "write it as https://github.com/OWNER/REPO/issues/NUMBER"))
		}
		number, err := strconv.Atoi(parts[3])
		if err != nil || number < 1 {
			return p, usage(fmt.Errorf("--issue-url: %q is no number of an issue", parts[3]))
		}
		p.ServerURL, p.Owner, p.Repo = u.Scheme+"://"+u.Host, parts[0], parts[1]
		p.Issues = map[int]bool{number: true}
	}
	settings, found, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil {
		return p, failure(fmt.Errorf("read the settings: %w", err))
	}
	if diag.HasErrors(found) {
		return p, usage(withHint(errors.New("the settings are wrong"), "issue-assistant check says where"))
	}
	p.Hosts = settings.Links.Hosts
	return p, nil
}
