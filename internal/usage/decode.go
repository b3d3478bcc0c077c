package usage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns the text of a file as UTF-8 without its byte order mark. UTF-16 is known by its mark only.
func decoded(src *bufio.Reader) (io.Reader, error) {
	head, err := src.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err = src.Discard(3)
		return src, err
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		_, err = src.Discard(2)
		return &utf16Reader{src: src, order: binary.LittleEndian}, err
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, err = src.Discard(2)
		return &utf16Reader{src: src, order: binary.BigEndian}, err
	}
	return src, nil
}

// utf16Reader turns UTF-16 into UTF-8; what is no character becomes U+FFFD.
type utf16Reader struct {
	src     *bufio.Reader
	order   binary.ByteOrder
	pending rune // first half of a pair
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(p) < 2*utf8.UTFMax {
		return 0, io.ErrShortBuffer
	}
	n := 0
	for n+2*utf8.UTFMax <= len(p) {
		var unit [2]byte
		if _, err := io.ReadFull(u.src, unit[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) { // half a character at the end
				err = io.EOF
			}
			if n > 0 && errors.Is(err, io.EOF) {
				return n, nil
			}
			return n, err
		}
		r := rune(u.order.Uint16(unit[:]))
		if u.pending != 0 {
			pair := utf16.DecodeRune(u.pending, r)
			u.pending = 0
			n += utf8.EncodeRune(p[n:], pair)
			if pair != utf8.RuneError {
				continue
			}
		}
		switch {
		case r >= 0xd800 && r < 0xdc00:
			u.pending = r
		case utf16.IsSurrogate(r):
			n += utf8.EncodeRune(p[n:], utf8.RuneError)
		default:
			n += utf8.EncodeRune(p[n:], r)
		}
	}
	return n, nil
}
