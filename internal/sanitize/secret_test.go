package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// maker draws the bodies of made-up tokens, the same in every run. No whole token stands in this file.
type maker struct{ state *uint64 }

func newMaker(seed uint64) maker { return maker{&seed} }

// next is SplitMix64.
func (m maker) next() uint64 {
	*m.state += 0x9e3779b97f4a7c15
	z := *m.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const (
	lowerHex = "0123456789abcdef"
	lower    = "abcdefghijklmnopqrstuvwxyz"
	alnumAll = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upperNum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	urlSafe  = alnumAll + "-_"
	base64s  = alnumAll + "+/"
)

func (m maker) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.next()%uint64(len(alphabet))]
	}
	return string(b)
}

// tokens draws one token of each format.
func (m maker) tokens() map[string]string {
	jwt := func() string {
		return "ey" + "J" + m.of(urlSafe, 30) + ".ey" + "J" + m.of(urlSafe, 60) + "." + m.of(urlSafe, 43)
	}
	t := map[string]string{}
	for _, kind := range "pousr" {
		t["gh"+string(kind)] = "gh" + string(kind) + "_" + m.of(alnumAll, 36)
	}
	t["ghs long"] = "gh" + "s_" + m.of("0123456789", 6) + "_ey" + "J" + m.of(urlSafe, 30) + ".ey" + "J" + m.of(urlSafe, 270) + "." + m.of(urlSafe, 190) + "x"
	t["fine-grained"] = "github" + "_pat_" + m.of(alnumAll, 22) + "_" + m.of(alnumAll, 59)
	t["anthropic"] = "sk-" + "ant-api03-" + m.of(urlSafe, 93) + "AA"
	t["anthropic oauth"] = "sk-" + "ant-oat01-" + m.of(urlSafe, 80)
	t["openai"] = "sk-" + m.of(alnumAll, 20) + "T3Blbk" + "FJ" + m.of(alnumAll, 20)
	t["openai project"] = "sk-" + "proj-" + m.of(urlSafe, 74) + "T3Blbk" + "FJ" + m.of(urlSafe, 74)
	t["openai service"] = "sk-" + "svcacct-" + m.of(urlSafe, 60)
	t["openai old"] = "sk-" + m.of(alnumAll, 48)
	t["openrouter"] = "sk-" + "or-v1-" + m.of(lowerHex, 64)
	t["google"] = "AI" + "za" + m.of(urlSafe, 34) + "x"
	t["google client"] = "GOC" + "SPX-" + m.of(urlSafe, 28)
	t["google access"] = "ya2" + "9." + m.of(urlSafe, 120)
	t["aws id"] = "AK" + "IA" + m.of(upperNum, 16)
	t["aws temporary id"] = "AS" + "IA" + m.of(upperNum, 16)
	t["aws secret"] = "aws_secret_access_key = " + m.of(alnumAll, 20) + "/" + m.of(alnumAll, 19)
	t["azure storage"] = "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + m.of(base64s, 86) + "=="
	t["azure client"] = m.of(alnumAll, 3) + "8Q" + "~" + m.of(alnumAll, 34)
	t["azure bus"] = "SharedAccessKey=" + m.of(base64s, 43) + "="
	t["azure sas"] = "https://x.blob.core.windows.net/c?sv=2024&sig=" + m.of(alnumAll, 43) + "%3D"
	t["gitlab"] = "gl" + "pat-" + m.of(urlSafe, 20)
	t["gitlab runner"] = "gl" + "rt-" + m.of(urlSafe, 20)
	t["slack bot"] = "xo" + "xb-" + m.of("0123456789", 12) + "-" + m.of("0123456789", 12) + "-" + m.of(alnumAll, 24)
	t["slack app"] = "xa" + "pp-1-A" + m.of(upperNum, 10) + "-" + m.of("0123456789", 13) + "-" + m.of(lowerHex, 64)
	t["slack webhook"] = "https://hooks.sl" + "ack.com/services/T" + m.of(upperNum, 8) + "/B" + m.of(upperNum, 8) + "/" + m.of(alnumAll, 24)
	t["stripe"] = "sk_" + "live_" + m.of(alnumAll, 24)
	t["stripe restricted"] = "rk_" + "live_" + m.of(alnumAll, 24)
	t["stripe hook"] = "whs" + "ec_" + m.of(alnumAll, 32)
	t["hugging face"] = "h" + "f_" + m.of(alnumAll, 34)
	t["npm"] = "np" + "m_" + m.of(alnumAll, 36)
	t["npm file"] = "//registry.example/:_auth" + "Token=" + m.of(alnumAll, 36)
	t["pypi"] = "py" + "pi-AgEIcHlwaS5vcmc" + m.of(urlSafe, 150)
	t["docker"] = "dck" + "r_pat_" + m.of(urlSafe, 27)
	t["twilio"] = "S" + "K" + m.of(lowerHex, 32)
	t["sendgrid"] = "S" + "G." + m.of(urlSafe, 22) + "." + m.of(urlSafe, 43)
	t["jwt"] = jwt()
	t["bearer"] = "Authorization: Bearer " + m.of(alnumAll, 40) + "1a"
	t["pem"] = "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + m.of(base64s, 64) + "\n" + m.of(base64s, 40) + "\n-----END RSA PRIV" + "ATE KEY-----"
	t["openssh"] = "-----BEGIN OPENSSH PRIV" + "ATE KEY-----\n" + m.of(base64s, 70) + "\n"
	t["url"] = "postgres://app:" + m.of(alnumAll, 14) + "@db.example:5432/x"
	t["git url"] = "https://x-access-token:" + m.of(alnumAll, 40) + "@github.com/o/r.git"
	t["query"] = "https://api.example/v1?access_token=" + m.of(alnumAll, 32) + "1a2b3c"
	t["hex next to key"] = "encryption key: " + m.of(lowerHex, 64)
	t["hex next to token"] = "the token is " + m.of(lowerHex, 64)
	t["api key"] = `API_KEY="` + m.of(alnumAll, 32) + `1aB2c3"`
	t["client secret"] = "client_secret: " + m.of(alnumAll, 40) + "1aB2c3"
	t["password"] = "password = " + m.of(alnumAll, 16) + "7aB"
	t["discord hook"] = "https://discord.com/api/webhooks/" + m.of("123456789", 18) + "/" + m.of(urlSafe, 68)
	t["telegram"] = m.of("123456789", 10) + ":AA" + m.of(urlSafe, 33)
	t["digitalocean"] = "dop" + "_v1_" + m.of(lowerHex, 64)
	t["shopify"] = "shp" + "at_" + m.of(lowerHex, 32)
	t["databricks"] = "da" + "pi" + m.of(lowerHex, 32)
	t["grafana"] = "gl" + "sa_" + m.of(alnumAll, 32) + "_" + m.of(lowerHex, 8)
	t["vault"] = "hv" + "s." + m.of(urlSafe, 90) + "1a"
	t["age"] = "AGE-SEC" + "RET-KEY-1" + m.of(upperNum, 58)
	return t
}

