package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrNoRepository means that no folder at or above the given one is the root of a git repository.
var ErrNoRepository = errors.New("no git repository")

// FindRoot returns the root of the git repository that holds dir.
func FindRoot(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is no folder", dir)
	}
	for at := abs; ; at = filepath.Dir(at) {
		// A folder in a clone, a file in a worktree or submodule.
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%w at or above %q", ErrNoRepository, dir)
		}
	}
}

// maxFile bounds what is read of a file that install looks at.
const maxFile = 1 << 20

// read returns a regular file's bytes and mode, nil when it is not there. A symbolic link anywhere on the way is
// refused: GitHub does not follow one below .github, and writing through one could leave the repository.
func read(root *os.Root, name string) ([]byte, fs.FileMode, error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, 0, nil
		case err != nil:
			return nil, 0, fmt.Errorf("look at %s: %w", at, unwrapPath(err))
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, 0, fmt.Errorf("%s is a symbolic link: make it a real file or folder first", at)
		case i < len(parts)-1 && !info.IsDir():
			return nil, 0, fmt.Errorf("%s is no folder", at)
		case i == len(parts)-1 && !info.Mode().IsRegular():
			return nil, 0, fmt.Errorf("%s is no regular file", at)
		case i == len(parts)-1:
			data, err := readAll(root, at)
			return data, info.Mode().Perm(), err
		}
	}
	return nil, 0, nil
}

func readAll(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, unwrapPath(err))
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, unwrapPath(err))
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than 1 MiB", name)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unwrapPath takes the operation and path off an error of package os: the caller names the path once, in full.
func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
