package sanitize

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

var (
	uuid      = lazy.Regexp(`(?i)^[{]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[}]?$`)
	allHex    = lazy.Regexp(`^(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)$`)
	reference = lazy.Regexp(`^(?:\$|\{|%[A-Z_]+%|<|@|process\.env|os\.|env\.|secrets?\.|vars\.|config\.|settings\.|self\.|this\.|args\.|inputs\.|sha\d+[:-]|md5[:-]|h1:|https?:|file:|arn:|refs/|\./|~/|/)`)
	openNames = lazy.Regexp(`(?i)(?:public|cache|partition|primary|foreign|sort|hash|idempotency|restore|translation|i18n|registry|object|storage|bucket|query|json|dict|map|host|map|row|group|cursor|page|pagination|next|continuation|anchor|csrf|build|checksum|dedup\w*|fingerprint|publish\w*|site|shortcut|max|min|total|input|output|prompt|completion|cached|num|count)[ _.-]{0,3}(?:api[ _-]?)?(?:key|token|secret)`)
	named     = lazy.Regexp(`(?i)(?:api|access|secret|private|auth|encryption|signing|service|master|client|license|account|admin|app|application|bearer|deploy|session|refresh|webhook|jwt|oauth|bot|db|database|ssh|token|subscription|user|root|personal)[ _.-]{0,3}(?:key|token|secret)|secret|token|passw|passphrase|pwd|credential`)
	passNames = lazy.Regexp(`(?i)(?:passwords?|passwd|passphrase|pwd)["'` + "`" + `*)\]]{0,3}\s*(?::=|=>|=|:)\s*["'` + "`" + `*(]{0,3}$`)
	assigned  = lazy.Regexp(`(?i)(?::=|=>|=|:|\bis\b|\bwas\b)\s*["'` + "`" + `*(]{0,3}$`)
)

// credible tells whether a value looks drawn by lot: not a path, not a name of several words, not a reference to a
// variable, not a checksum with its algorithm, not a UUID, not a date or version.
func credible(secret, text string, at int) bool {
	secret = strings.TrimRight(secret, ".,:;!?)]}")
	switch {
	case len(secret) < 12, !notPlaceholder(secret, text, at), uuid().MatchString(secret), reference().MatchString(secret):
		return false
	case strings.Contains(secret, "EXAMPLE"), strings.Contains(secret, "..."), strings.Contains(secret, "://"), strings.ContainsAny(secret, "…\\{}"):
		return false
	case !hasDigit(secret), !hasLetter(secret), entropy(secret) < 3:
		return false
	}
	return !wordy(secret)
}

// wordy tells whether a value consists of words, short numbers and separators: a path, a package, an identifier.
func wordy(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("/_.-+:=@~#[]", r) })
	longest, digits := 0, 0
	for _, part := range parts {
		for _, word := range humps(part) {
			if strings.ContainsAny(word, "0123456789") {
				digits += len(word)
			}
		}
		if mixesDigits(part) {
			longest = max(longest, len(part))
		}
	}
	// A part that mixes letters and digits throughout and is long is no word.
	return longest < 12
}

// mixesDigits tells whether letters and digits change places at least three times, or the letters' case does at random.
func mixesDigits(s string) bool {
	turns := 0
	for i := 1; i < len(s); i++ {
		if digit(s[i]) != digit(s[i-1]) {
			turns++
		}
	}
	return turns >= 3 || turns >= 1 && len(humps(s))*4 > len(s)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// humps splits camelCase.
func humps(s string) []string {
	var out []string
	start := 0
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && (s[i-1] < 'A' || s[i-1] > 'Z') {
			out = append(out, s[start:i])
			start = i
		}
	}
	return append(out, s[start:])
}

// credibleInContext judges a value by the name before it.
func credibleInContext(secret, text string, at int) bool {
	before := text[max(0, at-90):at]
	if i := strings.LastIndexAny(before, "\n;,&"); i >= 0 {
		before = before[i+1:]
	}
	if openNames().MatchString(before) {
		return false
	}
	trimmed := strings.TrimRight(secret, ".,:;!?)]}")
	hex := allHex().MatchString(trimmed)
	switch n := len(strings.TrimPrefix(trimmed, "0x")); {
	case hex && n == 64:
		return hasDigit(trimmed) && entropy(trimmed) > 2.5
	case hex && n != 32 && n != 48 && n != 96 && n != 128:
		return n == 40 && named().MatchString(before) && assigned().MatchString(before) && entropy(trimmed) > 2.5
	case hex:
		return named().MatchString(before) && assigned().MatchString(before) && entropy(trimmed) > 2.5
	case passNames().MatchString(before):
		return passwordLike(trimmed)
	case !named().MatchString(before):
		return false
	case !assigned().MatchString(before):
		return len(trimmed) >= 24 && credible(secret, text, at) && entropy(trimmed) >= 3.8
	}
	return len(trimmed) >= 16 && credible(secret, text, at) && entropy(trimmed) >= 3.3
}

// passwordLike wants letters, digits and twelve characters, and neither a reference nor a path.
func passwordLike(s string) bool {
	return len(s) >= 12 && hasLetter(s) && hasDigit(s) && entropy(s) >= 3 && !reference().MatchString(s) && notPlaceholder(s, "", 0) &&
		!strings.Contains(s, "://") && !strings.ContainsAny(s, "{}…") && !uuid().MatchString(s) && strings.Count(s, "/") < 2
}

// realPassword refuses the words that stand for a password in examples.
func realPassword(secret, _ string, _ int) bool {
	low := strings.ToLower(strings.Trim(secret, "*.x-_"))
	switch low {
	case "", "password", "passwd", "pass", "pwd", "secret", "token", "user", "pw", "mypassword", "mypass", "yourpassword", "changeme", "your_password", "your-password",
		"db_password", "dbpassword", "postgres", "root", "admin", "guest", "example", "foo", "bar", "test", "redacted", "placeholder", "p@ssw0rd", "pat", "apikey", "api_key", "key":
		return false
	}
	return !strings.ContainsAny(secret[:1], "$<{[%(") && !strings.Contains(secret, "${") && !strings.Contains(secret, "{{") && !strings.Contains(secret, "…")
}
