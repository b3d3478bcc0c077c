package sanitize

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

var (
	personEmail = lazy.Regexp(`[A-Za-z0-9][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,24}`)
	personIPv4  = lazy.Regexp(`\d{1,3}(?:\.\d{1,3}){3}`)
	personIPv6  = lazy.Regexp(`(?i)[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,7}`)
	cardNumber  = lazy.Regexp(`\d(?:[ -]?\d){12,18}`)
	ibanNumber  = lazy.Regexp(`[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?`)
)

// FindPersonal finds personal data in text, sorted and without overlaps: e-mail addresses, public IP addresses, numbers of
// payment cards and of bank accounts whose check digits fit. Addresses of examples, robots and private networks are not
// personal. Findings call for a notice; only secrets refuse a text.
func FindPersonal(text string) []Finding {
	var found []Finding
	add := func(kind string, pattern *regexp.Regexp, word string, accept func(string) bool) {
		if word != "" && !strings.Contains(text, word) {
			return
		}
		for _, m := range pattern.FindAllStringIndex(text, -1) {
			if alone(text, m[0], m[1]) && accept(text[m[0]:m[1]]) {
				found = append(found, Finding{kind, m[0], m[1]})
			}
		}
	}
	add("e-mail address", personEmail(), "@", personalEmail)
	add("IP address", personIPv4(), ".", publicAddress)
	add("IP address", personIPv6(), ":", publicAddress)
	add("card number", cardNumber(), "", luhn)
	add("bank account", ibanNumber(), "", iban)
	return merge(found)
}

// alone tells whether no letter, digit, dot or dash with more behind it stands beside a range: 1.2.3.4.5 is a version.
func alone(text string, start, end int) bool {
	if start > 0 && (isWord(text[start-1]) || text[start-1] == '.' || text[start-1] == ':') {
		return false
	}
	if end < len(text) && isWord(text[end]) {
		return false
	}
	return end+1 >= len(text) || text[end] != '.' || !isWord(text[end+1])
}

func personalEmail(address string) bool {
	name, host, _ := strings.Cut(strings.ToLower(address), "@")
	for _, suffix := range []string{"example.com", "example.org", "example.net", ".example", ".test", ".invalid", ".local", "users.noreply.github.com", ".png", ".jpg", ".svg", ".js", ".service"} {
		if host == strings.TrimPrefix(suffix, ".") || strings.HasSuffix(host, suffix) {
			return false
		}
	}
	return name != "git" && name != "noreply" && name != "no-reply" && name != "user" && name != "you" && !strings.HasSuffix(name, "[bot]")
}

func publicAddress(text string) bool {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		b := a.As4()
		// Documentation (RFC 5737), carrier networks, and what is a version rather than an address.
		if b[0] < 11 || b[0] == 192 && b[1] == 0 || b[0] == 198 && b[1] == 51 || b[0] == 203 && b[1] == 0 || b[0] == 100 && b[1] >= 64 && b[1] < 128 || b[3] == 0 {
			return false
		}
		return text != "8.8.8.8" && text != "1.1.1.1"
	}
	return !strings.HasPrefix(a.String(), "2001:db8:")
}

// luhn checks a card's number (ISO/IEC 7812): length, first digit, check digit.
func luhn(text string) bool {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(text)
	if len(digits) < 14 || len(digits) > 16 || !strings.ContainsAny(digits[:1], "23456") || strings.Count(digits, digits[:1]) == len(digits) {
		return false
	}
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// iban checks an account's number (ISO 13616): its remainder by 97 is 1.
func iban(text string) bool {
	text = strings.ReplaceAll(text, " ", "")
	if len(text) < 15 || len(text) > 34 {
		return false
	}
	rest := 0
	for _, c := range text[4:] + text[:4] {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
