package meter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// scan walks JSON in place. The standard decoder would copy every string and match keys without regard to case; here keys
// are exact, a repeated key is an error (the provider might read the other one) and positions are known, so that a
// request can be edited without writing it anew.
type scan struct {
	b     []byte
	i     int
	depth int
	keyAt int // where the last key that object read begins
}

const maxDepth = 200

var (
	errJSON  = errors.New("the request body is not valid JSON")
	errDepth = errors.New("the request body is nested too deeply")
)

// peek is the first byte of the next value; 0 at the end.
func (s *scan) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scan) expect(c byte) error {
	if s.peek() != c {
		return errJSON
	}
	s.i++
	return nil
}

// str reads a string and returns it raw, with its quotes.
func (s *scan) str() ([]byte, error) {
	if s.peek() != '"' {
		return nil, errJSON
	}
	from := s.i
	for i := s.i + 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[from:s.i], nil
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				return nil, errJSON
			}
			i += n - 1
		case c < ' ':
			return nil, errJSON
		}
	}
	return nil, errJSON
}

// escapeLen is the length of the escape at the start of b; 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'; !hex {
				return 0
			}
		}
		return 6
	}
	return 0
}

// object calls f for every member, with the scanner at its value; f reads the value.
func (s *scan) object(f func(key string) error) error {
	if more, err := s.open('{', '}'); !more {
		return err
	}
	var seen []string
	for {
		s.peek()
		at := s.i
		raw, err := s.str()
		if err != nil {
			return err
		}
		key := text(raw)
		if slices.Contains(seen, key) {
			return fmt.Errorf("the request body has a key twice: %.40q", key)
		}
		if len(seen) < 64 { // larger objects are data (schemas), which nothing here depends on
			seen = append(seen, key)
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		s.peek()
		s.keyAt = at
		if err := f(key); err != nil {
			return err
		}
		if more, err := s.next('}'); !more {
			return err
		}
	}
}

// array calls f with the scanner at each element; f reads it.
func (s *scan) array(f func() error) error {
	if more, err := s.open('[', ']'); !more {
		return err
	}
	for {
		s.peek()
		if err := f(); err != nil {
			return err
		}
		if more, err := s.next(']'); !more {
			return err
		}
	}
}

// open enters an object or a list; more is false when it ends at once.
func (s *scan) open(begin, end byte) (more bool, err error) {
	if s.depth++; s.depth > maxDepth {
		return false, errDepth
	}
	if err := s.expect(begin); err != nil {
		return false, err
	}
	if s.peek() != end {
		return true, nil
	}
	s.i++
	s.depth--
	return false, nil
}

// next passes over the comma before another member; more is false at the end of the object or list.
func (s *scan) next(end byte) (more bool, err error) {
	switch s.peek() {
	case ',':
		s.i++
		return true, nil
	case end:
		s.i++
		s.depth--
		return false, nil
	}
	return false, errJSON
}

// skip passes over a value and returns it raw.
func (s *scan) skip() ([]byte, error) {
	var err error
	first := s.peek()
	from := s.i
	switch first {
	case '{':
		err = s.skipObject()
	case '[':
		err = s.array(func() error { _, err := s.skip(); return err })
	case '"':
		_, err = s.str()
	default:
		err = s.scalar()
	}
	if err != nil {
		return nil, err
	}
	return s.b[from:s.i], nil
}

// skipObject passes over an object that nothing depends on; its keys may be anything.
func (s *scan) skipObject() error {
	if more, err := s.open('{', '}'); !more {
		return err
	}
	for {
		if _, err := s.str(); err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if _, err := s.skip(); err != nil {
			return err
		}
		if more, err := s.next('}'); !more {
			return err
		}
	}
}

// scalar passes over a number, true, false or null.
func (s *scan) scalar() error {
	from := s.i
	for s.i < len(s.b) {
		c := s.b[s.i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '+' && c != '.' && c != 'E' {
			break
		}
		s.i++
	}
	if !json.Valid(s.b[from:s.i]) {
		return errJSON
	}
	return nil
}

// end checks that nothing follows the value.
func (s *scan) end() error {
	if s.peek() != 0 || s.i < len(s.b) {
		return errJSON
	}
	return nil
}
