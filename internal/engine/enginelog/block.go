package enginelog

import (
	"io"
	"sync"
)

// margin is how much of one block may be read together with the next: more than is ever looked ahead.
const margin = 128

// block is a part of the file, from byte margin of buf on. What the reader still needs of the block before is put right
// before it.
type block struct {
	buf             []byte
	n               int   // bytes of the file
	err             error // what the source said with them
	quotes, slashes marks // all of them; once settled, of the quotes those that no backslash escapes
	escaped         bool  // is the first byte?
	settled         bool
}

func newBlock(size int) *block {
	n := words(margin + size)
	return &block{buf: make([]byte, margin+size), quotes: make(marks, n), slashes: make(marks, n)}
}

// blocks are read one after another from a source.
type blocks struct {
	src     io.Reader
	size    int // bytes of a block at the most
	free    []*block
	escaped bool          // is the first byte of the next block?
	ahead   <-chan *block // where another goroutine reads
	back    chan<- *block // and gets its blocks back
	stop    func()
}

// read fills a block.
func (s *blocks) read(b *block) {
	for range 100 {
		if b.n, b.err = s.src.Read(b.buf[margin:]); b.n > 0 || b.err != nil {
			findAll(b.quotes[margin/64:], b.slashes[margin/64:], b.buf[margin:margin+b.n])
			b.escaped, b.settled = s.escaped, false
			s.escaped = escapes(b.buf[margin:margin+b.n], s.escaped)
			return
		}
	}
	b.err = io.ErrNoProgress
}

// settle takes away the quotes that are escaped.
func (b *block) settle() {
	if !b.settled {
		unescape(b.quotes[margin/64:], b.slashes[margin/64:], b.n, b.escaped)
		b.settled = true
	}
}

// next returns the next block. The one returned before it is still whole, older ones are not.
func (s *blocks) next() *block {
	if s.ahead != nil {
		return <-s.ahead
	}
	if len(s.free) == 0 {
		s.free = append(s.free, newBlock(s.size))
	}
	b := s.free[0]
	s.free = s.free[1:]
	s.read(b)
	return b
}

// release gives a block back.
func (s *blocks) release(b *block) {
	if s.ahead != nil {
		s.back <- b
		return
	}
	s.free = append(s.free, b)
}

const (
	aheadSize   = 512 << 10 // of a block that is read ahead: to hand over smaller ones takes longer than to read them
	aheadBlocks = 4         // one in use, one to take its rest, two to fill
)

// readAhead reads the blocks in a goroutine from now on, until the source has ended or stop is called.
func (s *blocks) readAhead() {
	full, empty, done := make(chan *block, aheadBlocks), make(chan *block, aheadBlocks), make(chan struct{})
	for range aheadBlocks {
		empty <- newBlock(s.size)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-done:
				return
			case b := <-empty:
				s.read(b)
				if len(full) > 0 { // who has the time does it
					b.settle()
				}
				full <- b
				if b.err != nil {
					return
				}
			}
		}
	})
	s.ahead, s.back = full, empty
	s.stop = sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}

// peek returns the byte i places after pos.
func (r *Reader) peek(i int) (byte, bool) {
	for r.pos+i >= r.end {
		if !r.fill() {
			return 0, false
		}
	}
	return r.buf[r.pos+i], true
}

// whole makes text all that there is to read.
func (r *Reader) whole(text []byte) {
	n := words(len(text))
	b := &block{buf: text, settled: true, quotes: make(marks, n), slashes: make(marks, n)}
	findAll(b.quotes, b.slashes, text)
	unescape(b.quotes, b.slashes, len(text), false)
	r.block, r.buf, r.end = b, text, len(text)
	r.eof, r.err = true, io.EOF
}

// fill goes on to the next block, with what was not consumed of this one before it. The captured bytes are put away.
func (r *Reader) fill() bool {
	if r.eof {
		return false
	}
	r.keep(r.pos)
	b := r.src.next()
	b.settle()
	from := margin - (r.end - r.pos)
	if r.block != nil {
		copy(b.buf[from:], r.buf[r.pos:r.end])
		b.quotes.put(from, r.block.quotes, r.pos, r.end)
		r.src.release(r.block)
	}
	r.block, r.buf = b, b.buf
	r.pos, r.end, r.from, r.newline = from, margin+b.n, from, -1
	r.eof, r.err = b.err != nil, b.err
	return b.n > 0
}