// True examples: every format in several settings.
func TestEverySecretIsFound(t *testing.T) {
	t.Parallel()
	m := newMaker(1)
	count := 0
	for round := range 3 {
		for name, token := range m.tokens() {
			for _, setting := range []string{"%s", "I set it to %s and it failed.", "```\n%s\n```", "see `%s`", "line\n%s\nline", "- env: %s", "(%s)", "\"%s\","} {
				text := fmt.Sprintf(setting, token)
				count++
				found := FindSecrets(text, nil)
				if len(found) == 0 {
					t.Errorf("round %d: %s is missed in %q", round, name, setting)
				}
				if left := MaskSecrets(text, nil); leaks(left, token) {
					t.Errorf("round %d: %s in %q: a part is left after masking: %q", round, name, setting, left)
				}
			}
		}
	}
	t.Logf("%d true examples", count)
}

// leaks tells whether twelve drawn characters of the token in a row are left. Fixed words around it may stay.
func leaks(left, token string) bool {
	for i := 0; i+12 <= len(token); i++ {
		part := token[i : i+12]
		if mixesDigits(part) && !strings.ContainsAny(part, " =:/?") && strings.Contains(left, part) {
			return true
		}
	}
	return false
}

// selfNaming are the formats that are found in any disguise.
var selfNaming = []string{"ghp", "ghs", "ghs long", "fine-grained", "anthropic", "openai project", "google", "aws id", "gitlab", "slack bot", "stripe", "hugging face", "npm", "pypi", "docker", "sendgrid", "jwt"}

