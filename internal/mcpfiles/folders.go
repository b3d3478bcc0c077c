package mcpfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/glob"
)

// Caps. They keep one answer well below what an engine cuts off itself.
const (
	maxEntries   = 500
	maxLines     = 1000
	maxRead      = 32 << 10 // bytes of one answer of the reading tool
	maxLine      = 2000     // bytes of one line that are shown
	maxMatches   = 100
	maxMatchLine = 300
	maxFile      = 8 << 20   // larger files are neither read nor searched
	maxScan      = 128 << 20 // bytes that one search reads
	maxVisits    = 100_000   // entries that one walk looks at
	maxTime      = 10 * time.Second
)

// folders are the roots that may be read.
type folders struct {
	roots []*os.Root
	paths []string // of the roots: absolute, symbolic links resolved
	named []string // as they were given, absolute
	now   func() time.Time
}

func openFolders(o Options) (*folders, error) {
	f := &folders{now: o.Now}
	for _, name := range o.Roots {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("find the folder %s: %w", name, err), f.closeErr())
		}
		target, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("find the folder %s: %w", name, err), f.closeErr())
		}
		root, err := os.OpenRoot(target)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the folder %s: %w", name, err), f.closeErr())
		}
		f.roots, f.paths, f.named = append(f.roots, root), append(f.paths, target), append(f.named, abs)
	}
	return f, nil
}

func (f *folders) close() { _ = f.closeErr() } // only read

func (f *folders) closeErr() error {
	var errs []error
	for _, r := range f.roots {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// place is a path inside a root.
type place struct {
	root *os.Root
	rel  string // with slashes, "." for the root itself
	show string // how answers name it
	dir  string // before the names of its entries, "" or ending in a slash
}

var errOutside = &problem{"there is no such file or folder in the checkout or the material"}

// find places a path of the model's. os.Root then holds every later step inside, whatever symbolic links say.
func (f *folders) find(name string) (place, error) {
	if strings.ContainsRune(name, 0) || len(name) > 4096 {
		return place{}, errOutside
	}
	if name == "" {
		name = "."
	}
	if !filepath.IsAbs(name) {
		return f.at(0, filepath.Clean(name), "")
	}
	name = filepath.Clean(name)
	best := -1
	var rel string
	for i := range f.roots {
		for _, base := range []string{f.named[i], f.paths[i]} {
			r, err := filepath.Rel(base, name)
			if err == nil && filepath.IsLocal(r) && (best < 0 || len(r) < len(rel)) {
				best, rel = i, r
			}
		}
	}
	if best < 0 {
		return place{}, errOutside
	}
	return f.at(best, rel, f.named[best]+"/")
}

func (f *folders) at(i int, rel, prefix string) (place, error) {
	rel = filepath.ToSlash(rel)
	if !filepath.IsLocal(rel) || hidden(rel) {
		return place{}, errOutside
	}
	p := place{root: f.roots[i], rel: rel, show: prefix + rel, dir: prefix + rel + "/"}
	if rel == "." {
		p.dir = prefix
	}
	return p, nil
}

// hidden keeps git's own folder out: its settings may hold a token, and nobody needs it.
func hidden(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// allowed holds for the place that symbolic links lead to: os.Root keeps them inside, but inside lies git's folder too.
func (p place) allowed() bool {
	target, err := filepath.EvalSymlinks(filepath.Join(p.root.Name(), p.rel))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(p.root.Name(), target)
	return err == nil && filepath.IsLocal(rel) && !hidden(filepath.ToSlash(rel))
}

// open opens a regular file. A pipe or a device would block, or answer without end.
func (p place) open() (*os.File, fs.FileInfo, error) {
	f, err := p.root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, errOutside
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = errOutside
	case info.IsDir():
		err = &problem{"this is a folder: use " + ToolList}
	case !info.Mode().IsRegular():
		err = &problem{"this is no ordinary file"}
	case info.Size() > maxFile:
		err = &problem{fmt.Sprintf("the file has %d bytes, at most %d are read", info.Size(), maxFile)}
	case !p.allowed():
		err = errOutside
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// content is a file's text.
func (p place) content() ([]byte, error) {
	f, _, err := p.open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errOutside
	}
	return data, nil
}

// fits reports whether a path fits a glob; "" fits all.
func fits(pattern, rel string) bool {
	if pattern == "" {
		return true
	}
	if !strings.Contains(pattern, "/") {
		return glob.Path(pattern, path.Base(rel))
	}
	return glob.Path(strings.TrimPrefix(pattern, "/"), rel)
}
