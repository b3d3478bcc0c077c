package comment

import "strings"

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
	to, fence := &p.Done, ""
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		plain := strings.TrimRight(line, " \t\n")
		switch {
		case fence != "":
			if strings.HasPrefix(plain, fence) && strings.Trim(plain, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(plain, "```") || strings.HasPrefix(plain, "~~~"):
			fence = plain[:len(plain)-len(strings.TrimLeft(plain, plain[:1]))]
		case plain == "---":
			return p.trimmed() // the footer
		case strings.HasPrefix(plain, markerStart):
			continue
		}
		if heading, ok := strings.CutPrefix(plain, "### "); ok && fence == "" {
			if known, ok := places[heading]; ok {
				to = known
				continue
			}
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
