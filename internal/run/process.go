package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spec is one process to start, in a group of its own.
type spec struct {
	Path   string   `json:"path"`
	Args   []string `json:"args"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Stdin  []byte   `json:"stdin"`
	User   *user    `json:"user,omitempty"` // nil: the same user
	Locked bool     `json:"locked"`         // no program started from it can gain rights (sudo is closed)
}

// user is whom a process runs as.
type user struct {
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	Name string `json:"name"`
}

// process is a running group.
type process interface {
	// signal goes to the whole group. Errors mean that nobody is there any more.
	signal(sig syscall.Signal)
	// done is closed when the leader has ended and what was left of its group was killed.
	done() <-chan struct{}
	// state says how the leader ended, for people. It is known once done is closed.
	state() string
}

// group is a process that this one started itself.
type group struct {
	cmd   *exec.Cmd
	ended chan struct{}
	mu    sync.Mutex
	gone  bool // the leader was reaped: its number may belong to somebody else
	text  string
}

// startGroup starts a process group whose leader dies with this process. Output goes to the two files, which stay open
// here.
func startGroup(s spec, stdout, stderr *os.File) (*group, error) {
	g := &group{ended: make(chan struct{})}
	started := make(chan error, 1)
	go g.run(s, stdout, stderr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return g, nil
}

// run lives as long as the leader: the kernel sends the parent-death signal when the thread ends that started it, and
// the lock on new rights belongs to that thread alone, so it is never given back.
func (g *group) run(s spec, stdout, stderr *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer close(g.ended)
	if s.Locked {
		if err := lockRights(); err != nil {
			started <- err
			return
		}
	}
	cmd := exec.Command(s.Path, s.Args...) //nolint:gosec,noctx // an argument list, never a shell; the supervisor ends it
	cmd.Env = s.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Dir = s.Dir
	cmd.Stdout = stdout
	cmd.Stderr = stderr
	cmd.SysProcAttr = groupAttributes(s.User)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		started <- fmt.Errorf("start %s: %w", s.Path, err)
		return
	}
	g.cmd = cmd
	started <- nil
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		feed(in, s.Stdin)
	}()
	awaitExit(cmd)
	g.mu.Lock()
	killGroup(cmd.Process, syscall.SIGKILL) // the leader has ended; what it left behind goes
	g.gone = true
	g.mu.Unlock()
	err = cmd.Wait()
	<-fed
	g.text = exitText(err, cmd.ProcessState)
}

// feed writes the prompt. A process that does not read it has its own way to say so.
func feed(in io.WriteCloser, data []byte) {
	_, _ = io.Copy(in, bytes.NewReader(data))
	_ = in.Close()
}

func (g *group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		killGroup(g.cmd.Process, sig)
	}
}

func (g *group) done() <-chan struct{} { return g.ended }

func (g *group) state() string { return g.text }

func exitText(err error, state *os.ProcessState) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "exit status 0"
	case errors.As(err, &exit):
		return exit.Error()
	case state != nil:
		return state.String()
	}
	return err.Error()
}
