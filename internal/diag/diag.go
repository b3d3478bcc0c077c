// Package diag is the one form of a finding about a repository's set-up: where it is, what is wrong, what to do.
package diag

import (
	"cmp"
	"slices"
)

// Severity says whether a finding fails a check.
type Severity string

// The severities. Only an error changes the exit code. A notice says what could not be found out.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Diagnostic is one finding. Line and Col start at 1; 0 means unknown. Message and Hint are one line each,
// in fixed words; text that comes from a file is quoted with %q before it enters them.
type Diagnostic struct {
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"`
	Col      int      `json:"col,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// HasErrors reports whether one of the findings is an error.
func HasErrors(ds []Diagnostic) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders findings by path, line, column and message, so that two runs print the same.
func Sort(ds []Diagnostic) {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Message, b.Message))
	})
}