func TestSecretsInDisguise(t *testing.T) {
	t.Parallel()
	m := newMaker(3)
	for range 3 {
		tokens := m.tokens()
		for _, name := range selfNaming {
			token := tokens[name]
			half := len(token) / 2
			for what, text := range map[string]string{
				"broken over a line":         token[:half] + "\n" + token[half:] + " end",
				"broken in a quote":          "> " + token[:half] + "\n> " + token[half:],
				"broken in a list":           "- " + token[:half] + "\n  " + token[half:],
				"with CRLF":                  token[:half] + "\r\n" + token[half:],
				"cut by code":                token[:half] + "`" + token[half:] + "`",
				"cut by stars":               token[:half] + "**" + token[half:] + "**",
				"cut by a zero-width space":  token[:half] + "\u200b" + token[half:],
				"cut by a color":             "\x1b[31m" + token[:half] + "\x1b[0m" + token[half:],
				"escaped":                    strings.NewReplacer("_", `\_`, "-", `\-`, ".", `\.`).Replace(token),
				"as entities":                strings.NewReplacer("_", "&#95;", "-", "&#x2d;", "s", "&#115;").Replace(token),
				"percent-encoded":            strings.NewReplacer("_", "%5F", "-", "%2D", ".", "%2E").Replace(token),
				"in a URL":                   "https://example.com/?q=" + url.QueryEscape(token) + "&x=1",
				"in base64":                  base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token)),
				"in base64 inside words":     "a" + base64.RawURLEncoding.EncodeToString([]byte(token)),
				"split over fields":          strings.Join([]string{"first " + token[:half], token[half:] + " second"}, "\n"),
				"in JSON":                    fmt.Sprintf("%q: %q", "k", token),
				"in a cell":                  "| " + token + " |",
				"after an equals sign":       "X=" + token,
				"followed by an exclamation": token + "!",
			} {
				if len(FindSecrets(text, nil)) == 0 {
					t.Errorf("%s %s is missed", name, what)
				}
			}
		}
	}
}

// TestTokenFormatsCase is B45: no part of a token stays, broken over a line or followed by a letter too.
func TestTokenFormatsCase(t *testing.T) {
	t.Parallel()
	left := MaskSecrets(readCase(t, "B45-token-formats.txt"), nil)
	for _, part := range []string{"AAAAAAAA", "BBBBBBBB", "CCCCCCCC", "DDDDDDDD", "EEEEEEEE", "eyJ", "aaaaaaaa", "bbbbbbbb", "cccccccc"} {
		if strings.Contains(left, part) {
			t.Errorf("%s is left", part)
		}
	}
	for _, kept := range []string{"old ", " end\nnew ", "not a token: gh" + "s_short"} {
		if !strings.Contains(left, kept) {
			t.Errorf("%q is gone", kept)
		}
	}
}

func TestEnvironmentValues(t *testing.T) {
	t.Parallel()
	m := newMaker(5)
	value := m.of(alnumAll+"-_.", 60)
	env := []string{value, "short", "", "Tr0ub4dor", "Schlüsselbund-Ärger-42"}
	for what, text := range map[string]string{
		"whole":            "x " + value + " y",
		"the first half":   value[:14],
		"the middle":       "x" + value[20:33] + "y",
		"base64":           base64.StdEncoding.EncodeToString([]byte(value)),
		"base64 shifted":   base64.StdEncoding.EncodeToString([]byte("user:" + value)),
		"base64 shifted 2": base64.URLEncoding.EncodeToString([]byte("u:" + value)),
		"hex":              hex.EncodeToString([]byte(value)),
		"reversed":         reversed(value),
		"reversed letters": "24-regrÄ-dnublessülhcS",
		"percent-encoded":  url.QueryEscape(value),
		"over a line":      value[:8] + "\n" + value[8:16],
		"a short value":    "log in with Tr0ub4dor.",
	} {
		found := FindSecrets(text, env)
		if len(found) == 0 {
			t.Errorf("%s is missed", what)
		}
		if left := MaskSecrets(text, env); strings.Contains(left, value[:12]) || strings.Contains(left, value[20:32]) {
			t.Errorf("%s: a part is left", what)
		}
	}
	for _, text := range []string{"short", "a Tr0ub4dors", value[:11], "an ordinary sentence about nothing in particular"} {
		if found := FindSecrets(text, env); len(found) > 0 {
			t.Errorf("false alarm in %q: %v", text, found)
		}
	}
}

