package search

import (
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"
)

// identifier reads a word: as a whole and, when it is put together, its parts.
func (a *analyzer) identifier(s string, field int) {
	if len(s) > 80 {
		return
	}
	composed, digits, lower := false, 0, false
	for i, r := range s {
		switch {
		case r == '_' && i > 0 && i < len(s)-1, unicode.IsUpper(r) && lower:
			composed = true
		case unicode.IsDigit(r):
			digits++
		}
		lower = unicode.IsLower(r)
	}
	if digits == utf8.RuneCountInString(s) {
		if field != inError && digits > 1 && digits < 8 {
			a.plain(s, field, numberWeight, false)
		}
		return
	}
	if digits > 4 && digits*2 > len(s) || strings.HasPrefix(s, "0x") {
		return // an address, a hash, a date
	}
	if !composed {
		a.plain(s, field, 1, true)
		return
	}
	in := field
	if field == inBody || field == inForm {
		in = inCode
	}
	a.plain(strings.Trim(s, "_"), in, 1, true)
	start := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || s[i] == '_' || (s[i] >= 'A' && s[i] <= 'Z' && (s[i-1] < 'A' || s[i-1] > 'Z')) {
			a.plain(strings.Trim(s[start:i], "_"), field, partWeight, true)
			start = i
		}
	}
}

// plain reads one word: lower case, without its ending, no stop word.
func (a *analyzer) plain(s string, field int, weight float32, said bool) {
	a.word = a.word[:0]
	for _, r := range s {
		if r >= 0xff01 && r <= 0xff5e {
			r -= 0xfee0 // full width
		}
		a.word = utf8.AppendRune(a.word, unicode.ToLower(r))
	}
	if len(a.word) < 2 {
		return
	}
	if _, stop := stopWords()[string(a.word)]; stop {
		return
	}
	if a.keep {
		a.shown = string(a.word)
	}
	word := stem(a.word)
	if _, stop := stopWords()[string(word)]; stop {
		return
	}
	a.emitAs('w', word, field, weight, said)
	a.length[field]++
	for _, c := range concepts()[string(word)] {
		a.emitAs('c', []byte(c), field, conceptWeight, false)
	}
	if len(a.pair) > 0 && field == inError {
		if len(a.pair) > 1 {
			pair := append(a.pair, ' ')
			pair = append(pair, word...)
			a.emitAs('p', pair, inError, pairWeight, false)
		}
		a.pair = append(append(a.pair[:0], 0), word...)
	}
}

// concept adds what a word without an ending means.
func (a *analyzer) concept(word string, field int) {
	if a.keep {
		a.shown = word
	}
	for _, c := range concepts()[word] {
		a.emitAs('c', []byte(c), field, conceptWeight, false)
	}
}

// emit adds a word that is shown as it is.
func (a *analyzer) emit(word []byte, field int, weight float32, said bool) {
	if a.keep {
		a.shown = string(word)
	}
	a.emitAs('w', word, field, weight, said)
	a.length[field]++
}

func (a *analyzer) hashOf(kind byte, word []byte) uint64 {
	a.key = append(append(a.key[:0], kind), word...)
	return maphash.Bytes(a.seed, a.key)
}

func (a *analyzer) emitAs(kind byte, word []byte, field int, weight float32, said bool) {
	h := a.hashOf(kind, word)
	c, ok := a.terms[h]
	if !ok {
		if len(a.order) > 2*maxTerms {
			return
		}
		c = a.take()
		a.terms[h] = c
		a.order = append(a.order, h)
		if a.keep {
			a.words[h] = a.shown
		}
	}
	c.n[field] += weight
	c.said = c.said || (said && field != inForm && field != inLabel)
}

func (a *analyzer) take() *counts {
	if n := len(a.free); n > 0 {
		c := a.free[n-1]
		a.free = a.free[:n-1]
		*c = counts{}
		return c
	}
	return &counts{}
}
