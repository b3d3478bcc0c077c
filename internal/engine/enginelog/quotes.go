package enginelog

import (
	"encoding/binary"
	"math/bits"
)

// marks has a bit for each byte of a text, the lowest of a word for the first of its 64 bytes.
type marks []uint64

// words is how many words have a bit for each of n bytes.
func words(n int) int { return (n + 63) / 64 }

// next returns the first marked index from i to before end, or end.
func (m marks) next(i, end int) int {
	for i < end {
		if word := m[i/64] >> (i % 64); word != 0 {
			return min(i+bits.TrailingZeros64(word), end)
		}
		i = i&^63 + 64
	}
	return end
}

// put marks in m, from bit at on, what from has marked from i to before end.
func (m marks) put(at int, from marks, i, end int) {
	for ; i < end; i, at = i+1, at+1 {
		bit := from[i/64] >> (i % 64) & 1
		m[at/64] = m[at/64]&^(1<<(at%64)) | bit<<(at%64)
	}
}

// findAll marks every quote and every backslash of text.
func findAll(quotes, slashes marks, text []byte) {
	whole := len(text) / 64
	find(quotes[:whole], slashes[:whole], text[:whole*64])
	if rest := text[whole*64:]; len(rest) > 0 {
		var last [64]byte
		copy(last[:], rest)
		findByWords(quotes[whole:whole+1], slashes[whole:whole+1], last[:])
	}
}

const (
	eachByte  = 0x0101010101010101
	evenPlace = 0x5555555555555555
)

// findByWords is find for every processor: eight bytes at once.
func findByWords(quotes, slashes marks, text []byte) {
	for i := range quotes {
		var quote, slash uint64
		for j := 0; j < 64; j += 8 {
			word := binary.LittleEndian.Uint64(text[i*64+j:])
			quote |= zeroBytes(word^'"'*eachByte) << j
			slash |= zeroBytes(word^'\\'*eachByte) << j
		}
		quotes[i], slashes[i] = quote, slash
	}
}

// zeroBytes has a bit for each byte of a word that is zero, in its lowest eight bits.
func zeroBytes(word uint64) uint64 {
	const low = 0x7f * eachByte
	zero := ^((word&low + low) | word | low) // the highest bit of each zero byte
	return zero >> 7 * 0x0102040810204080 >> 56
}

// escapes reports whether text escapes the byte that follows it; escaped says so of its first byte.
func escapes(text []byte, escaped bool) bool {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return (n%2 == 1) != (escaped && n == len(text))
}

// unescape takes away from quotes those that a backslash escapes: those after a run of an odd number of them. It is told
// whether the first of n bytes is escaped and says so of the byte that follows them. Backslashes count outside of strings,
// too: there they are no JSON, and reading goes on behind a line break.
//
// The sum of a run and its first bit carries to the byte after the run, whose place is odd or even unlike that of the first
// when the run is odd: section 3.1.1 of Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.
func unescape(quotes, slashes marks, n int, escaped bool) bool {
	var first, after uint64 // a bit for the first byte of a word; for all that are escaped
	if escaped {
		first = 1
	}
	slashes = slashes[:words(n)]
	for i, slash := range slashes {
		if after = 0; slash|first == 0 {
			continue
		}
		even := evenPlace ^ first // the run of the word before goes on, which had an odd number
		starts := slash &^ (slash << 1)
		ends := slash + starts&even
		endsOdd, over := bits.Add64(slash, starts&^even, 0)
		after = ends&^slash&^evenPlace | (endsOdd&^slash|first)&evenPlace
		quotes[i] &^= after
		first = over
	}
	if n%64 != 0 {
		return after>>(n%64)&1 == 1
	}
	return first == 1
}
