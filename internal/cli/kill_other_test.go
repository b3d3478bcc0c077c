//go:build !unix

package cli

import (
	"errors"
	"syscall"
)

// killProcess cannot send signals here: the tests of kills are for Unix and say so by this error.
func killProcess(int, syscall.Signal) error { return errors.ErrUnsupported }

func makePipe(string) error { return errors.ErrUnsupported }
