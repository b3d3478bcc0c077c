// Package enginelog reads execution files: it finds their top-level JSON objects and keeps the few values of each that
// are asked for, in memory that does not grow with the file.
//
// An execution file holds text of strangers inside its strings, so nothing but top-level objects is ever an event, and
// keys count only when they are spelled exactly and without escapes. Where a key stands twice, the last value counts.
package enginelog

import (
	"bytes"
	"encoding/json"
)

// Want names the keys of an event whose values are kept, each with the number of bytes to keep of it.
type Want map[string]int

// Join returns a Want with the keys of all; the larger number of bytes wins.
func Join(all ...Want) Want {
	joined := Want{}
	for _, want := range all {
		for key, limit := range want {
			joined[key] = max(joined[key], limit)
		}
	}
	return joined
}

// Field is the value of one key of an event.
type Field struct {
	Raw   []byte // JSON text; valid until the next event is read
	Cut   bool   // the value is longer than Raw
	Elems int    // elements or members directly inside an array or object
}

// Event is one top-level JSON object.
type Event struct {
	index map[string]int
	store []Field
	n     int
}

func newEvent() *Event { return &Event{index: map[string]int{}} }

func (e *Event) reset() {
	clear(e.index)
	e.n = 0
}

// slot returns the field of a key, emptied: the last of several equal keys counts.
func (e *Event) slot(key string) *Field {
	i, ok := e.index[key]
	if !ok {
		if e.n == len(e.store) {
			e.store = append(e.store, Field{})
		}
		i = e.n
		e.n++
		e.index[key] = i
	}
	f := &e.store[i]
	f.Raw, f.Cut, f.Elems = f.Raw[:0], false, 0
	return f
}

// Has reports whether the event has the key, whatever its value.
func (e *Event) Has(key string) bool {
	_, ok := e.index[key]
	return ok
}

// Field returns the value of a key; the zero Field when it is missing.
func (e *Event) Field(key string) Field {
	if i, ok := e.index[key]; ok {
		return e.store[i]
	}
	return Field{}
}

// Str returns the decoded string of a key.
func (e *Event) Str(key string) (string, bool) { return e.Field(key).Str() }

// Word returns the string of a key as it stands in the file, or "" when it is no string or holds escapes. It is for
// comparing with fixed words.
func (e *Event) Word(key string) string { return e.Field(key).Word() }

// Kind is the first byte of the value: '"', '{', '[', or that of a number or word; 0 when there is none.
func (f Field) Kind() byte {
	if len(f.Raw) == 0 {
		return 0
	}
	return f.Raw[0]
}

// Word returns the string as it stands in the file, or "" when it is no whole string without escapes.
func (f Field) Word() string {
	if f.Cut || len(f.Raw) < 2 || f.Raw[0] != '"' || bytes.IndexByte(f.Raw, '\\') >= 0 {
		return ""
	}
	return string(f.Raw[1 : len(f.Raw)-1])
}

// Str returns the decoded string.
func (f Field) Str() (string, bool) {
	if f.Cut || f.Kind() != '"' {
		return "", false
	}
	var s string
	if err := json.Unmarshal(f.Raw, &s); err != nil {
		if word := f.Word(); word != "" { // raw control characters
			return word, true
		}
		return "", false
	}
	return s, true
}

// Bool returns the truth value; ok is false for everything but true and false.
func (f Field) Bool() (value, ok bool) {
	switch string(f.Raw) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// IsNull reports whether the value is null.
func (f Field) IsNull() bool { return string(f.Raw) == "null" }

// Text returns the start of a string, decoded as far as it was kept, for looking at how a text begins or whether it is
// blank. An escape that was cut in two is left out.
func (f Field) Text() string {
	if f.Kind() != '"' {
		return ""
	}
	if s, ok := f.Str(); ok {
		return s
	}
	raw := f.Raw[1:]
	for range 7 { // the longest escape, \uXXXX, has six bytes
		var s string
		if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s) == nil {
			return s
		}
		if len(raw) == 0 {
			break
		}
		raw = raw[:len(raw)-1]
	}
	return string(raw)
}

// Sub reads the value as an object and returns its members. What was cut off is missing.
func (f Field) Sub() Members {
	if f.Kind() != '{' {
		return nil
	}
	return members(f.Raw)
}

// Parse reads one JSON object that is in memory, such as a line of a stream. It reports false when raw is not exactly
// one complete object.
func Parse(raw []byte, want Want) (*Event, bool) {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	r := newReader(nil, want, 0)
	r.whole(raw)
	ev, ok := r.Next()
	if !ok {
		return nil, false
	}
	whole := newEvent()
	*whole, *ev = *ev, *whole
	if _, more := r.Next(); more || r.Cut() || r.Broken() {
		return nil, false
	}
	return whole, true
}
