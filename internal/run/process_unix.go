//go:build !windows

package run

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// killGroup sends a signal to the group that p leads. Nobody there is no error.
func killGroup(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

type owner struct {
	uid, gid uint32
	links    uint64
}

// ownerOf says whose a file is and how many names it has.
func ownerOf(info fs.FileInfo) (owner, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink)}, true //nolint:unconvert // its width differs between systems
}

// startAnew replaces this process by self; data goes through a pipe whose number stands in SealVar.
func startAnew(self string, args, env []string, data []byte) error {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil { // without close-on-exec
		return fmt.Errorf("open a pipe for the key: %w", err)
	}
	syscall.CloseOnExec(fds[1])
	if _, err := syscall.Write(fds[1], data); err != nil {
		return fmt.Errorf("hand the key on: %w", err)
	}
	if err := syscall.Close(fds[1]); err != nil {
		return fmt.Errorf("hand the key on: %w", err)
	}
	env = append(append([]string{}, env...), SealVar+"="+strconv.Itoa(fds[0]))
	if err := syscall.Exec(self, append([]string{self}, args...), env); err != nil { //nolint:gosec // this program itself
		return fmt.Errorf("start anew: %w", err)
	}
	return nil
}
