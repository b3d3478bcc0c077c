package ghapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/go-github/v66/github"
)

// perPage is the largest page that GitHub gives.
const perPage = 100

// path starts an address below this repository. The parts are escaped already.
func (c *Client) path(rest string) string { return "repos/" + c.owner + "/" + c.name + rest }

// op names a request in errors that did not come from the transport.
func (c *Client) op(method, rest string) string { return method + " /" + c.path(rest) }

// get reads an address of our own where go-github has none, or one that it escapes wrongly.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) (*github.Response, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.send(ctx, http.MethodGet, path, nil, out)
}

// send makes one request with a JSON body (or none) and decodes the answer into out (or drops it).
func (c *Client) send(ctx context.Context, method, path string, body, out any) (*github.Response, error) {
	req, err := c.rest.NewRequest(method, path, body)
	if err != nil {
		return nil, fromTransport(method+" /"+path, err)
	}
	resp, err := c.rest.Do(ctx, req, out)
	return resp, fromTransport(method+" "+req.URL.EscapedPath(), err)
}

// pages collects all pages. On an error it returns what was read before it, too.
func pages[T any](op string, page func(github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	var all []T
	opts := github.ListOptions{PerPage: perPage, Page: 1}
	for {
		part, resp, err := page(opts)
		if err != nil {
			return all, fromTransport(op, err)
		}
		all = append(all, part...)
		// A page number that does not grow would never end.
		if resp.NextPage <= opts.Page {
			return all, nil
		}
		opts.Page = resp.NextPage
	}
}

func pageQuery(opts github.ListOptions) url.Values {
	return url.Values{"per_page": {strconv.Itoa(opts.PerPage)}, "page": {strconv.Itoa(opts.Page)}}
}

// convert maps a slice of go-github's pointers, leaving out nil entries.
func convert[From, To any](in []*From, f func(*From) To) []To {
	out := make([]To, 0, len(in))
	for _, v := range in {
		if v != nil {
			out = append(out, f(v))
		}
	}
	return out
}
