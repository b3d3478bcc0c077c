package apply

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// repairLine is a repair for the summary: our words as they are, the AI's as code.
func repairLine(r answer.Repair) string {
	s := r.What
	if r.Field != "" {
		s = r.Field + ": " + s
	}
	if r.Value != "" {
		s += " " + comment.Code(shorten.To(60, r.Value))
	}
	return s
}

// Summary is the result for the job summary. how is empty, "dry run" or "summary only": nothing was written, and the
// comment is shown.
func (r Result) Summary(title, how string) string {
	var b strings.Builder
	b.WriteString(ghapi.ReportHeading(title, how))
	section := func(word string, list []string) {
		for _, s := range list {
			fmt.Fprintf(&b, "- %s: %s\n", word, s)
		}
	}
	wrote := "written"
	if how != "" {
		wrote = "would write"
	}
	section(wrote, r.Written)
	section("skipped", r.Skipped)
	section("repaired", r.Repaired)
	if r.Refused != "" {
		section("refused, nothing posted", []string{comment.Code(r.Refused)})
	}
	section("note", r.Notes)
	if len(r.Written)+len(r.Skipped)+len(r.Notes) == 0 && r.Refused == "" {
		b.WriteString("- nothing to do\n")
	}
	if report := ghapi.ReportMarkdown(r.Writes); report != "" && how == "" {
		b.WriteString("\n" + report)
	}
	if how != "" && r.Comment != nil {
		b.WriteString("\nThe comment:\n\n" + verbatim.Block("markdown", r.Comment.Body))
	}
	return b.String()
}
