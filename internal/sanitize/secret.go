package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// Finding is a secret or a piece of personal data in a text: its kind and its byte range, never its value.
type Finding struct {
	Kind       string // "GitHub token", "password in a URL", ...
	Start, End int    // bytes of the text that was searched
}

// FindSecrets finds secrets in text, sorted and without overlaps. env holds the values of secrets of the environment;
// they are found whole, in parts of 12 and more characters, and as base64, hex or reversed.
//
// A token is also found when it is broken over lines, interrupted by Markdown, written with escapes or entities, hidden
// in base64, or glued to other words. To find a token that is split over fields, pass the fields joined by "\n".
func FindSecrets(text string, env []string) []Finding {
	var found []Finding
	whole := map[int]int{} // where tokens that stand on one line begin and end
	for i, view := range views(text) {
		for _, f := range view.find() {
			if i == 0 {
				whole[f.Start] = f.End
			} else if end, ok := whole[f.Start]; ok && end < f.End && oneWord(text[end:f.End]) {
				continue
			}
			found = append(found, f)
		}
	}
	found = append(found, findEnvironment(text, env)...)
	return merge(found)
}

// oneWord tells whether what a line break joins to a token is only the next line's first word.
func oneWord(tail string) bool {
	word := strings.TrimLeft(tail, " \t\r\n>+*|`-")
	return len(word) <= 12 && len(word) < len(tail) && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// MaskSecrets replaces every secret by "[secret]".
func MaskSecrets(text string, env []string) string {
	return mask(text, FindSecrets(text, env), "[secret]")
}

func mask(text string, found []Finding, word string) string {
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range found {
		b.WriteString(text[end:f.Start])
		b.WriteString(word)
		end = f.End
	}
	b.WriteString(text[end:])
	return b.String()
}

// merge sorts findings and joins those that overlap or touch; the first kind stays.
func merge(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		out = append(out, f)
	}
	return out
}

// find applies the rules to one view and gives ranges of the original text.
func (v view) find() []Finding {
	var found []Finding
	add := func(kind string, start, end int) {
		if start < end {
			found = append(found, Finding{kind, v.start(start), v.end(end)})
		}
	}
	lower := strings.ToLower(v.text)
	lastFooter := strings.LastIndex(v.text, keyFooter)
	for _, r := range rules {
		if v.distinctOnly && !r.distinct || !containsAny(v.text, lower, r.keywords) {
			continue
		}
		for _, m := range r.pattern().FindAllStringSubmatchIndex(v.text, -1) {
			start, end := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				start, end = m[2], m[3]
			}
			if r.accept == nil || r.accept(v.text[start:end], v.text, start) {
				if r.kind == "private key" {
					end = keyEnd(v.text, end, lastFooter)
				}
				add(r.kind, start, end)
			}
		}
	}
	return found
}

// containsAny is the cheap test before a pattern: keywords in lower case are looked for in the lower-case text.
func containsAny(text, lower string, keywords []string) bool {
	for _, k := range keywords {
		if k == strings.ToLower(k) {
			if strings.Contains(lower, k) {
				return true
			}
		} else if strings.Contains(text, k) {
			return true
		}
	}
	return false
}

const keyFooter = "-----END"

// keyEnd is where a private key ends that begins before at: after its last line, or after what looks like one. No footer
// stands after lastFooter.
func keyEnd(text string, at, lastFooter int) int {
	if at <= lastFooter {
		if i := strings.Index(text[at:min(len(text), at+16<<10)], keyFooter); i >= 0 {
			end := at + i + len(keyFooter)
			if j := strings.Index(text[end:min(len(text), end+80)], "-----"); j >= 0 {
				return end + j + 5
			}
			return end
		}
	}
	for at < len(text) && (isWord(text[at]) || strings.IndexByte("+/= \t\r\n\\>:", text[at]) >= 0) {
		at++
	}
	return at
}
