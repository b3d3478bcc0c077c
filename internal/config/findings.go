package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/glob"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// FindingsPath is the file of the accepted code-scanning alerts.
const FindingsPath = Dir + "/findings.toml"

// MaxAccepts bounds findings.toml.
const MaxAccepts = 500

// Accept is one [[accept]] of findings.toml: which alerts are dismissed, and why.
type Accept struct {
	Tool    string    // its name, without regard to case
	Rule    string    // exact
	Reason  string    // false positive, won't fix or used in tests
	Comment string    // at most 200 characters
	Path    string    // a glob; empty: every path
	Expires time.Time // the last day on which it counts; zero: for ever
	Line    int       // where it stands in the file, from 1
}

// Expired reports whether the entry's last day is over everywhere on earth's clock of UTC.
func (a Accept) Expired(now time.Time) bool {
	return !a.Expires.IsZero() && !now.UTC().Before(a.Expires.AddDate(0, 0, 1))
}

// Covers reports whether the entry is about such an alert.
func (a Accept) Covers(tool, rule, file string) bool {
	return strings.EqualFold(a.Tool, tool) && a.Rule == rule && (a.Path == "" || MatchPath(a.Path, file))
}

// MatchPath matches a path from the repository's root with a glob: * and ? stay in one folder, ** crosses folders, [a-z]
// is one character, and a glob without special characters is a file or a whole folder, so that tests does not cover
// tests_old.
func MatchPath(pattern, file string) bool {
	pattern, file = strings.Trim(pattern, "/"), strings.Trim(file, "/")
	if !strings.ContainsAny(pattern, `*?[\`) {
		return file == pattern || strings.HasPrefix(file, pattern+"/")
	}
	return glob.Path(pattern, file)
}

// FindingRules describes the keys of one [[accept]]; expires, a date of TOML, is read beside them.
func FindingRules() []Rule {
	line := func(key, doc, example string, most int, required bool) Rule {
		return Rule{
			Key: key, Kind: KindText, Doc: doc, Example: example, Required: required, Pattern: linePattern, MaxLen: most,
			Words: fmt.Sprintf("a text on one line, at most %d characters", most),
		}
	}
	return []Rule{
		line("tool", "the tool that reports it, in any case of letters", `"CodeQL"`, 100, true),
		line("rule", "the rule's id, exactly", `"go/path-injection"`, 200, true),
		{
			Key: "reason", Kind: KindText, Doc: "why it is dismissed", Example: `"used in tests"`, Required: true,
			Enum: []string{"false positive", "won't fix", "used in tests"},
		},
		line("comment", "the reason in a sentence", `"The path is a constant"`, 200, true),
		line("path", "a glob of the files it counts for; without it: all", `"testdata/**"`, 300, false),
	}
}

// ParseFindings reads findings.toml. The entries must not be used when one of the findings is an error.
func ParseFindings(file string, data []byte) ([]Accept, []diag.Diagnostic) {
	r := &reader{path: file, prefix: "findings"}
	rules := FindingRules()
	p, trees, ok := r.list(data, Table{Name: "accept", Rules: rules}, "entry", "entries", MaxAccepts)
	if !ok {
		return nil, r.findings()
	}
	var out []Accept
	for i, tree := range trees {
		a := Accept{Line: r.doc.KeyPos(p.Index(i)).Line}
		rest := maps.Clone(tree)
		if v, ok := rest["expires"]; ok {
			delete(rest, "expires")
			a.Expires = r.expires(p.Index(i).Key("expires"), v)
		}
		r.table(p.Index(i), "accept", rest, []field{
			{rules[0], &a.Tool}, {rules[1], &a.Rule}, {rules[2], &a.Reason}, {rules[3], &a.Comment}, {rules[4], &a.Path},
		}, nil)
		r.glob(p.Index(i).Key("path"), a.Path)
		out = append(out, a)
	}
	return out, r.findings()
}

// expires takes a date of TOML, or one in quotes.
func (r *reader) expires(p tomldoc.Path, v any) time.Time {
	if t, ok := v.(time.Time); ok && t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	const hint = "write expires = 2027-01-31"
	if s, ok := v.(string); ok {
		t, err := time.Parse(time.DateOnly, s)
		if err == nil {
			return t
		}
		r.fail(r.doc.ValuePos(p), "bad-value", "accept.expires: "+describe(v)+" is not a date", hint)
		return time.Time{}
	}
	r.fail(r.doc.ValuePos(p), "wrong-type", "accept.expires: "+describe(v)+" is not a date", hint)
	return time.Time{}
}

var outsideRoot = lazy.Regexp(`(^|/)\.\.?(/|$)`)

func (r *reader) glob(p tomldoc.Path, glob string) {
	if glob == "" {
		return
	}
	pos := r.doc.ValuePos(p)
	for part := range strings.SplitSeq(glob, "/") {
		if _, err := path.Match(part, "x"); err != nil {
			r.fail(pos, "bad-value", "accept.path: "+shorten.Quoted(glob)+" is not a glob: a bracket is not closed", `write such as path = "testdata/**"`)
			return
		}
	}
	switch {
	case strings.HasPrefix(glob, "/"), outsideRoot().MatchString(glob):
		r.fail(pos, "bad-value", "accept.path: "+shorten.Quoted(glob)+" does not start at the root of the repository", `write such as path = "testdata/**"`)
	case strings.Contains(glob, `\`):
		r.fail(pos, "bad-value", "accept.path: "+shorten.Quoted(glob)+" holds a backslash", "separate folders by /")
	}
}

// LoadFindings reads findings.toml below the root of a repository. Without the file there are no entries.
func LoadFindings(root fs.FS) ([]Accept, []diag.Diagnostic, error) {
	data, err := ReadFile(root, FindingsPath, MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	out, ds := ParseFindings(FindingsPath, data)
	return out, ds, nil
}
