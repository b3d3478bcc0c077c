package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// pipes are the engine's stdout and stderr.
type pipes struct {
	outR, out *os.File
	errR, err *os.File
}

func newPipes() (*pipes, error) {
	outR, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a pipe: %w", err), outR.Close(), out.Close())
	}
	return &pipes{outR: outR, out: out, errR: errR, err: errW}, nil
}

func (p *pipes) closeWriters() {
	_ = p.out.Close()
	_ = p.err.Close()
}

// close closes all ends; those that are closed already say so, and nobody listens.
func (p *pipes) close() {
	p.closeWriters()
	_ = p.outR.Close()
	_ = p.errR.Close()
}

// expire ends reading: something outside of the group still holds the other ends.
func (p *pipes) expire() {
	_ = p.outR.SetReadDeadline(time.Unix(1, 0))
	_ = p.errR.SetReadDeadline(time.Unix(1, 0))
}

// readAll writes the engine's lines into the execution file until both pipes end.
func (r *running) readAll(p *pipes) {
	noise := make(chan struct{})
	go func() {
		defer close(noise)
		kept := 0
		lines(p.errR, func(line []byte, _ bool) {
			if len(line) == 0 {
				return
			}
			if kept++; kept <= maxNoise {
				r.noise = append(r.noise[:0], line[:min(len(line), 300)]...)
				r.log.text(line)
			}
		})
	}()
	lines(p.outR, r.engineLine)
	<-noise
}

// engineLine takes one line of the engine's stdout.
func (r *running) engineLine(line []byte, whole bool) {
	if len(line) == 0 {
		return
	}
	if !whole {
		r.log.text(fmt.Appendf(nil, "a line of more than %d bytes was left out", maxLine))
		return
	}
	r.log.engineLine(line)
	r.stream.Line(line)
	r.checkConversation()
}

// lines calls take for each line; whole is false for one that was too long.
func lines(from io.Reader, take func(line []byte, whole bool)) {
	br := bufio.NewReaderSize(from, 256<<10)
	for {
		line, err := readLine(br, maxLine)
		switch {
		case err == nil:
			take(line, true)
		case errors.Is(err, errLineTooLong):
			take(line, false)
		default:
			return // the end, or the deadline
		}
	}
}
