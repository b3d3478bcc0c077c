package lifecycle

import (
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// Item is what a sweep did about one issue.
type Item struct {
	Number int
	Topic  Topic
	Note   string   // fixed words and numbers
	Done   []string // steps that were done, in order
	Notes  []string // steps that were left out, and why
	Failed string   // why the rest was not done
}

// Result is what a sweep did.
type Result struct {
	Mode        Mode
	Items       []Item
	Notes       []string // what concerns no single issue
	Started     []Start  // triages
	Fatal       string   // why nothing could be done
	Worked      int      // issues with something to do
	Failed      int      // of these
	Broken      int      // reads of lists that failed
	ListsFailed int
	Skipped     int // issues that were left because GitHub failed many times in a row
}

// AllFailed reports whether nothing that was tried worked.
func (r Result) AllFailed() bool {
	return r.Fatal != "" || r.Worked > 0 && r.Failed == r.Worked || r.Worked == 0 && r.Broken > 0
}

// maxPerTopic bounds a paragraph of the digest.
const maxPerTopic = 100

// Summary is the digest for the job summary: what waits for whom, what was closed, what failed. How is a word such as
// "dry run"; empty: everything was written.
func (r Result) Summary(how string) string {
	var b strings.Builder
	title := map[Mode]string{ModeMerge: "after a merge", ModeRelease: "after a release"}[r.Mode]
	if title == "" {
		title = "daily"
	}
	b.WriteString(ghapi.ReportHeading("Sweep, "+title, how))
	if r.Fatal != "" {
		b.WriteString("- failed: " + r.Fatal + "\n")
		return b.String()
	}
	said := false
	for _, topic := range topics {
		var lines []string
		for _, i := range r.Items {
			if i.Topic == topic && i.Failed == "" {
				lines = append(lines, i.line())
			}
		}
		said = paragraph(&b, string(topic), lines) || said
	}
	var failed []string
	for _, i := range r.Items {
		if i.Failed != "" {
			failed = append(failed, i.line()+" **"+plain(i.Failed)+"**")
		}
	}
	said = paragraph(&b, "failed, tried again by the next sweep", failed) || said
	var started []string
	for _, s := range r.Started {
		started = append(started, s.line())
	}
	said = paragraph(&b, "triages", started) || said
	for _, n := range r.Notes {
		b.WriteString("- " + plain(n) + "\n")
		said = true
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "- %d issues were left for the next sweep: %d in a row had failed\n", r.Skipped, maxInARow)
		said = true
	}
	if !said {
		b.WriteString("Nothing to do.\n")
	}
	return b.String()
}

func (i Item) line() string {
	s := fmt.Sprintf("#%d", i.Number)
	if i.Note != "" {
		s += " (" + i.Note + ")"
	}
	if len(i.Done) > 0 {
		s += ": " + strings.Join(i.Done, ", ")
	}
	var b strings.Builder
	b.WriteString(s)
	for _, n := range i.Notes {
		b.WriteString("; not done: " + plain(n))
	}
	return b.String()
}

func paragraph(b *strings.Builder, title string, lines []string) bool {
	if len(lines) == 0 {
		return false
	}
	fmt.Fprintf(b, "**%d %s**\n\n", len(lines), title)
	for n, l := range lines {
		if n == maxPerTopic {
			fmt.Fprintf(b, "- and %d more\n", len(lines)-n)
			break
		}
		b.WriteString("- " + l + "\n")
	}
	b.WriteString("\n")
	return true
}

// plain keeps words of an error from being Markdown: GitHub's messages may repeat what strangers wrote.
func plain(s string) string {
	return strings.NewReplacer("<", "&lt;", "[", `\[`, "]", `\]`, "`", "'", "*", `\*`, "@", "&#64;", "|", `\|`, "://", ": //", "\n", " ", "\r", " ").Replace(s)
}
