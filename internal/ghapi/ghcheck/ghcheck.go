// Package ghcheck holds requests and answers against GitHub's own OpenAPI description and GraphQL schema. It is for
// tests only: nothing that goes into the binary imports it.
//
// The descriptions in testdata are cut down by internal/tools/slimgithub (`make slim-openapi`); their notices lie beside them.
package ghcheck

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed testdata/*.gz
var files embed.FS

// faultHeader marks an answer that is wrong on purpose: only its request is checked.
const faultHeader = "X-Ghtest-Fault"

// Checker knows both descriptions.
type Checker struct {
	doc    *openapi3.T
	schema *ast.Schema
}

// load reads both descriptions once: it takes a fifth of a second.
var load = sync.OnceValues( //nolint:gochecknoglobals // a memo of two embedded files, for tests only
	func() (*Checker, error) {
		spec, err := unpack("openapi.json.gz")
		if err != nil {
			return nil, err
		}
		doc, err := openapi3.NewLoader().LoadFromData(spec)
		if err != nil {
			return nil, err
		}
		// GitHub documents a range here (">=2026-01-01") and describes a single time.
		if created := doc.Components.Parameters["created"]; created != nil && created.Value != nil {
			created.Value.Schema.Value.Format = ""
		}
		sdl, err := unpack("schema.graphql.gz")
		if err != nil {
			return nil, err
		}
		schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(sdl)})
		if err != nil {
			return nil, err
		}
		return &Checker{doc: doc, schema: schema}, nil
	})

// Load returns the checker.
func Load() (*Checker, error) { return load() }

func unpack(name string) ([]byte, error) {
	packed, err := files.ReadFile("testdata/" + name)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Transport checks what passes through it and reports faults to the test.
func Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return &checking{c: c, next: next, report: func(err error) { t.Helper(); t.Error(err) }}
}

// Handler checks what passes through it and reports faults to the test.
func Handler(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		k := &keeper{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(k, r)
		if err := c.Check(r, body, k.status, w.Header(), k.body.Bytes()); err != nil {
			t.Error(err)
		}
	})
}

type keeper struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (k *keeper) WriteHeader(status int) {
	k.status = status
	k.ResponseWriter.WriteHeader(status)
}

// Write keeps the body.
func (k *keeper) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

type checking struct {
	c      *Checker
	next   http.RoundTripper
	report func(error)
}

// RoundTrip checks the request before, and the answer after it was read.
func (c *checking) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		if err := c.c.CheckRequest(r, body); err != nil {
			c.report(err)
		}
		return nil, err
	}
	answer, readErr := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	if readErr != nil {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(answer), failing{readErr}))
		resp.Header.Set(faultHeader, "cut")
	}
	if err := c.c.Check(r, body, resp.StatusCode, resp.Header, answer); err != nil {
		c.report(err)
	}
	return resp, nil
}

type failing struct{ err error }

// Read fails.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Check holds a request and its answer against the descriptions.
func (c *Checker) Check(r *http.Request, body []byte, status int, header http.Header, answer []byte) error {
	if foreign(r) {
		return nil
	}
	if err := c.CheckRequest(r, body); err != nil {
		return err
	}
	// The description rarely lists these, and a page of a proxy is no JSON.
	if header.Get(faultHeader) != "" || status == http.StatusNotModified || status == http.StatusUnauthorized ||
		status == http.StatusTooManyRequests || status >= 500 {
		return nil
	}
	if isGraphQL(r) {
		return c.checkGraphQLAnswer(r, body, status, answer)
	}
	in, err := c.input(r, body)
	if err != nil {
		return err
	}
	if status < 400 && in.Route.Operation.Responses.Status(status) == nil {
		return fmt.Errorf("%s %s: GitHub never answers %d here", r.Method, r.URL.EscapedPath(), status)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(answer)),
	})
	if err != nil {
		return fmt.Errorf("%s %s: the answer of %d: %w", r.Method, r.URL.EscapedPath(), status, brief(err))
	}
	return nil
}

// CheckRequest holds a request against the descriptions.
func (c *Checker) CheckRequest(r *http.Request, body []byte) error {
	switch {
	case foreign(r):
		return nil
	case isGraphQL(r):
		_, err := c.parseGraphQL(r, body)
		return err
	}
	in, err := c.input(r, body)
	if err != nil {
		return err
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return fmt.Errorf("%s %s: the request: %w", r.Method, r.URL.EscapedPath(), brief(err))
	}
	return nil
}

// brief leaves out the schema and the value, which are pages long.
func brief(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// foreign leaves out what is not GitHub's API: the host of the files of artifacts.
func foreign(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/_blob/") }

func isGraphQL(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/graphql") }

// input finds the operation.
func (c *Checker) input(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3")
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var best *openapi3filter.RequestValidationInput
	fewest := 100
	for template, item := range c.doc.Paths.Map() {
		params, ok := matchPath(template, segments)
		// Of "comments/{id}" and "{number}/comments" the one with fewer wild parts is meant.
		if !ok || len(params) >= fewest {
			continue
		}
		op := item.GetOperation(method)
		if op == nil {
			continue
		}
		fewest = len(params)
		best = &openapi3filter.RequestValidationInput{
			Request: withBody(r, body), PathParams: params, QueryParams: r.URL.Query(),
			Route: &routers.Route{Spec: c.doc, Path: template, PathItem: item, Method: method, Operation: op},
			Options: &openapi3filter.Options{
				AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, RejectWhenRequestBodyNotSpecified: true,
			},
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%s %s: GitHub has no such address", r.Method, r.URL.EscapedPath())
	}
	for name := range r.URL.Query() {
		if !takes(best.Route, name) {
			return nil, fmt.Errorf("%s %s: GitHub does not know the parameter %q here", r.Method, r.URL.EscapedPath(), name)
		}
	}
	return best, nil
}

func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body = http.NoBody
	r.ContentLength = int64(len(body))
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r
}

// matchPath compares segment by segment; {ref} of git/ref takes the rest.
func matchPath(template string, segments []string) (map[string]string, bool) {
	parts := strings.Split(strings.TrimPrefix(template, "/"), "/")
	rest := strings.HasSuffix(template, "/git/ref/{ref}")
	if len(segments) < len(parts) || (len(segments) != len(parts) && !rest) {
		return nil, false
	}
	params := map[string]string{}
	for i, p := range parts {
		raw := segments[i]
		if rest && i == len(parts)-1 {
			raw = strings.Join(segments[i:], "/")
		}
		value, err := url.PathUnescape(raw)
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(p, "{") && value != "" {
			params[strings.Trim(p, "{}")] = value
		} else if p != value {
			return nil, false
		}
	}
	return params, true
}

func takes(route *routers.Route, name string) bool {
	return route.Operation.Parameters.GetByInAndName("query", name) != nil || route.PathItem.Parameters.GetByInAndName("query", name) != nil
}

// errAnswer is what every complaint about a GraphQL answer starts from.
var errAnswer = errors.New("the answer does not fit the schema")
