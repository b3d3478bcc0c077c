package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/material"
	"github.com/issue-assistant/issue-assistant/internal/material/search"
)

func newSimilarCmd(a *app) *cobra.Command {
	var file string
	var newer, asJSON bool
	cmd := &cobra.Command{
		Use:   "similar NUMBER",
		Short: "Show the issues that resemble one issue",
		Long: `Shows the twenty issues that resemble one issue most, with a score and the words that both share. Older issues only,
unless --newer is given; pull requests never. Shared words are no proof: the strongest word is "may be the same", and a
closed issue is at most "related". Without --issues the issues are read from the repository (GITHUB_REPOSITORY).`,
		Example: "  issue-assistant similar 12 --issues issues.jsonl --newer --json",
		GroupID: groupPeople,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := issueNumber(args[0])
			if err == nil && number == 0 {
				err = errors.New("no issue is named")
			}
			if err != nil {
				return usage(err)
			}
			return a.similar(cmd.Context(), number, file, newer, asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "issues", "", "`file` with one issue a line as JSON: number, title, body, state, labels (default: the repository)")
	cmd.Flags().BoolVar(&newer, "newer", false, "newer issues, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// similarIssue is one issue of the output.
type similarIssue struct {
	Number      int            `json:"number"`
	Title       string         `json:"title"`
	State       string         `json:"state"`
	StateReason string         `json:"state_reason,omitempty"`
	Opened      string         `json:"opened,omitempty"`
	Score       float64        `json:"score"`
	Share       float64        `json:"share"` // of what the issue at hand says, 0 to 1
	Verdict     search.Verdict `json:"verdict"`
	Matched     []search.Match `json:"matched"`
}

func (a *app) similar(ctx context.Context, number int, file string, newer, asJSON bool) error {
	docs, err := a.similarDocs(ctx, file)
	if err != nil {
		return err
	}
	index := search.New()
	var issue search.Doc
	err = index.AddAll(func(yield func(search.Doc, error) bool) {
		for d, err := range docs {
			if err == nil && d.Number == number {
				issue = d
			}
			if !yield(d, err) {
				return
			}
		}
	})
	switch where := "the repository"; {
	case err != nil && file != "":
		return usage(withHint(fmt.Errorf("%s: %w", file, err), "one issue a line, as JSON: {\"number\": 1, \"title\": \"…\", \"body\": \"…\", \"state\": \"open\", \"labels\": []}"))
	case err != nil:
		return failure(fmt.Errorf("read the issues: %w", err))
	case issue.PullRequest:
		return usage(fmt.Errorf("#%d is a pull request, not an issue", number))
	case issue.Number == 0:
		if file != "" {
			where = file
		}
		return usage(withHint(fmt.Errorf("there is no issue #%d in %s", number, where), "the issue itself must be among the issues"))
	}
	list := []similarIssue{}
	for _, h := range index.Similar(issue, search.Query{Newer: newer}) {
		s := similarIssue{
			Number: h.Number, Title: h.Title, State: h.State, StateReason: h.StateReason, Opened: h.Opened,
			Score: rounded(h.Score), Share: rounded(h.Share), Verdict: h.Verdict, Matched: h.Matched,
		}
		if s.Matched == nil {
			s.Matched = []search.Match{}
		}
		list = append(list, s)
	}
	return a.printSimilar(number, list, asJSON)
}

func rounded(x float64) float64 { return float64(int64(x*1000+0.5)) / 1000 }

// similarDocs are the issues of a file or of the repository, one at a time.
func (a *app) similarDocs(ctx context.Context, file string) (iter.Seq2[search.Doc, error], error) {
	if file == "" {
		client, err := a.github()
		if err != nil {
			return nil, err
		}
		return func(yield func(search.Doc, error) bool) {
			for i, err := range client.Issues(ctx, ghapi.IssueFilter{}) {
				if !yield(material.DocOf(i), err) {
					return
				}
			}
		}, nil
	}
	f, err := a.open(file)
	if err != nil {
		return nil, usage(fmt.Errorf("read the issues: %w", err))
	}
	return func(yield func(search.Doc, error) bool) {
		defer func() { _ = f.Close() }() // only read
		search.ReadLines(f)(yield)
	}, nil
}

func (a *app) printSimilar(number int, list []similarIssue, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(diag.JSON(a.Stdout))
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			return failure(fmt.Errorf("write the result: %w", err))
		}
		return nil
	}
	if len(list) == 0 {
		a.sayf("nothing resembles #%d", number)
	}
	for _, s := range list {
		state := s.State
		if s.StateReason != "" {
			state += " as " + s.StateReason
		}
		words := make([]string, len(s.Matched))
		for i, m := range s.Matched {
			words[i] = m.Word + " (" + m.Field + ")"
		}
		line := fmt.Sprintf("#%d  %.1f  %s, %s, shares %.0f %%: %s\n    %s", s.Number, s.Score, s.Verdict, state, 100*s.Share, strings.Join(strings.Fields(s.Title), " "), strings.Join(words, ", "))
		for part := range strings.SplitSeq(line, "\n") {
			if _, err := fmt.Fprintln(a.Stdout, diag.Printable(part)); err != nil {
				return failure(fmt.Errorf("write the result: %w", err))
			}
		}
	}
	return nil
}
