package ghtest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// Transport hands requests to the server without a socket, whatever host they name.
func (s *Server) Transport() http.RoundTripper { return memory{s} }

type memory struct{ s *Server }

// RoundTrip answers from memory. A lost answer is an unexpected end of the connection.
func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody)); err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	out, cut := m.s.serve(in, body)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, io.ErrUnexpectedEOF
	}
	resp := &http.Response{
		Status: strconv.Itoa(out.status) + " " + http.StatusText(out.status), StatusCode: out.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: out.header, Request: r,
		ContentLength: int64(len(out.raw)), Body: io.NopCloser(bytes.NewReader(out.raw)),
	}
	if cut {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(out.raw[:len(out.raw)/2]), brokenReader{}))
	}
	return resp, nil
}

type brokenReader struct{}

// Read fails as a connection does that ends too early.
func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
