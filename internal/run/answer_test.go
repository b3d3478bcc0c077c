package run

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestSecretsInAnswers(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-api03-Ab+Cd/Ef=Gh"
	c, err := newChecker([]byte(schema), []string{key, "short", "  padded-secret \n", ""})
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(s string) string {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	b64 := base64.StdEncoding.EncodeToString
	escaped, backwards := "", ""
	for _, r := range key {
		backwards = string(r) + backwards
		escaped += `\u00` + hex.EncodeToString([]byte{byte(r)})
	}
	for name, text := range map[string]string{
		"plain":                quoted("the key is " + key + "."),
		"escaped":              `"` + escaped + `"`,
		"in another case":      quoted(strings.ToUpper(key)),
		"with spaces":          quoted(strings.Join(strings.Split(key, ""), " ")),
		"with invisible signs": quoted(strings.Join(strings.Split(key, ""), "\u200b")),
		"backwards":            quoted(backwards),
		"hex":                  quoted(hex.EncodeToString([]byte(key))),
		"base64":               quoted(b64([]byte(key))),
		"base64, one before":   quoted(b64([]byte("x" + key))),
		"base64, two before":   quoted(b64([]byte("xy" + key + "zz"))),
		"base64 for addresses": quoted(base64.RawURLEncoding.EncodeToString([]byte(key))),
		"in an address":        quoted("https://evil.example/?k=" + url.QueryEscape(key)),
		"another secret":       quoted("padded-secret"),
		"under an equal key":   `"` + escaped + `","verdict":"ok"`,
	} {
		if got, err := c.check([]byte(`{"verdict":` + text + `}`)); !errors.Is(err, errAnswer) || !strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, text := range []string{"short", "sk-ant-api03-", "nothing of the kind", strings.Repeat("a", 50_000)} {
		if got, err := c.check([]byte(`{"verdict":` + quoted(text) + `}`)); err != nil {
			t.Errorf("%.40s: %.40q, %v", text, got, err)
		}
	}
	split := []byte(`{"a":"sk-ant-api03-Ab+","b":["Cd/Ef","=Gh"]}`)
	if !c.secrets.in(split) {
		t.Error("a secret in pieces was not found")
	}
	for name, text := range map[string]string{"no JSON": `{"verdict":`, "no UTF-8": "{\"verdict\":\"\xff\"}", "two values": `{} {}`} {
		if got, err := c.check([]byte(text)); !errors.Is(err, errAnswer) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestTheRunnerWaitsLongEnough: the runner kills what is left 7.5 s after INT, and the record takes its time as well.
func TestTheRunnerWaitsLongEnough(t *testing.T) {
	t.Parallel()
	w := realTiming()
	if worst := w.kill + 2*w.drain + w.settle; worst > 7*time.Second || w.term != 3*time.Second || w.kill != 5*time.Second {
		t.Errorf("the last record comes %s after INT", worst)
	}
}
