package install

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// tempPrefix marks the files of a run that was killed between staging and renaming; the next run takes them away.
const tempPrefix = ".issue-assistant-install-"

// Apply writes the plan: everything is staged beside its place first, then renamed. When something fails, what was
// there before is put back, and no staged file stays.
func (p *Plan) Apply() (err error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return fmt.Errorf("open the repository: %w", unwrapPath(err))
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := p.unchangedSince(root); err != nil {
		return err
	}
	w := &writer{root: root}
	defer w.cleanUp()
	for i := range p.Changes {
		if c := &p.Changes[i]; c.writes() {
			if err := w.stage(c); err != nil {
				return errors.Join(err, w.undo())
			}
		}
	}
	for _, s := range w.staged {
		if err := w.commit(s); err != nil {
			return errors.Join(err, w.undo())
		}
	}
	return w.syncFolders()
}

// unchangedSince compares the files with what the plan was made from.
func (p *Plan) unchangedSince(root *os.Root) error {
	for _, c := range p.Changes {
		now, _, err := read(root, c.Path)
		if err != nil {
			return err
		}
		if (now == nil) != (c.Old == nil) || string(now) != string(c.Old) {
			return fmt.Errorf("%s changed while install was working: run it again", c.Path)
		}
	}
	return nil
}

type staged struct {
	change *Change
	temp   string // empty: the file goes
	done   bool
}

type writer struct {
	root    *os.Root
	staged  []*staged
	folders []string // made by this run, outermost first
}

func (w *writer) stage(c *Change) error {
	if c.State == Removed {
		w.staged = append(w.staged, &staged{change: c})
		return nil
	}
	dir := path.Dir(c.Path)
	if err := w.makeFolder(dir); err != nil {
		return err
	}
	w.sweepTemps(dir)
	temp, err := w.writeTemp(dir, c.New, c.mode)
	if err != nil {
		return fmt.Errorf("write beside %s: %w", c.Path, unwrapPath(err))
	}
	w.staged = append(w.staged, &staged{change: c, temp: temp})
	return nil
}

func (w *writer) makeFolder(dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.makeFolder(path.Dir(dir)); err != nil {
		return err
	}
	err := w.root.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		w.folders = append(w.folders, dir)
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the folder %s: %w", dir, unwrapPath(err))
	}
	return nil
}

// sweepTemps takes away what a killed run left in a folder.
func (w *writer) sweepTemps(dir string) {
	f, err := w.root.Open(dir)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // only read from
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		at := path.Join(dir, name)
		if strings.HasPrefix(name, tempPrefix) && !w.isStaged(at) {
			_ = w.root.Remove(at) // one that stays harms nothing
		}
	}
}

func (w *writer) isStaged(name string) bool {
	for _, s := range w.staged {
		if s.temp == name {
			return true
		}
	}
	return false
}

func (w *writer) writeTemp(dir string, data []byte, mode fs.FileMode) (string, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	name := path.Join(dir, tempPrefix+hex.EncodeToString(random[:]))
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, w.root.Remove(name))
	}
	return name, nil
}

func (w *writer) commit(s *staged) error {
	if s.temp == "" {
		if err := w.root.Remove(s.change.Path); err != nil {
			return fmt.Errorf("remove %s: %w", s.change.Path, unwrapPath(err))
		}
		s.done = true
		return nil
	}
	if err := w.root.Rename(s.temp, s.change.Path); err != nil {
		return fmt.Errorf("write %s: %w", s.change.Path, unwrapPath(err))
	}
	s.done, s.temp = true, ""
	return nil
}

// undo puts back what was there before this run.
func (w *writer) undo() error {
	var errs []error
	for _, s := range w.staged {
		if !s.done {
			continue
		}
		if s.change.Old == nil {
			errs = append(errs, w.root.Remove(s.change.Path))
			continue
		}
		temp, err := w.writeTemp(path.Dir(s.change.Path), s.change.Old, s.change.mode)
		if err == nil {
			err = w.root.Rename(temp, s.change.Path)
		}
		errs = append(errs, err)
	}
	w.cleanUp()
	for _, folder := range slices.Backward(w.folders) {
		errs = append(errs, w.root.Remove(folder))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("put back what was there: %w", err)
	}
	return nil
}

func (w *writer) cleanUp() {
	for _, s := range w.staged {
		if s.temp != "" {
			_ = w.root.Remove(s.temp) // the next run takes away what stays
			s.temp = ""
		}
	}
}

// syncFolders makes the renames last through a power cut. Folders that cannot be synced (some network shares) are left.
func (w *writer) syncFolders() error {
	seen := map[string]bool{}
	for _, s := range w.staged {
		dir := path.Dir(s.change.Path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		f, err := w.root.Open(dir)
		if err != nil {
			return fmt.Errorf("open %s: %w", dir, unwrapPath(err))
		}
		_ = f.Sync()
		if err := f.Close(); err != nil {
			return fmt.Errorf("close %s: %w", dir, unwrapPath(err))
		}
	}
	return nil
}
