package material

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/material/search"
)

// DocOf is an issue as the search reads it.
func DocOf(i ghapi.Issue) search.Doc {
	return search.Doc{
		Number: i.Number, Title: i.Title, Body: i.Body, State: i.State, StateReason: i.StateReason, Opened: dateOnly(i.CreatedAt),
		Labels: i.Labels, PullRequest: i.IsPullRequest,
	}
}

// issues writes issues.jsonl, one issue in memory at a time, and candidates.md from an index of them.
func (f *folder) issues(ctx context.Context, r Reader, o Options, t Thread, res *Result) (err error) {
	file, err := f.root.Create(FileIssues)
	if err != nil {
		return fmt.Errorf("write the material: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	all := o.Issues
	if all == nil {
		all = r.Issues(ctx, ghapi.IssueFilter{})
	}
	index := search.New()
	for i, err := range all {
		if err != nil {
			res.Notes = append(res.Notes, "the list of issues is incomplete: "+err.Error())
			break
		}
		if i.Number == o.Issue || i.IsPullRequest {
			continue
		}
		if err := enc.Encode(recordOf(i, o.Secrets, o.Cleaned)); err != nil {
			return fmt.Errorf("write the material: %w", err)
		}
		index.Add(DocOf(i))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the material: %w", err)
	}
	query := DocOf(t.Issue)
	query.Title, query.Body = t.text(t.Issue.Title), t.text(t.Issue.Body)
	text := candidatesFile(index.Similar(query, search.Query{}), o.Secrets)
	if err := f.put(FileCandidates, "older issues that resemble this one", []byte(text)); err != nil {
		return err
	}
	f.list(FileIssues, "every other issue, one JSON object in each line: number, title, state, labels, excerpt")
	return nil
}

// candidatesFile is candidates.md. What strangers wrote stands as code.
func candidatesFile(hits []search.Hit, secrets []string) string {
	var b strings.Builder
	b.WriteString("# Similar older issues\n\nFound by shared words, most similar first. Similar words are not the same problem: read an issue before you name it.\n" +
		"The share says how much of this issue the other one covers: a report of two problems may have one issue for each.\n\n")
	if len(hits) == 0 {
		b.WriteString("None was found.\n")
	}
	for _, h := range hits {
		how := oneLine(h.State)
		if h.StateReason != "" && h.State == "closed" {
			how += " as " + oneLine(strings.ReplaceAll(h.StateReason, "_", " "))
		}
		opened := ""
		if h.Opened != "" {
			opened = ", opened " + oneLine(h.Opened)
		}
		fmt.Fprintf(&b, "- #%d (%s%s): %s\n  %s, score %.1f, share %.0f %%; shared: %s\n",
			h.Number, how, opened, comment.Code(excerpt(h.Title, titleLimit, secrets)), h.Verdict, h.Score, 100*h.Share, sharedWords(h.Matched))
	}
	return b.String()
}

// sharedWords names the words by the fields of the other issue in which they stand.
func sharedWords(matched []search.Match) string {
	if len(matched) == 0 {
		return "the title"
	}
	var fields []string
	words := map[string][]string{}
	for _, m := range matched {
		if !slices.Contains(fields, m.Field) {
			fields = append(fields, m.Field)
		}
		words[m.Field] = append(words[m.Field], comment.Code(m.Word))
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f + " " + strings.Join(words[f], ", ")
	}
	return strings.Join(parts, "; ")
}
