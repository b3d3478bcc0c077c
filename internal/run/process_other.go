//go:build !linux && !windows

package run

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

const openNoFollow = syscall.O_NOFOLLOW

// Without prctl there is no signal at the parent's death and no unreadable process: such systems are for trying things
// out on one's own machine.

func groupAttributes(u *user) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if u != nil {
		attr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return attr
}

func lockRights() error { return nil }

func hide() error { return errors.ErrUnsupported }

// awaitExit reaps the child; a second Wait returns the same error.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func reserveSpace(*os.File, int64, int64) error { return errors.ErrUnsupported }

func killMarked(string) {}
