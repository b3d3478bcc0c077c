package meter

import (
	"encoding/json"
	"hash/maphash"
	"strings"
)

// key names the content of a block. It is made with seeds of this process, so nobody can prepare two blocks with one key.
type key [2]uint64

// hasher makes keys. The order of an object's members does not matter: a command line may send back in another order what
// the provider sent.
type hasher struct {
	seeds [2]maphash.Seed
}

func newHasher() hasher {
	return hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// add mixes one member into k; value is raw JSON.
func (h hasher) add(k *key, name string, value []byte) {
	for i, seed := range h.seeds {
		var m maphash.Hash
		m.SetSeed(seed)
		_, _ = m.WriteString(name)
		_ = m.WriteByte(0)
		_, _ = m.Write(value)
		k[i] += m.Sum64()
	}
}

// jsString writes a string as JSON.stringify does, which is how command lines written in JavaScript send it back.
func jsString(s string) []byte {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			if c < ' ' {
				const hex = "0123456789abcdef"
				out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
				continue
			}
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// compact drops the white space of raw JSON outside strings; nil when it is not JSON.
func compact(raw string) []byte {
	var b strings.Builder
	if !json.Valid([]byte(raw)) {
		return nil
	}
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\':
			b.WriteByte(c)
			i++
			b.WriteByte(raw[i])
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		b.WriteByte(c)
	}
	return []byte(b.String())
}
