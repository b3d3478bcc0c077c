package enginelog

import "bytes"

// status says how the reading of a value ended.
type status int

const (
	complete  status = iota
	invalid          // pos is at the byte that does not fit
	atBreak          // a line break stands where none may; pos is at it
	atElement        // pos is at a line that begins an element
	atEnd            // the file ends inside the value
)

// What may come next inside a container.
const (
	wantKey    = iota // or the end of the object
	wantColon         //
	wantValue         //
	wantFirst         // a value, or the end of the array
	wantComma         // or the end of the container
	maxNesting = 1 << 20
	maxKey     = 64 // bytes of the longest key that can be wanted, with its quote
)

// value reads the value at pos. With event, it is an object whose wanted members are kept.
func (r *Reader) value(event bool) status {
	r.fresh = false
	if event {
		r.ev.reset()
	}
	r.pending = nil
	r.stack = r.stack[:0]
	state := wantValue
	for {
		c, st := r.token(len(r.stack) > 0)
		if st != complete {
			return st
		}
		switch {
		case c == '"' && state == wantKey:
			if st := r.memberKey(event && len(r.stack) == 1); st != complete {
				return st
			}
			state = wantColon
			continue
		case c == ':' && state == wantColon:
			r.pos++
			state = wantValue
			continue
		case c == ',' && state == wantComma:
			r.pos++
			state = wantValue
			if r.stack[len(r.stack)-1] == '{' {
				state = wantKey
			}
			continue
		case (c == '}' || c == ']') && r.closes(c, state):
			r.pos++
			r.stack = r.stack[:len(r.stack)-1]
		case state != wantValue && state != wantFirst:
			return invalid
		case c == '{' || c == '[':
			r.begin()
			if len(r.stack) == maxNesting {
				return invalid
			}
			r.pos++
			r.stack = append(r.stack, c)
			state = wantFirst
			if c == '{' {
				state = wantKey
			}
			continue
		case c == '"':
			r.begin()
			r.pos++
			if st := r.skipString(); st != complete {
				return st
			}
		case isWord(c):
			r.begin()
			r.skipWord()
		default:
			return invalid
		}
		// a value is complete
		switch len(r.stack) {
		case 0:
			return complete
		case 1:
			r.release()
		case 2:
			if r.capture != nil {
				r.capture.Elems++
			}
		}
		state = wantComma
	}
}

// closes reports whether c ends the innermost container here. A comma before the end is let through.
func (r *Reader) closes(c byte, state int) bool {
	if len(r.stack) == 0 {
		return false
	}
	open := r.stack[len(r.stack)-1]
	switch state {
	case wantKey:
		return open == '{' && c == '}'
	case wantFirst, wantValue:
		return open == '[' && c == ']' && state == wantFirst
	case wantComma:
		return (open == '{') == (c == '}')
	}
	return false
}

// token returns the next byte that is not blank, without consuming it. Inside a value, a line break may end it.
func (r *Reader) token(inside bool) (byte, status) {
	r.fresh = r.fresh && !inside
	for {
		for r.pos < r.end {
			c := r.buf[r.pos]
			if c > ' ' {
				return c, complete
			}
			switch c {
			case '\n':
				if inside && r.lines {
					return 0, atBreak
				}
				r.breaks++
				r.fresh = true
				if inside && r.pretty && r.elementLine() {
					r.pos++
					return 0, atElement
				}
			case ' ', '\t', '\r':
			default:
				return c, complete
			}
			r.pos++
		}
		if !r.fill() {
			return 0, atEnd
		}
	}
}

// skipSpace moves to the next byte that is not blank between values.
func (r *Reader) skipSpace() (byte, bool) {
	if r.inArray && r.lines { // the array began on this line, and so it ends
		c, st := r.token(true)
		if st == atBreak {
			r.inArray = false
			r.broken = true
			return r.skipSpace()
		}
		return c, st == complete
	}
	c, st := r.token(false)
	return c, st == complete
}

// memberKey reads a key; the value of one that is wanted is kept.
func (r *Reader) memberKey(event bool) status {
	r.pos++
	r.pending = nil
	if !event {
		return r.skipString()
	}
	r.peek(maxKey)
	window := r.buf[r.pos:min(r.end, r.pos+maxKey)]
	if key, _, ok := bytes.Cut(window, []byte{'"'}); ok { // what has an escape before its end is no key of ours
		if limit, ok := r.want[string(key)]; ok {
			r.pending, r.limit = r.ev.slot(string(key)), limit
		}
	}
	return r.skipString()
}

// begin starts keeping the value at pos when its key was wanted.
func (r *Reader) begin() {
	if r.pending != nil && len(r.stack) == 1 {
		r.capture, r.pending, r.from = r.pending, nil, r.pos
	}
}

// keep puts the bytes up to i into the captured field.
func (r *Reader) keep(i int) {
	f := r.capture
	if f == nil || i <= r.from {
		return
	}
	part := r.buf[r.from:i]
	if room := r.limit - len(f.Raw); len(part) > room {
		part = part[:max(room, 0)]
		f.Cut = true
	}
	f.Raw = append(f.Raw, part...)
	r.from = i
}

func (r *Reader) release() {
	if r.capture != nil {
		r.keep(r.pos)
		r.capture = nil
	}
}

// skipString moves behind the string whose first byte is at pos. A line break cannot stand in a string: what has one is
// a cut line.
func (r *Reader) skipString() status {
	for {
		quote := r.block.quotes.next(r.pos, r.end)
		if r.newline < r.pos {
			r.newline = r.end
			if b := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); b >= 0 {
				r.newline = r.pos + b
			}
		}
		if r.newline < quote {
			r.pos = r.newline
			return atBreak
		}
		if quote < r.end {
			r.pos = quote + 1
			return complete
		}
		r.pos = r.end
		if !r.fill() {
			return atEnd
		}
	}
}

func (r *Reader) skipWord() {
	for {
		for r.pos < r.end {
			if !isWord(r.buf[r.pos]) {
				return
			}
			r.pos++
		}
		if !r.fill() {
			return
		}
	}
}
