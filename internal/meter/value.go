package meter

import (
	"encoding/json"
	"unicode/utf8"
)

// text decodes a raw string; "" when it is not one.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c == '\\' {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}

// textLen is the number of bytes that a raw string has when it is decoded.
func textLen(raw []byte) int64 {
	if len(raw) < 2 {
		return 0
	}
	raw = raw[1 : len(raw)-1]
	n := int64(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i+1 < len(raw) && raw[i+1] == 'u' {
			// Three bytes at most; a pair of surrogates counts six for its four.
			n -= 3
			i += 5
			continue
		}
		n--
		i++
	}
	return n
}

// number reads a whole number of at least 0, written plainly; ok is false for anything else.
func number(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > 12 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// empty reports whether a raw value says nothing: null, false, "", {} or [].
func empty(raw []byte) bool {
	switch string(raw) {
	case "null", "false", `""`:
		return true
	}
	if raw[0] != '{' && raw[0] != '[' {
		return false
	}
	s := scan{b: raw, i: 1}
	c := s.peek()
	return c == '}' || c == ']'
}

// field returns the raw value of an object's member, nil when there is none; name must occur exactly so.
func field(raw []byte, name string) []byte {
	s := scan{b: raw}
	if s.peek() != '{' {
		return nil
	}
	var found []byte
	err := s.object(func(key string) error {
		v, err := s.skip()
		if key == name {
			found = v
		}
		return err
	})
	if err != nil {
		return nil
	}
	return found
}

// each calls f for the elements of a raw array; what is none has no elements.
func each(raw []byte, f func(element []byte) error) error {
	s := scan{b: raw}
	if s.peek() != '[' {
		return nil
	}
	return s.array(func() error {
		element, err := s.skip()
		if err != nil {
			return err
		}
		return f(element)
	})
}

// valid reports whether b is one value of JSON in UTF-8.
func valid(b []byte) bool {
	s := scan{b: b}
	_, err := s.skip()
	return err == nil && s.end() == nil && utf8.Valid(b)
}
