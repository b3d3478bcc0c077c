package cli

import (
	"io"
	"net/http"
	"os"
	"time"
)

// Env is everything a command may know of the world. Below this package nothing reads the environment or the clock.
type Env struct {
	Args    []string // without the program's name
	Getenv  func(string) string
	Environ func() []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Now     func() time.Time
	Sleep   func(time.Duration)
	Dir     string            // the working folder
	HTTP    http.RoundTripper // nil: the default transport with time-outs
}

// System is the Env of a real process.
func System() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return Env{
		Args:    os.Args[1:],
		Getenv:  os.Getenv,
		Environ: os.Environ,
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Now:     time.Now,
		Sleep:   time.Sleep,
		Dir:     dir,
	}
}
