package enginelog

import (
	"bytes"
	"slices"
)

// Member is one key of an object with its value. Key is the text between its quotes as it stands in the file.
type Member struct {
	Key   string
	Value Field
}

// Members are the members of an object in the order of the file.
type Members []Member

// Get returns the last value of a key.
func (m Members) Get(key string) Field {
	for _, member := range slices.Backward(m) {
		if member.Key == key {
			return member.Value
		}
	}
	return Field{}
}

// Has reports whether the key stands in the object.
func (m Members) Has(key string) bool {
	for i := range m {
		if m[i].Key == key {
			return true
		}
	}
	return false
}

// maxMembers bounds the work for one object.
const maxMembers = 10_000

// members splits an object that was kept in memory. It stops at the first byte that does not fit, so that the start of
// a cut object gives its complete members.
func members(raw []byte) Members {
	var all Members
	i := skipBlank(raw, 1)
	for len(all) < maxMembers && i < len(raw) && raw[i] == '"' {
		end := stringEnd(raw, i)
		if end < 0 {
			break
		}
		key := string(raw[i+1 : end-1])
		i = skipBlank(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			break
		}
		i = skipBlank(raw, i+1)
		end, elems := valueEnd(raw, i)
		if end < 0 {
			break
		}
		all = append(all, Member{Key: key, Value: Field{Raw: raw[i:end], Elems: elems}})
		i = skipBlank(raw, end)
		if i >= len(raw) || raw[i] != ',' {
			break
		}
		i = skipBlank(raw, i+1)
	}
	return all
}

func skipBlank(raw []byte, i int) int {
	for i < len(raw) && isSpace(raw[i]) {
		i++
	}
	return i
}

// stringEnd returns the index after the closing quote of the string that starts at i, or -1.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); {
		k := bytes.IndexByte(raw[i:], '"')
		if k < 0 {
			return -1
		}
		slashes := 0
		for slashes < k && raw[i+k-1-slashes] == '\\' {
			slashes++
		}
		i += k + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// valueEnd returns the index after the value that starts at i, or -1 when it is incomplete, and its elements.
func valueEnd(raw []byte, i int) (end, elems int) {
	if i >= len(raw) {
		return -1, 0
	}
	switch c := raw[i]; {
	case c == '"':
		return stringEnd(raw, i), 0
	case c == '{' || c == '[':
		return containerEnd(raw, i)
	case isWord(c):
		for end = i; end < len(raw) && isWord(raw[end]); {
			end++
		}
		if end == len(raw) { // a number that may be cut in two
			return -1, 0
		}
		return end, 0
	}
	return -1, 0
}

func containerEnd(raw []byte, i int) (end, elems int) {
	depth, commas, filled := 0, 0, false
	for ; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '{', '[':
			filled = filled || depth == 1
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				if filled {
					commas++
				}
				return i + 1, commas
			}
		case '"':
			filled = filled || depth == 1
			if i = stringEnd(raw, i); i < 0 {
				return -1, 0
			}
			i--
		case ',':
			if depth == 1 {
				commas++
			}
		default:
			filled = filled || (depth == 1 && !isSpace(c))
		}
	}
	return -1, 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isWord reports whether c may stand in a number or a bare word. Words that JSON does not know (NaN) are read over.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}
