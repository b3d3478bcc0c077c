package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// normalize gives text line feeds only, valid UTF-8, no control characters and nothing invisible. Doing it
// twice changes nothing more.
func normalize(text string) string {
	if plainASCII(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	runes := []rune(text)
	out := make([]rune, 0, len(runes))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\r':
			out = append(out, '\n')
		case r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			out = append(out, ' ')
		case r == 0x1F3F4: // a black flag may begin the flag of England, Scotland or Wales
			out = append(out, r)
			if n := flagTags(runes[i+1:]); n > 0 {
				out = append(out, runes[i+1:i+1+n]...)
				i += n
			}
		case keeps(r, last(out), next(runes, i)):
			out = append(out, r)
		}
	}
	// What was removed may have stood between two halves of something else.
	if again := string(out); again != text {
		return normalize(again)
	}
	return text
}

func plainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || (c < ' ' && c != '\n' && c != '\t') {
			return false
		}
	}
	return true
}

func last(runes []rune) rune {
	if len(runes) == 0 {
		return -1
	}
	return runes[len(runes)-1]
}

// next is the rune after i, -1 at the end.
func next(runes []rune, i int) rune {
	if i+1 < len(runes) {
		return runes[i+1]
	}
	return -1
}

// flags are the tags of the three subdivision flags in general use (Unicode emoji RGI tag sequences).
var flags = []string{"gbeng", "gbsct", "gbwls"}

func flagTags(after []rune) int {
	for _, flag := range flags {
		if len(after) <= len(flag) || after[len(flag)] != 0xE007F {
			continue
		}
		same := true
		for i, c := range flag {
			same = same && after[i] == 0xE0000+c
		}
		if same {
			return len(flag) + 1
		}
	}
	return 0
}

// keeps tells whether r may stay between before and after.
func keeps(r, before, after rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r == 0x200C:
		return joins(before) && joins(after)
	case r == 0x200D:
		return (pictograph(before) || before == 0xFE0F || skin(before)) && pictograph(after) ||
			virama(before) || unicode.Is(unicode.Arabic, before) && unicode.IsLetter(before)
	case r == 0xFE0E || r == 0xFE0F:
		return pictograph(before) || keycap(before) && after == 0x20E3
	case r >= 0xFE00 && r <= 0xFE0D:
		return unicode.Is(unicode.Han, before) || unicode.Is(unicode.Sm, before)
	case r >= 0xE0100 && r <= 0xE01EF:
		return unicode.Is(unicode.Han, before)
	}
	return !Invisible(r)
}

// Invisible tells whether a character shows nothing by itself: controls, format characters, tags, fillers, variation
// selectors and what Unicode calls default ignorable (DerivedCoreProperties.txt), assigned or not.
func Invisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
		return true
	case unicode.Is(unicode.Noncharacter_Code_Point, r), r >= 0xE0000 && r <= 0xE0FFF:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xFFF0 && r <= 0xFFFB, r >= 0x2060 && r <= 0x206F:
		return true
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F, 0x3164, 0xFFA0, 0x2028, 0x2029:
		return true
	}
	return false
}

// joins tells whether a script uses the non-joiner between two of its characters.
func joins(r rune) bool {
	return r > 0x500 && (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Hebrew, unicode.Inherited)
}

// virama tells whether r kills a vowel in a script of India, where a joiner after it chooses the half form.
func virama(r rune) bool {
	switch r {
	case 0x094D, 0x09CD, 0x0A4D, 0x0ACD, 0x0B4D, 0x0BCD, 0x0C4D, 0x0CCD, 0x0D4D, 0x0DCA, 0x1039, 0x17D2, 0x0D3B, 0x0D3C:
		return true
	}
	return false
}

func skin(r rune) bool   { return r >= 0x1F3FB && r <= 0x1F3FF }
func keycap(r rune) bool { return r == '#' || r == '*' || r >= '0' && r <= '9' }

// pictograph tells whether r can be an emoji.
func pictograph(r rune) bool {
	switch r {
	case 0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299, 0x24C2:
		return true
	}
	return r >= 0x2190 && r <= 0x21FF || r >= 0x2300 && r <= 0x23FF || r >= 0x25A0 && r <= 0x27BF ||
		r >= 0x2900 && r <= 0x297F || r >= 0x2B00 && r <= 0x2BFF || r >= 0x1F000 && r <= 0x1FAFF
}

// runeLen is the length of text in UTF-16 units, the strictest reading of "characters" in GitHub's limit.
func runeLen(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF && r != utf8.RuneError {
			n++
		}
	}
	return n
}
