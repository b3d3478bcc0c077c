package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Formats lists the names that Write accepts.
var Formats = []string{"human", "json", "annotations"}

// Terminal is the form for people with the severities in color; nobody asks for it by name.
const Terminal = "terminal"

// colors are the bold colors of ECMA-48 (SGR).
var colors = map[Severity]string{Error: "1;31", Warning: "1;33", Notice: "1;36"}

// Write prints the findings in one of Formats, or for a terminal. The annotations are GitHub workflow commands with data and properties
// escaped as the runner asks (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
func Write(w io.Writer, format string, ds []Diagnostic) error {
	switch format {
	case "human":
		return writeHuman(w, ds, map[Severity]string{})
	case Terminal:
		return writeHuman(w, ds, colors)
	case "json":
		if ds == nil {
			ds = []Diagnostic{}
		}
		enc := json.NewEncoder(JSON(w))
		enc.SetIndent("", "  ")
		return enc.Encode(ds)
	case "annotations":
		return writeAnnotations(w, ds)
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Formats, ", "))
}

func writeHuman(w io.Writer, ds []Diagnostic, colors map[Severity]string) error {
	for _, d := range ds {
		severity := string(d.Severity)
		if color := colors[d.Severity]; color != "" {
			severity = "\x1b[" + color + "m" + severity + "\x1b[0m"
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s [%s]\n", d.Position(), severity, Printable(d.Message), d.Code); err != nil {
			return err
		}
		if d.Hint == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "  hint: %s\n", Printable(d.Hint)); err != nil {
			return err
		}
	}
	return nil
}

// Position is "path:line:col" with the unknown parts left out.
func (d Diagnostic) Position() string {
	switch {
	case d.Line == 0:
		return Printable(d.Path)
	case d.Col == 0:
		return fmt.Sprintf("%s:%d", Printable(d.Path), d.Line)
	}
	return fmt.Sprintf("%s:%d:%d", Printable(d.Path), d.Line, d.Col)
}

// GitHub shows ten annotations of a level per step, so errors go first and the rest is counted.
const maxAnnotations = 10

func writeAnnotations(w io.Writer, ds []Diagnostic) error {
	for _, level := range []Severity{Error, Warning, Notice} {
		n := 0
		for _, d := range ds {
			if d.Severity != level {
				continue
			}
			if n++; n > maxAnnotations {
				continue
			}
			if err := writeAnnotation(w, d); err != nil {
				return err
			}
		}
		if n > maxAnnotations {
			if _, err := fmt.Fprintf(w, "%d more %ss: see the log\n", n-maxAnnotations, level); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeAnnotation(w io.Writer, d Diagnostic) error {
	props := "file=" + escapeProperty(d.Path)
	if d.Line > 0 {
		props += fmt.Sprintf(",line=%d", d.Line)
	}
	if d.Col > 0 {
		props += fmt.Sprintf(",col=%d", d.Col)
	}
	msg := d.Message
	if d.Hint != "" {
		msg += "\nhint: " + d.Hint
	}
	_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", d.Severity, props, escapeProperty(d.Code), escapeData(msg))
	return err
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// JSON is a writer for whole JSON values that a job's log may show, too. The runner takes ##[...] for a command wherever in
// a line it stands (actions/runner, ActionCommand.TryParse); in JSON it only stands in texts, where another spelling of
// the bracket is the same text.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(bytes.ReplaceAll(p, []byte("##["), []byte(`##\u005b`))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Printable shows control characters but the tab as escapes, so that no text starts a line of its own or steers a terminal,
// and takes apart what the runner takes for a command inside of a line.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r != '\t' && (r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0)):
			fmt.Fprintf(&b, "\\x%02x", r)
		case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			fmt.Fprintf(&b, "\\u%04x", r) // ends a line, or turns the order of what follows
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "##[", `##\x5b`)
}