func TestSecretValues(t *testing.T) {
	t.Parallel()
	got := SecretValues([]string{"PATH=/usr/bin", "ANTHROPIC_API_KEY=abcdefgh", "GITHUB_TOKEN=12345678", "TOKEN=", "X", "INPUT_GITHUB_TOKEN=ijklmnop", "DB_PASSWORD=qrstuvwx", "KEYBOARD=us-intl-x", "TOKENIZERS_PARALLELISM=falsefalse", "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1"})
	if want := "abcdefgh 12345678 ijklmnop qrstuvwx"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// falseExamples looks like secrets and is none: what issues and answers are full of.
func falseExamples() []string {
	m := newMaker(7)
	uuid := func() string {
		return m.of(lowerHex, 8) + "-" + m.of(lowerHex, 4) + "-4" + m.of(lowerHex, 3) + "-a" + m.of(lowerHex, 3) + "-" + m.of(lowerHex, 12)
	}
	texts := []string{
		"disk-image-writer-configuration", "task-scheduler-configuration-file", "sk-learn-like-estimators-and-more-things", "risk-assessment-framework-for-the-team", "the mask-rcnn-resnet50-fpn-coco-model",
		"skeleton key", "a token is required", "The API key must be set before the first call.", "password: required", "secret: ${{ secrets.DEPLOY_TOKEN }}", "token = process.env.GITHUB_TOKEN", "api_key = os.environ['SERVICE_API_KEY']",
		"key: value", "primary key: user_id_and_created_at_2024", "cache-key: linux-go-" + m.of(lowerHex, 64), "PublicKeyToken=" + m.of(lowerHex, 16), "Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer YOUR_TOKEN_HERE",
		"gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "gh" + "s_short", "sk-" + "ant-...", "sk-" + "proj-your-key-here-and-nothing-else", "AK" + "IAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"https://user:password@example.com/x", "postgres://postgres:postgres@localhost:5432/db", "redis://:${REDIS_PASSWORD}@cache:6379", "https://<user>:<token>@github.com/o/r", "http://localhost:8080/@scope/name", "https://example.com:8443/a@b",
		"src/main/java/com/example/v2/SecretKeyFactoryProviderImpl.java", "internal/TokenRefreshHandlerV2Test.cs:120", "token: src/Auth/TokenServiceV2/RefreshTokenHandler2.cs", "node_modules/@babel/plugin-transform-arrow-functions/lib/index.js",
		"key = com.example.product.feature.v2.ConfigurationKeyName", "auth: https://auth.example.com/realms/x/protocol/openid-connect/token", "tokenizer.model_max_length = 4096", "max_tokens: 200000", "token_count=1234567890123456",
		"-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\n" + m.of(base64s, 64) + "\n-----END CERTIFICATE-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + m.of(alnumAll, 44), "ey" + "J only starts like one", "SG.short.one", "npm_config_registry=https://registry.example", "npm_package_name", "hf_hub_download(repo_id='x')", "hf_transfer_enabled_for_all_downloads_now", "SKIP_THIS_TEST_FOR_THE_MOMENT_PLEASE",
		"Keyboard: us-intl-with-dead-keys", "monkey patch 2024-01-01T00:00:00Z", "passwordless login since 4.12.3-beta.1", "key: 2024-01-01T00:00:00.000Z-0001", "the secret is to read the documentation first", "secret name: my-app-tls-cert-2024-prod", "token type: urn:ietf:params:oauth:token-type:access_token", "session_token cookie name",
		"error: invalid token at position 12345678", "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", "key \"dependencies.react-router-dom\" is duplicated", "passphrase: (empty)", "auth_token=<redacted>", "token=***", "apikey=[FILTERED]", "password=********",
	}
	for range 40 {
		texts = append(texts,
			"commit "+m.of(lowerHex, 40), "see "+m.of(lowerHex, 7)+" and "+m.of(lowerHex, 12), uuid(), "request id: "+uuid(),
			`"integrity": "sha512-`+m.of(base64s, 86)+`=="`, "sha256:"+m.of(lowerHex, 64), "h1:"+m.of(base64s, 43)+"=", m.of(lowerHex, 64)+"  file.tar.gz", "md5 "+m.of(lowerHex, 32),
			strings.Join([]string{m.of(lower, 6), m.of(lower, 9), m.of(lower, 7), m.of(lower, 8), m.of(lower, 5), m.of(lower, 11)}, "-"),
			strings.Join([]string{"src", m.of(lower, 7), m.of(lower, 9), "v2", m.of(lower, 12), m.of(lower, 6) + ".go"}, "/"),
		)
	}
	return texts
}

func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	texts := falseExamples()
	if len(texts) < 300 {
		t.Fatalf("%d examples, want at least 300", len(texts))
	}
	alarms := 0
	for _, text := range texts {
		if found := FindSecrets(text, nil); len(found) > 0 {
			alarms++
			t.Logf("%q: %s", text, found[0].Kind)
		}
	}
	if alarms*100 >= len(texts) {
		t.Errorf("%d false alarms of %d", alarms, len(texts))
	}
	t.Logf("%d false alarms of %d", alarms, len(texts))
}

// The product's own documentation, code and cases are false examples too.
func TestFindingsNeverOverlapAndFit(t *testing.T) {
	t.Parallel()
	m := newMaker(9)
	var all strings.Builder
	for _, token := range m.tokens() {
		all.WriteString("x " + token + "\n")
	}
	text := all.String()
	end := 0
	for _, f := range FindSecrets(text, []string{m.of(alnumAll, 20)}) {
		if f.Start < end || f.End > len(text) || f.Start >= f.End || f.Kind == "" {
			t.Errorf("finding %+v after %d of %d", f, end, len(text))
		}
		end = f.End
	}
}
