package search

import (
	"encoding/binary"
	"math"
)

// The fields. Their weights, and the lengths that count as usual, were tuned on testdata/dups-own.
const (
	inTitle = iota
	inError
	inCode
	inPath
	inForm
	inLabel
	inBody
	fields
)

type fieldSet uint8

// name is the field that says most about a shared word.
func (s fieldSet) name() string {
	for _, f := range [...]struct {
		field int
		name  string
	}{{inError, "error"}, {inTitle, "title"}, {inPath, "path"}, {inCode, "code"}, {inBody, "body"}, {inForm, "form"}, {inLabel, "label"}} {
		if s&(1<<f.field) != 0 {
			return f.name
		}
	}
	return "body"
}

// strong reports whether the word stands where chance seldom puts it.
func (s fieldSet) strong() bool { return s&(1<<inError|1<<inCode|1<<inPath|1<<inTitle) != 0 }

// postings are the issues of one term: for each the distance to the one before, the weighed frequency in one byte and
// the fields in another. Three to four bytes an issue keep 50,000 issues small.
type postings struct {
	last uint32
	docs uint32
	data []byte
}

func (p *postings) add(id uint32, t term) {
	delta := id - p.last
	if p.docs == 0 {
		delta = id
	}
	p.last, p.docs = id, p.docs+1
	p.data = binary.AppendUvarint(p.data, uint64(delta))
	p.data = append(p.data, packed(t.tf), byte(t.in))
}

func (p *postings) each(do func(id uint32, tf float64, in fieldSet)) {
	id, rest := uint32(0), p.data
	for len(rest) > 2 {
		delta, n := uint32(rest[0]), 1
		if delta >= 0x80 {
			long, size := binary.Uvarint(rest)
			delta, n = uint32(long), size //nolint:gosec // written by add
		}
		id += delta
		do(id, unpacked(rest[n]), fieldSet(rest[n+1]))
		rest = rest[n+2:]
	}
}

// A frequency is stored in steps of a sixteenth: above 15 it says nothing more.
const step = 16

func packed(tf float64) byte { return byte(min(255, max(1, math.Round(tf*step)))) }

func unpacked(b byte) float64 { return float64(b) / step }
