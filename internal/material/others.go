package material

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Record is another issue, one line of issues.jsonl.
type Record struct {
	Number      int      `json:"number"`
	Title       string   `json:"title"`
	State       string   `json:"state"`
	StateReason string   `json:"state_reason,omitempty"`
	Labels      []string `json:"labels"`
	Opened      string   `json:"opened"`
	Closed      string   `json:"closed,omitempty"`
	Comments    int      `json:"comments"`
	Excerpt     string   `json:"excerpt"`
}

// DiscussionRecord is one line of discussions.jsonl.
type DiscussionRecord struct {
	Number   int    `json:"number"`
	Title    string `json:"title"`
	Category string `json:"category"`
	Answered bool   `json:"answered"`
	Closed   bool   `json:"closed"`
	Excerpt  string `json:"excerpt"`
	Answer   string `json:"answer,omitempty"`
}

// PullRecord is an open pull request, one line of pulls.jsonl: a fix may be under way.
type PullRecord struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Updated string `json:"updated"`
	Closes  []int  `json:"closes,omitempty"`
	Excerpt string `json:"excerpt"`
}

// Lengths of excerpts, in characters.
const (
	issueExcerpt      = 1_500
	discussionExcerpt = 1_000
	pullExcerpt       = 500
	titleLimit        = 300
)

func recordOf(i ghapi.Issue, secrets []string, cleaned bool) Record {
	short := excerpt
	if cleaned {
		short = brief
	}
	r := Record{
		Number: i.Number, Title: short(i.Title, titleLimit, secrets), State: i.State, StateReason: i.StateReason,
		Labels: slices.Sorted(slices.Values(i.Labels)), Opened: dateOnly(i.CreatedAt), Closed: dateOnly(i.ClosedAt),
		Comments: i.Comments, Excerpt: short(plainForm(i.Body), issueExcerpt, secrets),
	}
	if r.Labels == nil {
		r.Labels = []string{}
	}
	return r
}

// discussionOf shortens a discussion.
func discussionOf(d ghapi.Discussion, secrets []string) DiscussionRecord {
	return DiscussionRecord{
		Number: d.Number, Title: excerpt(d.Title, titleLimit, secrets), Category: excerpt(d.Category, titleLimit, nil),
		Answered: d.Answered, Closed: d.Closed,
		Excerpt: excerpt(d.Body, discussionExcerpt, secrets), Answer: excerpt(d.Answer, discussionExcerpt, secrets),
	}
}

// pullOf shortens a pull request; closes names the issues of this repository only.
func pullOf(p ghapi.PullRequest, repo string, secrets []string) PullRecord {
	r := PullRecord{Number: p.Number, Title: excerpt(p.Title, titleLimit, secrets), Updated: dateOnly(p.UpdatedAt), Excerpt: excerpt(p.Body, pullExcerpt, secrets)}
	for _, c := range p.Closes {
		if strings.EqualFold(c.Repo, repo) {
			r.Closes = append(r.Closes, c.Number)
		}
	}
	return r
}

// plainForm turns an issue form's answers into lines "field: value"; empty answers go. Other bodies stay.
func plainForm(body string) string {
	answers := task.FormAnswers(body)
	if len(answers) < 2 || !strings.HasPrefix(strings.TrimSpace(body), "### ") {
		return body
	}
	var lines []string
	for _, a := range answers {
		if a.Text != "" {
			lines = append(lines, a.Field+": "+a.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// excerpt is the start of a stranger's text in one line.
func excerpt(s string, limit int, secrets []string) string {
	// A secret that is cut in two is no longer found: mask more than is kept. What is far behind is not looked at.
	if r := []rune(s); len(r) > 4*limit {
		s = string(r[:4*limit])
	}
	return brief(sanitize.Material(s), limit, secrets)
}

// brief is excerpt of a text that was cleaned.
func brief(s string, limit int, secrets []string) string {
	return shorten.To(limit, oneLine(sanitize.MaskSecrets(s, secrets)))
}

func dateOnly(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("2006-01-02")
}

// writeLines writes one JSON object per line.
func writeLines[T any](w io.Writer, list []T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
	}
	return nil
}

// labelsFile is labels.md: what an answer may choose from.
func labelsFile(l answer.Labels) string {
	var b strings.Builder
	b.WriteString("# Labels\n")
	for _, group := range []struct {
		title, rule string
		labels      []config.Label
	}{
		{"Kinds", "choose exactly one for `kind`", l.Kinds},
		{"Areas", "choose at most three for `areas`", l.Areas},
		{"Topics", "choose at most two for `topics`", l.Topics},
	} {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n", group.title, group.rule)
		if len(group.labels) == 0 {
			b.WriteString("- none: leave it empty\n")
		}
		for _, label := range group.labels {
			s := "- " + comment.Code(label.Name)
			if d := oneLine(label.Description); d != "" {
				s += ": " + d
			}
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

// releaseFile is release.md: the notes of the latest release.
func releaseFile(r ghapi.Release, secrets []string) string {
	notes, cut := head(sanitize.MaskSecrets(sanitize.Material(r.Body), secrets), 10_000)
	s := "# Latest release: " + comment.Code(r.Tag) + ", " + day(r.PublishedAt) + "\n\n" + fence(orNone(notes))
	if cut > 0 {
		s += fmt.Sprintf("\n(%d characters are left out here)\n", cut)
	}
	return s
}
