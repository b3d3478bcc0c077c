package ghapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

type counted struct{ sent []string }

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent = append(c.sent, r.URL.Host)
	return nil, errors.New("nothing is sent in this test")
}

// The transport itself refuses every other host, whatever asks it: the token never leaves with such a request.
func TestTransportKnowsOneHost(t *testing.T) {
	t.Parallel()
	api, err := url.Parse("https://api.github.com/")
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"https://evil.example/repos/o/r", "http://api.github.com/repos/o/r", "https://api.github.com.evil.example/", "https://api.github.com:8443/",
		"https://api.github.com@evil.example/", "https://uploads.github.com/",
	} {
		base := &counted{}
		tr := newTransport(Options{HTTP: base, Token: "secret-token", Now: time.Now, Sleep: func(time.Duration) {}}, addresses{api: api, graphql: api})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if KindOf(err) != KindForeignHost || len(base.sent) != 0 {
			t.Errorf("%s: %v, sent to %v", address, err, base.sent)
		}
		if strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%s: the error holds the token", address)
		}
	}
}
