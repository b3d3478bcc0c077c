// Package check looks at what surrounds a set-up: issue forms, other workflows, files of the repository that give an AI
// more tools, what a run costs, and the repository's settings on GitHub. It reads, and reports findings.
//
// What stands in the settings themselves is checked by config, the generated workflows by install.
package check

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// Bounds of what is read: a repository that is checked may be anybody's.
const (
	maxFileBytes = 512 << 10
	maxFiles     = 500
	maxPerFile   = 40 // findings
)

// file is a text of the repository with the findings about it.
type file struct {
	path  string
	text  string
	lines []string
	ds    []diag.Diagnostic
}

// read returns a regular file below the root; nil where there is none, or one that is not for us to judge (too large,
// not UTF-8, a symbolic link).
func read(root fs.FS, name string) *file {
	if data := content(root, name); data != nil && utf8.Valid(data) {
		return fileOf(name, string(data))
	}
	return nil
}

// readYAML is read for files that GitHub parses: one that is not UTF-8 is judged as far as it can be read, and said.
func readYAML(root fs.FS, name string) *file {
	data := content(root, name)
	if data == nil {
		return nil
	}
	f := fileOf(name, strings.ToValidUTF8(string(data), "\ufffd"))
	if !utf8.Valid(data) {
		line, col := f.find(1, 0, "\ufffd")
		f.say(diag.Warning, line, col, "not-utf8", "here are bytes that are not UTF-8, so GitHub may read the file otherwise than it looks", "save the file as UTF-8")
	}
	return f
}

func fileOf(name, text string) *file {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	return &file{path: name, text: text, lines: strings.Split(text, "\n")}
}

// content is what a regular file holds, not nil; nil where there is none, or one that is too large or a symbolic link.
func content(root fs.FS, name string) []byte {
	info, err := fs.Lstat(root, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil || len(data) > maxFileBytes {
		return nil
	}
	return data
}

// yamlFiles reads the YAML files of a folder in the order of their names.
func yamlFiles(root fs.FS, dir string) []*file {
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil // no such folder
	}
	var files []*file
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext != ".yml" && ext != ".yaml" || len(files) >= maxFiles {
			continue
		}
		if f := readYAML(root, path.Join(dir, e.Name())); f != nil {
			files = append(files, f)
		}
	}
	return files
}

// full reports whether no more is said about the file: finding places for thousands of faults would take minutes.
func (f *file) full() bool { return len(f.ds) >= maxPerFile }

func (f *file) say(severity diag.Severity, line, col int, code, message, hint string) {
	d := diag.Diagnostic{Path: f.path, Line: line, Col: col, Severity: severity, Code: code, Message: message, Hint: hint}
	if !f.full() && !slices.Contains(f.ds, d) {
		f.ds = append(f.ds, d)
	}
}

// find is the place of a text from a line on; the first line of the file is 1. Without it, the line itself.
func (f *file) find(line, col int, text string) (int, int) {
	for n := max(line, 1); text != "" && n <= len(f.lines); n++ {
		if i := strings.Index(f.lines[n-1], text); i >= 0 {
			return n, 1 + utf8.RuneCountInString(f.lines[n-1][:i])
		}
	}
	return line, col
}

// Locate gives findings about a whole line the column of its first letter, and findings about a whole file its first
// line, so that each can be jumped to. What is not there has no place.
func Locate(root fs.FS, ds []diag.Diagnostic) []diag.Diagnostic {
	files := map[string]*file{}
	for i, d := range ds {
		if d.Col > 0 || !fs.ValidPath(d.Path) {
			continue
		}
		f, known := files[d.Path]
		if !known {
			f = read(root, d.Path)
			files[d.Path] = f
		}
		switch {
		case f == nil:
		case d.Line == 0:
			ds[i].Line, ds[i].Col = 1, 1
		case d.Line <= len(f.lines):
			line := f.lines[d.Line-1]
			ds[i].Col = 1 + len(line) - len(strings.TrimLeft(line, " \t"))
		default:
			ds[i].Col = 1
		}
	}
	return ds
}
