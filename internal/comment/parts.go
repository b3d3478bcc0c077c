package comment

import (
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

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
