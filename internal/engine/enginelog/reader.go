package enginelog

import (
	"bytes"
	"errors"
	"io"
)

// bufferSize is how much of its file a Reader takes at once; it fits the processor's cache.
const bufferSize = 128 << 10

// Reader reads events from a stream in constant memory.
//
// It takes one array of objects, lines of JSON, a stream of objects in several lines each, and text between them. In a
// file whose first object stands on one line, a line break ends every value, so that a cut line costs only itself. In
// an array printed with two spaces, as JSON.stringify(x, null, 2) does, the line "  {" begins an element likewise.
type Reader struct {
	src  blocks
	want Want
	err  error // io.EOF, or what went wrong

	block    *block
	buf      []byte // of the block
	pos, end int
	newline  int // the next line break at or after pos, end when there is none; less than pos: not known
	eof      bool

	ev      *Event
	pending *Field // the field whose value comes next
	capture *Field // the field that takes the bytes being read
	from    int    // where in buf its next bytes start
	limit   int
	stack   []byte // open containers

	started  bool // a byte of the first value was seen
	objects  int  // events so far
	closed   bool // the bracket that ends an array printed with two spaces was seen
	inArray  bool // inside a top-level array
	elements int  // objects of that array so far
	lines    bool // line breaks end values
	pretty   bool // "  {" on a line of its own begins an element
	fresh    bool // nothing but blanks since the last line break
	breaks   int  // line breaks outside of strings
	cut      bool // the file ends inside a value
	broken   bool // something in the file was no JSON and was left out
	stopped  bool
	lost     bool // the rest of the file, behind what was no JSON
}

// NewReader reads src and keeps what want names. The source's bytes must be UTF-8 without a byte order mark.
func NewReader(src io.Reader, want Want) *Reader {
	return newReader(src, want, bufferSize)
}

// NewReaderAhead is NewReader for large files: a goroutine reads ahead. It ends with Stop.
func NewReaderAhead(src io.Reader, want Want) *Reader {
	r := newReader(src, want, aheadSize)
	r.src.readAhead()
	return r
}

func newReader(src io.Reader, want Want, size int) *Reader {
	return &Reader{src: blocks{src: src, size: size}, want: want, ev: newEvent(), fresh: true, newline: -1}
}

// Stop ends the reading ahead. Nothing may be read after it.
func (r *Reader) Stop() {
	if r.src.stop != nil {
		r.src.stop()
	}
}

// Cut reports whether the file ended inside a value.
func (r *Reader) Cut() bool { return r.cut }

// Broken reports whether something was left out that is no JSON.
func (r *Reader) Broken() bool { return r.broken }

// Lost reports whether the rest of the file was left out, because where its next value begins cannot be told.
func (r *Reader) Lost() bool { return r.lost }

// Lines reports whether a line break ends every value.
func (r *Reader) Lines() bool { return r.lines }

// Pretty reports whether the file is one array printed with two spaces.
func (r *Reader) Pretty() bool { return r.pretty }

// Err returns what stopped the reading, nil at the end of the file.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Next returns the next event. It is valid until the following call.
func (r *Reader) Next() (*Event, bool) {
	for !r.stopped {
		c, ok := r.skipSpace()
		if !ok {
			r.cut = r.inArray && !r.closed
			r.stopped = true
			break
		}
		if r.inArray {
			if r.element(c) {
				return r.ev, true
			}
			continue
		}
		if r.topLevel(c) {
			return r.ev, true
		}
	}
	return nil, false
}

// topLevel reads what begins with c outside of any array and reports whether it is an event.
func (r *Reader) topLevel(c byte) bool {
	first := !r.started
	r.started = true
	switch c {
	case '{':
		breaks := r.breaks
		st := r.value(true)
		if st != complete {
			r.recover(st)
			return false
		}
		r.objects++
		if r.objects == 1 && r.breaks == breaks && r.restIsBlank() {
			r.lines = true
		}
		return true
	case '[':
		r.pos++
		r.inArray, r.elements = true, 0
		r.fresh = false
		r.breaks = 0
		r.pretty = first && r.elementLine()
	case '<', '#': // a page of HTML or a report in Markdown quotes logs, it is none
		if r.stopped = first; !first {
			r.skipLine()
		}
		r.broken = true
	default:
		r.broken = true
		r.skipLine()
	}
	return false
}

// element reads what begins with c inside a top-level array and reports whether it is an event.
func (r *Reader) element(c byte) bool {
	var st status
	switch {
	case c == ']' && r.pretty: // what follows is still read by its lines
		r.pos++
		r.closed = true
		return false
	case c == ']':
		r.pos++
		r.leaveArray()
		return false
	case c == ',':
		r.pos++
		r.fresh = false
		return false
	case c == '{':
		st = r.value(true)
		if st == complete {
			r.elements++
			r.objects++
			return true
		}
	case c == '[' || c == '"' || isWord(c):
		st = r.value(false)
		if st == complete {
			return false
		}
	default:
		st = invalid
	}
	r.recover(st)
	return false
}

// leaveArray ends a top-level array. One without objects is a log line such as "[INFO] text".
func (r *Reader) leaveArray() {
	r.inArray = false
	r.fresh = false
	if r.elements == 0 && !r.restIsBlank() {
		r.broken = true
		r.skipLine()
	}
}

// recover finds the place to go on after a value that is no JSON.
func (r *Reader) recover(st status) {
	r.capture = nil
	if st == atEnd {
		r.cut, r.stopped = true, true
		return
	}
	r.broken = true
	switch {
	case r.inArray && r.pretty:
		if st != atElement {
			r.nextElement()
		}
	case r.inArray && (r.lines || (r.elements == 0 && r.breaks == 0)): // a log line that looks like an array
		r.inArray = false
		r.skipLine()
	case r.inArray: // where the next element begins cannot be told from what is nested
		r.stopped, r.lost = true, true
	default:
		if c, ok := r.peek(0); st != invalid || !ok || !r.fresh || c != '{' {
			r.skipLine()
		}
	}
}

// nextElement goes to the next line that begins or ends an array printed with two spaces.
func (r *Reader) nextElement() {
	for r.skipToBreak() {
		if c, ok := r.peek(1); ok && c == ']' {
			r.pos++
			return
		}
		if r.elementLine() {
			r.pos++
			return
		}
		r.pos++
	}
}

// elementLine reports whether the line break at pos is followed by the line "  {".
func (r *Reader) elementLine() bool {
	i := 0
	if c, ok := r.peek(0); ok && c == '\r' {
		i = 1
	}
	for _, want := range []byte("\n  {") {
		if c, ok := r.peek(i); !ok || c != want {
			return false
		}
		i++
	}
	c, ok := r.peek(i)
	return ok && (c == '\n' || c == '\r')
}

// restIsBlank reports whether only blanks stand between pos and the next line break or the end of the file. It looks
// at most a few bytes ahead: a longer run of blanks counts as text.
func (r *Reader) restIsBlank() bool {
	for i := range 64 {
		c, ok := r.peek(i)
		if !ok || c == '\n' {
			return true
		}
		if !isSpace(c) {
			return false
		}
	}
	return false
}

func (r *Reader) skipLine() {
	r.skipToBreak()
	r.fresh = true
}

// skipToBreak moves to the next line break, which may be at pos, and reports whether there is one.
func (r *Reader) skipToBreak() bool {
	for {
		if k := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); k >= 0 {
			r.pos += k
			return true
		}
		r.pos = r.end
		if !r.fill() {
			return false
		}
	}
}
