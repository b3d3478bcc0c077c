package comment

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// MaxLength is the most characters that GitHub takes in a comment.
const MaxLength = 65_536

// Page is what every comment of the assistant needs beside its words.
type Page struct {
	Marker        Marker
	Policy        sanitize.Policy // what may be live in the AI's words
	Mention       string          // login to greet; empty: nobody
	Engine        string          // name for people
	Labels        []string        // that the answer adds
	RemindDays    int
	CloseDays     int
	DuplicateDays int // 0: a duplicate is advice, nothing is closed
}

// Comment is a rendered comment with the policy under which it may be posted.
type Comment struct {
	Body   string
	Marker Marker
	Policy sanitize.Policy
}

// Analysis is the content of a triage's or reanalysis's comment. Texts are the AI's; numbers, paths and addresses were
// looked up.
type Analysis struct {
	Kind       string // the kind's label
	Summary    string
	Analysis   string
	NextSteps  []string
	Missing    []string
	Duplicate  *Related // the open issue that is offered as the original
	Related    []Related
	References []Reference
	Sensitive  string // none, personal or secret
	Security   bool
}

// FollowUp is the content of a follow-up's comment.
type FollowUp struct {
	Reply      string
	Missing    []string
	References []Reference
	Sensitive  string
}

// Related is an issue or a discussion that was looked up.
type Related struct {
	Number     int
	Discussion bool
	Closed     string // completed, not_planned, duplicate; empty while it is open
	Reason     string
}

// Reference is a place in the checkout that was looked up.
type Reference struct {
	Path   string
	Line   int    // 0: the whole file
	Title  string // of the heading that an anchor names
	URL    string
	Reason string
}

// writer composes a comment. Lines of the template that a check would else refuse are noted in the policy.
type writer struct {
	c    Catalog
	tag  string
	page Page
	out  strings.Builder
	// limit shortens the AI's texts until the whole fits; 0: as they are.
	limit int
}

// Analysis renders the comment of a triage or a reanalysis in the marker's language.
func (c Catalog) Analysis(page Page, a Analysis) Comment {
	return c.compose(page, func(w *writer) {
		w.greet(thanksKey(a.Kind))
		if !a.Security {
			w.paragraph(w.text("intro"))
		}
		w.sensitive(a.Sensitive)
		if a.Security {
			w.security()
			w.footer()
			return
		}
		w.duplicate(a.Duplicate)
		w.block("heading_summary", a.Summary)
		w.block("heading_analysis", a.Analysis)
		w.list("heading_steps", a.NextSteps)
		w.questions("heading_needed", a.Missing)
		w.related(a.Related)
		w.references(a.References)
		w.footer()
	})
}

// FollowUp renders the comment of a follow-up.
func (c Catalog) FollowUp(page Page, f FollowUp) Comment {
	return c.compose(page, func(w *writer) {
		w.greet("thanks_follow_up")
		w.sensitive(f.Sensitive)
		w.prose(f.Reply)
		w.questions("heading_still_needed", f.Missing)
		w.references(f.References)
		w.footer()
	})
}

// thanksKey picks the thanks for a kind of issue by its label's name.
func thanksKey(kind string) string {
	k := strings.ToLower(kind)
	for key, words := range map[string][]string{
		"thanks_bug":           {"bug", "defect", "error", "crash", "regression"},
		"thanks_enhancement":   {"enhancement", "feature", "suggestion", "idea", "improvement"},
		"thanks_question":      {"question", "support", "help"},
		"thanks_documentation": {"documentation", "docs"},
	} {
		if slices.ContainsFunc(strings.FieldsFunc(k, notLetter), func(word string) bool { return slices.Contains(words, word) }) {
			return key
		}
	}
	return "thanks_default"
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

// compose renders until the comment fits.
func (c Catalog) compose(page Page, write func(*writer)) Comment {
	tag, _ := c.Match(page.Marker.Language)
	page.Marker.Language = tag
	for limit := 0; ; {
		w := &writer{c: c, tag: tag, page: page, limit: limit}
		w.page.Policy.Template = slices.Clone(page.Policy.Template)
		w.line(page.Marker.String())
		w.template(page.Marker.String())
		w.out.WriteByte('\n')
		write(w)
		if limit > 0 {
			w.paragraph("*" + w.text("shortened") + "*")
		}
		body := strings.TrimRight(w.out.String(), "\n") + "\n"
		if length(body) <= MaxLength || (limit > 0 && limit < 16) {
			return Comment{Body: body, Marker: page.Marker, Policy: w.page.Policy}
		}
		if limit == 0 {
			limit = 4096
		}
		limit /= 2
	}
}

// length counts as GitHub does at its strictest, in UTF-16 units.
func length(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r > 0xffff {
			n++
		}
	}
	return n
}

func (w *writer) text(key string, values ...string) string { return w.c.text(w.tag, key, values...) }

func (w *writer) line(s string) { w.out.WriteString(s + "\n") }

// template notes a piece of the template that may stand in the comment although the AI's words may not hold it.
func (w *writer) template(piece string) {
	w.page.Policy.Template = append(w.page.Policy.Template, piece)
}

func (w *writer) paragraph(s string) {
	if s != "" {
		w.line(s)
		w.line("")
	}
}

// clean is the AI's words, ready for the place where they will stand; empty when nothing is left of them.
func (w *writer) clean(s string, place sanitize.Place) string {
	if w.limit > 0 {
		s = shorten.To(w.limit, s)
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	return strings.TrimRight(sanitize.Clean(s, place, w.page.Policy), " \t\n")
}
