package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"
)

// Numbers of prctl(2) and fallocate(2) that package syscall lacks.
const (
	prSetDumpable   = 4
	prSetNoNewPrivs = 38
	fallocKeepSize  = 1
	pPID            = 1
	waitExited      = 4
	waitNoReap      = 0x01000000
	openNoFollow    = syscall.O_NOFOLLOW
)

func groupAttributes(u *user) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if u != nil {
		attr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return attr
}

func prctl(option, value uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// lockRights keeps the calling thread and what it starts from gaining rights by set-user-id programs such as sudo.
func lockRights() error {
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return fmt.Errorf("close the way to new rights: %w", err)
	}
	return nil
}

// hide makes this process's memory and environment unreadable to other processes of its user, and keeps it from
// leaving a core file. It does not hold against root.
func hide() error {
	if err := prctl(prSetDumpable, 0); err != nil {
		return fmt.Errorf("make the process unreadable: %w", err)
	}
	return nil
}

// awaitExit returns when the child has ended, without reaping it: until then its number and its group's stay taken.
func awaitExit(cmd *exec.Cmd) {
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(cmd.Process.Pid), uintptr(unsafe.Pointer(&info)), //nolint:gosec // the kernel fills the buffer
			waitExited|waitNoReap, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// reserveSpace takes blocks on the disk without changing the file's size.
func reserveSpace(f *os.File, from, length int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), fallocKeepSize, from, length)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return errors.ErrUnsupported
		default:
			return err
		}
	}
}

// killMarked kills processes whose environment holds mark: they left the engine's group but not its environment.
func killMarked(mark string) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		data, err := os.ReadFile(path)
		if err == nil && containsEntry(data, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
