package enginelog

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// byteByByte says by the rule itself which quotes of text no backslash escapes.
func byteByByte(text []byte, escaped bool) (quotes []int, after bool) {
	for i, c := range text {
		if c == '"' && !escaped {
			quotes = append(quotes, i)
		}
		escaped = c == '\\' && !escaped
	}
	return quotes, escaped
}

func marked(m marks, n int) (all []int) {
	for i := m.next(0, n); i < n; i = m.next(i+1, n) {
		all = append(all, i)
	}
	return all
}

// sameQuotes finds the quotes of text in the processor's way and in that of all processors.
func sameQuotes(t *testing.T, text []byte, escaped bool) {
	t.Helper()
	want, wantAfter := byteByByte(text, escaped)
	n := words(len(text))
	quotes, slashes := make(marks, n+1), make(marks, n+1)
	quotes[n], slashes[n] = 1<<63|5, 1<<63|7
	findAll(quotes, slashes, text)
	padded := append(bytes.Clone(text), make([]byte, n*64-len(text))...)
	wordQuotes, wordSlashes := make(marks, n), make(marks, n)
	findByWords(wordQuotes, wordSlashes, padded)
	if diff := cmp.Diff(wordQuotes, quotes[:n]) + cmp.Diff(wordSlashes, slashes[:n]); diff != "" {
		t.Errorf("by words and by blocks differ on %q:\n%s", text, diff)
	}
	after := unescape(quotes, slashes, len(text), escaped)
	if got := escapes(text, escaped); got != wantAfter {
		t.Errorf("%q (escaped %t) escapes what follows: %t, want %t", text, escaped, got, wantAfter)
	}
	if diff := cmp.Diff(want, marked(quotes, len(text))); diff != "" || after != wantAfter {
		t.Errorf("quotes of %q (escaped %t): after %t, want %t\n%s", text, escaped, after, wantAfter, diff)
	}
	if quotes[n] != 1<<63|5 || slashes[n] != 1<<63|7 {
		t.Errorf("%q: a word behind those of the text has changed", text)
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	for n := range 200 { // a run of backslashes across every border
		for _, before := range []int{0, 1, 62, 63, 64, 65, 127} {
			text := strings.Repeat("x", before) + strings.Repeat(`\`, n) + `"` + strings.Repeat("y", 70) + `"`
			sameQuotes(t, []byte(text), false)
			sameQuotes(t, []byte(text), true)
		}
	}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		text := make([]byte, rng.IntN(400))
		for i := range text {
			text[i] = `\\\\""ab`[rng.IntN(8)]
			if seed%3 == 0 && rng.IntN(4) == 0 {
				text[i] = byte(rng.IntN(256))
			}
		}
		sameQuotes(t, text, rng.IntN(2) == 0)
	}
}

func TestPutMarks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		from, to := marks{rng.Uint64(), rng.Uint64(), rng.Uint64()}, marks{rng.Uint64(), rng.Uint64()}
		before := marked(to, 128)
		i, at := rng.IntN(64), rng.IntN(64)
		n := rng.IntN(min(192-i, 128-at))
		to.put(at, from, i, i+n)
		var want []int
		for _, b := range before {
			if b < at {
				want = append(want, b)
			}
		}
		for _, b := range marked(from, i+n) {
			if b >= i {
				want = append(want, b-i+at)
			}
		}
		for _, b := range before {
			if b >= at+n {
				want = append(want, b)
			}
		}
		if diff := cmp.Diff(want, marked(to, 128)); diff != "" {
			t.Fatalf("%d bits from %d to %d:\n%s", n, i, at, diff)
		}
	}
}

func FuzzQuotes(f *testing.F) {
	f.Add([]byte(`{"a":"b\"c\\"}`), false)
	f.Fuzz(func(t *testing.T, text []byte, escaped bool) { sameQuotes(t, text, escaped) })
}

// TestReadAhead reads more blocks than there are at once, in the same way as without the goroutine.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"n":1,"s":"\\\"\\"}`+"\n"+`{"n":2,"o":{"x":"`+strings.Repeat(`a\"b`, 900)+`"}}`+"\n", 2000)
	if len(text) < (aheadBlocks+2)*aheadSize {
		t.Fatal("the text is too short to show anything")
	}
	want, _, _ := events(strings.NewReader(text))
	r := NewReaderAhead(strings.NewReader(text), testWant)
	got, cut, broken := eventsOf(r)
	r.Stop()
	if cut || broken || len(want) != 4000 || cmp.Diff(want, got) != "" {
		t.Errorf("%d events, cut %t, broken %t; %d without the goroutine", len(got), cut, broken, len(want))
	}
	r = NewReaderAhead(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrClosedPipe)), testWant)
	if got, _, _ = eventsOf(r); len(got) != len(want) || r.Err() == nil {
		t.Errorf("%d events before an error, want %d; error %v", len(got), len(want), r.Err())
	}
	r.Stop()
}

// endless is a log without end that counts what was read of it.
type endless struct{ reads atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.reads.Add(1)
	return copy(p, "{\"n\":1}\n"), nil
}

func TestStopEndsTheReading(t *testing.T) {
	t.Parallel()
	var src endless
	r := NewReaderAhead(&src, testWant)
	for range 100 {
		if _, ok := r.Next(); !ok {
			t.Fatal("no event")
		}
	}
	r.Stop()
	after := src.reads.Load()
	r.Stop() // twice does no harm
	if r.src.ahead == nil || after < 100 || after > 100+4*aheadBlocks {
		t.Errorf("%d reads for 100 blocks", after)
	}
	if now := src.reads.Load(); now != after {
		t.Errorf("%d reads after it was stopped", now-after)
	}
}
