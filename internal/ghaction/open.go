package ghaction

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// OpenFile opens a file for writing, with the flags of [os.OpenFile]. A named pipe that nobody reads is an error: to open
// it would wait for a reader for ever, and no signal ends that.
func OpenFile(name string, flag int) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.OpenFile(name, flag, 0o644)
	}
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, 0o644)
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s is a pipe that nobody reads", name)
	}
	return f, err
}
