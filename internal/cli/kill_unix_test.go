//go:build unix

package cli

import "syscall"

// killProcess sends a signal; signal 0 only asks whether the process lives.
func killProcess(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }
