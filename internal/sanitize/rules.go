package sanitize

import (
	"math"
	"regexp"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// rule finds one kind of secret. When the pattern has a group, the group is the secret. accept decides in doubt; it gets
// the secret, the text and where the secret begins in it.
type rule struct {
	kind     string
	keywords []string // one of them stands in every text that the pattern matches; lower case matches any case
	pattern  func() *regexp.Regexp
	distinct bool // the token names itself, so that it is found inside joined and decoded text too
	accept   func(secret, text string, at int) bool
}

// rules are own rules after the vendors' documentation of their formats; docs/decisions/0010-secret-rules.md says why
// and what they cost. The patterns are linear (RE2) and each is guarded by a keyword.
var rules = []rule{
	// GitHub: "ghs_" tokens of about 520 characters hold dots and dashes since 2026. No boundary before the prefix: it does not occur in words.
	{"GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, lazy.Regexp(`gh[pousr]_[A-Za-z0-9][A-Za-z0-9_.-]{18,}[A-Za-z0-9_-]`), true, notPlaceholder},
	{"GitHub token", []string{"github_pat_"}, lazy.Regexp(`github_pat_[A-Za-z0-9_]{20,}`), true, notPlaceholder},
	{"Anthropic key", []string{"sk-ant-"}, lazy.Regexp(`sk-ant-[A-Za-z0-9_-]{16,}`), true, notPlaceholder},
	{"OpenAI key", []string{"sk-"}, lazy.Regexp(`(?:^|[^A-Za-z0-9-])(sk-(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,})`), true, notPlaceholder},
	{"OpenAI key", []string{"sk-"}, lazy.Regexp(`(?:^|[^A-Za-z0-9-])(sk-[A-Za-z0-9]{20,})`), true, mixed},
	{"OpenAI key", []string{"T3BlbkFJ"}, lazy.Regexp(`sk-[A-Za-z0-9_-]{0,80}T3BlbkFJ[A-Za-z0-9_-]{10,}`), true, nil},
	{"Google key", []string{"AIza"}, lazy.Regexp(`AIza[A-Za-z0-9_-]{35}`), true, notPlaceholder},
	{"Google key", []string{"AQ.Ab"}, lazy.Regexp(`\b(AQ\.Ab[A-Za-z0-9_-]{36,})`), true, notPlaceholder},
	{"Google OAuth secret", []string{"GOCSPX-"}, lazy.Regexp(`GOCSPX-[A-Za-z0-9_-]{24,}`), true, notPlaceholder},
	{"Google OAuth token", []string{"ya29."}, lazy.Regexp(`\b(ya29\.[A-Za-z0-9_-]{20,})`), true, notPlaceholder},
	{"Google OAuth token", []string{"1//0"}, lazy.Regexp(`(?:^|[^A-Za-z0-9/])(1//0[A-Za-z0-9_-]{40,})`), true, notPlaceholder},
	{"AWS key id", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, lazy.Regexp(`(?:^|[^A-Z0-9])((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?:$|[^A-Z0-9])`), true, notExample},
	{"AWS secret key", []string{"aws", "secret"}, lazy.Regexp(`(?i)(?:aws|secret|amazon)[A-Za-z0-9 _.-]{0,40}["'` + "`" + `]?\s*(?::|=|=>|,|\bis\b)\s*["'` + "`" + `]?([A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])`), false, awsSecret},
	{"AWS secret key", []string{"AKIA", "ASIA"}, lazy.Regexp(`(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9][^\n]{0,60}?\n?[^\n]{0,60}?(?:^|[^A-Za-z0-9/+=])([A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])`), false, awsSecret},
	{"AWS session token", []string{"session"}, lazy.Regexp(`(?i)session_?token["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{80,})`), false, mixed},
	{"Azure storage key", []string{"accountkey", "sharedaccesskey", "account_key", "account-key", "account key", "storage"}, lazy.Regexp(`(?i)(?:account[_ -]?key|shared_?access_?key|storage[a-z_ -]{0,20}key)["']?\s*[:=]\s*["']?([A-Za-z0-9+/]{40,88}={1,2})`), false, nil},
	{"Azure client secret", []string{"8Q~", "7Q~", "Q~"}, lazy.Regexp(`(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})`), true, nil},
	{"Azure DevOps token", []string{"AZDO"}, lazy.Regexp(`\b([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b`), true, nil},
	{"Azure signature", []string{"sig="}, lazy.Regexp(`[?&]sig=([A-Za-z0-9%+/_-]{30,}(?:%3[dD]|=)?)`), false, nil},
	{"GitLab token", []string{"gl"}, lazy.Regexp(`\b(gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_.=-]{16,})`), true, notPlaceholder},
	{"GitLab token", []string{"GR1348941"}, lazy.Regexp(`\b(GR1348941[A-Za-z0-9_-]{20,})`), true, nil},
	{"Slack token", []string{"xox", "xapp-", "xwfp-"}, lazy.Regexp(`\b((?:xox[abcdeoprs]|xapp|xwfp)-[A-Za-z0-9%-]{10,})`), true, notPlaceholder},
	{"Slack webhook", []string{"hooks.slack"}, lazy.Regexp(`(?i)hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}`), true, notPlaceholder},
	{"Discord webhook", []string{"/api/webhooks/"}, lazy.Regexp(`(?i)discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{30,}`), true, nil},
	{"Discord token", []string{"discord", "token"}, lazy.Regexp(`\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})\b`), false, mixed},
	{"Teams webhook", []string{"webhook.office.com"}, lazy.Regexp(`(?i)webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{40,}`), true, nil},
	{"Telegram token", []string{":AA"}, lazy.Regexp(`(?:^|[^0-9])(\d{8,10}:AA[A-Za-z0-9_-]{32,33})(?:$|[^A-Za-z0-9_-])`), true, nil},
	{"Stripe key", []string{"_live_", "_test_"}, lazy.Regexp(`(?:^|[^A-Za-z0-9])([sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,})`), true, notPlaceholder},
	{"Stripe secret", []string{"whsec_"}, lazy.Regexp(`whsec_[A-Za-z0-9+/=]{24,}`), true, notPlaceholder},
	{"Hugging Face token", []string{"hf_", "api_org_"}, lazy.Regexp(`(?:^|[^A-Za-z0-9_])((?:hf|api_org)_[A-Za-z0-9]{30,})`), true, notPlaceholder},
	{"npm token", []string{"npm_"}, lazy.Regexp(`(?:^|[^A-Za-z0-9_])(npm_[A-Za-z0-9]{36,})`), true, notPlaceholder},
	{"npm token", []string{"_authtoken", "_auth", "_password"}, lazy.Regexp(`(?i):?_(?:authToken|auth|password)\s*=\s*["']?([A-Za-z0-9+/=_-]{20,})`), false, notPlaceholder},
	{"PyPI token", []string{"pypi-"}, lazy.Regexp(`pypi-Ag[A-Za-z0-9_-]{40,}`), true, nil},
	{"Docker token", []string{"dckr_"}, lazy.Regexp(`dckr_[po]at_[A-Za-z0-9_-]{20,}`), true, notPlaceholder},
	{"Docker login", []string{`"auth"`}, lazy.Regexp(`"auth"\s*:\s*"([A-Za-z0-9+/]{16,}={0,2})"`), false, nil},
	{"Twilio key", []string{"SK"}, lazy.Regexp(`(?:^|[^A-Za-z0-9])(SK[0-9a-f]{32})(?:$|[^A-Za-z0-9])`), true, notPlaceholder},
	{"SendGrid key", []string{"SG."}, lazy.Regexp(`(?:^|[^A-Za-z0-9])(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64})`), true, nil},
	{"JWT", []string{"eyJ"}, lazy.Regexp(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}`), true, nil},
	{"private key", []string{"PRIVATE KEY"}, lazy.Regexp(`-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`), false, nil},
	{"private key", []string{"PRIVATEKEY"}, lazy.Regexp(`-----BEGIN[A-Z0-9]{0,40}PRIVATEKEY`), true, nil},
	{"private key", []string{"PuTTY-User-Key-File"}, lazy.Regexp(`PuTTY-User-Key-File-\d:[^\n]*`), false, nil},
	{"private key", []string{"AGE-SECRET-KEY-1"}, lazy.Regexp(`AGE-SECRET-KEY-1[A-Z0-9]{50,}`), true, nil},
	{"password in a URL", []string{"://"}, lazy.Regexp(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>` + "`" + `]{0,100}:([^\s/@"'<>` + "`" + `]{3,200})@[A-Za-z0-9\[]`), false, realPassword},
	{"token in a URL", []string{"://"}, lazy.Regexp(`(?i)[?&#](?:access_token|api_?key|auth_token|token|client_secret|secret|password|private_token)=([A-Za-z0-9_.~%+/=-]{12,})`), false, credible},

	// Others whose tokens name themselves.
	{"service token", []string{"do"}, lazy.Regexp(`\b(do[opr]_v1_[a-f0-9]{64})`), true, nil},
	{"service token", []string{"shp"}, lazy.Regexp(`\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})`), true, nil},
	{"service token", []string{"dapi"}, lazy.Regexp(`\b(dapi[a-f0-9]{32}(?:-\d)?)\b`), true, nil},
	{"service token", []string{"lin_", "ntn_", "sntry", "glsa_", "glc_", "hvs.", "hvb.", "figd_", "rubygems_", "sbp_", "gsk_", "r8_", "nfp_", "bkua_", "ccipat_", "tfp_", "lsv2_", "pul-", "nrak-", "pmak-", "cfpat-", "pplx-", "xai-", "akcp", "hrku-", "tskey-", "pscale_", "fo1_", "dp.", "atlasv1", "atatt3", "atbb", "sq0", "oy2", "cio", "doppler", "rnd_", "phx_", "phc_", "eyj", "key-"}, lazy.Regexp(`(?:^|[^A-Za-z0-9_])((?:lin_(?:api|oauth)_|ntn_|sntry[su]_|glsa_|glc_|hv[sb]\.|figd_|rubygems_|sbp_|gsk_|r8_|nfp_|bkua_|CCIPAT_|tfp_|lsv2_(?:pt|sk)_|pul-|NRAK-|PMAK-|CFPAT-|pplx-|xai-|AKCp|HRKU-|tskey-(?:auth|api|client)-|pscale_(?:tkn|pw|oauth)_|fo1_|dp\.(?:pt|st|ct|sa|scim|audit)\.|ATATT3|ATBB|sq0(?:atp|csp)-|phx_)[A-Za-z0-9_=.-]{20,})`), true, mixed},
	{"service token", []string{"atlasv1"}, lazy.Regexp(`\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})`), true, nil},
	{"service token", []string{"key-", "-us"}, lazy.Regexp(`(?:^|[^A-Za-z0-9-])(key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})(?:$|[^A-Za-z0-9])`), true, nil},

	// By context: a long value next to a word such as key or token.
	{"secret by its name", []string{"key", "token", "secret", "passw", "pwd", "credential", "bearer", "auth"}, contextPattern, false, credibleInContext},
	{"authorization header", []string{"authorization", "bearer", "basic"}, lazy.Regexp(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9_.~+/-]{20,}={0,2})`), false, credible},
}

// contextPattern: the word, up to three more words of its name, an assignment or "is", a quote, and the value.
var contextPattern = lazy.Regexp(`(?i)(?:[a-z0-9_.-]{0,40}(?:key|token|secret|passwords?|passwd|passphrase|pwd|credentials?))(?:[ _-]?(?:id|value|hash))?["'` + "`" + `*)\]]{0,3}\s{0,3}(?::=|=>|=|:|\bis\b|\bwas\b|\s)\s{0,3}["'` + "`" + `*(]{0,3}([^\s"'` + "`" + `<>(),;*]{12,512})`)

// notPlaceholder refuses tokens that only show the form: all the same filler, or words that say so.
func notPlaceholder(secret, _ string, _ int) bool {
	body := secret
	if i := strings.LastIndexAny(secret[:min(len(secret), 16)], "_-."); i >= 0 {
		body = secret[i+1:]
	}
	if strings.Trim(body, "xX*.0-_") == "" {
		return false
	}
	low := strings.ToLower(secret)
	for _, word := range []string{"your_", "your-", "_here", "-here", "placeholder", "redacted", "xxxxxxxx"} {
		if strings.Contains(low, word) {
			return false
		}
	}
	return true
}

func notExample(secret, _ string, _ int) bool { return !strings.HasSuffix(secret, "EXAMPLE") }

// mixed wants letters and digits that look drawn by lot.
func mixed(secret, text string, at int) bool {
	return notPlaceholder(secret, text, at) && hasDigit(secret) && hasLetter(secret) && entropy(secret) >= 3.2
}

func awsSecret(secret, text string, at int) bool {
	return !strings.Contains(secret, "EXAMPLE") && hasLower(secret) && hasUpper(secret) && entropy(secret) >= 4 && strings.Count(secret, "/") < 5 && notPlaceholder(secret, text, at)
}

func hasDigit(s string) bool  { return strings.ContainsAny(s, "0123456789") }
func hasLower(s string) bool  { return strings.ToUpper(s) != s }
func hasUpper(s string) bool  { return strings.ToLower(s) != s }
func hasLetter(s string) bool { return hasLower(s) || hasUpper(s) }

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
