package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// The words by which the supervisor tells a launcher what to send to the engine's group.
const (
	wordInt  = "INT\n"
	wordTerm = "TERM\n"
	wordKill = "KILL\n"
)

// maxOrder bounds the launcher's first line: prompt and schema in JSON.
const maxOrder = 8 << 20

// order is the first line that a launcher reads.
type order struct {
	Spec spec   `json:"spec"`
	Home string `json:"home"` // made the user's own before, removed after
	Mark string `json:"mark"`
	Back *user  `json:"back,omitempty"` // who gets the home after instead: the conversation in it may go on
}

// launched is an engine that a launcher started as another user. The launcher runs as root through sudo and cannot be
// signaled from here: words on its stdin do that, and the end of its stdin kills the engine.
type launched struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	mu    sync.Mutex
	ended chan struct{}
	text  string
}

func startLaunched(sudo []string, self string, o order, stdout, stderr *os.File) (*launched, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the launcher's order: %w", err)
	}
	args := append(append([]string{}, sudo[1:]...), self, Launcher)
	cmd := exec.Command(sudo[0], args...) //nolint:gosec,noctx // the command line is ours; the supervisor ends it
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Stdout = stdout
	cmd.Stderr = stderr
	cmd.SysProcAttr = ownGroup()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	l := &launched{cmd: cmd, in: in, ended: make(chan struct{})}
	l.mu.Lock()
	go func() {
		defer l.mu.Unlock()
		_, _ = in.Write(append(line, '\n')) // a launcher that is gone says so by its end
	}()
	go func() {
		defer close(l.ended)
		l.text = exitText(cmd.Wait(), cmd.ProcessState)
	}()
	return l, nil
}

func (l *launched) signal(sig syscall.Signal) {
	word := map[syscall.Signal]string{syscall.SIGINT: wordInt, syscall.SIGTERM: wordTerm, syscall.SIGKILL: wordKill}[sig]
	go func() { // the pipe may be full
		l.mu.Lock()
		defer l.mu.Unlock()
		_, _ = io.WriteString(l.in, word)
		if sig == syscall.SIGKILL {
			_ = l.in.Close()
		}
	}()
}

func (l *launched) done() <-chan struct{} { return l.ended }

func (l *launched) state() string { return l.text }

// Launch is the launcher: it reads an order from in, starts the engine as the order's user and returns its exit code.
// It must run as root and never starts anything as root. The end of in kills the engine.
func Launch(in io.Reader, stdout, stderr *os.File) (int, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	line, err := readLine(r, maxOrder)
	if err != nil {
		return 0, fmt.Errorf("read the order: %w", err)
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return 0, fmt.Errorf("read the order: %w", err)
	}
	if o.Spec.User == nil || o.Spec.User.UID == 0 || o.Spec.User.GID == 0 {
		return 0, errors.New("the order names no user, or root")
	}
	o.Spec.Locked = true
	if err := giveHome(o.Home, *o.Spec.User); err != nil {
		return 0, err
	}
	g, err := startGroup(o.Spec, stdout, stderr)
	if err != nil {
		return 0, errors.Join(err, os.RemoveAll(o.Home))
	}
	go obey(r, g)
	<-g.done()
	if o.Mark != "" {
		killMarked(o.Mark)
	}
	if o.Back != nil {
		return g.cmd.ProcessState.ExitCode(), takeBack(o.Home, *o.Back)
	}
	return g.cmd.ProcessState.ExitCode(), os.RemoveAll(o.Home)
}

// takeBack makes the engine's home the caller's own again. What has a second name may be a file from elsewhere: it is
// removed from the home and keeps its owner.
func takeBack(home string, to user) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("take the engine's home back: %w", err)
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		if o, ok := ownerOf(info); !ok || !d.IsDir() && o.links > 1 {
			return root.Remove(path)
		}
		return root.Lchown(path, int(to.UID), int(to.GID))
	})
	if err = errors.Join(err, root.Close()); err != nil {
		return errors.Join(fmt.Errorf("take the engine's home back: %w", err), os.RemoveAll(home))
	}
	return nil
}

func obey(r *bufio.Reader, g *group) {
	for {
		word, err := r.ReadString('\n')
		switch {
		case err != nil:
			g.signal(syscall.SIGKILL)
			return
		case word == wordInt:
			g.signal(syscall.SIGINT)
		case word == wordTerm:
			g.signal(syscall.SIGTERM)
		case word == wordKill:
			g.signal(syscall.SIGKILL)
		}
	}
}

// giveHome makes the engine's home, with what was written into it, its own.
func giveHome(home string, u user) error {
	info, err := os.Lstat(home)
	if err != nil {
		return fmt.Errorf("find the engine's home: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the engine's home %s is no folder", home)
	}
	err = filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, int(u.UID), int(u.GID))) //nolint:gosec // a fresh folder, before the engine starts
	})
	if err != nil {
		return fmt.Errorf("give the engine its home: %w", err)
	}
	return nil
}

// errLineTooLong says that a line was longer than allowed; it was read to its end.
var errLineTooLong = errors.New("the line is too long")

// readLine reads one line without its end. A longer line is skipped and reported by errLineTooLong.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			long = len(line) > limit+2
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return line[:256], errLineTooLong
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		if err != nil && len(line) > 0 && errors.Is(err, io.EOF) {
			return line, nil
		}
		return line, err
	}
}

// waitUntil waits for done, at most d. It reports whether done came.
func waitUntil(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
