// Package ghzips makes archives that attack whoever unpacks them. Only tests import it.
package ghzips

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

type entry struct {
	name   string
	data   []byte
	method uint16
	mode   fs.FileMode
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err == nil && len(e.data) > 0 {
			_, err = w.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Archives are archives in which a reader that wants one file, and gets it with content that it would believe, must find
// nothing. Large is the size in bytes that is too much for it.
func Archives(t testing.TB, file string, content []byte, large int) map[string][]byte {
	t.Helper()
	one := entry{name: file, data: content}
	good := pack(t, one)
	many := make([]entry, 100_000)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	// Where the central directory says what an entry is, and where the entry itself does (APPNOTE.TXT 4.3.7, 4.3.12).
	central, local := bytes.LastIndex(good, []byte("PK\x01\x02")), 0
	change := func(at int, with ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[at:], with)
		return data
	}
	both := func(inLocal, inCentral int, with ...byte) []byte {
		data := change(central+inCentral, with...)
		copy(data[local+inLocal:], with)
		return data
	}
	body := bytes.Index(good, content)
	if central < 0 || body < 0 {
		t.Fatal(errors.New("the archive is not what it was"))
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(content)-1)) //nolint:gosec // a small text
	return map[string][]byte{
		"a folder above":             pack(t, entry{name: "../" + file, data: content}),
		"an absolute name":           pack(t, entry{name: "/" + file, data: content}),
		"a drive":                    pack(t, entry{name: `C:\` + file, data: content}),
		"a name with an end":         pack(t, entry{name: file + "\x00.txt", data: content}),
		"a name of a command":        pack(t, entry{name: "\n::error::" + file, data: content}),
		"a link":                     pack(t, entry{name: file, data: []byte("/etc/passwd"), mode: fs.ModeSymlink | 0o777}),
		"a folder of that name":      pack(t, entry{name: file + "/"}),
		"100,000 other entries":      pack(t, many...),
		"a bomb":                     pack(t, entry{name: file, data: make([]byte, large), method: zip.Deflate}),
		"an archive in it":           pack(t, entry{name: file, data: good}),
		"nothing in it":              pack(t),
		"a wrong sum":                change(central+16, 1, 2, 3, 4),
		"other words than summed":    change(body, '#'),
		"encrypted":                  both(6, 8, 0x09, 0x00),
		"an unknown method":          both(8, 10, 99, 0),
		"packed words that are none": both(8, 10, 8, 0),
		"less than there is":         change(central+20, append(bytes.Clone(size), size...)...),
		"begins behind its end":      change(central+42, 0xf0, 0xff, 0xff, 0x7f),
		"cut":                        good[:len(good)/2],
		"without its beginning":      good[len(good)/2:],
		"no archive":                 []byte("<html>no archive"),
		"empty":                      {},
	}
}
