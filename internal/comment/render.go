package comment

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
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

func (w *writer) greet(key string) {
	s := w.text(key)
	if m := w.page.Mention; m != "" && m == w.page.Policy.Reporter {
		s = "@" + m + " " + s
	}
	w.paragraph(s)
}

func (w *writer) heading(key string) {
	h := "### " + w.text(key)
	w.template(h)
	w.paragraph(h)
}

func (w *writer) prose(s string) { w.paragraph(w.clean(s, sanitize.Paragraph)) }

func (w *writer) block(key, s string) {
	if s := w.clean(s, sanitize.Paragraph); s != "" {
		w.heading(key)
		w.paragraph(s)
	}
}

func (w *writer) list(key string, items []string) bool {
	var lines []string
	for _, item := range items {
		if s := w.clean(item, sanitize.ListEntry); s != "" {
			lines = append(lines, "- "+s)
		}
	}
	return w.lines(key, lines)
}

func (w *writer) lines(key string, lines []string) bool {
	if len(lines) == 0 {
		return false
	}
	w.heading(key)
	for _, l := range lines {
		w.line(l)
	}
	w.line("")
	return true
}

func (w *writer) questions(key string, items []string) {
	if w.list(key, items) {
		w.paragraph(w.text("needed_note", "remind", strconv.Itoa(w.page.RemindDays), "close", strconv.Itoa(w.page.CloseDays)))
	}
}

func (w *writer) sensitive(what string) {
	switch what {
	case "secret":
		w.alert("WARNING", w.text("sensitive_secret"))
	case "personal":
		w.alert("NOTE", w.text("sensitive_personal"))
	}
}

func (w *writer) alert(kind, s string) {
	head := "> [!" + kind + "]"
	w.template(head)
	w.line(head)
	w.paragraph("> " + s)
}

func (w *writer) security() {
	p := w.page.Policy
	server := strings.TrimRight(p.ServerURL, "/")
	if server == "" {
		server = "https://github.com"
	}
	address := server + "/" + p.Owner + "/" + p.Repo + "/security/policy"
	w.template(address)
	w.alert("CAUTION", w.text("security", "policy", "["+w.text("security_link")+"]("+address+")"))
}

func (w *writer) duplicate(d *Related) {
	if d == nil {
		return
	}
	w.heading("heading_duplicate")
	w.line(w.relatedLine(*d))
	w.line("")
	if w.page.DuplicateDays > 0 && w.page.Marker.Duplicate == d.Number {
		w.paragraph(w.text("duplicate_closing", "days", strconv.Itoa(w.page.DuplicateDays)))
		return
	}
	w.paragraph(w.text("duplicate_advice"))
}

func (w *writer) related(list []Related) {
	lines := make([]string, len(list))
	for i, r := range list {
		lines[i] = w.relatedLine(r)
	}
	w.lines("heading_related", lines)
}

// relatedLine keeps the words after the number on the same line: "- #7 (closed as completed): reason".
func (w *writer) relatedLine(r Related) string {
	s := "- #" + strconv.Itoa(r.Number)
	var notes []string
	if r.Discussion {
		notes = append(notes, w.text("discussion"))
	}
	switch r.Closed {
	case "":
	case "not_planned":
		notes = append(notes, w.text("closed_not_planned"))
	case "duplicate":
		notes = append(notes, w.text("closed_duplicate_of"))
	default:
		notes = append(notes, w.text("closed_completed"))
	}
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, ", ") + ")"
	}
	if reason := w.clean(r.Reason, sanitize.AfterNumber); reason != "" {
		s += ": " + reason
	}
	return s
}

func (w *writer) references(list []Reference) {
	lines := make([]string, 0, len(list))
	for _, r := range list {
		s := "- [" + Code(r.Path) + "](" + r.URL + ")"
		switch {
		case r.Line > 0:
			s += ", " + w.text("line", "line", strconv.Itoa(r.Line))
		case r.Title != "":
			if title := w.clean(r.Title, sanitize.AfterNumber); title != "" {
				s += ", " + title
			}
		}
		if reason := w.clean(r.Reason, sanitize.Line); reason != "" {
			s += ": " + reason
		}
		w.template(r.URL)
		lines = append(lines, s)
	}
	w.lines("heading_references", lines)
}

func (w *writer) footer() {
	s := w.text("footer", "engine", w.page.Engine)
	if len(w.page.Labels) > 0 {
		spans := make([]string, len(w.page.Labels))
		for i, l := range w.page.Labels {
			spans[i] = Code(l)
		}
		s += " " + w.text("footer_labels", "labels", strings.Join(spans, ", "))
	}
	w.line("---")
	w.line("")
	w.paragraph(s)
}

// Code shows a name exactly as it is, in one line, whatever backticks it holds.
func Code(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return sanitize.Invisible(r) || r == '\n' || r == '\t' }), " ")
	return verbatim.Span(s)
}
