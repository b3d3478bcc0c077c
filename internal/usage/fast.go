package usage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

const (
	fastFrom   = 256 << 10 // smaller files are read whole at once
	headSize   = 256 << 10 // where the first line of Claude's log must stand
	tailSize   = 256 << 10 // where the last one must stand
	chunkSize  = 256 << 10
	headEvents = 64
)

// fromEnd reads a large log of Claude Code from both of its ends. It answers only where the full reader would say the
// same: the log's form makes line breaks trustworthy, its last value is the result of a finished run, and no other
// value in between can be a result, which a search for bytes shows at the speed of the disk.
func fromEnd(file io.ReaderAt, size int64, o Options) (Run, bool) {
	if size < fastFrom {
		return Run{}, false
	}
	return ends(file, size, o)
}

func ends(file io.ReaderAt, size int64, o Options) (Run, bool) {
	if o.Engine != "" && o.Engine != engine.Claude {
		return Run{}, false
	}
	var c collector
	form, ok := c.head(file, size)
	if !ok {
		return Run{}, false
	}
	from, ok := c.tail(file, size, form)
	if !ok || c.claude.Results() != 1 || c.last != engine.Claude {
		return Run{}, false
	}
	run := c.run(false, o)
	if run.Ended != engine.Finished || resultBefore(file, from) {
		return Run{}, false
	}
	return run, true
}

// form is how the values of a log are laid out.
type form int

const (
	lines  form = iota // one value on each line
	pretty             // one array printed with two spaces
)

// head reads the events up to Claude Code's init line.
func (c *collector) head(file io.ReaderAt, size int64) (form, bool) {
	src := io.NewSectionReader(file, 0, min(size, headSize))
	var mark [3]byte
	if n, err := src.ReadAt(mark[:], 0); (err != nil && !errors.Is(err, io.EOF)) || n == 0 || mark[0] >= 0xfe {
		return 0, false
	}
	if mark == [3]byte{0xef, 0xbb, 0xbf} {
		src = io.NewSectionReader(file, 3, min(size, headSize)-3)
	}
	r := enginelog.NewReader(src, keys())
	for range headEvents {
		ev, ok := r.Next()
		if !ok {
			break
		}
		c.event(ev)
		if c.own != nil || c.claude.Results() > 0 {
			break
		}
		if !c.claude.Started() {
			continue
		}
		switch {
		case r.Lines():
			return lines, true
		case r.Pretty():
			return pretty, true
		}
		break
	}
	return 0, false
}

// tail reads the last value and returns where it starts.
func (c *collector) tail(file io.ReaderAt, size int64, f form) (int64, bool) {
	start := max(0, size-tailSize)
	buf := make([]byte, size-start)
	if _, err := file.ReadAt(buf, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, false
	}
	text := bytes.TrimRight(buf, " \t\r\n")
	at := -1
	switch f {
	case lines:
		at = bytes.LastIndexByte(text, '\n') + 1
	case pretty:
		text = bytes.TrimSuffix(text, []byte("]"))
		if len(text) == 0 || text[len(text)-1] != '\n' {
			return 0, false
		}
		at = lastElement(text)
	}
	if at <= 0 {
		return 0, false
	}
	ev, ok := enginelog.Parse(text[at:], claude.Keys())
	if !ok || ev.Word("type") != "result" {
		return 0, false
	}
	// The full reader keeps the keys of all engines; so does the event that is counted.
	if ev, ok = enginelog.Parse(text[at:], keys()); !ok {
		return 0, false
	}
	c.event(ev)
	return start + int64(at), true
}

// lastElement returns the index after the last line break that is followed by the line "  {".
func lastElement(text []byte) int {
	for end := len(text); ; {
		i := bytes.LastIndex(text[:end], []byte("\n  {"))
		if i < 0 {
			return -1
		}
		if rest := text[i+4:]; len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') {
			return i + 1
		}
		end = i
	}
}

const typeKey = `"type"`

// resultBefore reports whether the first limit bytes may hold an object with "type": "result". It may say so wrongly,
// never the other way round: between quotes that are no escapes, these bytes are a key and its value or text that merely
// looks so. Large files are searched in two halves at once.
func resultBefore(file io.ReaderAt, limit int64) bool {
	const worthIt = 16 << 20
	if limit < worthIt || runtime.GOMAXPROCS(0) < 2 {
		return resultBetween(file, 0, limit)
	}
	half := make(chan bool, 1)
	go func() { half <- resultBetween(file, limit/2, limit) }()
	found := resultBetween(file, 0, limit/2+overlap)
	return <-half || found
}

// overlap is how much of a chunk is looked at again with the next one: longer than the longest key with its value that is
// told from others.
const overlap = 128

// resultBetween searches the keys that begin at from or later and that end, with their value, before to.
func resultBetween(file io.ReaderAt, from, to int64) bool {
	if f, ok := file.(*os.File); ok {
		if found, ok := resultMapped(f, from, to); ok {
			return found
		}
	}
	buf := make([]byte, chunkSize+overlap)
	kept := 0
	for at := from; at < to; {
		n, err := file.ReadAt(buf[kept:kept+int(min(chunkSize, to-at))], at)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return true
		}
		part := buf[:kept+n]
		if resultIn(part) {
			return true
		}
		at += int64(n)
		kept = copy(buf, part[max(0, len(part)-overlap):])
	}
	return false
}

// resultIn reports whether text holds a key type with the value result, or one whose value it does not hold. It looks for
// the y of the key, which is the rarest of its bytes in most texts, or for all of the key where that is no help.
func resultIn(text []byte) bool {
	const y = 2 // its place in the key
	last := len(text) - (len(typeKey) - y)
	for i, misses := y, 0; i <= last; i++ {
		k := bytes.IndexByte(text[i:], typeKey[y])
		if misses > 1<<10 && misses > i/8 {
			k = bytes.Index(text[i-y:], []byte(typeKey))
		}
		if k < 0 {
			return false
		}
		if i += k; i > last {
			return false
		}
		if text[i+1] != typeKey[y+1] || string(text[i-y:i-y+len(typeKey)]) != typeKey {
			misses++
			continue
		}
		if mayBeResult(text[i-y+len(typeKey):]) {
			return true
		}
	}
	return false
}

// mayBeResult reports whether what follows a key type is, or with more bytes may be, the value result. A text that ends
// within overlap bytes of its key is read again with what follows.
func mayBeResult(rest []byte) bool {
	whole := len(rest) >= overlap-len(typeKey)
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) > 0 && rest[0] == ':' {
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		return bytes.HasPrefix(rest, []byte(`"result"`)) || whole && len(rest) < len(`"result"`)
	}
	return whole && len(rest) == 0
}
