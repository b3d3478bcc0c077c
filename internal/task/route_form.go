package task

import (
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// FormAnswer is one answer of an issue form.
type FormAnswer struct {
	Field string
	Text  string // empty when the form says that there is no response
}

// FormAnswers reads an issue's body as an issue form: a heading of level three per field, the answer below it. A
// heading inside fenced code belongs to the answer.
func FormAnswers(body string) []FormAnswer {
	var out []FormAnswer
	var text []string
	flush := func() {
		if len(out) == 0 {
			return
		}
		answer := strings.TrimSpace(strings.Join(text, "\n"))
		if answer == "_No response_" {
			answer = ""
		}
		out[len(out)-1].Text = answer
		text = text[:0]
	}
	var code verbatim.Fence
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		inCode := code.Holds(line)
		if field, ok := strings.CutPrefix(line, "### "); ok && !inCode {
			flush()
			out = append(out, FormAnswer{Field: strings.TrimSpace(field)})
			continue
		}
		text = append(text, line)
	}
	flush()
	return out
}

// FormLabels are the labels that the answer of the area field chooses: by the whole answer, or by one of several that
// are joined with commas.
func FormLabels(body, areaField string, labels config.LabelFile) []string {
	if areaField == "" {
		return nil
	}
	var out []string
	for _, a := range FormAnswers(body) {
		if a.Field != areaField || a.Text == "" {
			continue
		}
		options := append(strings.Split(a.Text, ", "), a.Text)
		for _, l := range labels.Labels {
			chosen := slices.ContainsFunc(l.FormOptions, func(o string) bool { return slices.Contains(options, o) })
			if chosen && !slices.Contains(out, l.Name) {
				out = append(out, l.Name)
			}
		}
		break // a body that repeats the heading in its own text does not choose again
	}
	return out
}
