package ghapi

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/google/go-github/v66/github"
)

// Options say where GitHub is and who asks. Empty addresses mean github.com.
type Options struct {
	APIURL     string // GITHUB_API_URL, for example https://ghe.example.com/api/v3
	GraphQLURL string // GITHUB_GRAPHQL_URL; empty: derived from APIURL
	ServerURL  string // GITHUB_SERVER_URL, for links
	Token      string // empty: public data only
	Repo       string // owner/name

	HTTP      http.RoundTripper // nil: a transport of its own with time-outs
	Now       func() time.Time
	Sleep     func(time.Duration)
	UserAgent string // empty: issue-assistant

	// AttemptTimeout bounds one request with its answer; 0: a minute.
	AttemptTimeout time.Duration
	// WaitBudget bounds the waiting for rate limits in sum; 0: two minutes.
	WaitBudget time.Duration
	// MaxAnswer bounds one answer in bytes; 0: 32 MiB, above the largest page of a hundred issues.
	MaxAnswer int64
	// MaxRequests bounds the requests of a client; 0: 20,000, above what GitHub admits in an hour.
	MaxRequests int
}

// Client reads one repository. It is safe for concurrent use.
type Client struct {
	owner, name string
	server      string // without a slash at the end
	api         *url.URL
	graphqlURL  string
	rest        *github.Client
	http        *http.Client
	transport   *transport

	mu     sync.Mutex
	levels map[string]string // permission by login, lower case
	labels []Label           // of the repository, nil until read
}

// Limits of one request and of all waiting.
const (
	defaultAttempt   = time.Minute
	defaultWait      = 2 * time.Minute
	defaultMaxAnswer = 32 << 20
	maxErrorBody     = 64 << 10

	defaultMaxRequests = 20_000
	maxAnswers         = 1 << 30   // bytes of all answers
	maxSpent           = time.Hour // in all requests
)

var (
	ownerName = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$`)
	repoName  = lazy.Regexp(`^[A-Za-z0-9._-]{1,100}$`)
)

// New checks the addresses and returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.Now == nil || o.Sleep == nil {
		return nil, errors.New("ghapi: Now and Sleep are needed")
	}
	owner, name, err := splitRepo(o.Repo)
	if err != nil {
		return nil, err
	}
	a, err := resolve(o.APIURL, o.GraphQLURL, o.ServerURL, o.Token != "")
	if err != nil {
		return nil, err
	}
	t := newTransport(o, a)
	// Redirects end in the transport; should one come through, it is not followed.
	httpClient := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	rest := github.NewClient(httpClient)
	rest.BaseURL = a.api.JoinPath("/")
	rest.UploadURL = rest.BaseURL
	rest.UserAgent = t.userAgent
	return &Client{
		owner: owner, name: name, server: a.server, api: rest.BaseURL, graphqlURL: a.graphql.String(),
		rest: rest, http: httpClient, transport: t, levels: map[string]string{},
	}, nil
}

// Repo is owner/name.
func (c *Client) Repo() string { return c.owner + "/" + c.name }

// ServerURL is where people read the repository, without a slash at the end.
func (c *Client) ServerURL() string { return c.server }

// RepoURL is the repository's page.
func (c *Client) RepoURL() string { return c.server + "/" + c.Repo() }

// IssueURL is the page of an issue.
func (c *Client) IssueURL(number int) string { return fmt.Sprintf("%s/issues/%d", c.RepoURL(), number) }

// Requests is how many requests were sent so far, repeated ones included.
func (c *Client) Requests() int { return c.transport.count() }

// splitRepo takes owner/name apart and refuses what GitHub does not allow in either.
func splitRepo(s string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !ownerName().MatchString(owner) || !repoName().MatchString(name) || name == "." || name == ".." {
		return "", "", fmt.Errorf("repository %q: want owner/name", oneLine(s, maxMessage))
	}
	return owner, name, nil
}

// addresses are the three places of one GitHub.
type addresses struct {
	api, graphql *url.URL
	server       string
}

// resolve fills in what is missing: github.com, a tenant of ghe.com (api.NAME.ghe.com) or an Enterprise Server
// (/api/v3 and /api/graphql). docs.github.com: "Store information in variables", "About the REST API" of each product.
func resolve(api, graphql, server string, token bool) (addresses, error) {
	if server == "" {
		server = "https://github.com"
	}
	s, err := address("GITHUB_SERVER_URL", server, token)
	if err != nil {
		return addresses{}, err
	}
	if api == "" {
		switch host := strings.ToLower(s.Hostname()); {
		case host == "github.com":
			api = "https://api.github.com"
		case strings.HasSuffix(host, ".ghe.com"):
			api = s.Scheme + "://api." + s.Host
		default:
			api = s.String() + "/api/v3"
		}
	}
	a, err := address("GITHUB_API_URL", api, token)
	if err != nil {
		return addresses{}, err
	}
	if graphql == "" {
		if base, ok := strings.CutSuffix(a.String(), "/api/v3"); ok {
			graphql = base + "/api/graphql"
		} else {
			graphql = a.String() + "/graphql"
		}
	}
	g, err := address("GITHUB_GRAPHQL_URL", graphql, token)
	if err != nil {
		return addresses{}, err
	}
	if !sameHost(a, g) {
		return addresses{}, fmt.Errorf("GITHUB_GRAPHQL_URL is on %s, GITHUB_API_URL on %s: want one host, the token goes to no other", g.Host, a.Host)
	}
	return addresses{api: a, graphql: g, server: s.String()}, nil
}

// address parses one address. A token never travels in the clear, except on this machine.
func address(name, raw string, token bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("%s: not an http address: %q", name, oneLine(raw, maxMessage))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s: want scheme, host and path only", name)
	}
	if token && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("%s: %s is not https: the token would travel in the clear", name, u.Host)
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}

// sameHost compares scheme, host and port, the default port written or not.
func sameHost(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// segment escapes a name for one part of a path. "." and ".." cannot be escaped (servers resolve %2e too) and are
// refused, as are empty names and control characters.
func segment(what, name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return "", &Error{Op: what, Kind: KindInvalid, Message: fmt.Sprintf("%q cannot stand in an address", oneLine(name, 60))}
	}
	return url.PathEscape(name), nil
}
