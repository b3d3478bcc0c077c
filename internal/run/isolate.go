package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"time"
)

// Isolation says under which user the engine runs. The zero value keeps the same user.
type Isolation struct {
	// Other asks for another user where that is possible: this process is root, or Sudo works without a password.
	Other bool
	// User is the name of that user; empty: nobody.
	User string
	// Sudo is the command that starts its arguments as root, such as sudo -n --. Empty: not used.
	Sudo []string
	// Self is this program, which Sudo starts as the launcher.
	Self string
	// EUID and EGID are this process's user and group.
	EUID, EGID int
}

// Launcher is the hidden command by which this program starts an engine as another user.
const Launcher = "engine-launcher"

// sudoTimeout is how long sudo may take to say whether it works.
const sudoTimeout = 5 * time.Second

// choice is how the engine is started.
type choice struct {
	user     *user // nil: the same user
	launcher bool  // through sudo and the launcher
	words    string
}

// choose picks the best protection that this machine allows. The paths must be readable for the engine.
func (i Isolation) choose(ctx context.Context, paths []string) choice {
	same := func(why string) choice {
		if i.EUID == 0 {
			return choice{words: "the engine runs as root (" + why + "): nothing keeps the key from it but its lack of tools"}
		}
		return choice{words: "the engine runs as the same user as the step (" + why + "); " +
			"the key is held in a process that it cannot read, and it cannot gain rights"}
	}
	if !i.Other {
		return same("another one was not asked for")
	}
	viaSudo := false
	if i.EUID != 0 {
		if !i.sudoWorks(ctx) {
			return same("neither root nor sudo without a password")
		}
		viaSudo = true
	}
	candidates, err := i.candidates()
	if err != nil {
		return same(err.Error())
	}
	for _, u := range candidates {
		if err = readableBy(u, paths); err == nil {
			return choice{
				user: &u, launcher: viaSudo,
				words: fmt.Sprintf("the engine runs as another user, %s (%d:%d), and cannot gain rights", u.Name, u.UID, u.GID),
			}
		}
	}
	return same(err.Error())
}

func (i Isolation) sudoWorks(ctx context.Context) bool {
	if len(i.Sudo) == 0 || i.Self == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, sudoTimeout)
	defer cancel()
	args := append(append([]string{}, i.Sudo[1:]...), "true")
	cmd := exec.CommandContext(ctx, i.Sudo[0], args...) //nolint:gosec // the command line is ours
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}

// candidates are the user with its own group, then with this process's group: on GitHub's runners the checkout lies in
// a home folder that only its group may enter. Root's group is never handed on.
func (i Isolation) candidates() ([]user, error) {
	name := i.User
	if name == "" {
		name = "nobody"
	}
	found, err := osuser.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("there is no user %s", name)
	}
	uid, errUID := strconv.ParseUint(found.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(found.Gid, 10, 32)
	if err := errors.Join(errUID, errGID); err != nil {
		return nil, fmt.Errorf("the user %s has no number", name)
	}
	if uid == 0 || int64(uid) == int64(i.EUID) {
		return nil, fmt.Errorf("the user %s is no other user", name)
	}
	list := []user{{UID: uint32(uid), GID: uint32(gid), Name: name}}
	if i.EGID > 0 && uint64(i.EGID) != gid {
		list = append(list, user{UID: uint32(uid), GID: uint32(i.EGID), Name: name}) //nolint:gosec // a group's number
	}
	return list, nil
}

// maxLooked bounds how many entries of a folder are looked at.
const maxLooked = 5000

// readableBy returns an error when u could not read one of the paths: each folder above it, and all entries below it.
func readableBy(u user, paths []string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if err := u.may(dir, 0o1); err != nil {
				return err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
		looked := 0
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Type()&fs.ModeSymlink != 0:
				return nil
			case d.IsDir() && d.Name() == ".git":
				return fs.SkipDir
			}
			if looked++; looked > maxLooked {
				return fs.SkipAll
			}
			if d.IsDir() {
				return u.may(p, 0o5)
			}
			return u.may(p, 0o4)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// may reports whether u has the wanted bits (4 read, 1 enter) at path.
func (u user) may(path string, want fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	o, ok := ownerOf(info)
	if !ok {
		return fmt.Errorf("the owner of %s is unknown", path)
	}
	bits := info.Mode().Perm()
	switch {
	case o.uid == u.UID:
		bits >>= 6
	case o.gid == u.GID:
		bits >>= 3
	}
	if bits&want != want {
		return fmt.Errorf("%s cannot read %s", u.Name, path)
	}
	return nil
}
