package comment

import (
	"strings"
	"unicode"
)

// guess tells the language of a text among those that have texts: by its script, else by counting frequent words. A
// tie is English.
func guess(text string) string {
	const enough = 20_000
	if len(text) > enough {
		text = text[:enough]
	}
	var kana, han, letters int
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case kana > 0 && (kana+han)*4 > letters:
		return "ja"
	case han*4 > letters:
		return "zh-CN"
	}
	counts, frequent := map[string]int{}, frequentWords()
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		for _, tag := range frequent[word] {
			counts[tag]++
		}
	}
	best := English
	for _, tag := range []string{"de", "es", "fr", "pt-BR"} {
		if counts[tag] > counts[best] {
			best = tag
		}
	}
	return best
}

// frequentWords maps function words to the languages that use them. Words that mean something in code are left out.
func frequentWords() map[string][]string {
	return index(map[string]string{
		English: "the and is of that it with as this but not are was you your have has when which there would should can i my",
		"de":    "der die das und ist nicht ich ein eine mit auf für von den dem wenn wird auch sich bei nach wie aber oder kann habe beim noch",
		"fr":    "le la les des est une dans pour pas que qui avec sur je il nous mais ou au ce cette lorsque quand être fait du et ne",
		"es":    "el la los las es una en para no que con por se del al pero como cuando está esto mi yo un lo más hay sin",
		"pt-BR": "o os as é uma em para não que com por se do da no na mas como quando está isso meu eu um mais sem ao você",
	})
}

func index(byTag map[string]string) map[string][]string {
	out := map[string][]string{}
	for tag, words := range byTag {
		for w := range strings.FieldsSeq(words) {
			out[w] = append(out[w], tag)
		}
	}
	return out
}
