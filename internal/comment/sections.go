package comment

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// Parts are the sections of a comment of the assistant as it stands on GitHub, by what they hold.
type Parts struct {
	Done      string // summary and analysis, or a follow-up's reply
	Questions string
	Files     string
	Next      string
}

// Split takes a comment of the assistant apart by the headings of its language. What stands under a heading that this
// release does not know counts as done.
func (c Catalog) Split(m Marker, body string) Parts {
	tag, _ := c.Match(m.Language)
	var p Parts
	places := map[string]*string{
		c.text(tag, "heading_steps"):        &p.Next,
		c.text(tag, "heading_needed"):       &p.Questions,
		c.text(tag, "heading_still_needed"): &p.Questions,
		c.text(tag, "heading_references"):   &p.Files,
	}
	to := &p.Done
	var code verbatim.Fence
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		plain := strings.TrimRight(line, " \t\n")
		heading, isHeading := strings.CutPrefix(plain, "### ")
		switch {
		case code.Holds(plain):
		case plain == "---":
			return p.trimmed() // the footer
		case strings.HasPrefix(plain, markerStart):
			continue
		case isHeading && places[heading] != nil:
			to = places[heading]
			continue
		case isHeading:
			to = &p.Done
		}
		*to += line
	}
	return p.trimmed()
}

func (p Parts) trimmed() Parts {
	for _, s := range []*string{&p.Done, &p.Questions, &p.Files, &p.Next} {
		*s = strings.TrimSpace(*s)
	}
	return p
}
