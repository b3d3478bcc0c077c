package meter

import "bytes"

// sseLines splits a stream of server-sent events and hands over the data of each; comments and other fields are passed
// over. https://html.spec.whatwg.org/multipage/server-sent-events.html
type sseLines struct {
	event func(data []byte)
	line  []byte // the beginning of a line whose end has not come yet
	data  []byte // of the event so far
	has   bool
	cr    bool // the last byte was a carriage return
	begun bool
}

const maxEvent = 16 << 20

// feed takes the next bytes. It is false when an event is too large to be held.
func (s *sseLines) feed(p []byte) bool {
	for len(p) > 0 {
		if s.cr {
			s.cr = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			s.line = append(s.line, p...)
			return len(s.line) <= maxEvent
		}
		line := p[:i]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		s.cr = p[i] == '\r'
		p = p[i+1:]
		s.take(line)
		s.line = s.line[:0]
		if len(s.data) > maxEvent {
			return false
		}
	}
	return true
}

func (s *sseLines) take(line []byte) {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		if s.has {
			s.event(s.data)
		}
		s.data, s.has = s.data[:0], false
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if string(name) != "data" {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if s.has {
		s.data = append(s.data, '\n')
	}
	s.data, s.has = append(s.data, value...), true
}
