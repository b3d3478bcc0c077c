package mcpfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// read gives lines of a file with their numbers.
func (f *folders) read(a arguments) (string, error) {
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	data, err := p.content()
	if err != nil {
		return "", err
	}
	if binary(data) {
		return "", &problem{"this is no text file"}
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	from := max(a.Offset, 1)
	if from > len(lines) {
		return "", &problem{fmt.Sprintf("the file has %d lines", len(lines))}
	}
	limit := maxLines
	if a.Limit > 0 {
		limit = min(a.Limit, maxLines)
	}
	var b strings.Builder
	for i := from; i <= len(lines); i++ {
		line := fmt.Sprintf("%d\t%s\n", i, shown(lines[i-1], maxLine))
		if i-from == limit || b.Len()+len(line) > maxRead {
			fmt.Fprintf(&b, "(lines %d to %d of %d; go on with offset %d)\n", from, i-1, len(lines), i)
			break
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 }

// shown is the beginning of a line as valid text.
func shown(line []byte, limit int) string {
	more := ""
	if len(line) > limit {
		for limit > 0 && !utf8.RuneStart(line[limit]) {
			limit--
		}
		more = fmt.Sprintf(" (%d bytes more)", len(line)-limit)
		line = line[:limit]
	}
	return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\ufffd") + more
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// walk visits the files below a place in a fixed order; a symbolic link is a file that leads nowhere. Visits and time
// are bounded; note says when they were used up.
func (f *folders) walk(ctx context.Context, p place, visit func(rel, show string, d fs.DirEntry) error) (note string, err error) {
	if !p.allowed() {
		return "", errOutside
	}
	end, visits := f.now().Add(maxTime), 0
	err = fs.WalkDir(p.root.FS(), p.rel, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == p.rel:
			return errOutside
		case err != nil: // a folder that may not be read
			return nil
		case hidden(name) && d.IsDir():
			return fs.SkipDir
		case hidden(name):
			return nil
		}
		if visits++; visits > maxVisits || f.now().After(end) || ctx.Err() != nil {
			note = "(there is more: choose a folder below this one)\n"
			return errEnough
		}
		if d.IsDir() {
			return nil
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, p.rel), "/")
		if p.rel == "." {
			rel = name
		}
		if rel == "" { // the place itself is a file
			return visit(path.Base(name), p.show, d)
		}
		return visit(rel, p.dir+rel, d)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", errOutside
	}
	return note, nil
}

func (f *folders) list(ctx context.Context, a arguments) (string, error) {
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n := 0
	note, err := f.walk(ctx, p, func(rel, show string, _ fs.DirEntry) error {
		if !fits(a.Glob, rel) {
			return nil
		}
		if n++; n > maxEntries || b.Len() > maxRead {
			fmt.Fprintf(&b, "(only the first %d files are shown: choose a folder or a glob)\n", n-1)
			return errEnough
		}
		fmt.Fprintf(&b, "%s\n", oneLine(show))
		return nil
	})
	if err != nil {
		return "", err
	}
	if n == 0 {
		b.WriteString("no files\n")
	}
	return b.String() + note, nil
}

// oneLine keeps a file's name on its own line.
func oneLine(name string) string {
	return strings.ToValidUTF8(strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(name), "\ufffd")
}

func (f *folders) search(ctx context.Context, a arguments) (string, error) {
	if a.Pattern == "" || len(a.Pattern) > 1000 {
		return "", &problem{"the pattern must have 1 to 1000 bytes"}
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", &problem{"the pattern is no regular expression of RE2 (no lookaround, no back references)"}
	}
	p, err := f.find(a.Path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n, scanned := 0, 0
	end := f.now().Add(maxTime)
	note, err := f.walk(ctx, p, func(rel, show string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || !fits(a.Glob, rel) {
			return nil
		}
		inner := place{root: p.root, rel: p.rel}
		if show != p.show {
			inner.rel = path.Join(p.rel, rel)
		}
		data, err := inner.content()
		if err != nil || binary(data) {
			return nil // too large, or gone
		}
		if scanned += len(data); scanned > maxScan {
			b.WriteString("(not all files were searched: choose a folder or a glob)\n")
			return errEnough
		}
		number := 0
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if number++; number%4096 == 0 && f.now().After(end) {
				b.WriteString("(the search took too long: choose a folder or a simpler pattern)\n")
				return errEnough
			}
			if !re.Match(line) {
				continue
			}
			if n++; n > maxMatches || b.Len() > maxRead {
				fmt.Fprintf(&b, "(only the first %d lines are shown)\n", n-1)
				return errEnough
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", oneLine(show), number, shown(line, maxMatchLine))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if n == 0 {
		b.WriteString("no line fits\n")
	}
	return b.String() + note, nil
}
