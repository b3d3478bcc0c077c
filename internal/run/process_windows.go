package run

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Windows has neither groups of processes that a signal reaches nor owners as Unix has them: it is for trying things out
// with recorded runs, and an engine is ended by itself.

const openNoFollow = 0

func groupAttributes(*user) *syscall.SysProcAttr { return ownGroup() }

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(p *os.Process, _ syscall.Signal) { _ = p.Kill() }

type owner struct {
	uid, gid uint32
	links    uint64
}

func ownerOf(fs.FileInfo) (owner, bool) { return owner{}, false }

func lockRights() error { return nil }

func hide() error { return errors.ErrUnsupported }

// awaitExit reaps the child; a second Wait returns the same error.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func reserveSpace(*os.File, int64, int64) error { return errors.ErrUnsupported }

func killMarked(string) {}

func startAnew(string, []string, []string, []byte) error { return errors.ErrUnsupported }
