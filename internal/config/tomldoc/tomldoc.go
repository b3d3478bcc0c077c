// Package tomldoc reads a TOML file into a tree of values and knows where each key and each value stands.
//
// The decoder does the reading; it reports positions of syntax errors only, and it matches the keys of structs without
// regard to case. So the tree is generic, and a small scanner of our own finds the positions. Tests compare the
// scanner's keys with the decoder's.
package tomldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/shorten"

	"github.com/BurntSushi/toml"
)

// Doc is a file that was read.
type Doc struct {
	// Tree holds string, int64, float64, bool, time.Time, []any, []map[string]any and map[string]any.
	Tree    map[string]any
	entries map[Path]entry
	text    string
}

// Path names a place in a document. The zero value is the whole document.
type Path string

// Key is the path of a key in the table at p.
func (p Path) Key(name string) Path {
	if strings.ContainsAny(name, "\x00\x01") { // possible in quoted keys: they must not look like separators
		name = strconv.Quote(name)
	}
	return p + "\x00" + Path(name)
}

// Index is the path of the element i of the array at p, counted from 0.
func (p Path) Index(i int) Path { return p + "\x01" + Path(strconv.Itoa(i)) }

// Pos is a place in the file. Lines and columns start at 1; columns count characters, a tab is one.
type Pos struct{ Line, Col int }

// Error is why a file could not be read.
type Error struct {
	Pos
	Kind    Kind
	Message string // one line
	Key     string // the dotted key where reading stopped; may be empty
}

// Kind sorts errors by what a reader must do.
type Kind string

// The kinds of errors.
const (
	KindTooLarge  Kind = "too-large"
	KindEncoding  Kind = "encoding"
	KindSyntax    Kind = "syntax"
	KindDuplicate Kind = "duplicate-key"
	KindRange     Kind = "out-of-range" // a number that no type holds
)

// isControl finds what TOML forbids everywhere; the decoder refuses it too, one column off.
func isControl(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }

const bom = "\uFEFF"

// maxDepth bounds nested arrays and tables and the parts of a dotted key; settings need three levels.
const maxDepth = 64

// Parse reads a file of at most limit bytes. It never returns a Doc and an error together.
func Parse(data []byte, limit int) (Doc, *Error) {
	if len(data) > limit {
		return Doc{}, &Error{
			Pos: Pos{1, 1}, Kind: KindTooLarge,
			Message: fmt.Sprintf("the file has more than the %d bytes that are read", limit),
		}
	}
	if err := CheckUTF8(data); err != nil {
		return Doc{}, err
	}
	text := strings.TrimPrefix(string(data), bom)
	if i := strings.IndexFunc(text, isControl); i >= 0 {
		return Doc{}, &Error{
			Pos: place(text, i), Kind: KindSyntax,
			Message: fmt.Sprintf("the file holds the control character 0x%02x", text[i]),
		}
	}
	s := scanner{text: text, entries: map[Path]entry{}, arrays: map[Path]int{}}
	s.document()
	if s.tooDeep >= 0 {
		return Doc{}, &Error{
			Pos: place(text, s.tooDeep), Kind: KindSyntax,
			Message: fmt.Sprintf("arrays or tables are nested deeper than %d levels", maxDepth),
		}
	}
	tree := map[string]any{}
	if _, err := toml.Decode(text, &tree); err != nil {
		return Doc{}, parseError(text, err, s)
	}
	return Doc{Tree: tree, entries: s.entries, text: text}, nil
}

// CheckUTF8 says where a file stops being UTF-8, and names UTF-16 by its byte order mark.
func CheckUTF8(data []byte) *Error {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return &Error{Pos: Pos{1, 1}, Kind: KindEncoding, Message: "the file is UTF-16, not UTF-8"}
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{
				Pos: place(string(data), i), Kind: KindEncoding,
				Message: fmt.Sprintf("the byte 0x%02x is not UTF-8", data[i]),
			}
		}
		if r == 0 {
			return &Error{Pos: place(string(data), i), Kind: KindEncoding, Message: "the file holds a NUL byte"}
		}
		i += size
	}
	return nil
}

// KeyPos is where the key or the table's name stands; for an element of an array, where its value stands.
func (d Doc) KeyPos(p Path) Pos { return d.pos(p, func(e entry) int { return e.key }) }

// ValuePos is where the value of a key stands; for a table, where its name stands.
func (d Doc) ValuePos(p Path) Pos { return d.pos(p, func(e entry) int { return e.value }) }

func (d Doc) pos(p Path, offset func(entry) int) Pos {
	e, ok := d.entries[p]
	if !ok {
		return Pos{1, 1}
	}
	return place(d.text, offset(e))
}

// place turns a byte offset into a line and a column.
func place(text string, offset int) Pos {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	line := strings.TrimPrefix(before[start:], bom)
	return Pos{Line: strings.Count(before, "\n") + 1, Col: utf8.RuneCountInString(line) + 1}
}

var alreadyThere = lazy.Regexp(`^Key '.*' (has already been defined|was already created)`)

// parseError turns the decoder's error into ours. The decoder's columns count bytes, so its offset is used.
func parseError(text string, err error, s scanner) *Error {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return &Error{Pos: Pos{1, 1}, Kind: KindSyntax, Message: oneLine(strings.TrimPrefix(err.Error(), "toml: "))}
	}
	e := &Error{Pos: place(text, pe.Position.Start), Kind: KindSyntax, Message: oneLine(pe.Message), Key: pe.LastKey}
	if onHeader(text, pe.Position.Start) {
		e.Key = "" // the decoder names the table before
	}
	switch {
	case alreadyThere().MatchString(strings.ReplaceAll(pe.Message, "\n", " ")):
		e.Kind = KindDuplicate
		e.Message = "a key or a table of this name stands in the file already"
		if s.again >= 0 {
			e.Pos = place(text, s.again)
			e.Message = fmt.Sprintf("%s stands here a second time: line %d has it already",
				strconv.Quote(s.text[s.again:s.againEnd]), place(text, s.first).Line)
		}
	case strings.Contains(pe.Message, "is out of range for "):
		e.Kind = KindRange
	}
	return e
}

// onHeader reports whether the line of the offset is [table] or [[table]].
func onHeader(text string, offset int) bool {
	offset = min(max(offset, 0), len(text))
	line := text[strings.LastIndexByte(text[:offset], '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), "[")
}

// oneLine bounds the decoder's words, which may hold text of the file.
func oneLine(s string) string {
	const limit = 200
	return shorten.To(limit, strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " "))
}
