package search

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
)

// maxLine bounds one line of a file of issues: GitHub's bodies have at most 65,536 characters, escaped.
const maxLine = 2 << 20

// line is an issue as a file of issues has it: GitHub's names, or those of issues.jsonl.
type line struct {
	Number      int             `json:"number"`
	Title       string          `json:"title"`
	Body        *string         `json:"body"`
	Excerpt     string          `json:"excerpt"`
	State       string          `json:"state"`
	StateReason *string         `json:"state_reason"`
	Opened      string          `json:"opened"`
	CreatedAt   string          `json:"created_at"`
	Labels      []label         `json:"labels"`
	PullRequest json.RawMessage `json:"pull_request"`
}

// label is a name or an object with a name.
type label string

// UnmarshalJSON reads both forms.
func (l *label) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var o struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(data, &o)
		*l = label(o.Name)
		return err
	}
	return json.Unmarshal(data, (*string)(l))
}

func (l line) doc() Doc {
	d := Doc{Number: l.Number, Title: l.Title, Body: l.Excerpt, State: l.State, Opened: l.Opened}
	if l.Body != nil {
		d.Body = *l.Body
	}
	if l.StateReason != nil {
		d.StateReason = *l.StateReason
	}
	if d.Opened == "" && len(l.CreatedAt) >= 10 {
		d.Opened = l.CreatedAt[:10]
	}
	for _, name := range l.Labels {
		d.Labels = append(d.Labels, string(name))
	}
	switch string(l.PullRequest) {
	case "", "null", "false":
	default:
		d.PullRequest = true
	}
	return d
}

// ReadLines reads a file of issues, one JSON object a line: number, title, body, state, labels, and where they are there
// state_reason, created_at and pull_request. One line is in memory at a time. An error names its line and ends the
// sequence.
func ReadLines(r io.Reader) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, 64<<10), maxLine)
		n := 0
		for in.Scan() {
			n++
			data := in.Bytes()
			if n == 1 && len(data) >= 3 && string(data[:3]) == "\xef\xbb\xbf" {
				data = data[3:]
			}
			if len(data) == 0 || (len(data) == 1 && data[0] == '\r') {
				continue
			}
			var l line
			err := json.Unmarshal(data, &l)
			if err == nil && l.Number < 1 {
				err = errors.New("an issue without a number")
			}
			if err != nil {
				yield(Doc{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(l.doc(), nil) {
				return
			}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("more than the %d bytes that an issue can have", maxLine)
		}
		if err != nil {
			yield(Doc{}, fmt.Errorf("line %d: %w", n+1, err))
		}
	}
}

// AddAll puts a sequence of issues in; the words are taken apart on all processors. It ends at the first error; what
// came before it is in the index.
func (x *Index) AddAll(docs iter.Seq2[Doc, error]) error {
	type job struct {
		doc  Doc
		done chan analyzed
	}
	workers := max(1, min(4, runtime.GOMAXPROCS(0)))
	todo, order := make(chan job, 4*workers), make(chan job, 64*workers)
	for range workers {
		go func() {
			an := newAnalyzer(false)
			for j := range todo {
				j.done <- an.analyze(j.doc)
			}
		}()
	}
	failed := make(chan error, 1)
	go func() {
		defer close(order)
		defer close(todo)
		for d, err := range docs {
			if err != nil {
				failed <- err
				return
			}
			if d.PullRequest || d.Number < 1 {
				continue
			}
			j := job{d, make(chan analyzed, 1)}
			todo <- j
			order <- j
		}
	}()
	for j := range order {
		a := <-j.done
		x.put(j.doc, a)
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
