package run

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

// minSecret is the shortest value that counts as a secret: shorter ones stand in ordinary text by chance.
const minSecret = 8

// secretFinder looks for known values, also when a model was talked into disguising them a little.
type secretFinder struct {
	needles []string // lower case, without spaces and invisible characters
}

func newSecretFinder(values []string) *secretFinder {
	f := &secretFinder{}
	seen := map[string]bool{}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < minSecret {
			continue
		}
		for _, form := range sanitize.Spellings(v) {
			if n := squeeze(form); len(n) >= minSecret && !seen[n] {
				seen[n] = true
				f.needles = append(f.needles, n)
			}
		}
	}
	return f
}

// squeeze drops letter case, spaces and what nobody sees.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// in reports whether a JSON text holds one: as it stands, in its keys or in its values one after the other. They are
// taken from the text itself, so that the first of two equal keys hides nothing.
func (f *secretFinder) in(text []byte) bool {
	if len(f.needles) == 0 {
		return false
	}
	keys, values := pieces(text)
	for _, hay := range []string{squeeze(string(text)), squeeze(keys), squeeze(values)} {
		for _, n := range f.needles {
			if strings.Contains(hay, n) {
				return true
			}
		}
	}
	return false
}

// pieces joins the keys of a JSON text, and its texts and numbers.
func pieces(text []byte) (keys, values string) {
	var k, v strings.Builder
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var objects []bool // of what is open: an object, and not a list
	isKey := false     // the next text is one
	for {
		token, err := dec.Token()
		if err != nil {
			return k.String(), v.String() // the end: the caller checked that it is JSON
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects = append(objects, t == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
		case string:
			if isKey {
				k.WriteString(t)
				isKey = false
				continue
			}
			v.WriteString(t)
		case json.Number:
			v.WriteString(t.String())
		}
		isKey = len(objects) > 0 && objects[len(objects)-1]
	}
}
